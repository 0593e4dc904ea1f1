"""What each kind of key may do: send what, as whom, to whom, until when."""

import ast
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from pillarbox.application import sending
from pillarbox.domain.accounts.account import PREVIEW_LIMITS
from pillarbox.domain.accounts.key import AgentSettings, KeyType
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
_ADDRESSES = _LISTED, _OWN, _ANYBODY = ("ann@list.example", "bob@shop.example", "eve@other.example")
_AGENT: Final = AgentSettings(recipients=("list.example",), per_day=7)
_APPLICATION: Final = Path(sending.__file__).parents[1]


def principal(kind: KeyKind) -> Principal:
    is_live = kind in {LIVE, AGENT}
    key = (builders.api_key if is_live else builders.preview_key)(builders.key_text())
    key = replace(key, agent=_AGENT if kind is AGENT else None)
    key = replace(key, self_service=kind in {SELF_SERVICE, WIDGET})
    secret = "0" * 32 if kind is WIDGET else None
    return Principal(key, builders.account(contact=_OWNER, widget_secret=secret))


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
_STARTERS: Final = {"html", "batch"}
_TESTS: Final = _STARTERS | {"starter with a name", "starter to two"}


@pytest.mark.parametrize(
    ("kind", "upgrade", "unconfirmed", "recipients"),
    [
        (LIVE, set(), {"mcp"}, set()),
        (AGENT, set(), {"mcp", "http"}, {_OWN, _ANYBODY}),
        (SAMPLE, _STARTERS, {"mcp"}, set()),
        (SELF_SERVICE, _TESTS, {"mcp"}, set()),
        (WIDGET, _TESTS, {"mcp"}, {_LISTED, _ANYBODY}),
    ],
)
def test_what_a_kind_is_refused(
    kind: KeyKind, upgrade: set[str], unconfirmed: set[str], recipients: set[str]
) -> None:
    """Each kind may send what the table says, to whom it says, and asks where it says."""
    caller = principal(kind)
    calls: dict[str, partial[None]] = {
        name: partial(caller.check_request, request, PREVIEW) for name, request in _REQUESTS.items()
    }
    calls |= {to: partial(caller.check_recipients, [to]) for to in _ADDRESSES}
    calls |= {
        "batch": partial(caller.check_batch, PREVIEW),
        "http": partial(caller.check_confirmed, over_mcp=False, confirmed=False),
        "mcp": partial(caller.check_confirmed, over_mcp=True, confirmed=False),
        "confirmed": partial(caller.check_confirmed, over_mcp=True, confirmed=True),
    }
    codes = {name: error.code for name, call in calls.items() if (error := error_of(call))}
    assert codes == (
        dict.fromkeys(upgrade, "upgrade_required")
        | dict.fromkeys(unconfirmed, "confirmation_required")
        | dict.fromkeys(recipients, "recipient_not_allowed")
    )


@pytest.mark.parametrize("kind", KeyKind)
def test_how_many_as_whom_and_until_when(kind: KeyKind) -> None:
    """Only preview keys have a fixed sender and limits, only the widget's end without a send."""
    caller, is_preview = principal(kind), kind not in {LIVE, AGENT}
    own = [(caller.own_quota_id, _AGENT.limits)] if kind is AGENT else []
    limits = PREVIEW_LIMITS if is_preview else caller.account.limits
    assert [*caller.quotas] == [*own, (builders.ACCOUNT, limits)]
    fixed = builders.PREVIEW_SENDER if is_preview else builders.SENDER
    assert caller.sender(builders.SENDER, {_ANYBODY}, PREVIEW) == fixed
    assert caller.policy.tests_only is (kind in {SELF_SERVICE, WIDGET})
    assert (caller.stop_token(_ANYBODY) is not None) is (kind is WIDGET)
    assert caller.policy.ends_unused is (kind is WIDGET)
    assert caller.policy.suspended == (PREVIEW_SUSPENDED if kind is WIDGET else SUSPENDED)


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
