"""The attack by mail to strangers finds nothing, and would find what it looks for."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest

from pillarbox import wiring
from pillarbox.domain.sign_in import strangers as rule
from pillarbox.domain.sign_in.codes import MAX_ATTEMPTS, SHORT_PER_DAY
from tests.contract.service import Service
from verification.attacks import strangers


def test_no_stranger_mails_invites_or_signs_in_others(service: Service) -> None:
    """Mail to nobody pauses at the twentieth, and nobody joins or is signed in unasked."""
    tally = strangers.attack(service, 24)
    assert not tally.failed, str(tally)
    assert (tally["mailed to nobody"], tally["asked"]) == (20, 1)
    assert SHORT_PER_DAY * MAX_ATTEMPTS == 25  # of a million, in a day


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ({"MOST_BOUNCED": 1.0}, "past the pause"),
        ({"joins": True}, "joined unasked"),
        ({"stops": False}, "bombed"),
    ],
)
def test_a_missing_rule_is_found(service: Service, planted: Mapping[str, Any], found: str) -> None:
    """Without the pause, the question or the link, the attack reports it."""
    made = wiring.services()
    members = made.account_members
    with mock.patch.dict(vars(made)), mock.patch.dict(vars(rule)):
        if "MOST_BOUNCED" in planted:
            vars(rule).update(planted)
        if "joins" in planted:
            add = members.members.add
            stub = mock.Mock(
                wraps=members.members, add=lambda one: add(replace(one, pending=False))
            )
            vars(made)["account_members"] = replace(members, members=stub)
        if "stops" in planted:
            vars(made)["preview_keys"] = mock.Mock()
        assert strangers.attack(service, 24)[found] > 0
