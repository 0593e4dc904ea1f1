"""The settings, and the stores and queues that several use cases share."""

import time
from datetime import UTC, datetime
from functools import cached_property
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from pillarbox.adapters.aws import in_parallel
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pillarbox.adapters.dns import DnsMailDomains
    from pillarbox.adapters.dns_records import DnsRecords
    from pillarbox.adapters.dynamodb.accounts.account_domains import DynamoAccountDomains
    from pillarbox.adapters.dynamodb.accounts.account_log import DynamoAccountLog
    from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
    from pillarbox.adapters.dynamodb.accounts.alerts import DynamoAlerts, DynamoAlertTimes
    from pillarbox.adapters.dynamodb.accounts.api_keys import DynamoApiKeys, DynamoKeyUses
    from pillarbox.adapters.dynamodb.accounts.directory import DynamoDirectory
    from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
    from pillarbox.adapters.dynamodb.history.ledger import DynamoLedger
    from pillarbox.adapters.dynamodb.history.ledger_audit import DynamoLedgerAudit
    from pillarbox.adapters.dynamodb.history.message_log import DynamoMessageLog, DynamoSearchIndex
    from pillarbox.adapters.dynamodb.history.rebuild_marks import DynamoRebuildMarks
    from pillarbox.adapters.dynamodb.messages.heartbeat import DynamoHeartbeat, DynamoSeenEvents
    from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
    from pillarbox.adapters.dynamodb.messages.quotas import DynamoQuotas
    from pillarbox.adapters.dynamodb.messages.waiting import DynamoWaitingContents, DynamoWakeTimes
    from pillarbox.adapters.dynamodb.name_leases import DynamoNameLeases
    from pillarbox.adapters.dynamodb.replies import (
        DynamoReceivedMails,
        DynamoReceivingDomains,
        DynamoReplyKeys,
    )
    from pillarbox.adapters.dynamodb.service_address import DynamoServiceAddress, DynamoSharedTenant
    from pillarbox.adapters.dynamodb.sign_in.codes import DynamoFlows, DynamoSignInCounts
    from pillarbox.adapters.dynamodb.sign_in.passkeys import DynamoPasskeys
    from pillarbox.adapters.dynamodb.sign_in.sign_ups import DynamoProofs, DynamoSignUps
    from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoStrangerMail
    from pillarbox.adapters.dynamodb.sign_in.users import DynamoMembers, DynamoSessions, DynamoUsers
    from pillarbox.adapters.dynamodb.webhooks.deliveries import DynamoWebhookDeliveries
    from pillarbox.adapters.dynamodb.webhooks.due_times import DynamoDueTimes
    from pillarbox.adapters.dynamodb.webhooks.endpoints import (
        DynamoEndpointHealths,
        DynamoWebhookEndpoints,
    )
    from pillarbox.adapters.s3 import S3KeptContents, S3Received, S3Spool
    from pillarbox.adapters.secret_store import EdgeSecret
    from pillarbox.adapters.ses.account import SesAccount
    from pillarbox.adapters.ses.receipts import LambdaReceivedQueue, SesReceiptRules
    from pillarbox.adapters.ses.suppressions import SesSuppressions
    from pillarbox.adapters.sqs.jobs import SqsJobs
    from pillarbox.application.accounts.alerts import Alerts
    from pillarbox.application.change_log import ChangeLog
    from pillarbox.application.creations import Creations
    from pillarbox.application.received import ReceivedReading
    from pillarbox.application.receiving import ReceivingLimit
    from pillarbox.application.slow_requests import SlowRequests
    from pillarbox.application.waiting import WaitingMail

#: macOS has no such clock.
_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def utc_now() -> datetime:
    """Return the time in milliseconds, the precision of ids, records and responses."""
    now = read_clock()
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def read_clock() -> datetime:
    """Return the time; tests set it here."""
    return datetime.now(UTC)


def monotonic() -> float:
    """Return the seconds of a clock that is never set, to measure how long something took.

    On Linux the time in which the machine slept counts too: the queue's clock went on.
    """
    return read_monotonic()


def read_monotonic() -> float:
    """Return these seconds; tests set them here."""
    return time.clock_gettime(_CLOCK)


