"""A queue of events that is never empty: no order of what happens hides an older event.

`tests/fakes/event_queue_model.py` has what SQS does to the events.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pillarbox.adapters.sqs.event_queue import SqsEventQueue
from pillarbox.application.delivery.deliver import event_due
from pillarbox.domain.messages.message import Lease
from tests.examples import examples
from tests.fakes.event_queue_model import DEAD_LETTERS, QUEUE, WATCHED, EventQueueModel
from tests.loops import for_each


class Wait:
    """The wait for the event of a hand-over that got no response; the event is in the queue."""

    def __init__(self, *, seed: int = 1, before: float = 2) -> None:
        self.model = model = EventQueueModel(Random(seed))  # noqa: S311  a repeatable history
        self._queue = SqsEventQueue(QUEUE, DEAD_LETTERS, lambda: model.now)
        vars(self._queue).update(_sqs=model, _cloudwatch=model)
        model.run(before)
        self.began_at = model.now
        self._due = event_due(Lease(owner="w", taken_at=model.now, expires_at=model.now))
        model.put_watched()
        #: When a worker would have sent the email again.
        self.ended_at: datetime | None = None

    def pass_by(self, minutes: float, letters: int = 0, **changes: object) -> None:
        """Let time pass with workers that look often, until one sends the email again."""
        self.model.put_dead(letters)
        for name, value in changes.items():
            setattr(self.model, name, value)
        if self.ended_at is None:
            self.model.run(minutes, self._look)

    def _look(self) -> None:
        # As `Delivery` does: events of later hand-overs must have been recorded.
        model = self.model
        looks = self.ended_at is None and model.heartbeat >= self._due
        if looks and not self._queue.may_hold_older_than(self._due, WATCHED):
            self.ended_at = model.now

    @property
    def doubled(self) -> bool:
        """Whether the email went out again though its event was still to come."""
        return self.ended_at is not None and self.model.holds_watched


def _dead_letters_moved_back(wait: Wait) -> None:
    """The event becomes a dead letter, and is redriven before its cause is mended."""
    wait.pass_by(80, kills=True)
    wait.pass_by(10, moving=True)


def _moved_back_beside_others(wait: Wait) -> None:
    """As before, and dead letters of another message come and stay."""
    wait.pass_by(80, letters=3, kills=True)
    wait.pass_by(10, moving=True)
    wait.pass_by(40, letters=2)


def _a_paused_mapping(wait: Wait) -> None:
    """The consumer is broken, the operator stops it for an hour, and it works again."""
    wait.pass_by(18, crashes=True, arrivals=1)
    wait.pass_by(60, capacity=0)
    wait.pass_by(10, crashes=False, capacity=3)


def _a_paused_mapping_without_mail(wait: Wait) -> None:
    """As before, but nothing else is in the queue meanwhile, so the age is zero."""
    wait.pass_by(17, kills=True)
    wait.pass_by(1, arrivals=0)
    wait.pass_by(60, capacity=0)
    wait.pass_by(5, kills=False, capacity=3, arrivals=4)


def _a_backlog(wait: Wait) -> None:
    """An event kills its consumers, and in a backlog its receipts are minutes apart."""
    wait.pass_by(18, kills=True)
    wait.pass_by(1, arrivals=100)
    wait.pass_by(60, capacity=8, arrivals=8)


def _a_backlog_that_always_fails(wait: Wait) -> None:
    """More events wait than consumers can receive in a minute, and soon the age counts none."""
    wait.pass_by(18, kills=True)
    wait.pass_by(1, crashes=True, arrivals=100)
    wait.pass_by(55, capacity=20, arrivals=0)


@for_each(
    "happens",
    [
        _dead_letters_moved_back,
        _moved_back_beside_others,
        _a_paused_mapping,
        _a_paused_mapping_without_mail,
        _a_backlog,
        _a_backlog_that_always_fails,
    ],
)
def test_no_email_goes_out_again_before_its_event(happens: Callable[[Wait], None]) -> None:
    """An event that SQS leaves out of the age, or that was a dead letter, still holds the email."""
    wait = Wait()
    happens(wait)
    assert not wait.doubled, wait.ended_at


@for_each("letters", [0, 1, 10])
def test_a_busy_service_ends_the_wait_within_an_hour(letters: int) -> None:
    """The event never comes, the queue is never empty, and others' events are dead: it ends."""
    wait = Wait()
    wait.model.queue = [event for event in wait.model.queue if not event.is_watched]
    wait.pass_by(80, letters=letters)
    assert wait.ended_at is not None
    assert timedelta(minutes=46) < wait.ended_at - wait.began_at < timedelta(minutes=60)


_PHASE: Final = st.fixed_dictionaries(
    {
        "minutes": st.sampled_from((1, 5, 20, 50, 120)),
        "letters": st.sampled_from((0, 0, 1, 9)),
        "crashes": st.booleans(),
        "kills": st.booleans(),
        "moving": st.booleans(),
        "capacity": st.sampled_from((40, 8, 3, 0)),
        "arrivals": st.sampled_from((0, 1, 4)),
    }
)


@pytest.mark.slow
@settings(max_examples=examples(5))
@given(seed=st.integers(0, 1000), phases=st.lists(_PHASE, min_size=2, max_size=6))
def test_no_history_of_the_queue_hides_an_event(seed: int, phases: Sequence[Any]) -> None:
    """Whatever fails, stops or is moved, and in any order, an event in the queue is expected."""
    wait = Wait(seed=seed, before=0)
    for phase in phases:
        wait.pass_by(**phase)
    assert not wait.doubled, wait.ended_at
