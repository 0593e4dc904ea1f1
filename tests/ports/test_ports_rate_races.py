"""Workers that take tokens or lease a message at the same time, on the local engine."""

import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from unittest import mock
from uuid import uuid4

import pytest

from local.engine import Engine
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.messages.heartbeat import DynamoHeartbeat, DynamoSeenEvents
from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
from pillarbox.adapters.dynamodb.messages.sending_rate import DynamoSendingRate
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.delivery.deliver import Delivery
from pillarbox.application.delivery.holds import Holds
from pillarbox.application.delivery.result import Outcome
from pillarbox.domain.messages.mail import Job
from tests.aws import create_table, forget_sessions
from tests.fakes import builders, stores
from tests.fakes.builders import ACCOUNT, NOW
from tests.stack import free_port

_WORKERS = 8
#: For each worker at a rate of 14: together half as much again as the bucket has.
_EMAILS = 4
_SECOND = 1_000_000


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    """An empty table on a local engine."""
    with asyncio.Runner() as loop:
        engine = Engine(tmp_path_factory.mktemp("engine"), free_port(), {})
        with mock.patch.dict(os.environ, engine.aws_environment):
            forget_sessions()
            loop.run(engine.start())
            try:
                create_table("pillarbox")
                yield Table("pillarbox", retries=False)
            finally:
                loop.run(engine.stop())
                forget_sessions()


@pytest.mark.parametrize("rate", [14.0, 50.0])
def test_no_token_is_taken_twice(table: Table, rate: float) -> None:
    """Workers that race at one moment get the tokens of one bucket, and each taken one counts."""
    table.delete(keys.sending_rate())
    barrier = Barrier(_WORKERS)

    def work(number: int) -> int:
        worker = DynamoSendingRate(table, lambda: rate, lambda: NOW, lambda _: None)
        barrier.wait()
        return sum(
            worker.acquire(ACCOUNT, 1, urgent=bool(number % 4 == 0)) is None
            for _ in range(_EMAILS * round(rate / 14))
        )

    with ThreadPoolExecutor(_WORKERS) as pool:
        taken = sum(pool.map(work, range(_WORKERS)))
    item = table.get(keys.sending_rate())
    assert item
    reserve = max(rate / 4, 1)
    # Each lane may let one worker depart later, with tokens that have not come yet. Ordinary email
    # leaves the tokens of 0.3 seconds to the codes of its own account.
    assert rate * 0.6 - 1 <= taken <= rate + reserve + 2 + rate * 0.1
    full = NOW.timestamp() * _SECOND - 0.9 * _SECOND
    assert taken / rate <= (item["empty_at"] - full) / _SECOND + 0.001


def test_threads_of_one_worker_share_its_tokens(table: Table) -> None:
    """Eight threads of one worker take each token once, those that it took in advance too."""
    table.delete(keys.sending_rate())
    worker = DynamoSendingRate(table, lambda: 50.0, lambda: NOW, lambda _: None)
    barrier = Barrier(_WORKERS)

    def work(_: int) -> int:
        barrier.wait()
        return sum(worker.acquire(ACCOUNT, 1, urgent=False) is None for _ in range(12))

    with ThreadPoolExecutor(_WORKERS) as pool:
        taken = sum(pool.map(work, range(_WORKERS)))
    item = table.get(keys.sending_rate())
    assert item
    full = NOW.timestamp() * _SECOND - 0.9 * _SECOND
    assert taken / 50 <= (item["empty_at"] - full) / _SECOND + 0.001
    assert taken >= 45


def test_threads_that_deliver_one_job_hand_it_over_once(table: Table) -> None:
    """However many copies of a job a batch has, one thread leases the message and sends it."""
    messages, store, mailer = DynamoMessages(table), stores.Store(), stores.FakeMailer()
    delivery = Delivery(
        messages=messages,
        directory=stores.Directory(store),
        holds=Holds(stores.Directory(store), lambda: NOW),
        suppressions=DynamoSuppressions(store.table),
        jobs=stores.FakeJobs(store),
        mailer=mailer,
        rate=stores.FakeSendingRate(),
        seen_events=DynamoSeenEvents(store.table),
        event_queue=stores.FakeEventQueue(store),
        heartbeat=DynamoHeartbeat(store.table),
        build=lambda _mail, _message: b"",
        keep=lambda _message, _raw: None,
        clock=lambda: NOW,
        pause=lambda _: None,
        new_owner=lambda: str(uuid4()),
    )
    for _ in range(5):
        message = builders.message()
        messages.commit(message)
        job, barrier = builders.job(message, queued_at=NOW), Barrier(_WORKERS)

        def deliver(_: int, job: Job = job, barrier: Barrier = barrier) -> Outcome:
            barrier.wait()
            return delivery.deliver(job).outcome

        with ThreadPoolExecutor(_WORKERS) as pool:
            outcomes = list(pool.map(deliver, range(_WORKERS)))
        assert outcomes.count(Outcome.SENT) == 1
    assert len(mailer.taken) == 5
