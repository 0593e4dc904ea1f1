"""Pause the accounts of a tenant that the provider pauses, until the provider lets it send again.

The provider's events come in any order and may be lost. The event about the owner's status does not
say what the provider's own status is. So an event is only a reason to ask the provider, and a pass
of the sweep asks about each account that is paused.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from pillarbox.application.delivery.ports import TenantChange
from pillarbox.application.pause_alert import pause_alert
from pillarbox.application.pauses import PauseRecords, Pauses
from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.alert import Alert
from pillarbox.domain.accounts.key import ACCOUNT_ID_LENGTH
from pillarbox.domain.accounts.pause import (
    PROVIDER_KEY,
    Pause,
    PauseCause,
    PauseLevel,
    PauseScope,
)
from pillarbox.domain.errors import ServiceError

#: Accounts that are read at a time.
_PAGE: Final = 100


class TenantAccounts(PauseRecords, Protocol):
    """The records of accounts, page by page."""

    def page(self, first: str | None, limit: int) -> tuple[Sequence[Account], str | None]:
        """Return a page of accounts, and the id with which the next one begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantPauses:
    """What the provider's pauses of tenants mean for their accounts."""

    accounts: TenantAccounts
    #: Asks the provider whether a tenant may send; None if there is no such tenant.
    may_send: Callable[[str], bool | None]
    #: The tenant that accounts of strangers share.
    shared_tenant: Callable[[], str | None]
    raise_alert: Callable[[str, Alert], None]
    clock: Clock

    def apply(self, change: TenantChange) -> bool:
        """Pause the accounts of a tenant or end their pauses; return whether one has changed.

        A change that is interrupted goes on when the event is delivered again. Owners get an alert
        of a pause, except visitors of the preview widget. It comes first, as the breaker's does.

        Raises:
            ServiceError: `service_unavailable`.
        """
        tenant, is_paused = change.tenant, None
        changed = False
        for account in self._accounts_of(tenant):
            if is_paused is None:
                is_paused = self.may_send(tenant) is False
            if is_paused is (_provider_pause(account) is None):
                if is_paused:
                    self._pause(account)
                else:
                    Pauses(self.accounts).change(account.account_id, _ended)
                changed = True
        return changed

    def look(self, account: Account) -> None:
        """End the pause of an account whose tenant may send, or that has another tenant or none.

        If the provider does not answer, the next pass looks again.

        Raises:
            ServiceError: `service_unavailable`, from the store; the look can be repeated.
        """
        if _provider_pause(account) is None:
            return
        try:
            is_over = account.tenant is None or self.may_send(account.tenant)
        except ServiceError:
            return
        if is_over:
            Pauses(self.accounts).change(account.account_id, _ended)

    def _pause(self, account: Account) -> None:
        now = self.clock()
        pause = Pause(
            scope=PauseScope.ACCOUNT,
            level=PauseLevel.STOP,
            cause=PauseCause.PROVIDER,
            since=now,
        )
        if not account.widget_secret:
            # Several events tell of one pause: those of an hour raise the same alert.
            hour = now.replace(minute=0, second=0, microsecond=0)
            self.raise_alert(account.account_id, pause_alert([pause], hour))
        Pauses(self.accounts).put(account.account_id, pause)

    def _accounts_of(self, tenant: str) -> Iterator[Account]:
        """Read the accounts that name a tenant: its own one, whose id ends the name, or many."""
        if tenant != self.shared_tenant():
            account = self.accounts.get(tenant[-ACCOUNT_ID_LENGTH:])
            if account is not None and account.tenant == tenant:
                yield account
            return
        following: str | None = ""
        while following is not None:
            page, following = self.accounts.page(following or None, _PAGE)
            yield from (account for account in page if account.tenant == tenant)


def _ended(account: Account) -> tuple[Pause, ...]:
    return tuple(one for one in account.pauses if one.key != PROVIDER_KEY)


def _provider_pause(account: Account) -> Pause | None:
    return next((one for one in account.pauses if one.key == PROVIDER_KEY), None)
