"""What signing in needs from the outside world."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from pillarbox.domain.accounts.account import Account, Suspension
from pillarbox.domain.sign_in.session import Access, Member, Role, Session, SessionToken, User

if TYPE_CHECKING:
    # Only named here: those that need them at run time import them, so others start faster.
    from pillarbox.domain.accounts.account_log import LogEntry
    from pillarbox.domain.accounts.key import ApiKey
    from pillarbox.domain.sign_in.codes import CodeRequest, Flow, FlowToken, Link
    from pillarbox.domain.sign_in.passkey import (
        NewPasskeyAnswer,
        Passkey,
        PasskeyAnswer,
        PasskeyNotice,
        Site,
        VerifiedPasskey,
    )
    from pillarbox.domain.sign_in.sign_up import CheckedProof, SignUpRequest


class Users(Protocol):
    """The people who can sign in, by their address in any letter case."""

    def get(self, address: str) -> User | None:
        """Read a user consistently."""

    def add(self, user: User) -> User:
        """Store a new user, or return the one that has the address."""

    def end_proofs(self, address: str, at: datetime) -> None:
        """End the codes and links that a user got until a time, if there is such a user."""

    def set_operator(self, address: str, *, operator: bool) -> User | None:
        """Change whether a user is an operator; return None if there is no such user."""


class Members(Protocol):
    """Which user has which role in which account."""

    def put(self, member: Member) -> None:
        """Store a member, in place of the role that the user has there."""

    def add(self, member: Member) -> bool:
        """Store a new member; return False if the user is one already."""

    def join(self, member: Member) -> Member | None:
        """Let an invited user be a member, who is returned.

        Return None, and change nothing, if the member is not what the caller has read.
        """

    def change(self, member: Member, role: Role | None, keeper: Member | None) -> Member | None:
        """Change a member's role, or remove it without one, and return it.

        Return None, and change nothing, if the member or `keeper` is not what the caller has read.
        """

    def remove(self, account_id: str, user_id: str) -> bool:
        """Remove a user from an account; return False if it was no member."""

    def of_account(self, account_id: str) -> Sequence[Member]:
        """Read an account's members, the oldest first."""

    def of_user(self, user_id: str) -> Sequence[Member]:
        """Read a user's memberships, the oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResult:
    """The result of one read for an access token; each part is None if it is absent."""

    session: Session | None
    access: Access | None
    member: Member | None
    account: Account | None


class Sessions(Protocol):
    """Sessions and their access tokens. Without its session a token is not valid."""

    def add(self, session: Session) -> None:
        """Store a new session."""

    def add_access(self, access: Access) -> None:
        """Store a new access token."""

    def get(self, user_id: str, session_id: str) -> Session | None:
        """Read a session consistently."""

    def touch(self, session: Session) -> bool:
        """Store when a session was last used; return False if it has ended."""

    def look_up(self, token: SessionToken) -> SessionResult:
        """Read all that an access token needs, together and consistently."""

    def of_user(self, user_id: str) -> Sequence[Session]:
        """Read a user's sessions, the newest first; some may have expired."""

    def remove(self, user_id: str, session_id: str) -> bool:
        """Delete a session; return False if there is none."""

    def remove_all(self, user_id: str) -> None:
        """Delete a user's sessions and access tokens."""


class Flows(Protocol):
    """Flows, side by side for one address, and one-time links."""

    def put(self, flow: "Flow") -> None:
        """Store a new flow."""

    def attempt(self, token: "FlowToken", most: int, now: datetime) -> "Flow | None":
        """Count one attempt and return the flow.

        Return None, and count nothing, if no flow has this secret, or it has expired, was finished
        or had so many attempts.
        """

    def finish(self, flow: "Flow") -> bool:
        """End a flow after a right code. Of several calls only one returns True."""

    def put_link(self, digest: str, link: "Link") -> None:
        """Store a one-time link by the digest of its text."""

    def get_link(self, digest: str, now: datetime) -> "Link | None":
        """Read a link and leave it unused; None if it is absent, used or expired."""

    def redeem_link(self, digest: str, now: datetime) -> "Link | None":
        """Use a link up and return it; None if it is absent, used or expired."""


