"""Add, list and remove the passkeys of a user, and sign in with one."""

from base64 import urlsafe_b64decode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.change_log import ChangeLog
from pillarbox.application.ports import Clock, ServiceAddress
from pillarbox.application.sign_in.ports import (
    Members,
    PasskeyNotices,
    Passkeys,
    PasskeyVerifier,
    Proofs,
    Sessions,
    SignInCounts,
    Users,
)
from pillarbox.application.sign_in.session_start import IssuedSession, SessionStart
from pillarbox.application.validation import check_text
from pillarbox.domain.accounts.account_log import AccountAction
from pillarbox.domain.client_origin import block_of
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.domain.ids import new_token
from pillarbox.domain.sign_in.codes import HOUR
from pillarbox.domain.sign_in.passkey import (
    FLOW_TIME,
    FRESH_TIME,
    MAX_PASSKEYS,
    PER_USER,
    SIGN_IN,
    NewPasskeyAnswer,
    Passkey,
    PasskeyAnswer,
    PasskeyChange,
    PasskeyNotice,
    Site,
    challenge_of,
    invalid_passkey,
    is_passkey_id,
    limits_of,
    limits_of_user,
    new_flow,
    parse_flow,
    registration_of,
    site_of,
)
from pillarbox.domain.sign_in.session import (
    Session,
    SessionPrincipal,
    SignInMethod,
    User,
    digest_of,
    invalid_session,
)

_NOTICE_ID_LENGTH: Final = 12
_ACTIONS: Final = {
    PasskeyChange.ADDED: AccountAction.PASSKEY_ADDED,
    PasskeyChange.REMOVED: AccountAction.PASSKEY_REMOVED,
    PasskeyChange.STOPPED: AccountAction.PASSKEY_STOPPED,
}


@dataclass(frozen=True, slots=True)
class PasskeyChallenge:
    """What a browser asks an authenticator to answer."""

    flow: str
    challenge: bytes
    site: Site


