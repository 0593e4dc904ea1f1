"""Sign in with a one-time code or link, and exchange the cookie for access tokens.

An address without a user makes the same calls and gets the same bytes as one with a user: the code
is queued, and a worker looks for the user. If such an address may sign up, the right code makes its
owner a user, who is in no account yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pillarbox.application.ports import Clock, StrangerMail
from pillarbox.application.sign_in.code_limits import count_code
from pillarbox.application.sign_in.ports import (
    CodeRequests,
    Flows,
    Members,
    PreviewAccounts,
    Sessions,
    SignInCounts,
    Users,
)
from pillarbox.application.sign_in.session_start import (
    AccountInvitation,
    IssuedAccess,
    IssuedSession,
    SessionStart,
)
from pillarbox.application.stranger_pauses import paused
from pillarbox.application.validation import normalize_address
from pillarbox.domain.accounts.quota import too_many_this_minute
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.client_origin import block_of
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.codes import (
    CODE_LENGTH,
    LONG_CODE_LENGTH,
    MAX_ATTEMPTS,
    MINUTE,
    PER_UNWILLING,
    PER_UNWILLING_AND_BLOCK,
    SHORT_PER_DAY,
    FlowToken,
    Link,
    invalid_code,
    new_flow,
)
from pillarbox.domain.sign_in.session import (
    TOKENS_PER_MINUTE,
    Member,
    Session,
    SessionPrincipal,
    SessionToken,
    SignInMethod,
    digest_of,
    invalid_session,
    is_session_id,
    new_user,
    user_digest,
)
from pillarbox.domain.sign_in.sign_up import (
    CODES,
    DAY,
    NEWCOMERS,
    STRANGERS_COUNT,
    Newcomers,
    SignUpPolicy,
)
from pillarbox.domain.sign_in.strangers import Audience, Cause, network_party, next_day


@dataclass(frozen=True, slots=True)
class LinkOwner:
    """Whom a one-time link signs in, and the invitations that its page names: one at most."""

    address: str
    invitations: Sequence[AccountInvitation]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """Signs users in."""

    users: Users
    members: Members
    sessions: Sessions
    start: SessionStart
    flows: Flows
    counts: SignInCounts
    queue: CodeRequests
    policy: SignUpPolicy
    strangers: StrangerMail
    #: Knows who wants no mail that they have not asked for.
    previews: PreviewAccounts
    clock: Clock

    def request_code(self, address: str, client: str) -> FlowToken:
        """Begin a flow for an IP address, and queue its code."""
        address, now = normalize_address(address, "email"), self.clock()
        digest = user_digest(address)
        count_code(self.counts, "", digest, client, now)
        if self.previews.is_stopped(mailbox_key(address)):
            self._count_unwilling(digest, client, now)
        is_short = self.counts.count(f"address#{digest}", DAY, SHORT_PER_DAY, now)
        length = CODE_LENGTH if is_short else LONG_CODE_LENGTH
        token, flow, request = new_flow(address, now, length=length, party=network_party(client))
        self.flows.put(flow)
        self.queue.put(request)
        return token

    def _count_unwilling(self, digest: str, client: str, now: datetime) -> None:
        subject = f"unwilling#{digest}"
        limits = (
            (f"{subject}#{block_of(client)}", PER_UNWILLING_AND_BLOCK),
            (subject, PER_UNWILLING),
        )
        if not all(self.counts.count(name, DAY, most, now) for name, most in limits):
            message = (
                "The codes of today are used up, because this address has stopped email of the"
                " service. Sign in with a passkey, from another network, or tomorrow."
            )
            raise ServiceError("rate_limit_exceeded", message)

    def newcomers(self) -> Newcomers:
        """Return whether addresses that belong to no user get codes now.

        Everyone who asks for a code is told this, whether or not the address is a user's. Then no
        newcomer waits for an email that never comes, and nobody learns who has an account.
        """
        if not self.policy.is_public:
            return Newcomers(admitted=False)
        now = self.clock()
        until = paused(self.strangers, Cause(Audience.NEWCOMERS), now)
        if self.counts.is_full(f"{STRANGERS_COUNT}{CODES}", DAY, NEWCOMERS, now):
            until = until or next_day(now)
        return Newcomers(until is None, until)

    def with_code(self, token: FlowToken, code: str, agent: str) -> IssuedSession:
        """Sign in with the code of a flow. Each call is an attempt. The user may be new."""
        flow = self.flows.attempt(token, MAX_ATTEMPTS, self.clock())
        if flow is None or not flow.accepts(token, code) or not self.flows.finish(flow):
            raise invalid_code()
        return self._begin(flow.address, flow.at, agent, SignInMethod.CODE)

    def owner_of_link(self, text: str) -> LinkOwner:
        """Return whom a one-time link would sign in, and what it invites the user to.

        Its page asks with both. Otherwise somebody who mails a link of their own would have its
        reader work in their account.
        """
        link, member = self._checked(self.flows.get_link(digest_of(text), self.clock()))
        return LinkOwner(link.address, self.start.invitations_of(member) if member else ())

    def with_link(self, text: str, agent: str) -> IssuedSession:
        """Sign in with a one-time link, of an invitation or of the operator's command.

        A tenant chose who gets the link of an invitation. So it does not sign in an operator or a
        member of another account, and it ends with the membership.
        """
        link, _ = self._checked(self.flows.redeem_link(digest_of(text), self.clock()))
        method = SignInMethod.LINK if link.account_id is None else SignInMethod.CODE
        return self._begin(link.address, link.at, agent, method)

    def _checked(self, link: Link | None) -> tuple[Link, Member | None]:
        """Return a link that works, and for that of an invitation what its user is."""
        member = self._invited(link) if link and link.account_id is not None else None
        if link is None or (link.account_id is not None and member is None):
            raise invalid_code()
        return link, member

    def exchange(self, cookie: SessionToken, account_id: str | None) -> IssuedAccess:
        """Issue an access token for a cookie, and note that the session was used.

        Args:
            account_id: one of the user's accounts; by default the oldest membership.
        """
        now = self.clock()
        session = self.sessions.get(cookie.user_id, cookie.session_id)
        if session is None or session.digest != cookie.digest or now >= session.expires_at:
            raise invalid_session()
        user = self.users.get(session.address)
        if user is None or user.user_id != session.user_id:
            raise invalid_session()
        if not self.counts.count(f"tokens#{user.user_id}", MINUTE, TOKENS_PER_MINUTE, now):
            message = f"A user gets {TOKENS_PER_MINUTE} access tokens a minute."
            raise too_many_this_minute(message, TOKENS_PER_MINUTE, now)
        session = replace(session, used_at=now)
        if not self.sessions.touch(session):
            raise invalid_session()
        return self.start.issue(session, user, account_id)

    def sessions_of(self, principal: SessionPrincipal) -> Sequence[Session]:
        """Return the sessions of a caller that have not expired, the newest first."""
        now = self.clock()
        found = self.sessions.of_user(principal.session.user_id)
        return [session for session in found if now < session.expires_at]

    def end(self, principal: SessionPrincipal, session_id: str) -> None:
        user_id = principal.session.user_id
        if not is_session_id(session_id) or not self.sessions.remove(user_id, session_id):
            raise ServiceError("session_not_found", "You have no such session.")

    def end_all(self, principal: SessionPrincipal) -> None:
        """End all sessions of a caller, and the codes and links that are on their way."""
        self.users.end_proofs(principal.session.address, self.clock())
        self.sessions.remove_all(principal.session.user_id)

    def _invited(self, link: Link) -> Member | None:
        user = self.users.get(link.address)
        if user is None or user.operator:
            return None
        members = self.members.of_user(user.user_id)
        places = [(one.account_id, one.added_at) for one in members]
        return members[0] if places == [(link.account_id, link.at)] else None

    def _begin(
        self, address: str, proved_at: datetime, agent: str, method: SignInMethod
    ) -> IssuedSession:
        user = self.users.get(address)
        if user and user.proofs_ended_at and proved_at <= user.proofs_ended_at:
            raise invalid_code()
        if user is None and self.policy.admits(address):
            user = self.users.add(new_user(address))
        if user is None:
            raise invalid_code()
        return self.start.begin(user, agent, method)
