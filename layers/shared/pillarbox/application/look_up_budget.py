"""How often an account may let the service ask name servers that the account chooses."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.quota import too_many, window_end

#: A look at a domain or a check of a webhook's host is one; each can take seconds.
PER_MINUTE: Final = 60
_MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LookUpBudget:
    """The budget of each account in a minute."""

    #: Counts something in a window of time; returns False if there were so many.
    count: Callable[[str, timedelta, int, datetime], bool]
    clock: Clock

    def take(self, account_id: str) -> None:
        """Take one look-up.

        Raises:
            ServiceError: `rate_limit_exceeded`.
        """
        now = self.clock()
        if not self.count(f"look-ups#{account_id}", _MINUTE, PER_MINUTE, now):
            message = f"An account can check domains and webhook hosts {PER_MINUTE} times a minute."
            raise too_many(message, PER_MINUTE, window_end("minute", now) - now)
