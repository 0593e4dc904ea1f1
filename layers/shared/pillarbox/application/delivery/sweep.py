"""Find messages, spool objects and statistics that got stuck; report and repair them.

The last steps of an account look at its sender domains, whether SES still pauses it, and what its
owners want to hear of, and delete the records that are too old for it.

There is no index for this, because every message would pay for it. Message ids sort by time,
so one pass reads the messages of a few short time ranges and nothing else. Each account is a task
of its own, and a task that runs out of time continues in a further one, so no pass is too large.
Claims need no sweep: if the owner of one died, the next request takes it over, or it expires.

An entry of the ledger stays: it has no address, subject or tag, and figures are made of it. The
search index, which has addresses and tags, follows its records through the table's stream. Lists
end at the account's `records_from`, which is set before anything is deleted.

A copy that went to other addresses repeats subject, tags and content. An erasure finds it by the
email that it repeats, so it loses them before that one's record is deleted.

Nothing is late here unless a write took effect much too late, or the timer stood still for weeks.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Final, Protocol
from uuid import UUID

from pillarbox.application.account_lookup import AccountReader
from pillarbox.application.delivery.deliver import RECORD_WAIT, event_due, uncertain_event
from pillarbox.application.delivery.holds import HOLD_TIME
from pillarbox.application.delivery.ports import AccountIds, Spool, SweepStep, SweepTask, SweepTasks
from pillarbox.application.history.ports import RebuildMarks, StatisticsCheck
from pillarbox.application.message_log import MessageLog, ScanPage
from pillarbox.application.ports import Clock, Messages
from pillarbox.application.waiting import wake_job
from pillarbox.application.waiting_ports import WaitingContents, WakeQueue
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.ids import created_at
from pillarbox.domain.messages.kept import KeptContent, erase_copy
from pillarbox.domain.messages.mail import MAX_DELIVERY_TIME
from pillarbox.domain.messages.message import MEANINGS, STALL_TIME, Event, EventKind, Message
from pillarbox.domain.messages.statistics import mailboxes_of
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT, SERVICE_ACCOUNT_ID
from pillarbox.domain.timing import milliseconds


class OldRecords(Protocol):
    """The records of an account from the oldest one on. Each method may be repeated."""

    def oldest(self, account_id: str, until: int, cursor: str | None) -> ScanPage[Message]:
        """Return the next of the messages created before a time, in milliseconds."""

    def get_all(self, account_id: str, message_ids: Iterable[UUID]) -> Iterable[Message]:
        """Return the existing ones among some messages."""

    def rewrite_copy(self, copy: Message, erased: Message) -> None:
        """Store what `erase_copy` changed in a copy, if its record is there."""

    def delete(self, account_id: str, message_ids: Sequence[UUID]) -> None:
        """Delete records, if they are there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRetention:
    """Deletes the records that an account does not want any more."""

    records: OldRecords
    #: `SearchIndex.copies`, which lacks one that was made in the last seconds.
    copies: Callable[[str, int], Iterable[tuple[UUID, UUID]]]
    #: Stores from when on an account has all its records. The time never falls.
    set_records_from: Callable[[str, datetime], None]
    #: Deletes the kept content of a message, if it is there.
    remove_kept: Callable[[KeptContent], None]

    def delete_page(self, account: Account, now: datetime, cursor: str | None) -> str | None:
        """Delete one page of an account's old records; return the cursor of the next page.

        Whole days of UTC end together. An email that is still pending stays.

        Raises:
            ServiceError: `service_unavailable`; it can be repeated.
        """
        if not account.record_days:
            return None
        day = now - timedelta(days=account.record_days)
        until = day.replace(hour=0, minute=0, second=0, microsecond=0)
        if account.records_from is None or account.records_from < until:
            self.set_records_from(account.account_id, until)
        page = self.records.oldest(account.account_id, milliseconds(until), cursor)
        old = [message for message in page.items if not message.pending]
        if old:
            self._erase_copies(account, old)
        for message in old:
            self._remove_kept(message)
        self.records.delete(account.account_id, [message.message_id for message in old])
        return page.next

    def _erase_copies(self, account: Account, old: Sequence[Message]) -> None:
        """Erase what repeats the old emails to others, and the copies of that.

        A copy that has all their recipients stays as it is: an erasure finds it by them. But a copy
        that is deleted may name others than its recipients, so all its own copies are erased.
        """
        account_id, lost = account.account_id, {message.message_id: message for message in old}
        # The oldest first, because a copy may have copies.
        pairs = self.copies(account_id, account.shards)
        for original_id, copy_id in sorted(pairs, key=lambda pair: pair[1].int):
            original = lost.get(original_id)
            if original is None or copy_id in lost:
                continue
            copy = next(iter(self.records.get_all(account_id, [copy_id])), None)
            if copy is None or (
                original.origin.resend_of is None and mailboxes_of(copy) >= mailboxes_of(original)
            ):
                continue
            lost[copy_id] = copy
            if (erased := erase_copy(copy)) is not copy:
                self._remove_kept(copy)
                self.records.rewrite_copy(copy, erased)

    def _remove_kept(self, message: Message) -> None:
        if message.keep:
            self.remove_kept(KeptContent.of(message))


