"""Both implementations of application/ports.py: the fakes, and the adapters over emulated AWS."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

import boto3

from pillarbox.adapters.dynamodb import records
from pillarbox.adapters.dynamodb.claims import DynamoClaims
from pillarbox.adapters.dynamodb.directory import DynamoDirectory
from pillarbox.adapters.dynamodb.heartbeat import DynamoHeartbeat
from pillarbox.adapters.dynamodb.messages import DynamoMessages
from pillarbox.adapters.dynamodb.quotas import DynamoQuotas
from pillarbox.adapters.dynamodb.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.sqs.jobs import SqsJobs
from pillarbox.application.ports import (
    Claims,
    Directory,
    EventHeartbeat,
    Jobs,
    Messages,
    Quotas,
    Suppressions,
)
from pillarbox.domain.account import Account
from pillarbox.domain.key import ApiKey
from pillarbox.domain.mail import Job
from pillarbox.domain.template import SavedTemplate
from tests.aws import Aws
from tests.fakes import stores


@dataclass(frozen=True, kw_only=True)
class Ports:
    """One implementation of the ports, and how a test stores what no port stores."""

    directory: Directory
    claims: Claims
    quotas: Quotas
    messages: Messages
    jobs: Jobs
    suppressions: Suppressions
    #: Makes the pulse of another process each time.
    heartbeat: Callable[[], EventHeartbeat]
    put: Callable[[Account | ApiKey | SavedTemplate], None]
    #: Takes the jobs out of the queue as a worker reads them.
    receive: Callable[[], list[Job]]
    #: How many mails lie in the spool.
    spooled: Callable[[], int]


def fakes() -> Ports:
    store = stores.Store()

    def put(thing: Account | ApiKey | SavedTemplate) -> None:
        match thing:
            case Account():
                store.accounts[thing.account_id] = thing
            case ApiKey():
                store.keys[thing.digest] = thing
            case SavedTemplate():
                store.templates[thing.account_id, UUID(thing.template_id)] = thing

    def receive() -> list[Job]:
        jobs, store.queue[:] = list(store.queue), []
        return jobs

    return Ports(
        directory=stores.FakeDirectory(store),
        claims=stores.FakeClaims(store),
        quotas=stores.FakeQuotas(store),
        messages=stores.FakeMessages(store),
        jobs=stores.FakeJobs(store),
        suppressions=stores.FakeSuppressions(store),
        heartbeat=lambda: stores.FakeHeartbeat(store),
        put=put,
        receive=receive,
        spooled=lambda: len(store.spool),
    )


def adapters(names: Aws) -> Ports:
    table = Table(names.table)
    jobs = SqsJobs(names.queue_url, names.bucket)
    sqs, s3 = boto3.client("sqs"), boto3.client("s3")

    def put(thing: Account | ApiKey | SavedTemplate) -> None:
        match thing:
            case Account():
                table.put(records.account_item(thing))
            case ApiKey():
                table.put(records.key_item(thing))
            case SavedTemplate():
                table.put(records.template_item(thing))

    def receive() -> list[Job]:
        answer = sqs.receive_message(QueueUrl=names.queue_url, MaxNumberOfMessages=10)
        return [jobs.read(message["Body"]) for message in answer.get("Messages", ())]

    return Ports(
        directory=DynamoDirectory(table),
        claims=DynamoClaims(table),
        quotas=DynamoQuotas(table),
        messages=DynamoMessages(table),
        jobs=jobs,
        suppressions=DynamoSuppressions(table),
        heartbeat=lambda: DynamoHeartbeat(table),
        put=put,
        receive=receive,
        spooled=lambda: s3.list_objects_v2(Bucket=names.bucket)["KeyCount"],
    )
