"""The ports of the sweep, as Protocols; see `application/ports.py` for their errors."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from pillarbox.application.history.ports import RebuildMark
from pillarbox.application.ports import ScanPage


@dataclass(frozen=True, slots=True)
class SpoolObject:
    """An object in the spool: its key and its message."""

    key: str
    account_id: str
    message_id: UUID


class Spool(Protocol):
    """All objects of the spool; `Jobs` uses single ones."""

    def account_ids(self) -> Iterable[str]:
        """Return the accounts that have objects."""
        ...

    def put_before(
        self, account_id: str, moment: datetime, cursor: str | None
    ) -> ScanPage[SpoolObject]:
        """Return the next of an account's objects that were put before a moment."""
        ...

    def delete(self, key: str) -> None:
        """Delete an object, if it still exists."""
        ...


class AccountIds(Protocol):
    """The ids of all accounts."""

    def all_ids(self) -> Iterable[str]:
        """Read the ids of all accounts."""
        ...


class SweepStep(StrEnum):
    """A step of a sweep task. The first three belong together, in this order."""

    OVERDUE = "overdue"
    HOPELESS = "hopeless"
    STATISTICS = "statistics"
    #: Only for accounts that have objects in the spool.
    SPOOL = "spool"
    #: Only for hours that are marked.
    REBUILD = "rebuild"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepTask:
    """A small part of a pass: the sweep of one account, from a step on.

    The time ranges depend on when the pass began, however late the task runs. The cursor says
    where to continue the step, and `mark` is for the step REBUILD.
    """

    account_id: str
    pass_at: datetime
    step: SweepStep
    cursor: str | None = None
    mark: RebuildMark | None = None


class SweepTasks(Protocol):
    """The queue of sweep tasks."""

    def put_all(self, tasks: Iterable[SweepTask]) -> int:
        """Queue tasks, and return how many. After an error a part of them may be queued."""
        ...
