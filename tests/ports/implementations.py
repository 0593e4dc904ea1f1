"""The adapters on emulated AWS, with what no port does."""

from collections.abc import Callable
from dataclasses import dataclass

from pillarbox.adapters.dynamodb.accounts.directory import DynamoDirectory
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.messages.claims import DynamoClaims
from pillarbox.adapters.dynamodb.messages.heartbeat import DynamoHeartbeat
from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
from pillarbox.adapters.dynamodb.messages.quotas import DynamoQuotas
from pillarbox.adapters.dynamodb.messages.waiting import DynamoWakeTimes
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.sqs.jobs import SqsJobs
from pillarbox.domain.messages.mail import Job
from tests.aws import Aws, shared_client


@dataclass(frozen=True, kw_only=True)
class Ports:
    """The adapters, with functions for what no port does."""

    directory: DynamoDirectory
    claims: DynamoClaims
    quotas: DynamoQuotas
    messages: DynamoMessages
    jobs: SqsJobs
    wake_times: DynamoWakeTimes
    suppressions: DynamoSuppressions
    #: Returns a heartbeat of another process each time.
    heartbeat: Callable[[], DynamoHeartbeat]
    #: Receives the jobs from the queue as a worker does.
    receive: Callable[[], list[Job]]
    #: Returns the number of emails in the spool.
    spooled: Callable[[], int]


def adapters(names: Aws) -> Ports:
    table, credentials = Table(names.table), Table(names.credentials)
    jobs = SqsJobs(names.queue_url, names.urgent_queue_url, names.bucket)
    sqs, s3 = shared_client("sqs"), shared_client("s3")

    def receive() -> list[Job]:
        urls = (names.queue_url, names.urgent_queue_url)
        responses = [sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10) for url in urls]
        messages = [message for each in responses for message in each.get("Messages", ())]
        return [jobs.read(message["Body"]) for message in messages]

    return Ports(
        directory=DynamoDirectory(table, credentials),
        claims=DynamoClaims(table),
        quotas=DynamoQuotas(table),
        messages=DynamoMessages(table),
        jobs=jobs,
        wake_times=DynamoWakeTimes(table),
        suppressions=DynamoSuppressions(table),
        heartbeat=lambda: DynamoHeartbeat(table),
        receive=receive,
        spooled=lambda: s3.list_objects_v2(Bucket=names.bucket)["KeyCount"],
    )