#: After this time a job of a message has come and, as it is still pending, may be lost.
_LATE: Final = RECORD_WAIT * 2
#: A message is held for four hours at most while its sender is paused. After this time a person
#: should look.
_OVERDUE: Final = HOLD_TIME + timedelta(hours=1)
#: Long before this time no worker reads the content of a finished message any more.
_SETTLED: Final = RECORD_WAIT * 4


@dataclass(frozen=True, slots=True)
class WaitingPage:
    """How many messages of a page are overdue, and the cursor of the next page."""

    overdue: int
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingSweep:
    """Goes through the contents that wait."""

    contents: WaitingContents
    messages: Messages
    queue: WakeQueue

    def sweep(self, account_id: str, now: datetime, cursor: str | None) -> WaitingPage:
        """Do one page of an account's contents.

        Raises:
            ServiceError: `service_unavailable`; it can be repeated.
        """
        page = self.contents.of_account(account_id, cursor)
        ids = [content.message_id for content in page.items]
        messages = self.messages.get_all(account_id, ids) if ids else {}
        late, overdue = [], 0
        for content in page.items:
            message = messages.get(content.message_id)
            schedule = message.schedule if message and message.pending else None
            if message is None or schedule is None:
                if now - content.put_at > (_SETTLED if message else STALL_TIME):
                    self.contents.remove(account_id, content.message_id, content.template_id)
            elif message.lease is not None and now < event_due(message.lease):
                continue  # the job of its hand-over comes again
            elif now - schedule.due_at > _LATE:
                late.append(wake_job(message, schedule))
                overdue += now - schedule.due_at > _OVERDUE
        if late:
            self.queue.wake_all(late, now)
        return WaitingPage(overdue, page.next)


#: A pass runs every hour. Reading two hours makes up for a pass that did not run.
TIME_RANGE: Final = timedelta(hours=2)
#: After this time the deadline is over and the worker has given up every message.
OVERDUE: Final = MAX_DELIVERY_TIME + timedelta(hours=1)
#: An id may be a day older than its job, if its claim was taken over late.
HOPELESS: Final = OVERDUE + timedelta(hours=24)
#: A pass reports the zero of `overdue` in each sixth hour of the day.
ZERO_HOURS: Final = 6
#: Long before this time no worker reads the body of a finished message any more.
SETTLED: Final = RECORD_WAIT * 4

