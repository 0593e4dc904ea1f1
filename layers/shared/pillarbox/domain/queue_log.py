"""The operators' log: which dead letters were moved back or dropped, by whom."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Redrive:
    """One redrive or drop. `by` is the address of an operator, or `account_log.COMMAND`."""

    entry_id: str
    at: datetime
    by: str
    queue: str
    #: None until the redrive has ended, so also if it failed: then its number is not known.
    moved: int | None = None
    #: SQS's id of the dead letter that was dropped; None if dead letters were moved.
    dropped: str | None = None
