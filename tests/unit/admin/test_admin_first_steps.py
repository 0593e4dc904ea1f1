"""The account, key and sender of a new stack are created only once."""

import pytest

from admin.use_cases.first_steps import FirstSteps
from pillarbox.domain.accounts.key import Preset
from pillarbox.domain.errors import ValidationFailed
from tests.unit.admin.use_cases import UseCases

SENDER = "hello@shop.example"


@pytest.fixture
def steps(use_cases: UseCases) -> FirstSteps:
    return FirstSteps(accounts=use_cases.accounts, keys=use_cases.keys, senders=use_cases.senders)


def test_an_empty_stack_gets_an_account_and_a_key(steps: FirstSteps, use_cases: UseCases) -> None:
    result = steps.run("Shop", SENDER)
    assert result.new_key is not None
    assert result.new_key.record.scopes == {"emails:send", "emails:read"}
    assert (result.account.name, result.account.plan.paid) == ("Shop", True)
    assert result.sender is not None
    assert [*use_cases.accounts.get(result.account.account_id).senders] == [SENDER]


def test_a_second_run_creates_nothing(steps: FirstSteps, use_cases: UseCases) -> None:
    first = steps.run("Shop", SENDER)
    use_cases.identities.verified.add(SENDER)
    again = steps.run("Another", SENDER)
    assert again.new_key is None
    assert again.account.account_id == first.account.account_id
    assert again.account.default_sender == SENDER
    (account,) = use_cases.accounts.all()
    assert len([*use_cases.keys.of_account(account.account_id)]) == 1


def test_a_run_continues_after_one_that_failed(steps: FirstSteps, use_cases: UseCases) -> None:
    oldest = use_cases.create_account()
    use_cases.create_account()
    result = steps.run("Shop")
    assert result.account.account_id == oldest
    assert result.new_key is not None
    assert result.sender is None
    assert len([*use_cases.accounts.all()]) == 2


def test_only_a_live_key_for_sending_counts(steps: FirstSteps, use_cases: UseCases) -> None:
    account = use_cases.create_account()
    use_cases.keys.issue_preview(account, "widget")
    use_cases.keys.issue_live(account, "reader", Preset.CUSTOM, ["emails:read"])
    revoked = use_cases.keys.issue_live(account, "old", Preset.SEND)
    use_cases.keys.revoke(revoked.record.key_id)
    assert steps.run("Shop").new_key is not None
    assert steps.run("Shop").new_key is None


def test_a_bad_name_or_address_is_refused(steps: FirstSteps, use_cases: UseCases) -> None:
    with pytest.raises(ValidationFailed):
        steps.run(" ")
    assert [*use_cases.accounts.all()] == []
    with pytest.raises(ValidationFailed):
        steps.run("Shop", "pаypal@pаypal.example")  # noqa: RUF001  Cyrillic letters are the point
    assert steps.run("Shop").new_key, "the run that failed made a key that nobody saw"