_NEXT_STEP: Final = {
    SweepStep.OVERDUE: SweepStep.HOPELESS,
    SweepStep.HOPELESS: SweepStep.WAITING,
    SweepStep.WAITING: SweepStep.STATISTICS,
    SweepStep.STATISTICS: SweepStep.DOMAINS,
}


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What a task found; the names are those of the metrics."""

    #: Messages pending after their deadline: their jobs are dead, or no worker runs.
    overdue: int = 0
    #: The hopeless ones among them, which are marked as failed now.
    given_up: int = 0
    #: Spool objects that no worker will send any more, deleted now.
    orphaned_bodies: int = 0
    #: Wrong entries and rollups of the statistics, correct now.
    statistics_repaired: int = 0

    def metrics(self, pass_at: datetime | None = None) -> dict[str, int]:
        """Return what to report: what is not zero, and now and then the zero of `overdue`.

        An alarm needs the zero, and AWS charges for a metric by the hours with a value.

        Args:
            pass_at: when the pass began; without it the zero is reported in any case.
        """
        zero = pass_at is None or pass_at.hour % ZERO_HOURS == 0
        return {
            name: number
            for name, number in asdict(self).items()
            if number or (zero and name == "overdue")
        }

    def __add__(self, other: "SweepReport") -> "SweepReport":
        return SweepReport(
            self.overdue + other.overdue,
            self.given_up + other.given_up,
            self.orphaned_bodies + other.orphaned_bodies,
            self.statistics_repaired + other.statistics_repaired,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Does the tasks of a pass."""

    log: MessageLog
    messages: Messages
    spool: Spool
    statistics: StatisticsCheck
    #: Looks after emails that wait.
    waiting: WaitingSweep
    retention: RecordRetention
    accounts: AccountReader
    #: `SenderDomains.look`, `TenantPauses.look`, and those of `alerts.looks`: what nothing reports.
    looks: Sequence[Callable[[Account], None]]
    tasks: SweepTasks
    clock: Clock

    def run(self, task: SweepTask, has_time: Callable[[], bool]) -> SweepReport:
        """Do a task, page by page, and queue what there is no time for as a further task.

        Raises:
            ServiceError: `service_unavailable`; the task can be repeated.
        """
        report = SweepReport()
        rest: SweepTask | None = task
        while rest is not None:
            if not has_time():
                self.tasks.put_all([rest])
                break
            found, rest = self._do_page(rest)
            report += found
        return report

    def _do_page(self, task: SweepTask) -> tuple[SweepReport, SweepTask | None]:
        """Do one page of a step, and return what remains of the task."""
        match task.step:
            case SweepStep.OVERDUE:
                pending = self._pending(task, OVERDUE)
                return SweepReport(overdue=len(pending.items)), _rest(task, pending.next)
            case SweepStep.HOPELESS:
                pending = self._pending(task, HOPELESS)
                given_up = sum(map(self._give_up, pending.items))
                report = SweepReport(overdue=len(pending.items), given_up=given_up)
                return report, _rest(task, pending.next)
            case SweepStep.WAITING:
                # Reading the contents costs, and few hours bring a change.
                if task.pass_at.hour % ZERO_HOURS:
                    return SweepReport(), _rest(task, None)
                found = self.waiting.sweep(task.account_id, task.pass_at, task.cursor)
                return SweepReport(overdue=found.overdue), _rest(task, found.next)
            case SweepStep.STATISTICS | SweepStep.REBUILD:
                return self._check_statistics(task)
            case SweepStep.DOMAINS | SweepStep.RECORDS:
                is_service = task.account_id == SERVICE_ACCOUNT_ID
                account = SERVICE_ACCOUNT if is_service else self.accounts.get(task.account_id)
                return SweepReport(), self._look_after(account, task) if account else None
            case SweepStep.SPOOL:
                return self._clear_spool(task)

    def _look_after(self, account: Account, task: SweepTask) -> SweepTask | None:
        """Look at an account, or delete a page of its old records; return what remains."""
        if task.step is SweepStep.RECORDS:
            return _rest(task, self.retention.delete_page(account, task.pass_at, task.cursor))
        for look in self.looks:
            look(account)
        # Few hours bring another day.
        has_old = account.record_days and not task.pass_at.hour % ZERO_HOURS
        return replace(task, step=SweepStep.RECORDS) if has_old else None

    def _pending(self, task: SweepTask, age: timedelta) -> ScanPage[Message]:
        until = task.pass_at - age
        first, last = (round(at.timestamp() * 1000) for at in (until - TIME_RANGE, until))
        page = self.log.pending(task.account_id, first, last, task.cursor)
        # Those that wait are not late because of their age.
        return replace(page, items=[one for one in page.items if one.schedule is None])

    def _give_up(self, message: Message) -> bool:
        """Mark a message as failed: it was never handed over, or no response came."""
        now, lease = self.clock(), message.lease
        if lease is None:
            event = Event(
                kind=EventKind.FAILED,
                at=now,
                code="expired",
                reason=MEANINGS["expired"],
            )
        elif now < event_due(lease):
            return False
        else:
            event = uncertain_event(now)
        return self.messages.save(replace(message.with_events([event]), lease=None))

    def _check_statistics(self, task: SweepTask) -> tuple[SweepReport, SweepTask | None]:
        until = None if task.cursor is None else int(task.cursor)
        if task.mark is None:
            check = self.statistics.check_ended_hours(task.account_id, task.pass_at, until)
        else:
            check = self.statistics.rebuild_hour(task.mark, until)
        cursor = None if check.rest is None else str(check.rest)
        return SweepReport(statistics_repaired=check.repaired), _rest(task, cursor)

    def _clear_spool(self, task: SweepTask) -> tuple[SweepReport, SweepTask | None]:
        """Delete the objects of finished and never accepted messages, and old uploaded files."""
        page = self.spool.put_before(task.account_id, task.pass_at - SETTLED, task.cursor)
        ids = list({spooled.message_id for spooled in page.items if spooled.message_id})
        messages = self.messages.get_all(task.account_id, ids)
        needed = {message_id for message_id, message in messages.items() if message.pending}
        # An acceptor that stalls may still put the record.
        oldest = task.pass_at - STALL_TIME
        needed |= {one for one in ids if one not in messages and created_at(one) > oldest}
        orphans = [spooled for spooled in page.items if spooled.message_id not in needed]
        for orphan in orphans:
            self.spool.delete(orphan.key)
        bodies = sum(orphan.message_id is not None for orphan in orphans)
        return SweepReport(orphaned_bodies=bodies), _rest(task, page.next)


