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
from pillarbox.application.authentication import Authentication

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pillarbox.adapters.sqs.jobs import SqsJobs
    from pillarbox.application.delivery.deliver import Delivery
    from pillarbox.application.delivery.feedback import Feedback
    from pillarbox.application.delivery.poison_jobs import PoisonJobs
    from pillarbox.application.delivery.sweep import Sweep
    from pillarbox.application.history.aggregate import Aggregation
    from pillarbox.application.history.lookup import MessageLookup
    from pillarbox.application.history.queries import HistoryQueries
    from pillarbox.application.sending.acceptance import SendingPorts
    from pillarbox.application.sending.batch import BatchSend
    from pillarbox.application.sending.single import SingleSend
    from pillarbox.application.sending.smtp import SmtpSubmission
    from pillarbox.application.templates.authoring import TemplateAuthoring
    from pillarbox.application.templates.saved import TemplateLibrary

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
def sending_ports() -> "SendingPorts":
    """Everything that sending needs."""
    from pillarbox.adapters.dns import DnsMailDomains
    from pillarbox.adapters.dynamodb.claims import DynamoClaims
    from pillarbox.adapters.dynamodb.messages import DynamoMessages
    from pillarbox.adapters.dynamodb.quotas import DynamoQuotas
    from pillarbox.application.sending.acceptance import SendingPorts
    from pillarbox.application.sending.prepare import PreviewTerms

    return SendingPorts(
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
def single_send() -> "SingleSend":
    """Sending one message over HTTP."""
    from pillarbox.application.sending.single import SingleSend

    return SingleSend(sending_ports())


@cache
def batch_send() -> "BatchSend":
    """Sending batches over HTTP."""
    from pillarbox.application.sending.batch import BatchSend

    return BatchSend(sending_ports())


@cache
def smtp_submission(paid_plans_only: bool) -> "SmtpSubmission":  # noqa: FBT001  the setting's only two values
    """Accepting messages over SMTP."""
    from pillarbox.application.sending.smtp import SmtpSubmission

    return SmtpSubmission(sending_ports(), paid_plans_only)


def read_secret(name: str) -> str:
    """A secret's newest text, as Secrets Manager keeps it."""
    from pillarbox.adapters.aws import make_client, service_errors

    with service_errors("secret store"):
        answer: str = make_client("secretsmanager").get_secret_value(SecretId=name)["SecretString"]
        return answer


@cache
def jobs() -> "SqsJobs":
    """The queue and its spool."""
    from pillarbox.adapters.sqs.jobs import SqsJobs

    return SqsJobs(config.read("JOBS_QUEUE_URL"), config.read("SPOOL_BUCKET"))


@cache
def message_lookup() -> "MessageLookup":
    """Looking back at messages."""
    from pillarbox.adapters.dynamodb.messages import DynamoMessages
    from pillarbox.application.history.lookup import MessageLookup

    return MessageLookup(DynamoMessages(table()))


@cache
def history_queries() -> "HistoryQueries":
    """Looking back at many messages."""
    from pillarbox.adapters.dynamodb.ledger import DynamoLedger
    from pillarbox.adapters.dynamodb.message_log import DynamoMessageLog
    from pillarbox.application.history.queries import HistoryQueries

    return HistoryQueries(
        log=DynamoMessageLog(table()), ledger=DynamoLedger(table()), clock=utc_now
    )


@cache
def aggregation() -> "Aggregation[Mapping[str, Any]]":
    """Keeping statistics."""
    from pillarbox.adapters.aws import in_parallel
    from pillarbox.adapters.dynamodb.ledger import DynamoLedger
    from pillarbox.adapters.dynamodb.message_log import read_change
    from pillarbox.application.history.aggregate import Aggregation

    return Aggregation(read=read_change, ledger=DynamoLedger(table()), for_each=in_parallel)


@cache
def delivery() -> "Delivery":
    """Delivering mail."""
    from pillarbox.adapters.dynamodb.heartbeat import DynamoHeartbeat
    from pillarbox.adapters.dynamodb.messages import DynamoMessages
    from pillarbox.adapters.dynamodb.suppressions import DynamoSuppressions
    from pillarbox.adapters.ses.mailer import SesMailer
    from pillarbox.adapters.ses.rate import SendRateLimiter
    from pillarbox.application.delivery.build_message import build_raw
    from pillarbox.application.delivery.deliver import Delivery
    from pillarbox.domain.ids import new_token

    return Delivery(
        messages=DynamoMessages(table()),
        directory=DynamoDirectory(table()),
        suppressions=DynamoSuppressions(table()),
        jobs=jobs(),
        mailer=SesMailer(
            config.read("CONFIGURATION_SET"),
            SendRateLimiter(int(config.read("DELIVERY_CONCURRENCY")), utc_now, sleep),
        ),
        heartbeat=DynamoHeartbeat(table()),
        build=build_raw,
        clock=utc_now,
        pause=sleep,
        new_owner=lambda: new_token(16),
    )


def count_changes(records: "Iterable[Mapping[str, Any]]") -> "Mapping[str, int]":
    """What changes of messages tell, for metrics."""
    from pillarbox.adapters.dynamodb import message_log

    return message_log.count_changes(records)


@cache
def poison_jobs() -> "PoisonJobs":
    """Setting aside what the worker cannot read."""
    from pillarbox.adapters.dynamodb.messages import DynamoMessages
    from pillarbox.adapters.sqs.dead_letters import SqsDeadLetters
    from pillarbox.application.delivery.poison_jobs import PoisonJobs

    return PoisonJobs(
        messages=DynamoMessages(table()),
        dead_letters=SqsDeadLetters(config.read("JOBS_DEAD_LETTERS_URL")),
        clock=utc_now,
    )


@cache
def sweep() -> "Sweep":
    """Looking for what got stuck."""
    from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
    from pillarbox.adapters.dynamodb.message_log import DynamoMessageLog
    from pillarbox.adapters.dynamodb.messages import DynamoMessages
    from pillarbox.adapters.s3_spool import S3Spool
    from pillarbox.application.delivery.sweep import Sweep

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
    from pillarbox.adapters.dynamodb.heartbeat import DynamoHeartbeat
    from pillarbox.adapters.dynamodb.messages import DynamoMessages
    from pillarbox.adapters.dynamodb.suppressions import DynamoSuppressions
    from pillarbox.adapters.ses.events import read_provider_event
    from pillarbox.application.delivery.feedback import Feedback

    return Feedback(
        read=read_provider_event,
        messages=DynamoMessages(table()),
        suppressions=DynamoSuppressions(table()),
        heartbeat=DynamoHeartbeat(table()),
    )


@cache
def template_authoring() -> "TemplateAuthoring":
    """An operator's work on saved templates."""
    from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
    from pillarbox.adapters.dynamodb.templates import DynamoTemplates
    from pillarbox.application.templates.authoring import TemplateAuthoring

    return TemplateAuthoring(
        records=DynamoTemplates(table()), accounts=DynamoAccounts(table()), clock=utc_now
    )


@cache
def template_library() -> "TemplateLibrary":
    """The saved templates, for callers of the API."""
    from pillarbox.application.templates.saved import TemplateLibrary

    return TemplateLibrary(template_authoring())
