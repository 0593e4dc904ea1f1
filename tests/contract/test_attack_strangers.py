"""The attack by mail to strangers finds nothing, and would find what it looks for."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final
from unittest import mock

import pytest

from pillarbox import wiring
from pillarbox.adapters.dynamodb.sign_in import sign_ups
from pillarbox.application.sign_in import sign_in
from pillarbox.domain.sign_in import strangers as rule
from tests.contract.service import Service
from verification.attacks import strangers

MAX_ATTEMPTS = 5
SHORT_PER_DAY = 5


def _joins_at_once() -> Mapping[str, Any]:
    """Let an invitation make a member."""
    members = wiring.services().account_members
    stub, add = mock.Mock(wraps=members.members), members.members.add
    stub.add = lambda one: add(replace(one, pending=False))
    return {"account_members": replace(members, members=stub)}


def _signs_in_whom_a_tenant_invites() -> Mapping[str, Any]:
    """Give operators a link too, which signs in whoever is invited."""
    members, signing = wiring.services().account_members, wiring.services().sign_in
    users, flows = mock.Mock(wraps=members.users), mock.Mock(wraps=signing.flows)
    users.add = lambda user: replace(members.users.add(user), operator=False)
    redeem: Any = signing.flows.redeem_link
    flows.redeem_link = lambda *given: replace(redeem(*given), account_id=None)
    return {
        "account_members": replace(members, users=users),
        "sign_in": replace(signing, flows=flows),
    }


def _one_code_at_a_time() -> Mapping[str, Any]:
    """Let a new flow of an address take the place of the one before."""
    signing, newest = wiring.services().sign_in, dict[str, str]()
    flows = mock.Mock(wraps=signing.flows)

    def put(flow: Any) -> None:
        newest[flow.user_digest] = flow.digest
        signing.flows.put(flow)

    def attempt(token: Any, *given: Any) -> Any:
        flow = signing.flows.attempt(token, *given)
        return flow if flow and newest[flow.user_digest] == flow.digest else None

    flows.put, flows.attempt = put, attempt
    return {"sign_in": replace(signing, flows=flows)}


#: What is left out, by what the attack then finds.
PLANTED: Final[Mapping[str, Callable[[], Mapping[str, Any]]]] = {
    "bombed": lambda: {"preview_keys": mock.Mock()},
    "joined unasked": _joins_at_once,
    "operators signed in": _signs_in_whom_a_tenant_invites,
    "killed codes": _one_code_at_a_time,
}


def test_no_stranger_mails_invites_or_signs_in_others(service: Service) -> None:
    """Mail to nobody pauses at the twentieth, and nobody joins or is signed in unasked."""
    tally = strangers.attack(service, 24)
    assert not tally.failed, str(tally)
    assert (tally["mailed to nobody"], tally["asked"]) == (20, 1)
    assert SHORT_PER_DAY * MAX_ATTEMPTS == 25  # of a million, in a day


@pytest.mark.parametrize("found", PLANTED)
def test_a_missing_rule_is_found(service: Service, found: str) -> None:
    """Without the link, the question, or the rules of links and flows, the attack reports it."""
    with mock.patch.dict(vars(wiring.services()), PLANTED[found]()):
        assert strangers.attack(service, 24, [found])[found] > 0


@pytest.mark.parametrize(
    ("module", "name", "instead", "found"),
    [
        (rule, "MOST_BOUNCED", 1, "past the pause"),
        (sign_in, "SHORT_PER_DAY", 1_000, "to guess"),
        (sign_ups, "fold_address", str.lower, "second accounts"),
    ],
)
def test_a_missing_limit_is_found(
    service: Service, module: object, name: str, instead: object, found: str
) -> None:
    """Without the limit of bounces, of short codes or of mailboxes, the attack reports it."""
    with mock.patch.object(module, name, instead):
        assert strangers.attack(service, 24, [found])[found] > 0
