"""Authenticate callers with a session: from an access token to a principal.

The session, the token, the membership and the account are read together at each request, so the end
of a session and the change of a role take effect at the next one.
"""

from dataclasses import dataclass
from typing import Final

from pillarbox.application.account_lookup import existing
from pillarbox.application.authentication import Authentication
from pillarbox.application.change_log import ChangeLog
from pillarbox.application.ports import Clock, Directory
from pillarbox.application.sign_in.ports import SessionResult, Sessions, Users
from pillarbox.domain.accounts.account_log import COMMAND, AccountAction
from pillarbox.domain.accounts.key import ACCOUNT_ID_LENGTH, ACCOUNTS_READ, ACCOUNTS_WRITE
from pillarbox.domain.accounts.key_policy import SUSPENDED, Principal
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import is_token
from pillarbox.domain.sign_in.session import (
    OPERATE,
    SERVICE_ACCOUNT_ID,
    MemberPrincipal,
    SessionPrincipal,
    SessionToken,
    invalid_session,
)

#: In characters, of a path in the log.
_MAX_CALL: Final = 300


@dataclass(frozen=True, slots=True)
class SessionAuthentication:
    """Authenticates the callers of routes that take a session."""

    sessions: Sessions
    clock: Clock

    def authenticate(self, token: SessionToken) -> SessionPrincipal:
        """Return the user of a session, whether or not it is a member of an account."""
        return self._principal(token, self.sessions.look_up(token))

    def authenticate_member(self, token: SessionToken, scope: str | None = None) -> MemberPrincipal:
        """Return the member of the token's account, whose role must allow the scope, if given."""
        found = self.sessions.look_up(token)
        principal = self._principal(token, found)
        if token.account_id == SERVICE_ACCOUNT_ID:
            details = {"required_permission": scope} if scope else None
            raise ServiceError("scope_required", "You are in no account.", details=details)
        if found.member is None or found.member.pending or found.account is None:
            raise invalid_session()
        if found.account.suspension is not None:
            raise ServiceError("account_suspended", SUSPENDED)
        member = MemberPrincipal(
            session=principal.session,
            operator=principal.operator,
            account=found.account,
            role=found.member.role,
        )
        if scope is not None:
            member.require(scope)
        return member

    def _principal(self, token: SessionToken, found: SessionResult) -> SessionPrincipal:
        session, access, now = found.session, found.access, self.clock()
        # The record of an access token is found by its digest, so its secret is right.
        if session is None or access is None or now >= min(session.expires_at, access.expires_at):
            raise invalid_session()
        if access.account_id != token.account_id:
            raise invalid_session()
        return SessionPrincipal(session=session, operator=access.operator)


@dataclass(frozen=True, slots=True)
class CallerRequest:
    """A request to manage an account."""

    credential: str | SessionToken
    #: Where it came from.
    origin: ClientOrigin
    #: The account that it is for, if it names one.
    account_id: str | None
    #: Its method and path, for the account's log.
    call: str


@dataclass(frozen=True, slots=True)
class OperatorAuthentication:
    """Authenticates the callers of routes that only operators of the service may use."""

    sessions: SessionAuthentication
    users: Users
    keys: Authentication
    log: ChangeLog

    def manage(self, request: CallerRequest, scope: str) -> str:
        """Return who operates: the address of an operator, the id of its key, or `COMMAND`."""
        if isinstance(request.credential, SessionToken):
            return self.authenticate(request.credential, scope).session.address
        key = self.keys.authenticate(request.credential, scope, origin=request.origin).key
        if scope == ACCOUNTS_WRITE:
            call = request.call[:_MAX_CALL]
            self.log.note(key.account_id, AccountAction.API_CALLED, call, by=key.key_id)
        return COMMAND if key.account_id == SERVICE_ACCOUNT_ID else key.key_id

    def authenticate(self, token: SessionToken, scope: str = OPERATE) -> SessionPrincipal:
        """Return an operator.

        The token was an operator's when it was issued, and the user is one now.
        """
        principal = self.sessions.authenticate(token)
        if principal.operator:
            user = self.users.get(principal.session.address)
            if user and user.operator and user.user_id == principal.session.user_id:
                return principal
        message = "Only operators of the service may do this."
        raise ServiceError("scope_required", message, details={"required_permission": scope})


@dataclass(frozen=True, slots=True)
class CallerAuthentication:
    """Authenticates the callers of routes that take a key or a session."""

    keys: Authentication
    sessions: SessionAuthentication
    directory: Directory
    log: ChangeLog

    def authenticate(
        self,
        credential: str | SessionToken,
        scope: str | None = None,
        *,
        origin: ClientOrigin | None = None,
    ) -> Principal | MemberPrincipal:
        """Return the principal of a key or a session, and check for a scope if one is given."""
        if isinstance(credential, SessionToken):
            return self.sessions.authenticate_member(credential, scope)
        return self.keys.authenticate(credential, scope, origin=origin)

    def manage(self, request: CallerRequest, scope: str) -> Principal | MemberPrincipal:
        """Return the principal of a request to manage an account, which has a scope for it.

        What a key may change is noted in the account's log before it does, so that no change is
        missing there.
        """
        if isinstance(request.credential, SessionToken):
            if request.account_id is not None:
                message = "Only an operator's key names the account that a request is for."
                raise ServiceError(
                    "scope_required", message, details={"required_permission": ACCOUNTS_WRITE}
                )
            return self.sessions.authenticate_member(request.credential, scope)
        own = principal = self.keys.authenticate(request.credential, scope, origin=request.origin)
        changes = scope.endswith(":write")
        if request.account_id is not None:
            principal = self._for_account(own, request.account_id, changes=changes)
        if changes:
            self._note(principal, request.call)
            if principal.acts_for_another:
                self._note(own, f"{request.call} for {request.account_id}")
        return principal

    def _note(self, principal: Principal, call: str) -> None:
        account_id = principal.account.account_id
        self.log.note(account_id, AccountAction.API_CALLED, call[:_MAX_CALL], by=principal.actor)

    def _for_account(self, own: Principal, account_id: str, *, changes: bool) -> Principal:
        """Return the principal with which an operator's key acts for an account."""
        scope = ACCOUNTS_WRITE if changes else ACCOUNTS_READ
        own.require(scope)
        if account_id == own.account.account_id:
            return own
        found = None
        if is_token(account_id, ACCOUNT_ID_LENGTH):
            found = self.directory.look_up(account_id).account
        return Principal(own.key, existing(found))
