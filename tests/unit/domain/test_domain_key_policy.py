"""What each kind of key may do: send what, as whom, to whom, until when."""

import ast
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from pillarbox.application import sending
from pillarbox.domain.accounts.account import PREVIEW_LIMITS
from pillarbox.domain.accounts.agent import AgentSettings
from pillarbox.domain.accounts.key import KeyType
from pillarbox.domain.accounts.key_policy import (
    POLICIES,
    PREVIEW_SUSPENDED,
    SUSPENDED,
    KeyKind,
    Principal,
    policy_of_text,
)
from pillarbox.domain.errors import error_of
from tests.fakes import builders
from tests.fakes.world import PREVIEW

LIVE, AGENT, SAMPLE, SELF_SERVICE, WIDGET = KeyKind
_OWNER: Final = "owner@shop.example"
#: Each as somebody of the list, of the owner's domain, and anybody.
_LISTED, _OWN, _ANYBODY = ("ann@list.example", "bob@shop.example", "eve@other.example")
_AGENT: Final = AgentSettings(recipients=("list.example",), per_day=7)
_APPLICATION: Final = Path(sending.__file__).parents[1]


def principal(kind: KeyKind) -> Principal:
    """Return a caller with a key of a kind."""
    is_live = kind in {LIVE, AGENT}
    key = (builders.api_key if is_live else builders.preview_key)(builders.key_text())
    key = replace(key, agent=_AGENT if kind is AGENT else None)
    key = replace(key, self_service=kind in {SELF_SERVICE, WIDGET})
    secret = "0" * 32 if kind is WIDGET else None
    return Principal(key, builders.account(contact=_OWNER, widget_secret=secret))


def refusals(calls: dict[str, Callable[[], None]]) -> dict[str, str]:
    """Return the codes of the calls that are refused."""
    return {name: error.code for name, call in calls.items() if (error := error_of(call))}


@pytest.mark.parametrize("kind", KeyKind)
def test_the_records_of_key_and_account_tell_the_kind(kind: KeyKind) -> None:
    """Each kind is recognized, and has a policy; the text tells only preview keys from others."""
    assert principal(kind).kind is kind
    assert set(POLICIES) == set(KeyKind)
    of_text = policy_of_text(builders.key_text(key_type=principal(kind).key.type))
    policy = POLICIES[kind]
    assert of_text == POLICIES[SAMPLE if principal(kind).key.type is KeyType.PREVIEW else LIVE]
    for answer in ("starters_only", "fixed_sender", "obeys_stops"):
        assert getattr(of_text, answer) == getattr(policy, answer), "known before the read"


_REQUESTS: Final = {
    "html": builders.request(),
    "starter": builders.starter_request(),
    "starter with a name": builders.starter_request(from_name="Bank"),
    "starter to two": builders.starter_request(to=(_LISTED, _OWN)),
}
_DECEPTIVE: Final = {"starter with a name", "starter to two"}


@pytest.mark.parametrize(
    ("kind", "refused"),
    [
        (LIVE, set()),
        (AGENT, set()),
        (SAMPLE, {"html", "batch"}),
        (SELF_SERVICE, {"html", "batch"} | _DECEPTIVE),
        (WIDGET, {"html", "batch"} | _DECEPTIVE),
    ],
)
def test_what(kind: KeyKind, refused: set[str]) -> None:
    """Preview keys send one starter at a time; those for strangers send nothing of the caller."""
    caller = principal(kind)
    calls: dict[str, Callable[[], None]] = {
        name: lambda request=request: caller.check_request(request, PREVIEW)  # type: ignore[misc]
        for name, request in _REQUESTS.items()
    }
    calls["batch"] = lambda: caller.check_batch(PREVIEW)
    assert refusals(calls) == dict.fromkeys(refused, "upgrade_required")
    assert caller.policy.tests_only is (kind in {SELF_SERVICE, WIDGET})
    assert (caller.stop_token(_ANYBODY) is not None) is (kind is WIDGET)


@pytest.mark.parametrize("kind", KeyKind)
def test_how_many_and_with_whose_word(kind: KeyKind) -> None:
    """An agent's key has a quota of its own and asks everywhere; other keys ask over MCP."""
    caller = principal(kind)
    shared = PREVIEW_LIMITS if kind not in {LIVE, AGENT} else caller.account.limits
    own = [(caller.own_quota_id, _AGENT.limits)] if kind is AGENT else []
    assert [*caller.quotas] == [*own, (builders.ACCOUNT, shared)]
    calls: dict[str, Callable[[], None]] = {
        "http": lambda: caller.check_confirmed(over_mcp=False, confirmed=False),
        "mcp": lambda: caller.check_confirmed(over_mcp=True, confirmed=False),
        "confirmed": lambda: caller.check_confirmed(over_mcp=True, confirmed=True),
    }
    asking = {"http", "mcp"} if kind is AGENT else {"mcp"}
    assert refusals(calls) == dict.fromkeys(asking, "confirmation_required")


@pytest.mark.parametrize("kind", KeyKind)
def test_as_whom(kind: KeyKind) -> None:
    """Preview keys have a fixed sender and cannot choose; the others have one of their account."""
    fixed = kind not in {LIVE, AGENT}
    sender = principal(kind).sender(builders.SENDER, PREVIEW)
    assert sender == (builders.PREVIEW_SENDER if fixed else builders.SENDER)


@pytest.mark.parametrize(
    ("kind", "refused"),
    [
        (LIVE, set()),
        (AGENT, {_OWN, _ANYBODY}),
        (SAMPLE, set()),
        (SELF_SERVICE, set()),
        (WIDGET, {_LISTED, _ANYBODY}),
    ],
)
def test_to_whom(kind: KeyKind, refused: set[str]) -> None:
    """An agent's key sends to its list, one of the widget to its owner's domain."""
    caller = principal(kind)
    calls: dict[str, Callable[[], None]] = {
        address: lambda address=address: caller.check_recipients([address], PREVIEW)  # type: ignore[misc]
        for address in (_LISTED, _OWN, _ANYBODY)
    }
    assert refusals(calls) == dict.fromkeys(refused, "recipient_not_allowed")


@pytest.mark.parametrize("kind", KeyKind)
def test_until_when(kind: KeyKind) -> None:
    """Only a key of the widget ends without a send; its holder knows of no account."""
    policy = principal(kind).policy
    assert policy.ends_unused is (kind is WIDGET)
    assert policy.suspended == (PREVIEW_SUSPENDED if kind is WIDGET else SUSPENDED)


def test_no_other_module_asks_for_the_kind() -> None:
    """Of the use cases only those that make keys read the fields that tell a key's kind."""
    fields = {"self_service", "agent", "kind", "PREVIEW", "LIVE"}
    readers = {
        f"{path.relative_to(_APPLICATION)}: {node.attr}"
        for folder in ("sending", "sign_in", ".")
        for path in (_APPLICATION / folder).glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in fields
    }
    assert readers == {"sign_in/preview_keys.py: PREVIEW"}
