"""The settings, and the stores and queues that several use cases share."""

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pillarbox.adapters.dynamodb.accounts.directory import DynamoDirectory
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.settings import Settings
from pillarbox.wiring.clock import monotonic, utc_now

if TYPE_CHECKING:
    from collections.abc import Callable

    from pillarbox.adapters.dns import DnsMailDomains
    from pillarbox.adapters.dns_records import DnsRecords
    from pillarbox.adapters.dynamodb.accounts.account_domains import DynamoAccountDomains
    from pillarbox.adapters.dynamodb.accounts.account_log import DynamoAccountLog
    from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
    from pillarbox.adapters.dynamodb.accounts.alerts import DynamoAlerts, DynamoAlertTimes
    from pillarbox.adapters.dynamodb.accounts.key_uses import DynamoKeyUses
    from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
    from pillarbox.adapters.dynamodb.history.ledger import DynamoLedger
    from pillarbox.adapters.dynamodb.history.ledger_audit import DynamoLedgerAudit
    from pillarbox.adapters.dynamodb.history.message_log import DynamoMessageLog
    from pillarbox.adapters.dynamodb.history.rebuild_marks import DynamoRebuildMarks
    from pillarbox.adapters.dynamodb.history.search_index import DynamoSearchIndex
    from pillarbox.adapters.dynamodb.messages.heartbeat import DynamoHeartbeat, DynamoSeenEvents
    from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
    from pillarbox.adapters.dynamodb.messages.quotas import DynamoQuotas
    from pillarbox.adapters.dynamodb.messages.waiting import (
        DynamoWaitingContents,
        DynamoWakeTimes,
    )
    from pillarbox.adapters.dynamodb.name_leases import DynamoNameLeases
    from pillarbox.adapters.dynamodb.service_address import DynamoServiceAddress, DynamoSharedTenant
    from pillarbox.adapters.dynamodb.sign_in.codes import DynamoFlows, DynamoSignInCounts
    from pillarbox.adapters.dynamodb.sign_in.passkeys import DynamoPasskeys
    from pillarbox.adapters.dynamodb.sign_in.sessions import DynamoSessions
    from pillarbox.adapters.dynamodb.sign_in.sign_ups import DynamoProofs, DynamoSignUps
    from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoStrangerMail
    from pillarbox.adapters.dynamodb.sign_in.users import DynamoMembers, DynamoUsers
    from pillarbox.adapters.dynamodb.webhooks.deliveries import DynamoWebhookDeliveries
    from pillarbox.adapters.dynamodb.webhooks.due_times import DynamoDueTimes
    from pillarbox.adapters.dynamodb.webhooks.endpoints import (
        DynamoEndpointHealths,
        DynamoWebhookEndpoints,
    )
    from pillarbox.adapters.s3 import S3KeptContents, S3Spool
    from pillarbox.adapters.secret_store import EdgeSecret
    from pillarbox.adapters.ses.account import SesAccount
    from pillarbox.adapters.ses.suppressions import SesSuppressions
    from pillarbox.adapters.sqs.jobs import SqsJobs
    from pillarbox.application.alerts.raising import Alerts
    from pillarbox.application.change_log import ChangeLog
    from pillarbox.application.creations import Creations
    from pillarbox.application.slow_requests import SlowRequests
    from pillarbox.application.waiting import WaitingMail


class _Store:
    """A store whose class the annotation names: imported and made on its first use.

    Args:
        module: the module of the class, in `pillarbox.adapters.dynamodb`.
        tables: the attributes that its constructor takes.
    """

    def __init__(self, module: str, *tables: str) -> None:
        self._module = f"pillarbox.adapters.dynamodb.{module}"
        self._tables = tables

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self._class = owner.__annotations__[name]

    def __get__(self, stores: "Stores", _: object = None) -> Any:  # noqa: ANN401  see annotation
        store = getattr(import_module(self._module), self._class)
        made = store(*(getattr(stores, table) for table in self._tables))
        stores.__dict__[self._name] = made  # Python finds it there from now on
        return made


def _store(module: str, *tables: str) -> Any:  # noqa: ANN401  the annotation says which
    """Return a `_Store`, which types as the store itself."""
    return _Store(module, *tables)


