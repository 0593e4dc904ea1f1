"""Counting the messages of the queues, and moving dead letters back."""

import pytest

from pillarbox.adapters.dynamodb.queue_log import DynamoQueueLog
from pillarbox.application.operator.ports import QueueStatus
from pillarbox.application.operator.queues import QueueOperations, QueueUrls
from pillarbox.domain.errors import Unavailable, ValidationFailed
from tests.fakes.builders import NOW
from tests.fakes.engine_tables import EngineTable


class FakeQueues:
    """Implements `Queues` and `QueueAges` with lists of texts by URL."""

    def __init__(self) -> None:
        self.texts = {"jobs": ["a"], "jobs-dead": ["b", "c", "d"], "events": [], "events-dead": []}

    def status(self, queue_url: str) -> QueueStatus:
        return QueueStatus(waiting=len(self.texts[queue_url]), in_flight=0, delayed=0)

    def oldest_message_age(self, queue_url: str) -> float | None:
        return 60.0 if self.texts[queue_url] else None

    def move(self, source_url: str, target_url: str, at_most: int) -> int:
        moved = self.texts[source_url][:at_most]
        del self.texts[source_url][:at_most]
        self.texts[target_url] += moved
        return len(moved)


@pytest.fixture
def queues() -> FakeQueues:
    return FakeQueues()


@pytest.fixture
def operations(queues: FakeQueues) -> QueueOperations:
    urls = {name: QueueUrls(name, f"{name}-dead") for name in ("jobs", "events")}
    log = DynamoQueueLog(EngineTable("table"))
    return QueueOperations(queues=queues, ages=queues, log=log, clock=lambda: NOW, urls=urls)


def test_the_status_has_queues_and_dead_letters(operations: QueueOperations) -> None:
    counts = {
        name: (q.waiting, dead.waiting)
        for name, (q, dead) in operations.status().items()
        if dead is not None
    }
    assert counts == {"jobs": (1, 3), "events": (0, 0)}


def test_the_oldest_message_of_each_queue_has_an_age(operations: QueueOperations) -> None:
    assert operations.oldest_message_ages() == {"jobs": 60.0, "events": None}


def test_dead_letters_move_back(operations: QueueOperations, queues: FakeQueues) -> None:
    assert operations.redrive("jobs", 2) == 2
    assert queues.texts["jobs"] == ["a", "b", "c"]
    assert operations.redrive("jobs", 10) == 1
    assert queues.texts["jobs-dead"] == []


def test_the_log_says_who_moved_how_many(operations: QueueOperations) -> None:
    """The command is `operator`. Both are of one millisecond, so their order is open."""
    operations.redrive("jobs", 2)
    operations.redrive("events", 9, by="root@shop.example")
    shown = [(one.by, one.queue, one.moved, one.at) for one in operations.redrives()]
    assert sorted(shown) == [("operator", "jobs", 2, NOW), ("root@shop.example", "events", 0, NOW)]


def test_a_redrive_that_fails_is_in_the_log(
    operations: QueueOperations, queues: FakeQueues, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no number, because some of the dead letters may have moved."""

    def fail(*_: object) -> int:
        raise Unavailable("queue")

    monkeypatch.setattr(queues, "move", fail)
    with pytest.raises(Unavailable):
        operations.redrive("jobs", 2)
    assert [(one.queue, one.moved) for one in operations.redrives()] == [("jobs", None)]


def test_an_unknown_queue_is_refused(operations: QueueOperations) -> None:
    with pytest.raises(ValidationFailed):
        operations.redrive("mail", 1)
    assert [*operations.redrives()] == []
