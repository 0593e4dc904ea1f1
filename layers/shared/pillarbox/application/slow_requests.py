"""How often an account may make requests that can take seconds, beside those that send."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.quota import too_many_this_minute

#: One is a look at a domain or the check of a webhook's host, for which the account chooses the
#: name server; a new sender, which SES may have to associate; a list of suppressions; a removed
#: suppression, which leaves SES's list too, and SES takes about one such call a second; and a look
#: at the content of an email, which has up to 40 MB.
PER_MINUTE: Final = 60
_MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowRequests:
    """The budget of each account in a minute."""

    #: Counts something in a window of time; returns False if there were so many.
    count: Callable[[str, timedelta, int, datetime], bool]
    clock: Clock

    def take(self, account_id: str) -> None:
        now = self.clock()
        if not self.count(f"slow#{account_id}", _MINUTE, PER_MINUTE, now):
            message = (
                "An account can check domains and webhook hosts, add senders and lists of"
                f" suppressions, remove suppressions, and look at kept content {PER_MINUTE} times a"
                " minute."
            )
            raise too_many_this_minute(message, PER_MINUTE, now)
