"""Where the operator's command meets its adapters. Everything is made on first use."""

from functools import cache
from time import sleep

from admin.aws.api_probe import HttpApiProbe
from admin.aws.cloudwatch import CloudWatchMonitoring
from admin.aws.queues import SqsQueues
from admin.aws.route53 import Route53Zones
from admin.aws.ses_account import SesAccount
from admin.aws.smtp_probe import SmtpProbe
from admin.aws.table_protection import DynamoTableProtection
from admin.operations.doctor import Doctor
from admin.operations.first_steps import FirstSteps
from admin.operations.queues import QueueOperations, QueueUrls
from admin.operations.round_trip import RoundTrip
from pillarbox import config
from pillarbox.adapters.dns import DnsRecords
from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.api_keys import DynamoApiKeys
from pillarbox.adapters.dynamodb.ledger_audit import DynamoLedgerAudit
from pillarbox.adapters.dynamodb.message_log import DynamoMessageLog
from pillarbox.adapters.dynamodb.suppressions import DynamoSuppressions
from pillarbox.adapters.ses.domains import SesDomains
from pillarbox.adapters.ses.identities import SesIdentities
from pillarbox.application.accounts.accounts import Accounts
from pillarbox.application.accounts.domains import Domains
from pillarbox.application.accounts.keys import Keys
from pillarbox.application.accounts.senders import Senders
from pillarbox.application.accounts.suppressions import SuppressionList
from pillarbox.application.history.audit import Audit
from pillarbox.wiring import table, template_authoring, utc_now

__all__ = ["template_authoring"]


@cache
def accounts() -> Accounts:
    """An operator's work on accounts."""
    return Accounts(records=DynamoAccounts(table()), clock=utc_now)


@cache
def api_keys() -> Keys:
    """An operator's work on API keys."""
    return Keys(records=DynamoApiKeys(table()), accounts=DynamoAccounts(table()), clock=utc_now)


@cache
def senders() -> Senders:
    """An operator's work on senders."""
    return Senders(accounts=DynamoAccounts(table()), identities=SesIdentities())


@cache
def domains() -> Domains:
    """An operator's work on domains."""
    return Domains(
        identities=SesDomains(),
        dns=DnsRecords(config.read_servers("DNS_SERVERS")),
        zones=Route53Zones(),
        clock=utc_now,
        pause=sleep,
    )


@cache
def first_steps() -> FirstSteps:
    """An operator's first account, key and sender."""
    return FirstSteps(accounts=accounts(), keys=api_keys(), senders=senders())


@cache
def suppression_list() -> SuppressionList:
    """An operator's work on suppressions."""
    return SuppressionList(
        records=DynamoSuppressions(table()), accounts=DynamoAccounts(table()), clock=utc_now
    )


@cache
def statistics_audit() -> Audit:
    """An operator's look at an account's statistics."""
    return Audit(
        log=DynamoMessageLog(table()),
        ledger=DynamoLedgerAudit(table()),
        accounts=DynamoAccounts(table()),
        clock=utc_now,
    )


@cache
def queue_operations() -> QueueOperations:
    """An operator's work on the queues."""
    return QueueOperations(
        queues=SqsQueues(),
        urls={
            "jobs": QueueUrls(config.read("JOBS_QUEUE_URL"), config.read("JOBS_DEAD_LETTERS_URL")),
            "events": QueueUrls(
                config.read("EVENTS_QUEUE_URL"), config.read("EVENTS_DEAD_LETTERS_URL")
            ),
        },
    )


@cache
def doctor() -> Doctor:
    """An operator's look at the whole stack."""
    (relay,) = config.read_servers("RELAY") or (None,)
    host, _, port = (relay or "").rpartition(":")
    return Doctor(
        provider=SesAccount(utc_now),
        accounts=DynamoAccounts(table()),
        domains=domains(),
        queues=queue_operations(),
        table=DynamoTableProtection(table()),
        monitoring=CloudWatchMonitoring(config.read("STACK"), utc_now),
        api_probe=HttpApiProbe(config.read("API_URL")),
        certificate_probe=SmtpProbe(host, int(port)) if relay else None,
        clock=utc_now,
        configuration_set=config.read("CONFIGURATION_SET"),
        preview_sender=config.read("PREVIEW_SENDER"),
        workers=int(config.read("DELIVERY_CONCURRENCY")),
    )


@cache
def round_trip() -> RoundTrip:
    """An operator's mail through the whole service."""
    return RoundTrip(
        accounts=DynamoAccounts(table()),
        keys=api_keys(),
        api_probe=HttpApiProbe(config.read("API_URL")),
        clock=utc_now,
        pause=sleep,
    )
