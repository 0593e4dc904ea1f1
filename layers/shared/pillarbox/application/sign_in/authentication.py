"""Authenticate callers with a session: from an access token to a principal.

The session, the token, the membership and the account are read together at each request, so the end
of a session and the change of a role take effect at the next one.
"""

from dataclasses import dataclass

from pillarbox.application.authentication import Authentication
from pillarbox.application.ports import Clock
from pillarbox.application.sign_in.ports import SessionResult, Sessions, Users
from pillarbox.domain.accounts.key_policy import SUSPENDED, Principal
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.role import OPERATE
from pillarbox.domain.sign_in.session import (
    SERVICE_ACCOUNT_ID,
    MemberPrincipal,
    SessionPrincipal,
    SessionToken,
    invalid_session,
)


@dataclass(frozen=True, slots=True)
class SessionAuthentication:
    """Authenticates the callers of routes that take a session."""

    sessions: Sessions
    clock: Clock

    def authenticate(self, token: SessionToken) -> SessionPrincipal:
        """Return the user of a session, whether or not it is a member of an account.

        Raises:
            ServiceError: `invalid_session`.
        """
        return self._principal(token, self.sessions.look_up(token))

    def authenticate_member(self, token: SessionToken, scope: str | None = None) -> MemberPrincipal:
        """Return the member of the token's account, and check its role for a scope if one is given.

        Raises:
            ServiceError: `invalid_session`, `account_suspended`, `scope_required`.
        """
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
class OperatorAuthentication:
    """Authenticates the callers of routes that only operators of the service may use."""

    sessions: SessionAuthentication
    users: Users

    def authenticate(self, token: SessionToken) -> SessionPrincipal:
        """Return an operator.

        The token was an operator's when it was issued, and the user is one now.

        Raises:
            ServiceError: `invalid_session`, `scope_required`.
        """
        principal = self.sessions.authenticate(token)
        if principal.operator:
            user = self.users.get(principal.session.address)
            if user and user.operator and user.user_id == principal.session.user_id:
                return principal
        message = "Only operators of the service may do this."
        raise ServiceError("scope_required", message, details={"required_permission": OPERATE})


@dataclass(frozen=True, slots=True)
class CallerAuthentication:
    """Authenticates the callers of routes that take a key or a session."""

    keys: Authentication
    sessions: SessionAuthentication

    def authenticate(
        self, credential: str | SessionToken, scope: str | None = None
    ) -> Principal | MemberPrincipal:
        """Return the principal of a key or a session, and check for a scope if one is given.

        Raises:
            ServiceError: `invalid_api_key`, `invalid_session`, `account_suspended`,
                `scope_required`.
        """
        if isinstance(credential, SessionToken):
            return self.sessions.authenticate_member(credential, scope)
        return self.keys.authenticate(credential, scope)
