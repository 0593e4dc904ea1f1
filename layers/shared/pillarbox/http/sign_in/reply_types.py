"""The JSON of each response about sessions, as `replies.py` writes it.

The OpenAPI document is made from these types, and no function loads them.
"""

from typing import Annotated, Literal, TypedDict

from pydantic import Field

from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.sign_in.session import Role
from pillarbox.domain.sign_in.sign_up import SignUpStatus
from pillarbox.http.messages.reply_types import Timestamp

type SessionId = Annotated[str, Field(pattern="^[0-9a-z]{12}$")]


class FlowItem(TypedDict):
    """A flow: the request for a code, and the secret of the browser that made it."""

    flow: Annotated[
        str,
        Field(
            pattern="^[0-9a-z]{12}[.][0-9a-f]{64}[.][0-9a-z]{32}$",
            description="Send it with the code. The link in the email has its first part, up to"
            " the first dot.",
        ),
    ]


class NewcomersItem(TypedDict):
    """What holds for every address that belongs to no user."""

    admitted: Annotated[bool, Field(description="Whether such addresses may get a code now.")]
    until: Annotated[
        Timestamp | None,
        Field(description="Until when they get none; null if they get some, or never do."),
    ]


class RequestedCode(FlowItem):
    """A flow, and what holds for addresses that belong to no user."""

    newcomers: NewcomersItem


class UserItem(TypedDict):
    """The user of a session."""

    id: str
    email: str
    operator: Annotated[bool, Field(description="Whether the user operates the service.")]
    passkeyNeeded: Annotated[
        bool,
        Field(
            description="Whether the session has no rights, because the user operates the service"
            " and has to sign in with a passkey."
        ),
    ]


class ChosenAccount(TypedDict):
    """The account of an access token."""

    id: str
    name: str
    plan: Plan


class AccountChoice(TypedDict):
    """An account that the user is a member of."""

    id: str
    name: str
    role: Role


class AccountInvitationItem(AccountChoice):
    """An account that the user is invited to: it has no rights there until it agrees."""

    invitedBy: Annotated[str | None, Field(description="The address of the member who did.")]


class LinkItem(TypedDict):
    """A one-time link that works."""

    email: Annotated[str, Field(description="The address of the user whom it signs in.")]
    invitation: Annotated[
        AccountInvitationItem | None,
        Field(description="What the user is asked to join, if an invitation had the link."),
    ]


class AccessItem(TypedDict):
    """An access token, and what it gives access to."""

    token: Annotated[
        str,
        Field(
            pattern="^pbs_[0-9a-z]{68}$",
            description="For `Authorization: Bearer`. Keep it in memory.",
        ),
    ]
    expiresIn: Annotated[int, Field(description="In seconds.")]
    user: UserItem
    account: Annotated[
        ChosenAccount | None, Field(description="Null if the user is a member of no account.")
    ]
    role: Role | None
    accounts: Annotated[
        list[AccountChoice],
        Field(description="All accounts of the user, the oldest membership first."),
    ]
    invitations: Annotated[
        list[AccountInvitationItem],
        Field(description="The accounts that the user is asked to join."),
    ]


class SessionItem(TypedDict):
    """A browser in which the user is signed in."""

    id: SessionId
    current: Annotated[bool, Field(description="Whether this request belongs to it.")]
    userAgent: str
    createdAt: Timestamp
    lastUsedAt: Timestamp
    expiresAt: Annotated[Timestamp, Field(description="When it ends if it is not used again.")]


class SessionList(TypedDict):
    """The user's sessions, the newest first."""

    items: list[SessionItem]


class PasskeyChallengeItem(TypedDict):
    """What a browser asks an authenticator to answer within five minutes."""

    flow: Annotated[str, Field(description="Send it with the answer. It works once.")]
    challenge: Annotated[str, Field(description="In base64url.")]
    rpId: Annotated[str, Field(description="The name that the passkeys of this service have.")]


class KnownCredential(TypedDict):
    """A passkey that the user has, so that the same authenticator makes no second one."""

    id: Annotated[str, Field(description="In base64url.")]


class NewPasskeyChallengeItem(PasskeyChallengeItem):
    """The same for a new passkey."""

    userHandle: Annotated[str, Field(description="The user's id for authenticators, in base64url.")]
    email: str
    existing: list[KnownCredential]


class PasskeyItem(TypedDict):
    """A passkey."""

    id: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    name: str
    current: Annotated[bool, Field(description="Whether this session began with it.")]
    synced: Annotated[bool, Field(description="Whether a provider keeps it for several devices.")]
    createdAt: Timestamp
    lastUsedAt: Timestamp | None
    stoppedAt: Annotated[
        Timestamp | None,
        Field(description="When a copy of it seemed to be in use. Since then it does not sign in."),
    ]


class PasskeyList(TypedDict):
    """The user's passkeys, the oldest first."""

    items: list[PasskeyItem]


class ChallengeItem(TypedDict):
    """A challenge in version 1 of the protocol of ALTCHA."""

    algorithm: Literal["SHA-256"]
    challenge: Annotated[
        str, Field(description="The hash of the salt followed by the number, in hex.")
    ]
    maxnumber: Annotated[int, Field(description="The number is from 0 to this one.")]
    salt: str
    signature: str


class SignUpItem(TypedDict):
    """What the user of a session can do to get an account."""

    status: Annotated[
        SignUpStatus,
        Field(
            description="`available`: the user can create an account; `on_approval`: can ask the"
            " operator for one; `pending`: has asked; `refused`: was refused; `created`: has"
            " created one; `closed`: cannot create one."
        ),
    ]
    challenge: Annotated[
        ChallengeItem | None,
        Field(description="The proof of work for `available` and `on_approval`."),
    ]
    account: Annotated[
        ChosenAccount | None, Field(description="The account that this request has created.")
    ]


class PendingSignUp(TypedDict):
    """A user who asks for an account."""

    email: str
    name: Annotated[str, Field(description="Of the account.")]
    createdAt: Timestamp


class PendingList(TypedDict):
    """The users who wait for the operator, the oldest request first."""

    items: list[PendingSignUp]


class ChallengeOffer(TypedDict):
    """The work that a code needs."""

    challenge: ChallengeItem


class PreviewKeyItem(TypedDict):
    """A new preview key."""

    key: Annotated[str, Field(description="The key. No other response has it.")]
    email: Annotated[str, Field(description="The address that was confirmed.")]
    expiresInDays: Annotated[
        int, Field(description="After so many days without a send, the key does not send any more.")
    ]
