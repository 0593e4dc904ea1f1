"""The one place where ports meet adapters. Everything is made on first use.

A function asks for the use-case it needs, and only what that use-case needs is
imported, configured and connected: each import is cold start.
"""

from datetime import UTC, datetime
from functools import cache
from time import sleep
from typing import TYPE_CHECKING, Any

from pillarbox import config
from pillarbox.adapters.dynamodb.directory import DynamoDirectory
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.access import Authentication

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pillarbox.adapters.sqs import SqsJobs
    from pillarbox.application.administration.accounts import Accounts
    from pillarbox.application.administration.doctor import Doctor
    from pillarbox.application.administration.domains import Domains
    from pillarbox.application.administration.first_steps import FirstSteps
    from pillarbox.application.administration.keys import Keys
    from pillarbox.application.administration.queues import QueueCare
    from pillarbox.application.administration.round_trip import RoundTrip
    from pillarbox.application.administration.saved_templates import SavedTemplates
    from pillarbox.application.administration.senders import Senders
    from pillarbox.application.administration.suppressions import SuppressionList
    from pillarbox.application.batch import BatchSubmission
    from pillarbox.application.delivery import Delivery
    from pillarbox.application.feedback import Feedback
    from pillarbox.application.history import History
    from pillarbox.application.library import Library
    from pillarbox.application.overview import Overview
    from pillarbox.application.quarantine import Quarantine
    from pillarbox.application.relaying import Relaying
    from pillarbox.application.statistics import Aggregation, Audit
    from pillarbox.application.submission import Submission
    from pillarbox.application.sweeping import Sweep

# Imports inside functions are the point of this module: see above.
# ruff: noqa: PLC0415


def utc_now() -> datetime:
    """The time, to the millisecond: what ids, records and answers carry."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


@cache
def table() -> Table:
    """The one table."""
    return Table(config.read("TABLE"))


@cache
def authentication() -> Authentication:
    """Authentication for the routes that read."""
    return Authentication(DynamoDirectory(table()))


@cache
def submission() -> "Submission":
    """Accepting mail."""
    from pillarbox.adapters.dns import DnsMailDomains
    from pillarbox.adapters.dynamodb.claims import DynamoClaims
    from pillarbox.adapters.dynamodb.messages import DynamoMessages
    from pillarbox.adapters.dynamodb.quotas import DynamoQuotas
    from pillarbox.application.submission import PreviewTerms, Submission

    return Submission(
        directory=DynamoDirectory(table()),
        claims=DynamoClaims(table()),
        quotas=DynamoQuotas(table()),
        jobs=jobs(),
        messages=DynamoMessages(table()),
        domains=DnsMailDomains(config.read_servers("DNS_SERVERS")),
        clock=utc_now,
        preview=PreviewTerms(
            sender=config.read("PREVIEW_SENDER"), upgrade_url=config.read("UPGRADE_URL")
        ),
    )


@cache
def batch_submission() -> "BatchSubmission":
    """Accepting batches."""
    from pillarbox.application.batch import BatchSubmission

    return BatchSubmission(submission())


@cache
def relaying(paid_plans_only: bool) -> "Relaying":  # noqa: FBT001  the setting's only two values
    """Accepting messages over SMTP."""
    from pillarbox.application.relaying import Relaying

    return Relaying(submission(), paid_plans_only)


def read_secret(name: str) -> str:
    """A secret's newest text, as Secrets Manager keeps it."""
    from pillarbox.adapters.aws import make_client, reaching

    with reaching("secret store"):
        answer: str = make_client("secretsmanager").get_secret_value(SecretId=name)["SecretString"]
        return answer


@cache
def jobs() -> "SqsJobs":
    """The queue and its spool."""
    from pillarbox.adapters.sqs import SqsJobs

    return SqsJobs(config.read("JOBS_QUEUE_URL"), config.read("SPOOL_BUCKET"))


@cache
def history() -> "History":
    """Looking back at messages."""
    from pillarbox.adapters.dynamodb.messages import DynamoMessages
    from pillarbox.application.history import History

    return History(DynamoMessages(table()))


@cache
def overview() -> "Overview":
    """Looking back at many messages."""
    from pillarbox.adapters.dynamodb.history import DynamoMessageLog
    from pillarbox.adapters.dynamodb.statistics import DynamoLedger
    from pillarbox.application.overview import Overview

    return Overview(log=DynamoMessageLog(table()), ledger=DynamoLedger(table()), clock=utc_now)


