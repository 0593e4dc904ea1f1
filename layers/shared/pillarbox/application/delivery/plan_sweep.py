"""Begin a pass of the sweep: queue one small task for each account."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from pillarbox.application.delivery.ports import (
    AccountIds,
    Spool,
    SweepStep,
    SweepTask,
    SweepTasks,
)
from pillarbox.application.history.ports import RebuildMarks
from pillarbox.application.ports import Clock
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT_ID


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
