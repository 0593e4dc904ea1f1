"""The quotas of a sender: its account's and, if its key has one, the key's own."""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from pillarbox.application.ports import DirectoryResult, Quotas
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.accounts.quota import NOTHING, Amount, QuotaState
from pillarbox.domain.errors import ServiceError

if TYPE_CHECKING:
    from pillarbox.domain.sign_in.session import MemberPrincipal


@dataclass(frozen=True, slots=True)
class SenderQuota:
    """Reserves in each quota of a sender, or in none."""

    quotas: Quotas
    principal: "Principal | MemberPrincipal"

    def reserve(self, amount: Amount, now: datetime) -> None:
        reserved = []
        try:
            for quota_id, limits in self.principal.quotas:
                self.quotas.reserve(quota_id, amount, limits, now)
                reserved.append(quota_id)
        except Exception:
            with suppress(ServiceError):  # too strict by these messages for the rest of the day
                for quota_id in reserved:
                    self.quotas.refund(quota_id, amount, now)
            raise

    def refund(self, amount: Amount, now: datetime) -> None:
        """Undo the count of messages that were reserved at `now` and not accepted."""
        for quota_id, _ in reversed(self.principal.quotas):
            self.quotas.refund(quota_id, amount, now)


def check_quotas(principal: Principal, directory: DirectoryResult, now: datetime) -> None:
    """Refuse a send of an account or a key that has no quota left, before it costs more."""
    directory.quota.check(principal.limits, now)
    if limits := principal.own_limits:
        directory.own_quota.check(limits, now)


def quota_state(
    principal: Principal, directory: DirectoryResult, now: datetime, accepted: Amount = NOTHING
) -> QuotaState:
    """Return what is left of the quota of a sender."""
    state = directory.quota.state(principal.limits, now, accepted)
    if limits := principal.own_limits:
        return replace(state, of_key=directory.own_quota.state(limits, now, accepted))
    return state