@cache
def aggregation() -> "Aggregation[Mapping[str, Any]]":
    """Keeping statistics."""
    from pillarbox.adapters.aws import in_parallel
    from pillarbox.adapters.dynamodb.history import read_change
    from pillarbox.adapters.dynamodb.statistics import DynamoLedger
    from pillarbox.application.statistics import Aggregation

    return Aggregation(read=read_change, ledger=DynamoLedger(table()), for_each=in_parallel)


@cache
def delivery() -> "Delivery":
    """Delivering mail."""
    from pillarbox.adapters.dynamodb.messages import DynamoMessages
    from pillarbox.adapters.dynamodb.pulse import DynamoPulse
    from pillarbox.adapters.dynamodb.suppressions import DynamoSuppressions
    from pillarbox.adapters.ses import SesMailer
    from pillarbox.adapters.ses_rate import Pace
    from pillarbox.application.content import build_raw
    from pillarbox.application.delivery import Delivery
    from pillarbox.domain.identity import new_token

    return Delivery(
        messages=DynamoMessages(table()),
        directory=DynamoDirectory(table()),
        suppressions=DynamoSuppressions(table()),
        jobs=jobs(),
        mailer=SesMailer(
            config.read("CONFIGURATION_SET"),
            Pace(int(config.read("DELIVERY_CONCURRENCY")), utc_now, sleep),
        ),
        pulse=DynamoPulse(table()),
        build=build_raw,
        clock=utc_now,
        pause=sleep,
        new_owner=lambda: new_token(16),
    )


def count_changes(records: "Iterable[Mapping[str, Any]]") -> "Mapping[str, int]":
    """What changes of messages tell, for metrics."""
    from pillarbox.adapters.dynamodb import history

    return history.count_changes(records)


@cache
def quarantine() -> "Quarantine":
    """Setting aside what the worker cannot read."""
    from pillarbox.adapters.dynamodb.messages import DynamoMessages
    from pillarbox.adapters.sqs_queues import SqsDeadLetters
    from pillarbox.application.quarantine import Quarantine

    return Quarantine(
        messages=DynamoMessages(table()),
        dead_letters=SqsDeadLetters(config.read("JOBS_DEAD_LETTERS_URL")),
        clock=utc_now,
    )


@cache
def sweep() -> "Sweep":
    """Looking for what got stuck."""
    from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
    from pillarbox.adapters.dynamodb.history import DynamoMessageLog
    from pillarbox.adapters.dynamodb.messages import DynamoMessages
    from pillarbox.adapters.spool import S3Spool
    from pillarbox.application.sweeping import Sweep

    return Sweep(
        accounts=DynamoAccounts(table()),
        log=DynamoMessageLog(table()),
        messages=DynamoMessages(table()),
        spool=S3Spool(config.read("SPOOL_BUCKET")),
        clock=utc_now,
    )


@cache
def feedback() -> "Feedback":
    """Following mail."""
    from pillarbox.adapters.dynamodb.messages import DynamoMessages
    from pillarbox.adapters.dynamodb.pulse import DynamoPulse
    from pillarbox.adapters.dynamodb.suppressions import DynamoSuppressions
    from pillarbox.adapters.ses import read_notice
    from pillarbox.application.feedback import Feedback

    return Feedback(
        read=read_notice,
        messages=DynamoMessages(table()),
        suppressions=DynamoSuppressions(table()),
        pulse=DynamoPulse(table()),
    )


@cache
def accounts() -> "Accounts":
    """An operator's work on accounts."""
    from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
    from pillarbox.application.administration.accounts import Accounts

    return Accounts(records=DynamoAccounts(table()), clock=utc_now)


@cache
def api_keys() -> "Keys":
    """An operator's work on API keys."""
    from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
    from pillarbox.adapters.dynamodb.api_keys import DynamoApiKeys
    from pillarbox.application.administration.keys import Keys

    return Keys(records=DynamoApiKeys(table()), accounts=DynamoAccounts(table()), clock=utc_now)


@cache
def senders() -> "Senders":
    """An operator's work on senders."""
    from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
    from pillarbox.adapters.ses_identities import SesIdentities
    from pillarbox.application.administration.senders import Senders

    return Senders(accounts=DynamoAccounts(table()), identities=SesIdentities())


