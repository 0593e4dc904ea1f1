"""The timer of webhooks: what it does with the tasks of a minute."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast

import pytest

from pillarbox.application.webhooks.enqueue_due import DueTasks
from pillarbox.domain.webhooks.endpoint import EndpointDrain, OwnerNotice
from tests.fakes.builders import ACCOUNT
from tests.fakes.webhooks import FakeDueTimes, FakeWebhookQueue

NOW = datetime.fromisoformat("2026-03-14T15:00:00Z")
DAY, MILLISECOND = timedelta(days=1), timedelta(milliseconds=1)


@dataclass
class Notices:
    """Sends notices, and fails for those of some endpoints."""

    failing: frozenset[str] = frozenset()
    sent: list[str] = field(default_factory=list)

    def send(self, notice: OwnerNotice) -> None:
        if notice.endpoint_id in self.failing:
            raise TypeError(notice.endpoint_id)
        self.sent.append(notice.endpoint_id)


def timer(notices: Notices) -> tuple[DueTasks, FakeDueTimes, FakeWebhookQueue]:
    due, queue = FakeDueTimes(), FakeWebhookQueue()
    tasks = DueTasks(due=due, queue=queue, notices=cast("Any", notices), clock=lambda: NOW)
    return tasks, due, queue


def test_everything_that_is_due_is_done_and_counted() -> None:
    """Tasks of several minutes are queued or sent, removed, and counted together."""
    tasks, due, queue = timer(notices := Notices())
    drains = [EndpointDrain(ACCOUNT, f"endpoint-{number}") for number in range(3)]
    due.put(drains[0], NOW - timedelta(minutes=1))
    due.put(drains[1], NOW)
    due.put(OwnerNotice(ACCOUNT, "a", NOW), NOW)
    due.put(OwnerNotice(ACCOUNT, "b", NOW), NOW)
    due.put(drains[2], NOW + timedelta(minutes=1))
    assert tasks.enqueue() == 4
    assert [task for task, _ in queue.tasks] == drains[:2]
    assert notices.sent == ["a", "b"]
    assert due.minutes.pop(NOW + timedelta(minutes=1))
    assert not any(due.minutes.values())
    assert tasks.enqueue() == 0


def test_the_first_error_of_a_notice_is_raised_at_the_end() -> None:
    """A notice that fails stops no later one, and is tried again after five minutes."""
    tasks, due, _ = timer(notices := Notices(frozenset({"a", "b"})))
    for endpoint in ("a", "b", "c"):
        due.put(OwnerNotice(ACCOUNT, endpoint, NOW), NOW)
    with pytest.raises(TypeError, match="a"):
        tasks.enqueue()
    assert notices.sent == ["c"]
    again = due.minutes.pop(NOW + timedelta(minutes=5))
    assert [cast("OwnerNotice", task).endpoint_id for task in again.values()] == ["a", "b"]
    assert not any(due.minutes.values())


@pytest.mark.parametrize(("age", "tries"), [(DAY - MILLISECOND, 1), (DAY, 0), (DAY + DAY, 0)])
def test_a_notice_is_tried_for_less_than_a_day(age: timedelta, tries: int) -> None:
    tasks, due, _ = timer(Notices(frozenset({"a"})))
    due.put(OwnerNotice(ACCOUNT, "a", NOW - age), NOW)
    with pytest.raises(TypeError):
        tasks.enqueue()
    assert sum(map(len, due.minutes.values())) == tries
