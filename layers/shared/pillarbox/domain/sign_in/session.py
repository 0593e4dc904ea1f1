"""Users, their memberships with roles, and their sessions in the dashboard.

A session has two kinds of tokens. The cookie proves to one route that a browser is signed in. That
route returns access tokens for one account each, which all other routes take. Both contain the ids
under which their records are found, and a secret of 160 bits, of which only a hash is stored.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

from pillarbox.domain.accounts.account import Account, Plan
from pillarbox.domain.accounts.key import (
    ACCOUNT_ID_LENGTH,
    ACCOUNT_READ,
    ACCOUNT_WRITE,
    DOMAINS_READ,
    DOMAINS_WRITE,
    DRAFTS_READ,
    DRAFTS_WRITE,
    EMAILS_CONTENT,
    EMAILS_READ,
    EMAILS_SEND,
    KEYS_READ,
    KEYS_WRITE,
    MEMBERS_READ,
    MEMBERS_WRITE,
    RECEIVED_READ,
    SCOPES,
    SENDERS_WRITE,
    SUPPRESSIONS_READ,
    SUPPRESSIONS_WRITE,
    TEMPLATES_READ,
    TEMPLATES_WRITE,
    WEBHOOKS_READ,
    WEBHOOKS_WRITE,
)
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import new_token


class Role(StrEnum):
    """What a user is in an account, from the most rights to the fewest."""

    OWNER = "owner"
    DEVELOPER = "developer"
    AUTHOR = "author"
    VIEWER = "viewer"


#: Only operators of the service have it. No role and no key contains it.
OPERATE: Final = "service:operate"

_VIEWER: Final = frozenset({EMAILS_READ, TEMPLATES_READ, DRAFTS_READ, WEBHOOKS_READ}) | {
    SUPPRESSIONS_READ,
    MEMBERS_READ,
    ACCOUNT_READ,
    DOMAINS_READ,
}
_AUTHOR: Final = _VIEWER | {TEMPLATES_WRITE, DRAFTS_WRITE}
_DEVELOPER: Final = _AUTHOR | {
    *(
        EMAILS_SEND,
        EMAILS_CONTENT,
        RECEIVED_READ,
        WEBHOOKS_WRITE,
        KEYS_READ,
        KEYS_WRITE,
        SUPPRESSIONS_WRITE,
        DOMAINS_WRITE,
        SENDERS_WRITE,
    )
}
_OWNER: Final = _DEVELOPER | {MEMBERS_WRITE, ACCOUNT_WRITE}
#: The scopes of a session by the role of its user. Routes that send to anybody take keys
#: only. With `EMAILS_SEND` a session changes emails that wait, sends kept ones again, and answers
#: received mail.
ROLE_SCOPES: Final[Mapping[Role, frozenset[str]]] = {
    Role.OWNER: _OWNER,
    Role.DEVELOPER: _DEVELOPER,
    Role.AUTHOR: _AUTHOR,
    Role.VIEWER: _VIEWER,
}


def rights_of(role: Role) -> frozenset[str]:
    """Return the scopes that a member has, alone or by a key that it creates for itself."""
    scopes = ROLE_SCOPES[role]
    return scopes & SCOPES | (SCOPES if KEYS_WRITE in scopes else frozenset())


_USER_ID_LENGTH: Final = 12
SESSION_ID_LENGTH: Final = 12
_SECRET_LENGTH: Final = 32

#: The account of the service's own emails, and the place of an account in the access token of a
#: user who has none. No record of an account has this id.
SERVICE_ACCOUNT_ID: Final = "0" * ACCOUNT_ID_LENGTH
#: It takes the place of a record. An erasure cannot write to it, so hashes are always looked up.
#: Its keys are those with which the operator's command calls the API.
SERVICE_ACCOUNT: Final = Account(
    account_id=SERVICE_ACCOUNT_ID,
    name="Pillarbox",
    plan=Plan.ENTERPRISE,
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    hashed_suppressions=True,
    operates=True,
    record_days=90,
)

ACCESS_TOKEN_PREFIX: Final = "pbs_"  # noqa: S105  not a secret
#: How long an access token is valid.
ACCESS_TIME: Final = timedelta(minutes=15)
#: Of a user, with all their cookies. A page of the dashboard needs one in a quarter of an hour.
TOKENS_PER_MINUTE: Final = 60
#: A session ends after this time without use, and in any case after the longer one.
IDLE_TIME: Final = timedelta(days=30)
LONGEST_TIME: Final = timedelta(days=90)
#: In characters: more of a User-Agent tells a user nothing about a session.
_MAX_AGENT: Final = 200

_IDS: Final = rf"([0-9a-z]{{{_USER_ID_LENGTH}}})([0-9a-z]{{{SESSION_ID_LENGTH}}})"
_SECRET: Final = rf"[0-9a-z]{{{_SECRET_LENGTH}}}"
_COOKIE: Final = _IDS + _SECRET
_SESSION_ID: Final = rf"[0-9a-z]{{{SESSION_ID_LENGTH}}}"
_ACCESS_TOKEN: Final = rf"{ACCESS_TOKEN_PREFIX}{_IDS}([0-9a-z]{{{ACCOUNT_ID_LENGTH}}}){_SECRET}"


class SignInMethod(StrEnum):
    """What a session began with."""

    #: A code, or the link of an invitation: anyone who reads the mailbox has it.
    CODE = "code"
    #: A link of the operator's command.
    LINK = "link"
    PASSKEY = "passkey"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A person who can sign in; `operator` may operate the whole service."""

    user_id: str
    address: str
    operator: bool = False
    #: Codes and links from this time or before do not sign in.
    proofs_ended_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A user's role in an account."""

    account_id: str
    user_id: str
    address: str
    role: Role
    added_at: datetime
    #: Who added the user: the address of a member, or None for the operator's command.
    invited_by: str | None = None
    #: Whether the user has yet to agree. Until then it has no rights.
    pending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A browser in which a user is signed in."""

    user_id: str
    session_id: str
    address: str
    digest: str
    agent: str
    created_at: datetime
    used_at: datetime
    method: SignInMethod = SignInMethod.CODE
    #: The passkey that it began with.
    passkey_id: str | None = None

    @property
    def expires_at(self) -> datetime:
        """Return when the session ends if it is not used again."""
        return min(self.used_at + IDLE_TIME, self.created_at + LONGEST_TIME)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The record of an access token. Its account may be `SERVICE_ACCOUNT_ID`."""

    user_id: str
    session_id: str
    account_id: str
    digest: str
    operator: bool
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class SessionToken:
    """A token of the right form: a cookie, or the access token for an account."""

    user_id: str
    session_id: str
    account_id: str
    digest: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPrincipal:
    """The caller of a route that needs no account: a session, and whether it is an operator's."""

    session: Session
    operator: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberPrincipal(SessionPrincipal):
    """The caller with a session: a user with a role in an account."""

    account: Account
    role: Role

    @property
    def actor(self) -> str:
        """Who it is in the log of the account."""
        return self.session.address

    @property
    def title(self) -> str:
        """Who it is for people whom it invites."""
        return self.session.address

    @property
    def user_id(self) -> str:
        return self.session.user_id

    @property
    def rights(self) -> frozenset[str]:
        """Return the scopes that it may give to others: an owner all."""
        return rights_of(self.role)

    @property
    def limits(self) -> Limits:
        """Return the limits that apply to this caller's sends."""
        return self.account.limits

    @property
    def quotas(self) -> tuple[tuple[str, Limits], ...]:
        """Return the id under which its messages are counted, with the limits."""
        return ((self.account.account_id, self.limits),)

    def may(self, scope: str) -> bool:
        return scope in ROLE_SCOPES[self.role]

    def require(self, scope: str) -> None:
        if not self.may(scope):
            raise ServiceError(
                "scope_required",
                f"The role {self.role} lacks the permission {scope}.",
                details={"required_permission": scope},
            )


