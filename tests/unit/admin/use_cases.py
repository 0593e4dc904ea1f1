"""The use cases of accounts and templates over empty tables."""

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

from pillarbox.adapters.dynamodb.accounts.account_log import DynamoAccountLog
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.accounts.api_keys import DynamoApiKeys
from pillarbox.adapters.dynamodb.service_address import DynamoSharedTenant
from pillarbox.adapters.dynamodb.sign_in.users import DynamoMembers
from pillarbox.adapters.dynamodb.templates import (
    DynamoTemplateDrafts,
    DynamoTemplates,
    DynamoTemplateVersions,
)
from pillarbox.application.accounts.accounts import Accounts
from pillarbox.application.accounts.keys import Keys
from pillarbox.application.accounts.senders import Senders
from pillarbox.application.change_log import ChangeLog
from pillarbox.application.operator.isolation import AccountIsolation
from pillarbox.application.templates.authoring import TemplateAuthoring
from pillarbox.domain.accounts.account import Plan
from pillarbox.rendering.compiling import compile_source
from tests.fakes.builders import NOW
from tests.fakes.memory_tables import MemoryTable
from tests.fakes.tenants import FakeTenants


class TickingClock:
    """Returns NOW, and one second more at each further call."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        now = self.now
        self.now += timedelta(seconds=1)
        return now


class UseCases:
    """The use cases, and the stores behind them."""

    def __init__(self) -> None:
        self.table = MemoryTable("table")
        credentials = MemoryTable("credentials", self.table)
        self.account_records = DynamoAccounts(self.table)
        unverified: Any = SimpleNamespace(ensure_identity=lambda _: False)
        self.template_records = DynamoTemplates(self.table)
        clock = TickingClock()
        self.accounts = Accounts(
            records=self.account_records, entries=DynamoAccountLog(self.table), clock=clock
        )
        self.keys = Keys(
            records=DynamoApiKeys(credentials),
            accounts=self.account_records,
            members=DynamoMembers(credentials),
            log=ChangeLog(DynamoAccountLog(self.table), clock),
            tell_owners=lambda *_: None,
            count=lambda *_: True,
            clock=clock,
        )
        self.tenants = FakeTenants()
        self.shared_tenant = DynamoSharedTenant(self.table)
        self.senders = Senders(
            accounts=self.account_records, identities=unverified, tenants=self.tenants
        )
        self.templates = TemplateAuthoring(
            records=self.template_records,
            drafts=DynamoTemplateDrafts(self.table),
            versions=DynamoTemplateVersions(self.table),
            accounts=self.account_records,
            compile_source=compile_source,
            clock=clock,
        )

    @property
    def isolation(self) -> AccountIsolation:
        return AccountIsolation(
            accounts=self.account_records,
            tenants=self.tenants,
            shared=self.shared_tenant,
            stack="pillarbox",
            preview_sender="preview@shop.example",
            begins_shared=False,
        )

    def create_account(self, plan: Plan = Plan.STANDARD) -> str:
        return self.accounts.create("Shop", plan).account_id