@cache
def domains() -> "Domains":
    """An operator's work on domains."""
    from pillarbox.adapters.dns_records import DnsRecords
    from pillarbox.adapters.route53 import HostedZones
    from pillarbox.adapters.ses_domains import SesDomains
    from pillarbox.application.administration.domains import Domains

    return Domains(
        identities=SesDomains(),
        dns=DnsRecords(config.read_servers("DNS_SERVERS")),
        zones=HostedZones(),
        clock=utc_now,
        pause=sleep,
    )


@cache
def first_steps() -> "FirstSteps":
    """An operator's first account, key and sender."""
    from pillarbox.application.administration.first_steps import FirstSteps

    return FirstSteps(accounts=accounts(), keys=api_keys(), senders=senders())


@cache
def saved_templates() -> "SavedTemplates":
    """An operator's work on saved templates."""
    from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
    from pillarbox.adapters.dynamodb.templates import DynamoTemplates
    from pillarbox.application.administration.saved_templates import SavedTemplates

    return SavedTemplates(
        records=DynamoTemplates(table()), accounts=DynamoAccounts(table()), clock=utc_now
    )


@cache
def library() -> "Library":
    """The saved templates, for callers of the API."""
    from pillarbox.application.library import Library

    return Library(saved_templates())


@cache
def suppression_list() -> "SuppressionList":
    """An operator's work on suppressions."""
    from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
    from pillarbox.adapters.dynamodb.suppressions import DynamoSuppressions
    from pillarbox.application.administration.suppressions import SuppressionList

    return SuppressionList(
        records=DynamoSuppressions(table()), accounts=DynamoAccounts(table()), clock=utc_now
    )


@cache
def statistics_audit() -> "Audit":
    """An operator's look at an account's statistics."""
    from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
    from pillarbox.adapters.dynamodb.history import DynamoMessageLog
    from pillarbox.adapters.dynamodb.statistics_audit import DynamoLedgerAudit
    from pillarbox.application.statistics import Audit

    return Audit(
        log=DynamoMessageLog(table()),
        ledger=DynamoLedgerAudit(table()),
        accounts=DynamoAccounts(table()),
        clock=utc_now,
    )


@cache
def queue_care() -> "QueueCare":
    """An operator's work on the queues."""
    from pillarbox.adapters.sqs_queues import SqsQueues
    from pillarbox.application.administration.queues import QueueCare, QueueUrls

    return QueueCare(
        queues=SqsQueues(),
        urls={
            "jobs": QueueUrls(config.read("JOBS_QUEUE_URL"), config.read("JOBS_DEAD_LETTERS_URL")),
            "events": QueueUrls(
                config.read("EVENTS_QUEUE_URL"), config.read("EVENTS_DEAD_LETTERS_URL")
            ),
        },
    )


@cache
def doctor() -> "Doctor":
    """An operator's look at the whole stack."""
    from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
    from pillarbox.adapters.dynamodb.care import DynamoCare
    from pillarbox.adapters.front_door import HttpDoor
    from pillarbox.adapters.relay_certificate import RelayCertificate
    from pillarbox.adapters.ses_account import SesAccount
    from pillarbox.adapters.watching import StackWatch
    from pillarbox.application.administration.doctor import Doctor

    (relay,) = config.read_servers("RELAY") or (None,)
    host, _, port = (relay or "").rpartition(":")
    return Doctor(
        provider=SesAccount(utc_now),
        accounts=DynamoAccounts(table()),
        domains=domains(),
        queues=queue_care(),
        table=DynamoCare(table()),
        watch=StackWatch(config.read("STACK"), utc_now),
        door=HttpDoor(config.read("API_URL")),
        certificates=RelayCertificate(host, int(port)) if relay else None,
        clock=utc_now,
        configuration_set=config.read("CONFIGURATION_SET"),
        preview_sender=config.read("PREVIEW_SENDER"),
        workers=int(config.read("DELIVERY_CONCURRENCY")),
    )


@cache
def round_trip() -> "RoundTrip":
    """An operator's mail through the whole service."""
    from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
    from pillarbox.adapters.front_door import HttpDoor
    from pillarbox.application.administration.round_trip import RoundTrip

    return RoundTrip(
        accounts=DynamoAccounts(table()),
        keys=api_keys(),
        door=HttpDoor(config.read("API_URL")),
        clock=utc_now,
        pause=sleep,
    )
