"""The account, key and sender of a new stack are created only once."""

import pytest

from admin.use_cases.first_steps import FirstSteps
from pillarbox.domain.accounts.key import Preset
from tests.unit.admin.use_cases import UseCases


@pytest.fixture
def steps(use_cases: UseCases) -> FirstSteps:
    return FirstSteps(accounts=use_cases.accounts, keys=use_cases.keys, senders=use_cases.senders)


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
