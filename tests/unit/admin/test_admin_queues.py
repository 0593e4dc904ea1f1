"""An operator's work on the queues: what waits, and what goes back."""

import pytest

from admin.operations.ports import QueueStatus
from admin.operations.queues import QueueOperations, QueueUrls
from pillarbox.domain.errors import ValidationFailed


class FakeQueues:
    """Queues as lists of texts, by URL."""

    def __init__(self) -> None:
        self.texts = {"jobs": ["a"], "jobs-dead": ["b", "c", "d"], "events": [], "events-dead": []}

    def status(self, queue_url: str) -> QueueStatus:
        return QueueStatus(waiting=len(self.texts[queue_url]), in_flight=0, delayed=0)

    def move(self, source_url: str, target_url: str, at_most: int) -> int:
        moved = self.texts[source_url][:at_most]
        del self.texts[source_url][:at_most]
        self.texts[target_url] += moved
        return len(moved)


@pytest.fixture
def queues() -> FakeQueues:
    return FakeQueues()


@pytest.fixture
def care(queues: FakeQueues) -> QueueOperations:
    urls = {name: QueueUrls(name, f"{name}-dead") for name in ("jobs", "events")}
    return QueueOperations(queues=queues, urls=urls)


def test_the_status_tells_of_each_queue_and_its_dead(care: QueueOperations) -> None:
    """Both queues, with what was set aside from each."""
    counts = {name: (q.waiting, dead.waiting) for name, (q, dead) in care.status().items()}
    assert counts == {"jobs": (1, 3), "events": (0, 0)}


def test_what_is_dead_goes_back(care: QueueOperations, queues: FakeQueues) -> None:
    """As many as were asked for, into the queue that they came from."""
    assert care.redrive("jobs", 2) == 2
    assert queues.texts["jobs"] == ["a", "b", "c"]
    assert care.redrive("jobs", 10) == 1
    assert queues.texts["jobs-dead"] == []


def test_another_queue_is_refused(care: QueueOperations) -> None:
    """The names are jobs and events."""
    with pytest.raises(ValidationFailed):
        care.redrive("mail", 1)
