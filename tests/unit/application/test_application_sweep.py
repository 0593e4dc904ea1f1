"""The sweep counts stuck mail and repairs only what the protocol allows."""

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
#: One hour after a day of tries; one more day, since an id may be older than its job; four
#: times the wait of a job for its record.
OVERDUE, EXPIRED, SETTLED = (timedelta(hours=hours) for hours in (25, 49, 1))
#: The time range that one sweep reads from each of the first two.
TIME_RANGE = timedelta(hours=2)


class Case:
    """Messages of an account and objects in the spool, created by their age."""

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

    # Methods of the ports

    def all_ids(self) -> Iterable[str]:
        return [ACCOUNT]

    def newest_first(
        self, account_id: str, since: int, until: int, shards: int | None = None
    ) -> list[Message]:
        assert shards is None, "the sweep does not read the account"
        assert account_id == ACCOUNT
        return [
            message
            for message in self.store.messages.values()
            if since <= message.created_at.timestamp() * 1000 < until
        ]

    def get_all(self, account_id: str, message_ids: Iterable[object]) -> Iterable[Message]:
        raise NotImplementedError

    def all_before(self, moment: datetime) -> Iterable[SpoolObject]:
        for key, (put_at, message) in self.spooled.items():
            if put_at < moment:
                yield SpoolObject(key, message.account_id, message.message_id)

    def delete(self, key: str) -> None:
        del self.spooled[key]


@pytest.fixture
def case() -> Case:
    return Case()


def test_finished_or_young_mail_is_not_reported(case: Case) -> None:
    """The sweep reports no mail that is finished or still young."""
    for age in (OVERDUE, EXPIRED):
        case.message(age)
        case.message(age + TIME_RANGE + MILLISECOND)
    case.message(OVERDUE + SECOND, events=(event(EventKind.DELIVERED),))
    case.message(EXPIRED + SECOND, events=(event(EventKind.FAILED),))
    assert case.run() == SweepReport(0, 0, 0)


@pytest.mark.parametrize("age", [OVERDUE + MILLISECOND, OVERDUE + TIME_RANGE])
def test_mail_past_its_deadline_is_counted(case: Case, age: timedelta) -> None:
    """Mail pending for over 25 hours is counted for two hours and not changed."""
    message = case.message(age)
    assert case.run() == SweepReport(overdue=1, given_up=0, orphaned_bodies=0)
    assert case.now(message) == message


def test_expired_mail_fails(case: Case) -> None:
    """Mail that was pending for two days and never handed over fails as expired."""
    message = case.message(EXPIRED + SECOND)
    assert case.run() == SweepReport(overdue=1, given_up=1, orphaned_bodies=0)
    error = case.now(message).error
    assert error is not None
    assert (error.kind, error.code) == (EventKind.FAILED, "expired")


def test_expired_mail_of_unknown_outcome_is_uncertain(case: Case) -> None:
    """Mail handed over without an answer fails as uncertain, which any SES event overrides."""
    lease = Lease(owner="dead", taken_at=NOW - EXPIRED, expires_at=NOW - EXPIRED + 90 * SECOND)
    message = case.message(EXPIRED + SECOND, lease=lease)
    assert case.run().given_up == 1
    after = case.now(message)
    assert (after.status, after.rank, after.lease) == ("failed", EventKind.UNCERTAIN.rank, None)


@pytest.mark.parametrize(("lease_age", "given_up"), [(899, 0), (900, 1)])
def test_a_recent_hand_over_is_not_changed(case: Case, lease_age: int, given_up: int) -> None:
    """Mail handed over within the last 15 minutes is not failed: its event may still arrive."""
    at = NOW - lease_age * SECOND
    lease = Lease(owner="live", taken_at=at, expires_at=at + 90 * SECOND)
    case.message(EXPIRED + SECOND, lease=lease)
    assert case.run() == SweepReport(1, given_up, 0)


def test_orphaned_bodies_are_deleted(case: Case) -> None:
    """Bodies of finished mail and of mail never accepted leave the spool (promise 10)."""
    sent = case.message(timedelta(hours=2), events=(event(EventKind.SENT),))
    pending = case.message(timedelta(hours=2))
    never_accepted = builders.message()
    keys = [case.spool(SETTLED + SECOND, message) for message in (sent, pending, never_accepted)]
    young = case.spool(SETTLED - SECOND, replace(sent, message_id=new_id(NOW)))
    assert case.run() == SweepReport(0, 0, orphaned_bodies=2)
    assert set(case.spooled) == {keys[1], young}