class Stores:
    """Holds the settings and makes each store once."""

    account_domain_store: "DynamoAccountDomains" = _store("accounts.account_domains", "table")
    account_log_store: "DynamoAccountLog" = _store("accounts.account_log", "table")
    account_store: "DynamoAccounts" = _store("accounts.accounts", "table")
    alert_store: "DynamoAlerts" = _store("accounts.alerts", "table")
    alert_times: "DynamoAlertTimes" = _store("accounts.alerts", "table")
    delivery_store: "DynamoWebhookDeliveries" = _store("webhooks.deliveries", "table")
    due_times: "DynamoDueTimes" = _store("webhooks.due_times", "table")
    endpoint_healths: "DynamoEndpointHealths" = _store("webhooks.endpoints", "table")
    endpoint_store: "DynamoWebhookEndpoints" = _store("webhooks.endpoints", "credentials", "table")
    flow_store: "DynamoFlows" = _store("sign_in.codes", "credentials")
    heartbeat: "DynamoHeartbeat" = _store("messages.heartbeat", "table")
    key_uses: "DynamoKeyUses" = _store("accounts.key_uses", "table")
    ledger: "DynamoLedger" = _store("history.ledger", "table")
    ledger_audit: "DynamoLedgerAudit" = _store("history.ledger_audit", "table")
    name_leases: "DynamoNameLeases" = _store("name_leases", "credentials")
    member_store: "DynamoMembers" = _store("sign_in.users", "credentials")
    message_log: "DynamoMessageLog" = _store("history.message_log", "table")
    message_store: "DynamoMessages" = _store("messages.messages", "table")
    passkey_store: "DynamoPasskeys" = _store("sign_in.passkeys", "credentials")
    proof_store: "DynamoProofs" = _store("sign_in.sign_ups", "credentials")
    quota_store: "DynamoQuotas" = _store("messages.quotas", "table")
    rebuild_marks: "DynamoRebuildMarks" = _store("history.rebuild_marks", "table")
    search_index: "DynamoSearchIndex" = _store("history.search_index", "table")
    seen_events: "DynamoSeenEvents" = _store("messages.heartbeat", "table")
    session_store: "DynamoSessions" = _store("sign_in.sessions", "credentials", "table")
    sign_in_counts: "DynamoSignInCounts" = _store("sign_in.codes", "credentials")
    sign_up_store: "DynamoSignUps" = _store("sign_in.sign_ups", "credentials", "table")
    stranger_mail: "DynamoStrangerMail" = _store("sign_in.strangers", "table")
    suppression_store: "DynamoSuppressions" = _store("accounts.suppressions", "table")
    wake_times: "DynamoWakeTimes" = _store("messages.waiting", "table")
    user_store: "DynamoUsers" = _store("sign_in.users", "credentials")

    def __init__(self, settings: Settings) -> None:
        """Store the settings; nothing is read yet."""
        self.settings = settings

    @cached_property
    def provider_suppressions(self) -> "SesSuppressions":
        from pillarbox.adapters.ses.suppressions import SesSuppressions

        return SesSuppressions()

    @cached_property
    def table(self) -> Table:
        """The table of everything but credentials."""
        return Table(self.settings.table)

    @cached_property
    def credentials(self) -> Table:
        """The table of API keys, secrets, users and sessions."""
        return Table(self.settings.credentials_table)

    @cached_property
    def directory(self) -> DynamoDirectory:
        return DynamoDirectory(self.table, self.credentials)

    @cached_property
    def ses_account(self) -> "SesAccount":
        from pillarbox.adapters.ses.account import SesAccount

        return SesAccount(utc_now)

    @cached_property
    def edge_secret(self) -> "EdgeSecret":
        from pillarbox.adapters.secret_store import EdgeSecret

        return EdgeSecret(self.settings.edge_secret_id, utc_now)

    def is_of_edge(self, text: str) -> bool:
        """Return whether a text is the edge's secret, which is read on the first use."""
        return self.edge_secret.is_sent(text)

    @cached_property
    def service_address(self) -> "DynamoServiceAddress":
        from pillarbox.adapters.dynamodb.service_address import DynamoServiceAddress

        return DynamoServiceAddress(self.table, utc_now)

    @cached_property
    def shared_tenant(self) -> "DynamoSharedTenant":
        from pillarbox.adapters.dynamodb.service_address import DynamoSharedTenant

        return DynamoSharedTenant(self.table)

    @property
    def newcomers_tenant(self) -> "Callable[[], str | None]":
        """Return what reads the tenant of SES in which a stranger's account begins."""
        return self.shared_tenant.stored if self.settings.shared_tenant else lambda: None

    @cached_property
    def change_log(self) -> "ChangeLog":
        from pillarbox.application.change_log import ChangeLog

        return ChangeLog(self.account_log_store, utc_now)

    @cached_property
    def alerts(self) -> "Alerts":
        from pillarbox.application.alerts.raising import Alerts

        return Alerts(self.alert_store, self.alert_times, utc_now)

    @cached_property
    def slow_requests(self) -> "SlowRequests":
        from pillarbox.application.slow_requests import SlowRequests

        return SlowRequests(count=self.sign_in_counts.count, clock=utc_now)

    @cached_property
    def creations(self) -> "Creations":
        from pillarbox.application.creations import Creations

        return Creations(leases=self.name_leases, clock=utc_now)

    @cached_property
    def mail_domains(self) -> "DnsMailDomains":
        from pillarbox.adapters.dns import DnsMailDomains

        return DnsMailDomains(self.settings.dns_servers)

    @cached_property
    def dns_records(self) -> "DnsRecords":
        from pillarbox.adapters.dns_records import DnsRecords

        return DnsRecords(self.settings.dns_servers)

    @cached_property
    def spool(self) -> "S3Spool":
        from pillarbox.adapters.s3 import S3Spool

        return S3Spool(self.settings.spool_bucket)

    @cached_property
    def kept_contents(self) -> "S3KeptContents":
        from pillarbox.adapters.s3 import S3KeptContents

        return S3KeptContents(self.settings.spool_bucket)

    @cached_property
    def waiting_contents(self) -> "DynamoWaitingContents":
        from pillarbox.adapters.dynamodb.messages.waiting import DynamoWaitingContents

        return DynamoWaitingContents(self.table, self.settings.spool_bucket)

    @cached_property
    def waiting_mail(self) -> "WaitingMail":
        from pillarbox.application.waiting import WaitingMail

        return WaitingMail(
            contents=self.waiting_contents,
            times=self.wake_times,
            queue=self.jobs,
            clock=utc_now,
            monotonic=monotonic,
        )

    @cached_property
    def jobs(self) -> "SqsJobs":
        from pillarbox.adapters.sqs.jobs import SqsJobs

        return SqsJobs(
            self.settings.jobs_queue_url,
            self.settings.urgent_jobs_queue_url,
            self.settings.spool_bucket,
        )