class SignInCounts(Protocol):
    """Counts of requests in windows of the clock."""

    def count(self, subject: str, window: timedelta, most: int, now: datetime) -> bool:
        """Count one request of a subject in its current window.

        Return False, and count nothing, if the window has so many.
        """

    def is_full(self, subject: str, window: timedelta, most: int, now: datetime) -> bool:
        """Return whether the current window of a subject has so many."""


class CodeRequests(Protocol):
    """The codes to send."""

    def put(self, request: "CodeRequest") -> None:
        """Queue a request."""


class SignUps(Protocol):
    """Sign-ups, at most one of each folded address."""

    def get(self, address: str) -> "SignUpRequest | None":
        """Read the sign-up of an address consistently."""

    def all(self) -> "Sequence[SignUpRequest]":
        """Read all sign-ups, the oldest first."""

    def put(self, request: "SignUpRequest", before: "SignUpRequest | None") -> bool:
        """Store a sign-up in place of the one that the caller has read.

        Return False, and change nothing, if another one is stored by now.
        """

    def create(
        self,
        request: "SignUpRequest",
        before: "SignUpRequest | None",
        account: Account,
        owner: Member,
        entry: "LogEntry | None" = None,
    ) -> bool:
        """Store a sign-up with its new account, the account's owner and an entry of its log.

        It does so under the same condition as `put`.
        """


class Proofs(Protocol):
    """What proof of work needs to remember."""

    def key(self) -> bytes:
        """Return the key that signs challenges. The first call creates it."""

    def use(self, proof: "CheckedProof") -> bool:
        """Use a proof up; return False if it was used before."""


class PreviewAccounts(Protocol):
    """The accounts that the preview widget makes, each with at most one key."""

    def get(self, account_id: str) -> Account | None:
        """Read an account consistently."""

    def key_digest(self, account_id: str) -> str | None:
        """Read the digest of an account's key consistently."""

    def put_key(self, key: "ApiKey", before: str | None, account: Account | None) -> bool:
        """Store a key in place of the one with the digest `before`, which is deleted.

        With `account`, create the account too. Return False, and change nothing, if there is
        another key or account by now.
        """

    def suspend(self, account_id: str, suspension: Suspension) -> None:
        """Suspend an account of the widget, unless it is; leave every other account alone."""

    def stop_mail(self, mailbox: str, at: datetime) -> None:
        """Suppress all forms of an address for preview mail. Only a hash is stored."""

    def is_stopped(self, mailbox: str) -> bool:
        """Return whether a form of the address is suppressed for preview mail."""


class Passkeys(Protocol):
    """The passkeys of users."""

    def add(self, passkey: "Passkey") -> bool:
        """Store a new passkey; return False if it is stored already."""

    def get(self, user_id: str, passkey_id: str) -> "Passkey | None":
        """Read a passkey consistently."""

    def of_user(self, user_id: str) -> "Sequence[Passkey]":
        """Read a user's passkeys consistently, the oldest first."""

    def use(self, passkey: "Passkey", sign_count: int, at: datetime) -> bool:
        """Store a use of a passkey, with the new count of its authenticator.

        Return False, and change nothing, if the passkey is not what the caller has read.
        """

    def stop(self, passkey: "Passkey", at: datetime) -> bool:
        """Stop a passkey; return False if it is gone or stopped already."""

    def remove(self, user_id: str, passkey_id: str) -> bool:
        """Delete a passkey; return False if there is none."""


class PasskeyVerifier(Protocol):
    """Checks the answers of authenticators. A user must have been verified, by PIN or body."""

    def check_new(
        self, answer: "NewPasskeyAnswer", challenge: bytes, site: "Site"
    ) -> "VerifiedPasskey | None":
        """Return what a right answer tells of a new passkey; None for any other answer."""

    def check_use(
        self, answer: "PasskeyAnswer", challenge: bytes, site: "Site", public_key: str
    ) -> int | None:
        """Return the authenticator's count in a right answer; None for any other answer."""


class PasskeyNotices(Protocol):
    """The emails about passkeys to send."""

    def put(self, notice: "PasskeyNotice") -> None:
        """Queue an email."""
