"""The states of a domain, and the changes that the service announces for sender domains."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class DomainState(StrEnum):
    """Whether a domain can be sent from.

    A sender domain is verified if the provider sends for it. A domain that members added is
    verified only with the account's proof and DKIM too (`accounts.ports.AccountDomain.state`).
    """

    VERIFIED = "verified"
    #: The provider searches for the DNS records.
    PENDING = "pending"
    #: It found no records, or no longer sends for the domain.
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SenderDomain:
    """The state of a domain at the last look: of a sender, or one that members have proved.

    `changed_at` is when the service noticed the last change that is announced. None means that
    there was none: the state is the first one that the service saw.
    """

    name: str
    state: DomainState
    changed_at: datetime | None = None


def next_known(
    known: SenderDomain | None,
    name: str,
    observed: DomainState | None,
    *,
    was_verified: bool,
    now: datetime,
) -> SenderDomain | None:
    """Return what is known after a look at the provider, or None if nothing is new.

    Args:
        observed: its state; None if the provider does not know it.
        was_verified: whether the domain was verified before. It decides, at the first look only,
            whether a verified domain is a change.
    """
    if known is None:
        if observed is None:
            return None
        is_change = observed is DomainState.VERIFIED and not was_verified
        return SenderDomain(name, observed, now if is_change else None)
    state = observed or known.state
    if known.state is DomainState.VERIFIED and observed is not DomainState.VERIFIED:
        state = DomainState.FAILED  # also if the identity is gone, or is a new one
    if state is known.state:
        return None
    is_change = state is not DomainState.PENDING
    return SenderDomain(name, state, now if is_change else known.changed_at)
