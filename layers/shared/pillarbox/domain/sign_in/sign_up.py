"""Sign-up: who may create an account without an operator, and what has become of a request."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from pillarbox.domain.address import domain_of
from pillarbox.domain.errors import ServiceError

DAY: Final = timedelta(days=1)
#: The most accounts that one block of IP addresses creates or asks for in a day.
PER_BLOCK: Final = 5
#: The most emails in a day that tell strangers that they cannot sign up: one for an address, and
#: so many in all, because these people may not have asked for an email.
PER_STRANGER: Final = 1
STRANGERS: Final = 100
#: The most codes in a day, in all, for addresses that may sign up and do not belong to a user. A
#: stranger may be trying a list of addresses.
NEWCOMERS: Final = 500
#: One network takes at most one of so many parts of `STRANGERS` and `NEWCOMERS`.
PARTS: Final = 10
#: The start of the subjects of these counts. `mail_code` may change no others.
STRANGERS_COUNT: Final = "strangers#"
#: The rest of the subject of newcomers' codes.
CODES: Final = "codes"


class SignUpMode(StrEnum):
    """Who may create an account: the parameter `SignUp`."""

    CLOSED = "closed"
    INVITED = "invited"
    APPROVED = "approved"
    OPEN = "open"


class SignUpState(StrEnum):
    """What has become of a sign-up that is stored."""

    INVITED = "invited"
    PENDING = "pending"
    REFUSED = "refused"
    CREATED = "created"


class SignUpStatus(StrEnum):
    """What a user can do: create an account, ask for one, wait, or nothing."""

    AVAILABLE = "available"
    ON_APPROVAL = "on_approval"
    PENDING = "pending"
    REFUSED = "refused"
    CREATED = "created"
    CLOSED = "closed"

    @property
    def needs_name(self) -> bool:
        """Whether the user may now name an account."""
        return self in {SignUpStatus.AVAILABLE, SignUpStatus.ON_APPROVAL}


@dataclass(frozen=True, slots=True, kw_only=True)
class SignUpRequest:
    """The sign-up of a user, of whom there is at most one. An invited one has no name yet."""

    user_id: str
    address: str
    state: SignUpState
    at: datetime
    name: str | None = None
    account_id: str | None = None


@dataclass(frozen=True, slots=True)
class Newcomers:
    """Whether addresses that belong to no user get codes now; if not, until when they get none.

    Without a time they never do. It says nothing of a single address.
    """

    admitted: bool
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignUpPolicy:
    """The operator's choices. Without domains, addresses of every domain may sign up."""

    mode: SignUpMode
    domains: frozenset[str]

    @property
    def is_public(self) -> bool:
        """Whether anybody, perhaps of some domains, may become a user without an invitation."""
        return self.mode in {SignUpMode.APPROVED, SignUpMode.OPEN}

    def admits(self, address: str) -> bool:
        """Return whether the owner of an address may become a user without an invitation."""
        return self.is_public and (not self.domains or domain_of(address).lower() in self.domains)

    def status(self, address: str, request: SignUpRequest | None) -> SignUpStatus:
        """Return what the user of an address can do, given the sign-up that is stored."""
        state = request.state if request else None
        if state is SignUpState.CREATED:
            return SignUpStatus.CREATED
        if self.mode is SignUpMode.CLOSED:
            return SignUpStatus.CLOSED
        if state is SignUpState.INVITED:
            return SignUpStatus.AVAILABLE
        if not self.admits(address):
            return SignUpStatus.CLOSED
        if state is SignUpState.REFUSED:
            return SignUpStatus.REFUSED
        if self.mode is SignUpMode.OPEN:
            return SignUpStatus.AVAILABLE
        return SignUpStatus.PENDING if request else SignUpStatus.ON_APPROVAL


def sign_up_closed(status: SignUpStatus) -> ServiceError:
    """Return the error for a user who cannot create an account."""
    reason = {
        SignUpStatus.CREATED: "You have created an account before. The operator adds others.",
        SignUpStatus.REFUSED: "The operator has refused your request for an account.",
    }.get(status, "You cannot create an account here. Ask the operator of the service for one.")
    return ServiceError("sign_up_closed", reason)
