"""The use-cases of administration over one set of fakes."""

import pytest

from pillarbox.application.accounts.accounts import Accounts
from pillarbox.application.accounts.keys import Keys
from pillarbox.application.accounts.senders import Senders
from pillarbox.application.accounts.suppressions import SuppressionList
from pillarbox.application.templates.authoring import (
    TemplateAuthoring,
)
from pillarbox.domain.account import Plan
from pillarbox.domain.errors import ValidationFailed
from tests.unit.admin.fakes import (
    FakeAccounts,
    FakeIdentities,
    FakeKeys,
    FakeSuppressions,
    FakeTemplates,
    TickingClock,
)


class World:
    """The use-cases over one set of fakes."""

    def __init__(self) -> None:
        self.accounts = FakeAccounts()
        self.keys = FakeKeys()
        self.identities = FakeIdentities()
        self.templates = FakeTemplates()
        clock = TickingClock()
        self.accounting = Accounts(records=self.accounts, clock=clock)
        self.issuing = Keys(records=self.keys, accounts=self.accounts, clock=clock)
        self.senders = Senders(accounts=self.accounts, identities=self.identities)
        self.library = TemplateAuthoring(
            records=self.templates, accounts=self.accounts, clock=clock
        )
        self.suppressing = SuppressionList(
            records=FakeSuppressions(), accounts=self.accounts, clock=clock
        )

    def account(self, plan: Plan = Plan.STANDARD) -> str:
        return self.accounting.create("Shop", plan).account_id


def faults(failed: pytest.ExceptionInfo[ValidationFailed]) -> list[tuple[str, str]]:
    return [(fault.field, fault.code) for fault in failed.value.faults]
