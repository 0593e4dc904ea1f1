"""The sweep counts stuck mail, repairs what the protocol allows, and deletes old records."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID

import pytest

from pillarbox.application.delivery.ports import SpoolObject, SweepStep, SweepTask
from pillarbox.application.delivery.sweep import (
    RecordRetention,
    Sweep,
    SweepPlan,
    SweepReport,
    WaitingSweep,
)
from pillarbox.application.history.ports import CheckResult, RebuildMark
from pillarbox.application.message_log import ScanPage
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.kept import KeptContent, erase_copy
from pillarbox.domain.messages.message import EventKind, Lease, Message
from pillarbox.domain.messages.schedule import Schedule
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT_ID
from pillarbox.domain.timing import milliseconds
from tests.fakes import builders, stores
from tests.fakes.builders import ACCOUNT, NOW, event

MILLISECOND = timedelta(milliseconds=1)
SECOND = timedelta(seconds=1)
#: One hour after a day of tries; one more day, since an id may be older than its job; four
#: times the wait of a job for its record.
OVERDUE, EXPIRED, SETTLED = (timedelta(hours=hours) for hours in (25, 49, 1))
#: How long an acceptor may stall.
STALLED = timedelta(hours=48)
#: The time range that one sweep reads from each of the first two.
TIME_RANGE = timedelta(hours=2)


class Case:
    """Messages of an account and objects in the spool, created by their age.

    It stands for the sweep's ports. A page has two messages or objects.
    """

    def __init__(self) -> None:
        self.store = stores.Store()
        self.spooled: dict[str, tuple[datetime, Message]] = {}
        self.marked: list[RebuildMark] = []
        self.queued: list[SweepTask] = []
        #: Those for the service's own mail, which are not in `queued`.
        self.of_service: list[SweepTask] = []
        self.checked: list[tuple[object, ...]] = []
        #: The results of the next checks of statistics; after them nothing is wrong.
        self.checks: list[CheckResult] = []
        self.accounts = [ACCOUNT]
        #: The accounts whose sender domains were looked at.
        self.looked_at: list[str] = []
        #: After how many days to delete records, and the pages that were deleted.
        self.record_days = 0
        self.deleted: list[tuple[datetime, str | None]] = []
        self.deleted_of: dict[str, int] = {}

    def message(self, age: timedelta, **changes: Any) -> Message:
        message = builders.message(message_id=new_id(NOW - age), **changes)
        self.store.messages[ACCOUNT, message.message_id] = message
        return message

    def spool(self, age: timedelta, message: Message) -> str:
        key = f"{ACCOUNT}/{message.message_id}/x"
        self.spooled[key] = (NOW - age, message)
        return key

    def begin(self) -> int:
        ports: Any = self
        plan = SweepPlan(accounts=ports, spool=ports, marks=ports, tasks=ports, clock=lambda: NOW)
        begun = plan.begin()
        self.of_service = [t for t in self.queued if t.account_id == SERVICE_ACCOUNT_ID]
        self.queued = [t for t in self.queued if t.account_id != SERVICE_ACCOUNT_ID]
        return begun

    def run(self, pages: int = 1000) -> SweepReport:
        """Begin a pass and do its tasks, at most some pages in each invocation."""
        self.begin()
        report = SweepReport()
        while self.queued:
            report += self.do(self.queued.pop(0), pages)
        return report

    def do(self, task: SweepTask, pages: int = 1000) -> SweepReport:
        left, ports = iter([True] * pages), cast("Any", self)
        sweep = Sweep(
            log=ports,
            messages=stores.Messages(self.store),
            spool=ports,
            statistics=ports,
            waiting=WaitingSweep(
                contents=stores.WaitingContents(self.store),
                messages=stores.Messages(self.store),
                queue=stores.FakeJobs(self.store),
            ),
            retention=ports,
            accounts=ports,
            looks=[lambda account: self.looked_at.append(account.account_id)],
            tasks=ports,
            clock=lambda: NOW,
        )
        return sweep.run(task, lambda: next(left, False))

    def now(self, message: Message) -> Message:
        return self.store.messages[ACCOUNT, message.message_id]

    # Methods of the ports

    def get(self, account_id: str) -> Account | None:
        account = builders.account(account_id=account_id, record_days=self.record_days)
        return account if account_id in self.accounts else None

    def delete_page(self, account: Account, now: datetime, cursor: str | None) -> str | None:
        assert account.record_days
        self.deleted_of[account.account_id] = account.record_days
        self.deleted.append((now, cursor))
        return "2" if cursor is None else None

    def all_ids(self) -> Iterable[str]:
        return self.accounts

    def account_ids(self) -> Iterable[str]:
        return {message.account_id for _, message in self.spooled.values()}

    def all(self) -> Iterable[RebuildMark]:
        return self.marked

    def put_all(self, tasks: Iterable[SweepTask]) -> int:
        queued = list(tasks)
        self.queued += queued
        return len(queued)

    def pending(
        self, account_id: str, since: int, until: int, cursor: str | None
    ) -> ScanPage[Message]:
        assert account_id == ACCOUNT
        created = [
            message
            for message in self.store.messages.values()
            if since <= message.created_at.timestamp() * 1000 < until
        ]
        page = _page(created, cursor)
        return ScanPage([message for message in page.items if message.pending], page.next)

    def put_before(
        self, account_id: str, moment: datetime, cursor: str | None
    ) -> ScanPage[SpoolObject]:
        assert account_id == ACCOUNT
        keys = sorted(key for key in self.spooled if key > (cursor or ""))
        objects = [
            SpoolObject(key, message.account_id, message.message_id)
            for key in keys[:2]
            for put_at, message in [self.spooled[key]]
            if put_at < moment
        ]
        return ScanPage(objects, keys[1] if keys[2:] else None)

    def delete(self, key: str) -> None:
        del self.spooled[key]

    def check_ended_hours(
        self, account_id: str, at: datetime, until: int | None = None
    ) -> CheckResult:
        self.checked.append((account_id, at, until))
        return self.checks.pop(0) if self.checks else CheckResult(0, None)

    def rebuild_hour(self, mark: RebuildMark, until: int | None = None) -> CheckResult:
        self.checked.append((mark, until))
        return self.checks.pop(0) if self.checks else CheckResult(0, None)


def _page[T](items: list[T], cursor: str | None) -> ScanPage[T]:
    start = int(cursor or 0)
    following = str(start + 2) if start + 2 < len(items) else None
    return ScanPage(items[start : start + 2], following)


@pytest.fixture
def case() -> Case:
    return Case()


def test_mail_that_is_finished_young_or_scheduled_is_not_reported(case: Case) -> None:
    for age in (OVERDUE, EXPIRED):
        case.message(age)
        case.message(age + TIME_RANGE + MILLISECOND)
    case.message(OVERDUE + SECOND, events=(event(EventKind.DELIVERED),))
    case.message(EXPIRED + SECOND, events=(event(EventKind.FAILED),))
    waits = Schedule(due_at=NOW + timedelta(days=28), life=timedelta(hours=24))
    waiting = [case.message(age + SECOND, schedule=waits) for age in (OVERDUE, EXPIRED)]
    assert case.run() == SweepReport(0, 0, 0)
    assert [*map(case.now, waiting)] == waiting


@pytest.mark.parametrize("age", [OVERDUE + MILLISECOND, OVERDUE + TIME_RANGE])
def test_mail_past_its_deadline_is_counted(case: Case, age: timedelta) -> None:
    """Mail pending for over 25 hours is counted for two hours and not changed."""
    message = case.message(age)
    assert case.run() == SweepReport(overdue=1, given_up=0, orphaned_bodies=0)
    assert case.now(message) == message


def test_expired_mail_fails(case: Case) -> None:
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


@pytest.mark.parametrize(("lease_age", "given_up"), [(929, 0), (930, 1)])
def test_a_recent_hand_over_is_not_changed(case: Case, lease_age: int, given_up: int) -> None:
    """Mail handed over within the last 15 minutes is not failed: its event may still arrive."""
    at = NOW - lease_age * SECOND
    lease = Lease(owner="live", taken_at=at, expires_at=at + 90 * SECOND)
    case.message(EXPIRED + SECOND, lease=lease)
    assert case.run() == SweepReport(1, given_up, 0)


def test_orphaned_bodies_are_deleted(case: Case) -> None:
    """Bodies of finished mail and of mail never accepted leave the spool (promise 10).

    That of pending mail stays, before its first try and after it.
    """
    sent = case.message(timedelta(hours=2), events=(event(EventKind.SENT),))
    lease = Lease(owner="dead", taken_at=NOW, expires_at=NOW + SECOND)
    pending = case.message(timedelta(hours=2))
    tried = case.message(timedelta(hours=2), attempt=1, lease=lease)
    never_accepted, stalled = (
        builders.message(message_id=new_id(NOW - age)) for age in (STALLED, STALLED - SECOND)
    )
    messages = (sent, pending, never_accepted, stalled, tried)
    keys = [case.spool(SETTLED + SECOND, message) for message in messages]
    young = case.spool(SETTLED - SECOND, case.message(timedelta(0), events=sent.events))
    of_no_message: Any = None
    case.spool(SETTLED + SECOND, replace(sent, message_id=of_no_message))  # an uploaded file
    assert case.run() == SweepReport(0, 0, orphaned_bodies=2)
    assert {*case.spooled} == {keys[1], keys[3], keys[4], young}


def test_each_account_is_a_task(case: Case) -> None:
    """The service, each account, marked hour and account with spooled mail has a task."""
    case.accounts = ["acct00000001", "acct00000002"]
    mark = RebuildMark("acct00000002", 0, NOW)
    case.marked = [mark]
    case.spool(SETTLED, case.message(SETTLED))
    assert case.begin() == 5
    assert [task.step for task in case.of_service] == [SweepStep.OVERDUE]
    assert [(task.account_id, task.step, task.mark) for task in case.queued] == [
        ("acct00000001", SweepStep.OVERDUE, None),
        ("acct00000002", SweepStep.OVERDUE, None),
        ("acct00000002", SweepStep.REBUILD, mark),
        (ACCOUNT, SweepStep.SPOOL, None),
    ]
    assert {task.pass_at for task in case.queued} == {NOW}


def test_old_records_are_deleted_in_each_sixth_hour(case: Case) -> None:
    """That is page by page, last of all, and only of an account that does not want them."""
    noon = NOW.replace(hour=12)
    for days, at, pages in ((0, noon, []), (90, NOW, []), (90, noon, [None, "2"])):
        case.record_days, case.deleted, case.looked_at = days, [], []
        case.do(SweepTask(account_id=ACCOUNT, pass_at=at, step=SweepStep.DOMAINS))
        assert case.looked_at == [ACCOUNT]
        assert case.deleted == [(at, cursor) for cursor in pages]
    case.deleted = []
    case.do(SweepTask(account_id=ACCOUNT, pass_at=noon, step=SweepStep.DOMAINS), pages=2)
    (rest,) = case.queued
    assert (rest.step, rest.cursor) == (SweepStep.RECORDS, "2")


def test_old_mail_of_the_service_is_deleted(case: Case) -> None:
    """Codes and invitations have no account whose owner could say for how long to keep them."""
    case.begin()
    (task,) = case.of_service
    last = replace(task, step=SweepStep.DOMAINS, pass_at=NOW.replace(hour=12))
    assert case.do(last) == SweepReport()
    assert (case.deleted_of, len(case.deleted)) == ({SERVICE_ACCOUNT_ID: 90}, 2)


@pytest.mark.parametrize("pages", [1, 2, 3])
def test_a_large_account_continues_in_further_tasks(case: Case, pages: int) -> None:
    """However few pages fit into an invocation, each message and object is swept once."""
    for number in range(7):
        case.message(OVERDUE + SECOND * (number + 1))
        case.message(EXPIRED + SECOND * (number + 1))
        case.spool(SETTLED + SECOND, builders.message(message_id=new_id(NOW - STALLED)))
    case.checks = [CheckResult(2, 900), CheckResult(1, 800), CheckResult(0, None)]
    assert case.run(pages) == SweepReport(14, 7, 7, statistics_repaired=3)
    assert case.checked == [(ACCOUNT, NOW, None), (ACCOUNT, NOW, 900), (ACCOUNT, NOW, 800)]


def test_a_task_without_time_is_queued_unchanged(case: Case) -> None:
    case.message(EXPIRED + SECOND)
    case.begin()
    (task,) = case.queued
    assert case.do(task, pages=0) == SweepReport()
    assert case.queued == [task, task]


def test_a_late_task_sweeps_the_time_of_its_pass(case: Case) -> None:
    task = SweepTask(account_id=ACCOUNT, pass_at=NOW - timedelta(hours=9), step=SweepStep.OVERDUE)
    case.message(OVERDUE + SECOND)  # due for a later pass
    for age in (SECOND, 2 * SECOND):
        case.message(OVERDUE + timedelta(hours=9) + age)
    assert case.do(task).overdue == 2


def test_a_marked_hour_is_rebuilt_in_parts(case: Case) -> None:
    """The task of a marked hour checks it to its end, and its repairs are counted."""
    mark = RebuildMark(ACCOUNT, 0, NOW)
    task = SweepTask(account_id=ACCOUNT, pass_at=NOW, step=SweepStep.REBUILD, mark=mark)
    case.checks = [CheckResult(4, 100), CheckResult(5, None)]
    assert case.do(task) == SweepReport(statistics_repaired=9)
    assert case.checked == [(mark, None), (mark, 100)]
    assert case.queued == []


def test_only_what_an_alarm_needs_or_what_happened_is_a_metric() -> None:
    """Each metric costs: a pass reports what it found, and the zero of `overdue` each six hours."""
    assert SweepReport().metrics() == {"overdue": 0}
    hours = [NOW.replace(hour=hour) for hour in range(24)]
    zeros = [at.hour for at in hours if SweepReport().metrics(at) == {"overdue": 0}]
    assert zeros == [0, 6, 12, 18]
    assert all(SweepReport(1).metrics(at) == {"overdue": 1} for at in hours)
    assert SweepReport(statistics_repaired=2).metrics() == {"overdue": 0, "statistics_repaired": 2}
    assert SweepReport(3, 1).metrics() == {"overdue": 3, "given_up": 1}


#: The start of the first day whose records stay.
UNTIL = datetime(2025, 12, 14, tzinfo=UTC)


class Records:
    """The ports: a page of old records, their copies, and what is done in which order."""

    def __init__(self, *messages: Message, copies: Sequence[Message] = ()) -> None:
        self.messages = messages
        self.younger = {copy.message_id: copy for copy in copies}
        self.done: list[object] = []

    def oldest(self, _: str, until: int, cursor: str | None) -> ScanPage[Message]:
        self.done.append(("read", until, cursor))
        return ScanPage(self.messages, "more")

    def copies(self, _: str, shards: int) -> list[tuple[UUID, UUID]]:
        assert shards == 1
        stored = (*self.messages, *self.younger.values())
        pairs = [(one.origin.resend_of, one.message_id) for one in reversed(stored)]
        return [(original, copy) for original, copy in pairs if original]

    def get_all(self, _: str, message_ids: Iterable[UUID]) -> list[Message]:
        return [self.younger[each] for each in message_ids if each in self.younger]

    def rewrite_copy(self, _: Message, erased: Message) -> None:
        self.done.append(erased)

    def delete(self, _: str, message_ids: Sequence[UUID]) -> None:
        self.done.append(message_ids)

    def delete_page(self, days: int, records_from: datetime | None = None) -> str | None:
        retention = RecordRetention(
            records=self,
            copies=self.copies,
            set_records_from=lambda _, moment: self.done.append(moment),
            remove_kept=self.done.append,
        )
        account = builders.account(record_days=days, records_from=records_from)
        return retention.delete_page(account, NOW, "here")


def old(**changes: Any) -> Message:
    message = builders.message(message_id=new_id(UNTIL - timedelta(days=1)))
    return replace(message, events=(event(EventKind.SENT),), **changes)


def test_lists_end_before_anything_is_deleted() -> None:
    """The time of whole days is stored first, then kept content goes, and the records last."""
    kept, plain = old(keep=7), old()
    records = Records(kept, plain)
    assert records.delete_page(90) == "more"
    assert records.done == [
        UNTIL,
        ("read", milliseconds(UNTIL), "here"),
        KeptContent.of(kept),
        [kept.message_id, plain.message_id],
    ]


def copy_of(original: Message, to: str, days: int, **changes: Any) -> Message:
    copy = builders.message(message_id=new_id(UNTIL + timedelta(days=days)), to=(to,), **changes)
    return replace(copy, origin=replace(copy.origin, resend_of=original.message_id))


def test_copies_to_others_are_erased_before_what_they_repeat() -> None:
    """Copies of copies too: without the record no erasure finds them. Others stay."""
    first, other = old(), old()
    desk = copy_of(first, "desk@shop.example", 1, keep=7)
    boss = copy_of(desk, "boss@shop.example", 2)
    elsewhere = copy_of(builders.message(), "desk@shop.example", 3)
    records = Records(first, other, copies=[desk, boss, elsewhere])
    records.delete_page(90, records_from=UNTIL)
    assert records.done[1:] == [
        KeptContent.of(desk),
        erase_copy(desk),
        erase_copy(boss),
        [first.message_id, other.message_id],
    ]


def test_a_copy_to_the_same_recipient_stays_until_it_is_old() -> None:
    """An erasure finds it and its copies. Those of a copy that goes are erased in any case."""
    first = old()
    again = copy_of(first, "Ann@example.com", 1)
    once_more = copy_of(again, "ann@example.com", 2)
    records = Records(first, copies=[again, once_more])
    records.delete_page(90, records_from=UNTIL)
    assert records.done[1:] == [[first.message_id]]
    sent = replace(again, events=(event(EventKind.SENT),))
    records = Records(sent, copies=[once_more])
    records.delete_page(90, records_from=UNTIL)
    assert records.done[1:] == [erase_copy(once_more), [again.message_id]]


def test_an_email_that_is_pending_stays() -> None:
    records = Records(builders.message())
    records.delete_page(90, records_from=UNTIL)
    assert records.done[-1] == []


def test_a_later_time_is_not_taken_back() -> None:
    """An account that wanted fewer days before has no older records."""
    records = Records()
    records.delete_page(90, records_from=UNTIL + timedelta(days=9))
    assert records.done[0] == ("read", milliseconds(UNTIL), "here")


def test_an_account_keeps_its_records_by_default() -> None:
    records = Records(old())
    assert records.delete_page(0) is None
    assert records.done == []
