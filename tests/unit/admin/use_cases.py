"""The use cases of accounts and templates over one set of fakes."""

import pytest

from pillarbox.application.accounts.accounts import Accounts
from pillarbox.application.accounts.keys import Keys
from pillarbox.application.accounts.senders import Senders
from pillarbox.application.accounts.suppressions import SuppressionList
from pillarbox.application.templates.authoring import TemplateAuthoring
from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.errors import ValidationFailed
from tests.unit.admin.fakes import (
    FakeAccounts,
    FakeIdentities,
    FakeKeys,
    FakeSuppressions,
    FakeTemplates,
    TickingClock,
)


class UseCases:
    """The use cases, and the fakes behind them."""

    def __init__(self) -> None:
        self.account_records = FakeAccounts()
        self.key_records = FakeKeys()
        self.identities = FakeIdentities()
        self.template_records = FakeTemplates()
        clock = TickingClock()
        self.accounts = Accounts(records=self.account_records, clock=clock)
        self.keys = Keys(records=self.key_records, accounts=self.account_records, clock=clock)
        self.senders = Senders(accounts=self.account_records, identities=self.identities)
        self.templates = TemplateAuthoring(
            records=self.template_records,
            drafts=self.template_records.drafts,
            versions=self.template_records.versions,
            accounts=self.account_records,
            clock=clock,
        )
        self.suppressions = SuppressionList(
            records=FakeSuppressions(), accounts=self.account_records, clock=clock
        )

    def create_account(self, plan: Plan = Plan.STANDARD) -> str:
        return self.accounts.create("Shop", plan).account_id


def errors(failed: pytest.ExceptionInfo[ValidationFailed]) -> list[tuple[str, str]]:
    return [(error.field, error.code) for error in failed.value.errors]