#: The attributes that arguments get whose name is another one.
_NAMES: Final = {
    "accounts": "account_store",
    "base_url": "service_address.read",
    "bucket": "settings.spool_bucket",
    "budget": "render_budget",
    "check": "key_check",
    "count": "sign_in_counts.count",
    "counts": "sign_in_counts",
    "deliveries": "delivery_store",
    "dns": "dns_records",
    "due": "due_times",
    "endpoints": "endpoint_store",
    "entries": "account_log_store",
    "flows": "flow_store",
    "healths": "endpoint_healths",
    "index": "search_index",
    "keys": "authentication",
    "leases": "name_leases",
    "log": "change_log",
    "marks": "rebuild_marks",
    "members": "member_store",
    "messages": "message_store",
    "policy": "sign_up_policy",
    "ports": "sending_ports",
    "proofs": "proof_store",
    "queries": "history_queries",
    "queue": "webhooks_queue",
    "quotas": "quota_store",
    "raise_alert": "alerts.raise_alert",
    "service_account": "settings.aws_webhooks_account",
    "servers": "settings.dns_servers",
    "sessions": "session_store",
    "start": "session_start",
    "strangers": "stranger_mail",
    "suppressions": "suppression_store",
    "switched_on": "settings.webhooks",
    "tenant": "newcomers_tenant",
    "usage": "account_usage",
    "users": "user_store",
}


class _Made:
    """An object whose class the annotation names: imported, and filled on its first use."""

    def __init__(self, module: str, given: "Mapping[str, Callable[[Any], object]]") -> None:
        self._module = f"pillarbox.{module}"
        self._given = given

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        annotation: str | type = owner.__annotations__[name]
        self._class = annotation if isinstance(annotation, str) else annotation.__name__

    def __get__(self, container: Any, owner: type) -> Any:  # noqa: ANN401  see annotation
        if container is None:
            return self
        constructor = getattr(import_module(self._module), self._class)
        given = {name: find(container) for name, find in self._given.items()}
        # Python finds it there from now on.
        made = container.__dict__[self._name] = container.fill(constructor, **given)
        return made


def made(module: str, **given: "Callable[[Any], object]") -> Any:  # noqa: ANN401  the annotation says which
    """Return a `_Made`, which types as the object itself."""
    return _Made(module, given)


def _store(module: str, table: str = "table") -> Any:  # noqa: ANN401  as above
    return _Made(f"adapters.dynamodb.{module}", {"table": attrgetter(table)})


