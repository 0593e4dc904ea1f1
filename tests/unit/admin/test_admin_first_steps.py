"""What a new stack needs, made once however often it is asked for."""

import pytest

from admin.operations.first_steps import FirstSteps
from pillarbox.domain.errors import ValidationFailed
from pillarbox.domain.key import Preset
from tests.unit.admin.use_cases import UseCases

SENDER = "hello@shop.example"


@pytest.fixture
def steps(use_cases: UseCases) -> FirstSteps:
    return FirstSteps(accounts=use_cases.accounts, keys=use_cases.keys, senders=use_cases.senders)


def test_an_empty_stack_gets_an_account_and_a_key(steps: FirstSteps, use_cases: UseCases) -> None:
    """One Standard account with one live key that sends, and its sender."""
    result = steps.run("Shop", SENDER)
    assert result.new_key is not None
    assert result.new_key.record.scopes == {"emails:send", "emails:read"}
    assert (result.account.name, result.account.plan.paid) == ("Shop", True)
    assert result.sender is not None
    assert [*use_cases.account_records.accounts[result.account.account_id].senders] == [SENDER]


def test_a_second_time_nothing_is_made(steps: FirstSteps, use_cases: UseCases) -> None:
    """Account and key are found; the sender is looked at again."""
    first = steps.run("Shop", SENDER)
    use_cases.identities.verified.add(SENDER)
    again = steps.run("Another", SENDER)
    assert again.new_key is None
    assert again.account.account_id == first.account.account_id
    assert again.account.default_sender == SENDER
    assert (len(use_cases.account_records.accounts), len(use_cases.key_records.keys)) == (1, 1)


def test_a_run_that_died_in_between_is_taken_up(steps: FirstSteps, use_cases: UseCases) -> None:
    """The oldest account without a key gets one; no second account is made."""
    oldest = use_cases.create_account()
    use_cases.create_account()
    result = steps.run("Shop")
    assert result.account.account_id == oldest
    assert result.new_key is not None
    assert result.sender is None
    assert len(use_cases.account_records.accounts) == 2


def test_only_a_live_key_that_sends_counts(steps: FirstSteps, use_cases: UseCases) -> None:
    """A preview key, one that cannot send and a revoked one are none."""
    account = use_cases.create_account()
    use_cases.keys.issue_preview(account, "widget")
    use_cases.keys.issue_live(account, "reader", Preset.CUSTOM, ["emails:read"])
    revoked = use_cases.keys.issue_live(account, "old", Preset.SEND)
    use_cases.keys.revoke(revoked.record.key_id)
    assert steps.run("Shop").new_key is not None
    assert steps.run("Shop").new_key is None


def test_a_bad_name_or_address_is_refused(steps: FirstSteps, use_cases: UseCases) -> None:
    """Without a name no account is made."""
    with pytest.raises(ValidationFailed):
        steps.run(" ")
    assert use_cases.account_records.accounts == {}
    with pytest.raises(ValidationFailed):
        steps.run("Shop", "pаypal@pаypal.example")  # noqa: RUF001  Cyrillic letters are the point
