"""What a new stack needs, made once however often it is asked for."""

import pytest

from admin.operations.first_steps import FirstSteps
from pillarbox.domain.errors import ValidationFailed
from pillarbox.domain.key import Preset
from tests.unit.admin.world import World

SENDER = "hello@shop.example"


@pytest.fixture
def steps(world: World) -> FirstSteps:
    return FirstSteps(accounts=world.accounting, keys=world.issuing, senders=world.senders)


def test_an_empty_stack_gets_an_account_and_a_key(steps: FirstSteps, world: World) -> None:
    """One Standard account with one live key that sends, and its sender."""
    begun = steps.run("Shop", SENDER)
    assert begun.issued is not None
    assert begun.issued.record.scopes == {"emails:send", "emails:read"}
    assert (begun.account.name, begun.account.plan.paid) == ("Shop", True)
    assert begun.sender is not None
    assert [*world.accounts.kept[begun.account.account_id].senders] == [SENDER]


def test_a_second_time_nothing_is_made(steps: FirstSteps, world: World) -> None:
    """Account and key are found; the sender is looked at again."""
    first = steps.run("Shop", SENDER)
    world.identities.verified.add(SENDER)
    again = steps.run("Another", SENDER)
    assert again.issued is None
    assert again.account.account_id == first.account.account_id
    assert again.account.default_sender == SENDER
    assert (len(world.accounts.kept), len(world.keys.kept)) == (1, 1)


def test_a_run_that_died_in_between_is_taken_up(steps: FirstSteps, world: World) -> None:
    """The oldest account without a key gets one; no second account is made."""
    oldest = world.account()
    world.account()
    begun = steps.run("Shop")
    assert begun.account.account_id == oldest
    assert begun.issued is not None
    assert begun.sender is None
    assert len(world.accounts.kept) == 2


def test_only_a_live_key_that_sends_counts(steps: FirstSteps, world: World) -> None:
    """A preview key, one that cannot send and a revoked one are none."""
    account = world.account()
    world.issuing.issue_preview(account, "widget")
    world.issuing.issue_live(account, "reader", Preset.CUSTOM, ["emails:read"])
    revoked = world.issuing.issue_live(account, "old", Preset.SEND)
    world.issuing.revoke(revoked.record.key_id)
    assert steps.run("Shop").issued is not None
    assert steps.run("Shop").issued is None


def test_a_bad_name_or_address_is_refused(steps: FirstSteps, world: World) -> None:
    """Without a name no account is made."""
    with pytest.raises(ValidationFailed):
        steps.run(" ")
    assert world.accounts.kept == {}
    with pytest.raises(ValidationFailed):
        steps.run("Shop", "pаypal@pаypal.example")  # noqa: RUF001  Cyrillic letters are the point
