"""Set and end the pauses in the records of accounts, one change after the other."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from pillarbox.application.account_lookup import AccountReader
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.pause import Pause, PauseKey, with_pause
from pillarbox.domain.errors import Unavailable

#: More lost races for one record than this have another cause.
_TRIES: Final = 10

#: Returns the pauses after a change.
type PauseChange = Callable[[Account], Iterable[Pause]]


class PauseRecords(AccountReader, Protocol):
    """The records of accounts, as far as their pauses are concerned."""

    def set_pauses(self, account: Account, pauses: Sequence[Pause]) -> Account | None:
        """Replace the pauses that were read; return None if others are stored by now."""


@dataclass(frozen=True, slots=True)
class Pauses:
    """The pauses of all accounts."""

    records: PauseRecords

    def put(self, account_id: str, pause: Pause) -> Account | None:
        """Store a pause in place of an earlier one of its key; None if there is no such account."""
        return self.change(account_id, lambda account: with_pause(account.pauses, pause))

    def remove(self, account_id: str, key: PauseKey) -> Account | None:
        """Remove the pause of a key, if there is one; None if there is no such account."""
        return self.change(
            account_id, lambda account: [one for one in account.pauses if one.key != key]
        )

    def change(self, account_id: str, change: PauseChange) -> Account | None:
        """Change the pauses of an account; the change is repeated if another one gets in between.

        Without a difference nothing is written.
        """
        for _ in range(_TRIES):
            account = self.records.get(account_id)
            if account is None:
                return None
            pauses = (*change(account),)
            if pauses == account.pauses:
                return account
            if changed := self.records.set_pauses(account, pauses):
                return changed
        raise Unavailable("table", "Others change the pauses of this account right now; try again.")
