"""The sweeper finds what got stuck, and mends only what the protocol allows."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from pillarbox.application.delivery.sweep import Sweep, SweepReport
from pillarbox.application.ports import SpoolObject
from pillarbox.domain.ids import new_id
from pillarbox.domain.message import EventKind, Lease, Message
from tests.fakes import builders, stores
from tests.fakes.builders import ACCOUNT, NOW, event

MILLISECOND = timedelta(milliseconds=1)
SECOND = timedelta(seconds=1)
#: An hour after a day of tries; a day more, for an id that is older than its job; four
#: times what a job waits for its record.
OVERDUE, HOPELESS, SETTLED = (timedelta(hours=hours) for hours in (25, 49, 1))
#: What one pass reads from there on.
TIME_RANGE = timedelta(hours=2)


class Case:
    """Messages of an account and objects in the spool, by their age."""

    def __init__(self) -> None:
        self.store = stores.Store()
        self.spooled: dict[str, tuple[datetime, Message]] = {}

    def message(self, age: timedelta, **changes: Any) -> Message:
        message = builders.message(message_id=new_id(NOW - age), **changes)
        self.store.messages[ACCOUNT, message.message_id] = message
        return message

    def spool(self, age: timedelta, message: Message) -> str:
        key = f"{ACCOUNT}/{message.message_id}/x"
        self.spooled[key] = (NOW - age, message)
        return key

    def run(self) -> SweepReport:
        messages = stores.FakeMessages(self.store)
        return Sweep(
            accounts=self, log=self, messages=messages, spool=self, clock=lambda: NOW
        ).run()

    def now(self, message: Message) -> Message:
        return self.store.messages[ACCOUNT, message.message_id]

    # The ports

    def all_ids(self) -> Iterable[str]:
        return [ACCOUNT]

    def newest_first(self, account_id: str, since: int, until: int) -> list[Message]:
        assert account_id == ACCOUNT
        return [
            message
            for message in self.store.messages.values()
            if since <= message.created_at.timestamp() * 1000 < until
        ]

    def get_all(self, account_id: str, message_ids: Iterable[object]) -> Iterable[Message]:
        raise NotImplementedError

    def all_before(self, moment: datetime) -> Iterable[SpoolObject]:
        for key, (put, message) in self.spooled.items():
            if put < moment:
                yield SpoolObject(key, message.account_id, message.message_id)

    def delete(self, key: str) -> None:
        del self.spooled[key]


@pytest.fixture
def case() -> Case:
    return Case()


def test_nothing_is_found_where_nothing_is_stuck(case: Case) -> None:
    """Mail that is finished, or young, is no finding."""
    for begin in (OVERDUE, HOPELESS):
        case.message(begin)
        case.message(begin + TIME_RANGE + MILLISECOND)
    case.message(OVERDUE + SECOND, events=(event(EventKind.DELIVERED),))
    case.message(HOPELESS + SECOND, events=(event(EventKind.FAILED),))
    assert case.run() == SweepReport(0, 0, 0)


@pytest.mark.parametrize("age", [OVERDUE + MILLISECOND, OVERDUE + TIME_RANGE])
def test_mail_past_its_deadline_is_counted(case: Case, age: timedelta) -> None:
    """Pending a day and an hour after its acceptance: counted for two hours, left alone."""
    message = case.message(age)
    assert case.run() == SweepReport(overdue=1, given_up=0, orphaned_bodies=0)
    assert case.now(message) == message


def test_hopeless_mail_is_failed(case: Case) -> None:
    """Two days pending and never handed over: it expired."""
    message = case.message(HOPELESS + SECOND)
    assert case.run() == SweepReport(overdue=1, given_up=1, orphaned_bodies=0)
    error = case.now(message).error
    assert error is not None
    assert (error.kind, error.code) == (EventKind.FAILED, "expired")


def test_hopeless_mail_of_unknown_outcome_is_uncertain(case: Case) -> None:
    """A hand-over without an answer: failed as uncertain, over which any event of SES goes."""
    lease = Lease(owner="dead", taken_at=NOW - HOPELESS, expires_at=NOW - HOPELESS + 90 * SECOND)
    message = case.message(HOPELESS + SECOND, lease=lease)
    assert case.run().given_up == 1
    after = case.now(message)
    assert (after.status, after.rank, after.lease) == ("failed", EventKind.UNCERTAIN.rank, None)


@pytest.mark.parametrize(("taken", "given_up"), [(899, 0), (900, 1)])
def test_a_hand_over_of_this_moment_is_left_alone(case: Case, taken: int, given_up: int) -> None:
    """Within a quarter of an hour the event of a hand-over may still come."""
    at = NOW - taken * SECOND
    lease = Lease(owner="live", taken_at=at, expires_at=at + 90 * SECOND)
    case.message(HOPELESS + SECOND, lease=lease)
    assert case.run() == SweepReport(1, given_up, 0)


def test_bodies_that_nobody_will_send_are_deleted(case: Case) -> None:
    """The body of mail that is finished, or never was accepted, leaves the spool (promise 10)."""
    sent = case.message(timedelta(hours=2), events=(event(EventKind.SENT),))
    waiting = case.message(timedelta(hours=2))
    never = builders.message()
    keys = [case.spool(SETTLED + SECOND, one) for one in (sent, waiting, never)]
    young = case.spool(SETTLED - SECOND, replace(sent, message_id=new_id(NOW)))
    assert case.run() == SweepReport(0, 0, orphaned_bodies=2)
    assert set(case.spooled) == {keys[1], young}
