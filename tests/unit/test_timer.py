"""The timer in DynamoDB: a minute with more items than memory, or than one pass, can hold."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from benchmarks.metered import metered_table
from pillarbox.adapters.dynamodb import keys, timer
from pillarbox.adapters.dynamodb.messages.waiting import DynamoWakeTimes
from pillarbox.application.waiting import DueMail
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.mail import Job
from tests.fakes.builders import ACCOUNT

DUE = datetime(2026, 12, 1, 9, tzinfo=UTC)
JOBS, PAGE, PART = 600, 20, 100
BUCKETS = keys.TIMERS["WAKE"]


class Queue:
    """Takes jobs, and dies at some call."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.dies_after: int | None = None

    def wake_all(self, jobs: Any, now: datetime) -> None:
        del now
        self.jobs += jobs
        if self.dies_after is not None and len(self.jobs) >= self.dies_after:
            raise KeyboardInterrupt


class Case:
    """A minute with many jobs, and the pages that were read of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.table, self.engine = metered_table()
        self.times, self.queue = DynamoWakeTimes(self.table), Queue()
        self.now = DUE - timedelta(minutes=1)
        self.seconds, self.seconds_of_a_write = 0.0, 0.0
        self.read = 0
        #: The most items that were read and not queued yet.
        self.held = 0
        vars(self.table)["client"] = self
        monkeypatch.setattr(timer, "monotonic", lambda: self.seconds)
        monkeypatch.setattr(timer, "in_parallel", lambda call, items: [call(one) for one in items])
        self.jobs = [
            Job(
                account_id=ACCOUNT,
                message_id=new_id(self.now),
                body_hash="h",
                queued_at=DUE,
                deadline=DUE + timedelta(hours=1),
                due_at=DUE,
            )
            for _ in range(JOBS)
        ]
        self.times.put_all(self.jobs)
        self.left = JOBS

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def query(self, **request: Any) -> Any:
        response = self.engine.query(**request | {"Limit": PAGE})
        self.read += len(response["Items"])
        self.held = max(self.held, self.read - len(self.queue.jobs))
        return response

    def batch_write_item(self, **request: Any) -> Any:
        self.seconds += self.seconds_of_a_write
        return self.engine.batch_write_item(**request)

    def run(self) -> int:
        return DueMail(times=self.times, queue=self.queue, clock=lambda: self.now).enqueue()

    def queued(self) -> Counter[Any]:
        return Counter(job.message_id for job in self.queue.jobs)


@pytest.fixture
def case(monkeypatch: pytest.MonkeyPatch) -> Case:
    return Case(monkeypatch)


def test_a_full_minute_is_held_a_few_pages_at_a_time(case: Case) -> None:
    """However many jobs it has, a pass holds a page of each bucket and the part it queues."""
    assert case.run() == JOBS
    assert sorted(case.queue.jobs, key=repr) == sorted(case.jobs, key=repr)
    assert case.held <= BUCKETS * PAGE + PART
    assert case.run() == 0


def test_a_pass_ends_after_a_while_and_the_next_one_goes_on(case: Case) -> None:
    """After 30 seconds a pass queues no further part, and each job is queued once."""
    case.seconds_of_a_write = 3
    assert [case.run() for _ in range(4)] == [3 * PART, 3 * PART, 0, 0]
    assert set(case.queued().values()) == {1}
    assert len(case.queued()) == JOBS


def test_a_pass_without_time_queues_a_part_at_least(case: Case) -> None:
    """However slow the calls are, no minute stops the timer for ever."""
    case.seconds_of_a_write = 1000
    assert [case.run() for _ in range(7)] == [PART] * 6 + [0]


def test_a_pass_that_dies_queues_only_its_part_again(case: Case) -> None:
    """What was removed is not read again; what was queued and not removed comes once more."""
    case.queue.dies_after = 3 * PART
    with pytest.raises(KeyboardInterrupt):
        case.run()
    case.queue.dies_after = None
    assert case.run() == JOBS - 2 * PART
    again = case.queued()
    assert (len(again), sum(again.values())) == (JOBS, JOBS + PART)
