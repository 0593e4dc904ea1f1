"""Begin sessions, and issue access tokens: the end of every way to sign in."""

from collections.abc import Sequence
from dataclasses import dataclass

from pillarbox.application.account_lookup import AccountReader
from pillarbox.application.ports import Clock
from pillarbox.application.sign_in.ports import Members, Sessions
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.sign_in.session import (
    SERVICE_ACCOUNT_ID,
    Member,
    Role,
    Session,
    SignInMethod,
    User,
    new_access,
    new_session,
)


@dataclass(frozen=True, slots=True)
class AccountAccess:
    """An account that a user may choose, and the user's role in it."""

    account: Account
    role: Role


@dataclass(frozen=True, slots=True)
class AccountInvitation(AccountAccess):
    """An account that the user is invited to, and the address of who invites it."""

    invited_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedAccess:
    """A new access token for one of the user's accounts, or for none if there is none."""

    text: str
    user: User
    chosen: AccountAccess | None
    accounts: Sequence[AccountAccess]
    invitations: Sequence[AccountInvitation]
    #: Whether the session has no rights, because the user has to sign in with a passkey.
    passkey_needed: bool = False


@dataclass(frozen=True, slots=True)
class IssuedSession:
    """A new session: the text of its cookie, and a first access token."""

    cookie: str
    access: IssuedAccess


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStart:
    """Begins sessions of users who have proved who they are."""

    members: Members
    accounts: AccountReader
    sessions: Sessions
    #: Whether operators can do something only in a session that began with a passkey.
    operators_need_passkeys: bool
    clock: Clock

    def begin(
        self, user: User, agent: str, method: SignInMethod, passkey_id: str | None = None
    ) -> IssuedSession:
        session, cookie = new_session(user, agent, self.clock(), method, passkey_id)
        self.sessions.add(session)
        return IssuedSession(cookie, self.issue(session, user, None))

    def needs_passkey(self, user: User, session: Session) -> bool:
        """Return whether a session has no rights, because it began without a passkey."""
        return (
            self.operators_need_passkeys
            and user.operator
            and session.method is not SignInMethod.PASSKEY
        )

    def invitations_of(self, member: Member) -> Sequence[AccountInvitation]:
        """Return what a member is asked to join, if it has not joined and the account exists."""
        account = self.accounts.get(member.account_id) if member.pending else None
        return [AccountInvitation(account, member.role, member.invited_by)] if account else []

    def issue(self, session: Session, user: User, account_id: str | None) -> IssuedAccess:
        needs_passkey = self.needs_passkey(user, session)
        choices, invitations = list[AccountAccess](), list[AccountInvitation]()
        for member in () if needs_passkey else self.members.of_user(user.user_id):
            if member.pending:
                invitations.extend(self.invitations_of(member))
            elif account := self.accounts.get(member.account_id):
                choices.append(AccountAccess(account, member.role))
        chosen = next(
            (one for one in choices if account_id in {None, one.account.account_id}), None
        )
        if chosen is None and account_id is not None:
            error = FieldError("accountId", "is not an account of yours", "unknown_account")
            raise ValidationFailed(error)
        access, text = new_access(
            session,
            chosen.account.account_id if chosen else SERVICE_ACCOUNT_ID,
            self.clock(),
            operator=user.operator and not needs_passkey,
        )
        self.sessions.add_access(access)
        return IssuedAccess(
            text=text,
            user=user,
            chosen=chosen,
            accounts=choices,
            invitations=invitations,
            passkey_needed=needs_passkey,
        )