def invalid_session() -> ServiceError:
    """Return the error for a session that is absent or does not work. It tells no reason."""
    return ServiceError(
        "invalid_session", "There is no such session, or it has ended. Sign in again."
    )


def user_digest(address: str) -> str:
    """Return the digest under which the user of an address is stored."""
    return digest_of(mailbox_key(address))


def digest_of(secret: str) -> str:
    """Return a SHA-256 digest in hex."""
    return hashlib.sha256(secret.encode()).hexdigest()


def new_user(address: str) -> User:
    """Create a user with a new id, who is no operator."""
    return User(user_id=new_token(_USER_ID_LENGTH), address=address)


def new_session(
    user: User,
    agent: str,
    now: datetime,
    method: SignInMethod = SignInMethod.CODE,
    passkey_id: str | None = None,
) -> tuple[Session, str]:
    """Begin a session; return it with the text of its cookie."""
    session_id = new_token(SESSION_ID_LENGTH)
    text = f"{user.user_id}{session_id}{new_token(_SECRET_LENGTH)}"
    session = Session(
        user_id=user.user_id,
        session_id=session_id,
        address=user.address,
        digest=digest_of(text),
        agent=agent[:_MAX_AGENT],
        created_at=now,
        used_at=now,
        method=method,
        passkey_id=passkey_id,
    )
    return session, text


def new_access(
    session: Session, account_id: str, now: datetime, *, operator: bool
) -> tuple[Access, str]:
    """Create an access token; return its record and its text."""
    text = (
        f"{ACCESS_TOKEN_PREFIX}{session.user_id}{session.session_id}{account_id}"
        f"{new_token(_SECRET_LENGTH)}"
    )
    access = Access(
        user_id=session.user_id,
        session_id=session.session_id,
        account_id=account_id,
        digest=digest_of(text),
        operator=operator,
        expires_at=now + ACCESS_TIME,
    )
    return access, text


def is_session_id(text: str) -> bool:
    return re.fullmatch(_SESSION_ID, text) is not None


def parse_cookie(text: str) -> SessionToken:
    match = re.fullmatch(_COOKIE, text)
    if match is None:
        raise invalid_session()
    return SessionToken(match[1], match[2], SERVICE_ACCOUNT_ID, digest_of(text))


def parse_access_token(text: str) -> SessionToken:
    match = re.fullmatch(_ACCESS_TOKEN, text)
    if match is None:
        raise invalid_session()
    return SessionToken(match[1], match[2], match[3], digest_of(text))
