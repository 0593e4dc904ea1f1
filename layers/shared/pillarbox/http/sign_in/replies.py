"""The shapes of sessions, sign-ups and preview keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pillarbox.domain.sign_in.preview_key import UNUSED_TIME
from pillarbox.domain.sign_in.session import ACCESS_TIME
from pillarbox.domain.sign_in.sign_up import ALGORITHM, MAX_NUMBER
from pillarbox.http.messages.replies import View, taken_from

if TYPE_CHECKING:
    from typing import Annotated, Literal

    from pydantic import Field

    from pillarbox.domain.accounts.account import Plan
    from pillarbox.domain.sign_in.session import Role
    from pillarbox.domain.sign_in.sign_up import SignUpStatus
    from pillarbox.http.json_types import ShortId, Timestamp

    Flow = Annotated[str, Field(pattern="^[0-9a-z]{12}[.][0-9a-f]{64}[.][0-9a-z]{32}$")]
    AccessText = Annotated[str, Field(pattern="^pbs_[0-9a-z]{68}$")]


class FlowItem(View, name="SignInFlow"):
    """A flow: the request for a code, and the secret of the browser that made it."""

    flow: Flow = taken_from(str)
    """Send it with the code. The link in the email has its first part, up to the first dot."""


class NewcomersItem(View, name="Newcomers"):
    """What holds for every address that belongs to no user."""

    admitted: bool
    """Whether such addresses may get a code now."""
    until: Timestamp | None
    """Until when they get none; null if they get some, or never do."""


class RequestedCode(FlowItem):
    """A flow, and what holds for addresses that belong to no user."""

    newcomers: NewcomersItem


class UserItem(View, name="User"):
    """The user of a session."""

    id: str = taken_from("user.user_id")
    email: str = taken_from("user.address")
    operator: bool = taken_from(lambda access: access.user.operator and not access.passkey_needed)
    """Whether the user operates the service."""
    passkey_needed: bool
    """Whether the session has no rights, because the user operates the service and has to sign in
    with a passkey."""


class ChosenAccount(View):
    """The account of an access token."""

    id: str = taken_from("account_id")
    name: str
    plan: Plan


class AccountChoice(View):
    """An account that the user is a member of."""

    id: str = taken_from("account.account_id")
    name: str = taken_from("account.name")
    role: Role


class AccountInvitationItem(AccountChoice, name="AccountInvitation"):
    """An account that the user is invited to: it has no rights there until it agrees."""

    invited_by: str | None
    """The address of the member who did."""


class LinkItem(View, name="SignInLink"):
    """A one-time link that works."""

    email: str = taken_from("address")
    """The address of the user whom it signs in."""
    invitation: AccountInvitationItem | None = taken_from(
        lambda owner: next(iter(owner.invitations), None)
    )
    """What the user is asked to join, if an invitation had the link."""


class AccessItem(View, name="AccessToken"):
    """An access token, and what it gives access to."""

    token: AccessText = taken_from("text")
    """For `Authorization: Bearer`. Keep it in memory."""
    expires_in: int = taken_from(lambda _: round(ACCESS_TIME.total_seconds()))
    """In seconds."""
    user: UserItem = taken_from(lambda access: access)
    account: ChosenAccount | None = taken_from("chosen.account")
    """Null if the user is a member of no account."""
    role: Role | None = taken_from("chosen.role")
    accounts: list[AccountChoice]
    """All accounts of the user, the oldest membership first."""
    invitations: list[AccountInvitationItem]
    """The accounts that the user is asked to join."""


class SessionItem(View, name="Session"):
    """A browser in which the user is signed in."""

    id: ShortId = taken_from("session_id")
    current: bool
    """Whether this request belongs to it."""
    user_agent: str = taken_from("agent")
    created_at: Timestamp
    last_used_at: Timestamp = taken_from("used_at")
    expires_at: Timestamp
    """When it ends if it is not used again."""


class SessionList(View):
    """The user's sessions, the newest first."""

    items: list[SessionItem]


class ChallengeItem(View):
    """A challenge in version 1 of the protocol of ALTCHA."""

    algorithm: Literal["SHA-256"] = taken_from(lambda _: ALGORITHM)
    challenge: str
    """The hash of the salt followed by the number, in hex."""
    maxnumber: int = taken_from(lambda _: MAX_NUMBER)
    """The number is from 0 to this one."""
    salt: str
    signature: str


class SignUpItem(View):
    """What the user of a session can do to get an account."""

    status: SignUpStatus
    """`available`: the user can create an account; `on_approval`: can ask the operator for one;
    `pending`: has asked; `refused`: was refused; `created`: has created one; `closed`: cannot
    create one."""
    challenge: ChallengeItem | None
    """The proof of work for `available` and `on_approval`."""
    account: ChosenAccount | None
    """The account that this request has created."""


class PendingSignUp(View):
    """A user who asks for an account."""

    email: str = taken_from("address")
    name: str = taken_from(lambda request: request.name or "")
    """Of the account."""
    created_at: Timestamp = taken_from("at")


class PendingList(View):
    """The users who wait for the operator, the oldest request first."""

    items: list[PendingSignUp]


class ChallengeOffer(View):
    """The work that a code needs."""

    challenge: ChallengeItem


class PreviewKeyItem(View):
    """A new preview key."""

    key: str = taken_from("text")
    """The key. No other response has it."""
    email: str
    """The address that was confirmed."""
    expires_in_days: int = taken_from(lambda _: UNUSED_TIME.days)
    """After so many days without a send, the key does not send any more."""
