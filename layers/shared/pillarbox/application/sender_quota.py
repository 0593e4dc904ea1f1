"""The quotas of a sender: its account's and, if its key has one, the key's own."""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from pillarbox.application.ports import Directory, DirectoryResult, Quotas, StoredResponse
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.accounts.quota import NOTHING, Amount, QuotaState
from pillarbox.domain.accounts.quota_counts import QuotaCounts
from pillarbox.domain.errors import ServiceError

if TYPE_CHECKING:
    from pillarbox.domain.sign_in.session import MemberPrincipal


@dataclass(frozen=True, slots=True)
class SenderQuota:
    """Reserves in each quota of a sender, or in none."""

    quotas: Quotas
    principal: "Principal | MemberPrincipal"

    def reserve(self, amount: Amount, now: datetime) -> None:
        """Count messages, all of them or none.

        Raises:
            QuotaExceeded: a window of one of the quotas has no room for them.
        """
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


def check_key_quota(directory: Directory, principal: Principal, now: datetime) -> None:
    """Refuse a send of a key that has no own quota left, before it costs more.

    Raises:
        QuotaExceeded: the key's own limit is reached.
    """
    if limits := principal.own_limits:
        _own_counts(directory, principal).check(limits, now)


def quota_state(
    directory: Directory,
    principal: Principal,
    counts: QuotaCounts,
    now: datetime,
    accepted: Amount = NOTHING,
) -> QuotaState:
    """Return what is left of the quota of a sender; the key's own counts are read.

    Args:
        directory: what is read.
        principal: the sender.
        counts: the counts of its account.
        now: the time.
        accepted: what was accepted since `counts` were read.

    Raises:
        ServiceError: `service_unavailable`.
    """
    state = counts.state(principal.limits, now, accepted)
    if limits := principal.own_limits:
        return replace(state, of_key=_own_counts(directory, principal).state(limits, now))
    return state


def with_quota(
    response: StoredResponse,
    directory: Directory,
    principal: Principal,
    found: DirectoryResult,
    now: datetime,
) -> StoredResponse:
    """Return a response with the state of the quota, or as it is if that cannot be read now."""
    try:
        quota = quota_state(directory, principal, found.quota, now, response.amount)
    except ServiceError:
        return response  # its messages are accepted
    return replace(response, quota=quota)


def _own_counts(directory: Directory, principal: Principal) -> QuotaCounts:
    """Read the counts of a key's own quota like those of an account; no account has this id."""
    return directory.look_up(principal.own_quota_id, quota=True).quota
