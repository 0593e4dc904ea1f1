"""End a pause: an owner once in a month, and an operator at any time. SES ends its own pauses."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.account_lookup import existing, find_account
from pillarbox.application.change_log import ChangeLog
from pillarbox.application.pauses import Pauses
from pillarbox.application.ports import Clock
from pillarbox.application.validation import check_text
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.account_log import AccountAction
from pillarbox.domain.accounts.pause import Pause, PauseCause, PauseKey, PauseLevel
from pillarbox.domain.errors import ServiceError

#: An owner may end one pause of a scope in this time.
ONCE_IN: Final = timedelta(days=30)
MAX_CAUSE: Final = 500
_RESUMED: Final = AccountAction.SENDING_RESUMED
_NOT_BY_OWNERS: Final = (
    "There is no pause that an owner can end now: an owner ends one in a month. Ask the operator of"
    " the service. Amazon SES ends its own."
)


@dataclass(frozen=True, slots=True)
class Resuming:
    """Ends pauses. The window of the figures starts again."""

    pauses: Pauses
    log: ChangeLog
    clock: Clock

    def by_owner(self, account_id: str, key: PauseKey, cause: str, by: str) -> Account:
        """End a pause, for an owner who names what caused it."""
        check_text("cause", cause, MAX_CAUSE)
        now = self.clock()

        def ended(pause: Pause) -> Pause:
            return replace(_ended(pause, now), owner_resumed=now)

        def change(account: Account) -> Iterable[Pause]:
            found = next((one for one in account.pauses if one.key == key), None)
            if found is None or not is_resumable(found, now):
                raise ServiceError("sending_paused", _NOT_BY_OWNERS)
            return [ended(one) if one is found else one for one in account.pauses]

        scope, about, _ = key
        subject = f"{scope.value} {about}".strip()
        changed = existing(self.pauses.change(account_id, change))
        note = self.log.note
        note(account_id, _RESUMED, subject, by=by, changes={"cause": (None, cause)})
        return changed

    def by_operator(self, account_id: str, by: str) -> Account:
        """End all pauses of an account except those of SES. Owners may end the next ones again."""
        now = self.clock()

        def change(account: Account) -> Iterable[Pause]:
            return [
                replace(_ended(one, now), owner_resumed=None) if _is_open(one, now) else one
                for one in account.pauses
            ]

        account = find_account(self.pauses.records, account_id)
        was_open = any(_is_open(one, now) for one in account.pauses)
        changed = existing(self.pauses.change(account_id, change))
        if was_open:
            self.log.note(account_id, _RESUMED, "everything", by=by)
        return changed


def is_resumable(pause: Pause, now: datetime) -> bool:
    resumed = pause.owner_resumed
    return _is_open(pause, now) and (resumed is None or now - resumed >= ONCE_IN)


def _is_open(pause: Pause, now: datetime) -> bool:
    brakes = pause.level is not PauseLevel.WARN
    return brakes and pause.cause is not PauseCause.PROVIDER and pause.is_current(now)


def _ended(pause: Pause, now: datetime) -> Pause:
    return replace(pause, until=now, counts_from=now)