@dataclass(frozen=True, slots=True)
class NewPasskeyChallenge(PasskeyChallenge):
    """The same for a new passkey, with its user and the passkeys that the user has."""

    user: User
    existing: Sequence[Passkey]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserPasskeys:
    """The passkeys of all users."""

    users: Users
    members: Members
    sessions: Sessions
    passkeys: Passkeys
    proofs: Proofs
    counts: SignInCounts
    verifier: PasskeyVerifier
    notices: PasskeyNotices
    log: ChangeLog
    start: SessionStart
    base_url: ServiceAddress
    clock: Clock

    def challenge(self) -> PasskeyChallenge:
        """Begin a flow to sign in. It stores nothing. Everybody gets the same kind of answer."""
        flow = new_flow(self.clock())
        return PasskeyChallenge(flow, challenge_of(self.proofs.key(), SIGN_IN, flow), self._site())

    def sign_in(self, flow: str, answer: PasskeyAnswer, client: str, agent: str) -> IssuedSession:
        """Sign in with the answer to a challenge. A flow signs in once."""
        now, block = self.clock(), block_of(client)
        self._count(limits_of(block), now)
        mark = parse_flow(flow, now)
        passkey = self._find(answer)
        if mark is None or passkey is None:
            raise invalid_passkey()
        self._count(limits_of_user(passkey.user_id, block), now)
        challenge = challenge_of(self.proofs.key(), SIGN_IN, flow)
        count = self.verifier.check_use(answer, challenge, self._site(), passkey.public_key)
        if count is None or not self.proofs.use(mark):
            raise invalid_passkey()
        if passkey.stopped_at or passkey.is_copied(count):
            self._stop(passkey, now)
            raise invalid_passkey()
        user = self.users.get(passkey.address)
        begun_at = mark.expires_at - FLOW_TIME
        if (
            user is None
            or user.user_id != passkey.user_id
            or (user.proofs_ended_at and begun_at <= user.proofs_ended_at)
            or not self.passkeys.use(passkey, count, now)
        ):
            raise invalid_passkey()
        return self.start.begin(user, agent, SignInMethod.PASSKEY, passkey.passkey_id)

    def of_user(self, principal: SessionPrincipal) -> Sequence[Passkey]:
        return self.passkeys.of_user(principal.session.user_id)

    def challenge_new(self, principal: SessionPrincipal) -> NewPasskeyChallenge:
        """Begin a flow for a new passkey of a caller, in its session alone."""
        user, existing = self._may_add(principal.session)
        flow = new_flow(self.clock())
        challenge = challenge_of(self.proofs.key(), registration_of(principal.session), flow)
        return NewPasskeyChallenge(flow, challenge, self._site(), user, existing)

    def add(
        self, principal: SessionPrincipal, flow: str, answer: NewPasskeyAnswer, name: str
    ) -> Passkey:
        """Store a new passkey. An email tells the user, and the logs of the user's accounts."""
        check_text("name", name)
        user, _ = self._may_add(principal.session)
        now = self.clock()
        mark = parse_flow(flow, now)
        challenge = challenge_of(self.proofs.key(), registration_of(principal.session), flow)
        # Before the answer is read, which is dear.
        self._count([(f"passkeys#new#{user.user_id}", HOUR, PER_USER)], now)
        site = self._site()
        verified = self.verifier.check_new(answer, challenge, site) if mark else None
        if mark is None or verified is None or not self.proofs.use(mark):
            raise _refused("is not answered by this passkey, or was used, or is too old")
        passkey = Passkey(
            user_id=user.user_id,
            address=user.address,
            credential=answer.credential,
            public_key=verified.public_key,
            sign_count=verified.sign_count,
            name=name,
            synced=verified.synced,
            created_at=now,
        )
        # Before the change, so that no passkey is added without an email.
        self._tell(passkey, PasskeyChange.ADDED, now)
        if not self.passkeys.add(passkey):
            raise _refused("has a passkey that you have added already")
        self._note(passkey, PasskeyChange.ADDED)
        return passkey

    def remove(self, principal: SessionPrincipal, passkey_id: str) -> None:
        """Remove a passkey of a caller, with the other sessions that began with it."""
        session = principal.session
        self._may_change(session)
        known = is_passkey_id(passkey_id)
        passkey = self.passkeys.get(session.user_id, passkey_id) if known else None
        if passkey is None:
            raise _not_found()
        now = self.clock()
        self._tell(passkey, PasskeyChange.REMOVED, now)
        # It signs in no more, and is there until its sessions have ended: a repetition ends them.
        self.passkeys.stop(passkey, now)
        self._end_sessions(passkey, but=session.session_id)
        if not self.passkeys.remove(session.user_id, passkey_id):
            raise _not_found()
        self._note(passkey, PasskeyChange.REMOVED)

    def _find(self, answer: PasskeyAnswer) -> Passkey | None:
        """Return the passkey that an answer names. The id of its user is the handle that it got."""
        try:
            padded = answer.user_handle + "=" * (-len(answer.user_handle) % 4)
            user_id = urlsafe_b64decode(padded).decode("ascii")
        except ValueError:
            return None
        return self.passkeys.get(user_id, digest_of(answer.credential)) if user_id else None

    def _may_change(self, session: Session) -> User:
        """Return the user, if the session is as strong as what it changes.

        An operator who has to use a passkey adds the first one, and one after a loss, with a link
        of the operator's command: who reads the operator's mail must not be able to.
        """
        user = self.users.get(session.address)
        if user is None or user.user_id != session.user_id:
            raise invalid_session()
        if self.start.needs_passkey(user, session) and session.method is not SignInMethod.LINK:
            raise _sign_in_required(
                "Sign in with your passkey. If you have none, ask for a link of the command"
                " `pillarbox dashboard link`."
            )
        return user

    def _may_add(self, session: Session) -> tuple[User, Sequence[Passkey]]:
        user = self._may_change(session)
        if self.clock() >= session.created_at + FRESH_TIME:
            raise _sign_in_required("Sign in again to add a passkey: this session is older.")
        existing = self.passkeys.of_user(user.user_id)
        if len(existing) >= MAX_PASSKEYS:
            message = f"A user can have at most {MAX_PASSKEYS} passkeys."
            raise ServiceError("passkey_limit_exceeded", message, details={"limit": MAX_PASSKEYS})
        return user, existing

    def _stop(self, passkey: Passkey, now: datetime) -> None:
        """Stop a passkey of which there seems to be a copy, and what either of them began.

        A try that died in between is completed by the next one.
        """
        is_new = passkey.stopped_at is None
        if is_new:
            self._tell(passkey, PasskeyChange.STOPPED, now)
        self.passkeys.stop(passkey, now)
        self._end_sessions(passkey)
        if is_new:
            self._note(passkey, PasskeyChange.STOPPED)

    def _end_sessions(self, passkey: Passkey, but: str | None = None) -> None:
        for session in self.sessions.of_user(passkey.user_id):
            if session.passkey_id == passkey.passkey_id and session.session_id != but:
                self.sessions.remove(passkey.user_id, session.session_id)

    def _tell(self, passkey: Passkey, change: PasskeyChange, now: datetime) -> None:
        notice = PasskeyNotice(
            notice_id=new_token(_NOTICE_ID_LENGTH),
            change=change,
            address=passkey.address,
            name=passkey.name,
            at=now,
        )
        self.notices.put(notice)

    def _note(self, passkey: Passkey, change: PasskeyChange) -> None:
        for member in self.members.of_user(passkey.user_id):
            if not member.pending:
                action = _ACTIONS[change]
                self.log.note(member.account_id, action, passkey.name, by=passkey.address)

    def _count(self, limits: Iterable[tuple[str, timedelta, int]], now: datetime) -> None:
        for subject, window, most in limits:
            if not self.counts.count(subject, window, most, now):
                message = "Too many passkeys were tried. Try again later."
                raise ServiceError("rate_limit_exceeded", message)

    def _site(self) -> Site:
        return site_of(self.base_url())


def _sign_in_required(message: str) -> ServiceError:
    return ServiceError("sign_in_required", message)


def _refused(message: str) -> ValidationFailed:
    return ValidationFailed(FieldError("flow", message, "invalid_passkey"))


def _not_found() -> ServiceError:
    return ServiceError("passkey_not_found", "You have no such passkey.")
