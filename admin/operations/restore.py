"""Choose which rows of an earlier state of the table are restored."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

#: A job of a younger message may still come, and would send it again.
_SETTLED: Final = timedelta(days=2)
MESSAGES: Final = "messages"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerRow:
    """What decides whether a row is restored: its kind, its account and its times."""

    #: None if a copy of the row would be wrong today, such as a count or a claim.
    kind: str | None
    account_id: str
    expires_at: datetime | None
    #: When the message was created; None for other rows.
    created_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What the operator wants to restore. No account means all of them."""

    accounts: AbstractSet[str]
    messages: bool
    now: datetime

    def wants(self, row: FormerRow) -> bool:
        """Return whether the row is restored if the table lacks it."""
        if row.kind is None or (self.accounts and row.account_id not in self.accounts):
            return False
        if row.expires_at is not None and row.expires_at <= self.now:
            return False
        if row.kind == MESSAGES:
            created = row.created_at
            return self.messages and created is not None and created <= self.now - _SETTLED
        return True
