"""Find messages, spool objects and statistics that got stuck; report and repair them.

The last steps of an account look at its sender domains, whether SES still pauses it, and what its
owners want to hear of, and delete the records that are too old for it.

There is no index for this, because every message would pay for it. Message ids sort by time,
so one pass reads the messages of a few short time ranges and nothing else. Each account is a task
of its own, and a task that runs out of time continues in a further one, so no pass is too large.
Claims need no sweep: if the owner of one died, the next request takes it over, or it expires.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.account_lookup import AccountReader
from pillarbox.application.delivery.deliver import RECORD_WAIT, event_due, uncertain_event
from pillarbox.application.delivery.ports import Spool, SweepStep, SweepTask, SweepTasks
from pillarbox.application.delivery.sweep_records import RecordRetention
from pillarbox.application.delivery.sweep_waiting import WaitingSweep
from pillarbox.application.history.ports import StatisticsCheck
from pillarbox.application.message_log import MessageLog, ScanPage
from pillarbox.application.ports import Clock, Messages
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.ids import created_at
from pillarbox.domain.messages.mail import MAX_DELIVERY_TIME
from pillarbox.domain.messages.message import MEANINGS, STALL_TIME, Event, EventKind, Message
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT, SERVICE_ACCOUNT_ID

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
