"""The adapters on emulated AWS, with what no port does."""

from collections.abc import Callable
from dataclasses import dataclass

from pillarbox.adapters.dynamodb import records
from pillarbox.adapters.dynamodb.accounts.directory import DynamoDirectory
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.messages.claims import DynamoClaims
from pillarbox.adapters.dynamodb.messages.heartbeat import DynamoHeartbeat, DynamoSeenEvents
from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
from pillarbox.adapters.dynamodb.messages.quota_refusals import DynamoRefusals
from pillarbox.adapters.dynamodb.messages.quotas import DynamoQuotas
from pillarbox.adapters.dynamodb.messages.waiting import DynamoWaitingContents, DynamoWakeTimes
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.sqs.jobs import SqsJobs
from pillarbox.application.delivery.ports import EventHeartbeat, SeenEvents
from pillarbox.application.ports import (
    Claims,
    Directory,
    Jobs,
    Messages,
    Quotas,
    Refusals,
    Suppressions,
)
from pillarbox.application.waiting_ports import WaitingContents, WakeQueue, WakeTimes
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.key import ApiKey
from pillarbox.domain.messages.mail import Job
from pillarbox.domain.templates.template import SavedTemplate
from tests.aws import Aws, shared_client


@dataclass(frozen=True, kw_only=True)
class Ports:
    """The ports, with functions for what no port does."""

    directory: Directory
    claims: Claims
    quotas: Quotas
    refusals: Refusals
    messages: Messages
    jobs: Jobs
    #: The same queue, for jobs without content.
    wake_queue: WakeQueue
    contents: WaitingContents
    wake_times: WakeTimes
    suppressions: Suppressions
    seen_events: SeenEvents
    #: Returns a heartbeat of another process each time.
    heartbeat: Callable[[], EventHeartbeat]
    #: Stores an object for which the application has no port.
    put: Callable[[Account | ApiKey | SavedTemplate], None]
    #: Receives the jobs from the queue as a worker does.
    receive: Callable[[], list[Job]]
    #: Returns the number of emails in the spool.
    spooled: Callable[[], int]


def adapters(names: Aws) -> Ports:
    table, credentials = Table(names.table), Table(names.credentials)
    jobs = SqsJobs(names.queue_url, names.urgent_queue_url, names.bucket)
    sqs, s3 = shared_client("sqs"), shared_client("s3")

    def put(record: Account | ApiKey | SavedTemplate) -> None:
        match record:
            case Account():
                table.put(records.account_item(record))
            case ApiKey():
                credentials.put(records.key_item(record))
            case SavedTemplate():
                table.put(records.template_item(record))

    def receive() -> list[Job]:
        urls = (names.queue_url, names.urgent_queue_url)
        responses = [sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10) for url in urls]
        messages = [message for each in responses for message in each.get("Messages", ())]
        return [jobs.read(message["Body"]) for message in messages]

    return Ports(
        directory=DynamoDirectory(table, credentials),
        claims=DynamoClaims(table),
        quotas=DynamoQuotas(table),
        refusals=DynamoRefusals(table),
        messages=DynamoMessages(table),
        jobs=jobs,
        wake_queue=jobs,
        contents=DynamoWaitingContents(table, names.bucket),
        wake_times=DynamoWakeTimes(table),
        suppressions=DynamoSuppressions(table),
        seen_events=DynamoSeenEvents(table),
        heartbeat=lambda: DynamoHeartbeat(table),
        put=put,
        receive=receive,
        spooled=lambda: s3.list_objects_v2(Bucket=names.bucket)["KeyCount"],
    )
