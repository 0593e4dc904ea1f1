"""The quota of a sender: its account's and, if its key is an agent's, the key's own."""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from pillarbox.application.ports import Directory, DirectoryResult, Quotas, StoredResponse
from pillarbox.domain.accounts.key import Principal
from pillarbox.domain.accounts.quota import NOTHING, Amount, QuotaState
from pillarbox.domain.accounts.quota_counts import QuotaCounts
from pillarbox.domain.errors import ServiceError

if TYPE_CHECKING:
    from pillarbox.domain.sign_in.session import MemberPrincipal


@dataclass(frozen=True, slots=True)
class SenderQuota:
    """Reserves in both quotas, or in none. Only a key may have one of its own."""

    quotas: Quotas
    principal: "Principal | MemberPrincipal"

    def reserve(self, amount: Amount, now: datetime) -> None:
        """Count messages, all of them or none.

        Raises:
            QuotaExceeded: a window of one of the quotas has no room for them.
        """
        principal = self.principal
        if isinstance(principal, Principal) and principal.key.agent:
            limits = principal.key.agent.limits
            self.quotas.reserve(principal.agent_id, amount, limits, now)
        try:
            self.quotas.reserve(principal.account.account_id, amount, principal.limits, now)
        except Exception:
            with suppress(ServiceError):  # too strict by these messages for the rest of the day
                self._refund_key(amount, now)
            raise

    def refund(self, amount: Amount, now: datetime) -> None:
        """Undo the count of messages that were reserved at `now` and not accepted."""
        self.quotas.refund(self.principal.account.account_id, amount, now)
        self._refund_key(amount, now)

    def _refund_key(self, amount: Amount, now: datetime) -> None:
        if isinstance(self.principal, Principal) and self.principal.key.agent:
            self.quotas.refund(self.principal.agent_id, amount, now)


def check_key_quota(directory: Directory, principal: Principal, now: datetime) -> None:
    """Refuse a send of an agent's key that has no quota left, before it costs more.

    Raises:
        QuotaExceeded: the key's own limit is reached.
    """
    if principal.key.agent:
        _key_counts(directory, principal).check(principal.key.agent.limits, now)


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
    if principal.key.agent is None:
        return state
    own = _key_counts(directory, principal).state(principal.key.agent.limits, now)
    return replace(state, of_key=own)


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


def _key_counts(directory: Directory, principal: Principal) -> QuotaCounts:
    """Read the counts of an agent's key like those of an account; no account has this id."""
    return directory.look_up(principal.agent_id, quota=True).quota
