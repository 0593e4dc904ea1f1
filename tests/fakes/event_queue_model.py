"""The queue of the provider's events on a simulated clock: receipts, dead letters, reports.

It does what SQS documents: a message that was received three times does not count in the age of
the oldest one and goes to the back, and one that moves out of the dead-letter queue is new.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final
from uuid import UUID

from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, NOW

TICK: Final = timedelta(seconds=20)
_TICKS_A_MINUTE: Final = 3
_VISIBILITY: Final = timedelta(minutes=1)
_RECEIPTS: Final = 30
#: From so many receipts on a message is left out of the age of the oldest one.
_UNCOUNTED: Final = 3
QUEUE, DEAD_LETTERS = "https://sqs/events", "https://sqs/dead"
#: The message of the watched event.
WATCHED: Final = builders.message()
_OF_WATCHED = f'{{"tags": {{"account": ["{ACCOUNT}"], "message": ["{WATCHED.message_id}"]}}}}'
_OF_OTHER = _OF_WATCHED.replace(str(WATCHED.message_id), str(UUID(int=7)))


@dataclass(slots=True, eq=False)
class Queued:
    """An event in the queue."""

    sent_at: datetime
    #: When it is or was visible again.
    visible_at: datetime
    receipts: int = 0
    is_watched: bool = False
    #: It is recorded, and will be deleted.
    is_recorded: bool = False


class EventQueueModel:
    """A queue of events, of which one is watched, and its consumers.

    It stands in for the clients of SQS and CloudWatch.

    Attributes:
        arrivals: the events that arrive in a tick.
        capacity: the events that the consumers receive in a tick; 0 is a paused mapping.
        crashes: whether every consumer dies before it can do or mark anything.
        ticks: how many have passed.
        kills: whether the watched event kills its consumer before it leaves a mark.
    """

    def __init__(self, draw: Random) -> None:
        self._draw = draw
        self.now = NOW
        self.arrivals, self.capacity = 2, 40
        self.crashes = self.kills = False
        self.queue: list[Queued] = []
        self.dead: list[Queued] = []
        self.moving = False
        #: The time of the newest event that was recorded.
        self.heartbeat = NOW
        self._received = 0
        #: By the URL of the queue and the metric.
        self._reports: dict[tuple[str, str], dict[datetime, float]] = defaultdict(dict)
        self.ticks = 0

    @property
    def holds_watched(self) -> bool:
        """Whether the watched event is still to be recorded."""
        events = (*self.queue, *self.dead)
        return any(event.is_watched and not event.is_recorded for event in events)

    def put_watched(self) -> None:
        self.queue.append(Queued(self.now, self.now, is_watched=True))

    def put_dead(self, letters: int) -> None:
        """Put events of another message into the dead-letter queue, as EventBridge does."""
        self.dead += [Queued(self.now, self.now) for _ in range(letters)]

    def run(self, minutes: float, look: Callable[[], None] = lambda: None) -> None:
        """Let time pass, with a look at the end of each tick."""
        for _ in range(round(minutes * _TICKS_A_MINUTE)):
            self._tick()
            look()

    def _tick(self) -> None:
        self.now += TICK
        self.ticks += 1
        if self.moving:
            moved, self.dead = self.dead[:20], self.dead[20:]
            self.queue += [Queued(self.now, self.now, is_watched=e.is_watched) for e in moved]
            self.moving = bool(self.dead)
        self.queue += [Queued(self.now, self.now) for _ in range(self.arrivals)]
        if not self.ticks % _TICKS_A_MINUTE:
            self._report()
        self._receive()

    def _receive(self) -> None:
        self.queue = [event for event in self.queue if not event.is_recorded]
        # The order is kept roughly.
        visible = [event for event in self.queue if event.visible_at <= self.now]
        visible.sort(key=lambda event: event.visible_at.timestamp() + self._draw.uniform(0, 25))
        for event in visible[: self.capacity]:
            self._received += 1
            event.receipts += 1
            if event.receipts > _RECEIPTS:
                self.queue.remove(event)
                self.dead.append(event)
                continue
            event.visible_at = self.now + _VISIBILITY
            if not self.crashes and not (event.is_watched and self.kills):
                event.is_recorded = True
                self.heartbeat = max(self.heartbeat, event.sent_at)

    def _report(self) -> None:
        counted = [
            event.sent_at
            for event in self.queue
            if event.receipts < _UNCOUNTED and not event.is_recorded
        ]
        # The report is dated to the beginning of its minute.
        at = self.now - timedelta(minutes=1)
        age = (self.now - min(counted, default=self.now)).total_seconds()
        waiting = sum(event.visible_at <= self.now for event in self.queue)
        self._reports[QUEUE, "ApproximateAgeOfOldestMessage"][at] = age
        self._reports[QUEUE, "NumberOfMessagesReceived"][at] = self._received
        self._reports[QUEUE, "ApproximateNumberOfMessagesVisible"][at] = waiting
        self._reports[DEAD_LETTERS, "ApproximateNumberOfMessagesVisible"][at] = len(self.dead)
        self._received = 0

    # The clients of SQS and CloudWatch

    def get_queue_attributes(self, *, QueueUrl: str, AttributeNames: Sequence[str]) -> Any:  # noqa: N803
        queue = self.dead if QueueUrl == DEAD_LETTERS else self.queue
        waiting = sum(event.visible_at <= self.now for event in queue)
        counts = dict.fromkeys(AttributeNames, "0") | {
            "ApproximateNumberOfMessages": str(waiting),
            "ApproximateNumberOfMessagesNotVisible": str(len(queue) - waiting),
        }
        return {"Attributes": counts}

    def receive_message(self, *, MaxNumberOfMessages: int, **asked: Any) -> Any:  # noqa: N803
        assert asked["QueueUrl"] == DEAD_LETTERS
        assert asked["VisibilityTimeout"] == 0
        letters = self._draw.sample(self.dead, min(len(self.dead), MaxNumberOfMessages))
        bodies = (_OF_WATCHED if letter.is_watched else _OF_OTHER for letter in letters)
        return {"Messages": [{"Body": body} for body in bodies]}

    def get_metric_statistics(self, *, MetricName: str, **asked: Any) -> Any:  # noqa: N803
        since, until = asked["StartTime"], asked["EndTime"]
        (queue,) = asked["Dimensions"]
        points = self._reports[f"https://sqs/{queue['Value']}", MetricName].items()
        return {
            "Datapoints": [
                {"Timestamp": at, "Maximum": value, "Sum": value}
                for at, value in points
                if since <= at < until
            ]
        }