def _rest(task: SweepTask, cursor: str | None) -> SweepTask | None:
    """Return what remains of a task after a page: more pages, the next step, or nothing."""
    if cursor is not None:
        return replace(task, cursor=cursor)
    step = _NEXT_STEP.get(task.step)
    return None if step is None else replace(task, step=step, cursor=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPlan:
    """Queues the tasks of a pass."""

    accounts: AccountIds
    spool: Spool
    marks: RebuildMarks
    tasks: SweepTasks
    clock: Clock

    def begin(self) -> int:
        """Queue a task for each account and for the service's own mail; return their number.

        The clean-up of the spool and the rebuild of a marked hour are tasks of their own. If a
        pass begins twice, its tasks run twice, which changes nothing.

        Raises:
            ServiceError: `service_unavailable`; the next pass covers the same time again.
        """
        return self.tasks.put_all(self._tasks(self.clock()))

    def _tasks(self, at: datetime) -> Iterator[SweepTask]:
        for account_id in chain((SERVICE_ACCOUNT_ID,), self.accounts.all_ids()):
            yield SweepTask(account_id=account_id, pass_at=at, step=SweepStep.OVERDUE)
        for mark in self.marks.all():
            account_id = mark.account_id
            yield SweepTask(account_id=account_id, pass_at=at, step=SweepStep.REBUILD, mark=mark)
        for account_id in self.spool.account_ids():
            yield SweepTask(account_id=account_id, pass_at=at, step=SweepStep.SPOOL)