class Stores:
    """Holds the settings and makes each store once."""

    clock = staticmethod(utc_now)
    monotonic = staticmethod(monotonic)
    for_each = staticmethod(in_parallel)

    account_domain_store: "DynamoAccountDomains" = _store("accounts.account_domains")
    account_log_store: "DynamoAccountLog" = _store("accounts.account_log")
    account_store: "DynamoAccounts" = _store("accounts.accounts")
    alert_store: "DynamoAlerts" = _store("accounts.alerts")
    alert_times: "DynamoAlertTimes" = _store("accounts.alerts")
    api_key_store: "DynamoApiKeys" = _store("accounts.api_keys", "credentials")
    delivery_store: "DynamoWebhookDeliveries" = _store("webhooks.deliveries")
    due_times: "DynamoDueTimes" = _store("webhooks.due_times")
    endpoint_healths: "DynamoEndpointHealths" = _store("webhooks.endpoints")
    endpoint_store: "DynamoWebhookEndpoints" = made(
        "adapters.dynamodb.webhooks.endpoints",
        table=lambda it: it.credentials,
        accounts=lambda it: it.table,
    )
    flow_store: "DynamoFlows" = made("adapters.dynamodb.sign_in.codes")
    heartbeat: "DynamoHeartbeat" = _store("messages.heartbeat")
    key_uses: "DynamoKeyUses" = _store("accounts.api_keys")
    ledger: "DynamoLedger" = _store("history.ledger")
    ledger_audit: "DynamoLedgerAudit" = _store("history.ledger_audit")
    name_leases: "DynamoNameLeases" = _store("name_leases", "credentials")
    member_store: "DynamoMembers" = _store("sign_in.users", "credentials")
    message_log: "DynamoMessageLog" = _store("history.message_log")
    message_store: "DynamoMessages" = _store("messages.messages")
    passkey_store: "DynamoPasskeys" = _store("sign_in.passkeys", "credentials")
    proof_store: "DynamoProofs" = made("adapters.dynamodb.sign_in.sign_ups")
    receipt_rules: "SesReceiptRules" = made("adapters.ses.receipts")
    received_mails: "DynamoReceivedMails" = _store("replies")
    received_objects: "S3Received" = made("adapters.s3")
    received_queue: "LambdaReceivedQueue" = made(
        "adapters.ses.receipts", mapping=lambda it: it.settings.received_mapping
    )
    received_reading: "ReceivedReading" = made(
        "application.received",
        records=lambda it: it.received_mails,
        objects=lambda it: it.received_objects,
    )
    receiving_domains: "DynamoReceivingDomains" = _store("replies")
    receiving_limit: "ReceivingLimit" = made(
        "application.receiving",
        receiving=lambda it: it.receiving_domains,
        rules=lambda it: it.receipt_rules,
    )
    reply_keys: "DynamoReplyKeys" = made("adapters.dynamodb.replies")
    quota_store: "DynamoQuotas" = _store("messages.quotas")
    rebuild_marks: "DynamoRebuildMarks" = _store("history.rebuild_marks")
    search_index: "DynamoSearchIndex" = _store("history.message_log")
    seen_events: "DynamoSeenEvents" = _store("messages.heartbeat")
    session_store: "DynamoSessions" = _store("sign_in.users")
    sign_in_counts: "DynamoSignInCounts" = _store("sign_in.codes", "credentials")
    sign_up_store: "DynamoSignUps" = _store("sign_in.sign_ups")
    stranger_mail: "DynamoStrangerMail" = _store("sign_in.strangers")
    suppression_store: "DynamoSuppressions" = _store("accounts.suppressions")
    wake_times: "DynamoWakeTimes" = _store("messages.waiting")
    user_store: "DynamoUsers" = _store("sign_in.users", "credentials")
    provider_suppressions: "SesSuppressions" = made("adapters.ses.suppressions")
    service_address: "DynamoServiceAddress" = _store("service_address")
    shared_tenant: "DynamoSharedTenant" = _store("service_address")
    ses_account: "SesAccount" = made("adapters.ses.account")
    alerts: "Alerts" = made(
        "application.accounts.alerts",
        records=lambda it: it.alert_store,
        times=lambda it: it.alert_times,
    )
    change_log: "ChangeLog" = made("application.change_log")
    creations: "Creations" = made("application.creations")
    slow_requests: "SlowRequests" = made("application.slow_requests")
    waiting_mail: "WaitingMail" = made(
        "application.waiting",
        contents=lambda it: it.waiting_contents,
        times=lambda it: it.wake_times,
        queue=lambda it: it.jobs,
    )
    directory: "DynamoDirectory" = _store("accounts.directory")
    dns_records: "DnsRecords" = made("adapters.dns_records")
    edge_secret: "EdgeSecret" = made(
        "adapters.secret_store", name=lambda it: it.settings.edge_secret_id
    )
    jobs: "SqsJobs" = made(
        "adapters.sqs.jobs",
        queue_url=lambda it: it.settings.jobs_queue_url,
        urgent_queue_url=lambda it: it.settings.urgent_jobs_queue_url,
    )
    kept_contents: "S3KeptContents" = made("adapters.s3")
    spool: "S3Spool" = made("adapters.s3")
    waiting_contents: "DynamoWaitingContents" = _store("messages.waiting")

    def __init__(self, settings: Settings) -> None:
        """Store the settings; nothing is read yet."""
        self.settings = settings

    @cached_property
    def table(self) -> Table:
        """The table of everything but credentials."""
        return Table(self.settings.table)

    @cached_property
    def credentials(self) -> Table:
        """The table of API keys, secrets, users and sessions."""
        return Table(self.settings.credentials_table)

    def fill[T](self, kind: type[T], **given: object) -> T:
        """Make an object of a class, with what is given and what this has for its arguments.

        An argument that is not given is the attribute of that name, or of the name that `_NAMES`
        has for it; else the setting of that name. One without either keeps its default.
        """
        for name in kind.__init__.__annotations__.keys() - given.keys():
            attribute = _NAMES.get(name, name)
            first = attribute.partition(".")[0]
            if first in vars(self) or hasattr(type(self), first):
                given[name] = attrgetter(attribute)(self)
            elif hasattr(Settings, name):
                given[name] = getattr(self.settings, name)
        return kind(**given)

    def is_of_edge(self, text: str) -> bool:
        """Return whether a text is the edge's secret, which is read on the first use."""
        return self.edge_secret.is_sent(text)

    @property
    def newcomers_tenant(self) -> "Callable[[], str | None]":
        """Return what reads the tenant of SES in which a stranger's account begins."""
        return self.shared_tenant.stored if self.settings.strangers else lambda: None

    @cached_property
    def mail_domains(self) -> "DnsMailDomains":
        from pillarbox.adapters.dns import DnsMailDomains

        return DnsMailDomains(self.settings.dns_servers)
