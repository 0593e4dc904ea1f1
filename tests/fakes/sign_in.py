"""Fakes of the ports for signing in over plain dicts. They pass the tests in tests/ports."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from pillarbox.application.sign_in.ports import SessionResult
from pillarbox.domain.accounts.account import Account, Suspension
from pillarbox.domain.accounts.account_log import LogEntry
from pillarbox.domain.accounts.key import ApiKey
from pillarbox.domain.sign_in.codes import CodeRequest, Flow, FlowToken
from pillarbox.domain.sign_in.preview_key import fold_address
from pillarbox.domain.sign_in.proof_of_work import CheckedProof
from pillarbox.domain.sign_in.role import Role
from pillarbox.domain.sign_in.session import Access, Member, Session, SessionToken, User, digest_of
from pillarbox.domain.sign_in.session import user_digest as digest_of_address
from pillarbox.domain.sign_in.sign_up import SignUpRequest


@dataclass
class FakeUsers:
    """Implements `sign_in.ports.Users`."""

    users: dict[str, User] = field(default_factory=dict)

    def get(self, address: str) -> User | None:
        return self.users.get(digest_of_address(address))

    def add(self, user: User) -> User:
        return self.users.setdefault(digest_of_address(user.address), user)

    def set_operator(self, address: str, *, operator: bool) -> User | None:
        user = self.get(address)
        if user is None:
            return None
        changed = replace(user, operator=operator)
        self.users[digest_of_address(address)] = changed
        return changed


@dataclass
class FakeMembers:
    """Implements `sign_in.ports.Members`."""

    members: dict[tuple[str, str], Member] = field(default_factory=dict)

    def put(self, member: Member) -> None:
        self.members[member.account_id, member.user_id] = member

    def add(self, member: Member) -> bool:
        return self.members.setdefault((member.account_id, member.user_id), member) is member

    def change(self, member: Member, role: Role | None, keeper: Member | None) -> Member | None:
        place = member.account_id, member.user_id
        for one, needed in ((member, member.role), (keeper, Role.OWNER)):
            stored = one and self.members.get((one.account_id, one.user_id))
            if one and (stored is None or stored.role is not needed):
                return None
        if role is None:
            return self.members.pop(place)
        self.members[place] = replace(member, role=role)
        return self.members[place]

    def remove(self, account_id: str, user_id: str) -> bool:
        return self.members.pop((account_id, user_id), None) is not None

    def of_account(self, account_id: str) -> Sequence[Member]:
        return self._by_time(one for one in self.members.values() if one.account_id == account_id)

    def of_user(self, user_id: str) -> Sequence[Member]:
        return self._by_time(one for one in self.members.values() if one.user_id == user_id)

    @staticmethod
    def _by_time(members: object) -> list[Member]:
        return sorted(members, key=lambda one: one.added_at)  # type: ignore[call-overload,no-any-return]


@dataclass
class FakeSessions:
    """Implements `sign_in.ports.Sessions`."""

    members: FakeMembers
    accounts: dict[str, Account]
    sessions: dict[tuple[str, str], Session] = field(default_factory=dict)
    accesses: dict[str, Access] = field(default_factory=dict)

    def add(self, session: Session) -> None:
        self.sessions[session.user_id, session.session_id] = session

    def add_access(self, access: Access) -> None:
        self.accesses[access.digest] = access

    def get(self, user_id: str, session_id: str) -> Session | None:
        return self.sessions.get((user_id, session_id))

    def touch(self, session: Session) -> bool:
        if self.get(session.user_id, session.session_id) is None:
            return False
        self.add(session)
        return True

    def look_up(self, token: SessionToken) -> SessionResult:
        access = self.accesses.get(token.digest)
        place = (token.user_id, token.session_id)
        return SessionResult(
            session=self.sessions.get(place),
            access=access if access and (access.user_id, access.session_id) == place else None,
            member=self.members.members.get((token.account_id, token.user_id)),
            account=self.accounts.get(token.account_id),
        )

    def of_user(self, user_id: str) -> Sequence[Session]:
        found = (one for one in self.sessions.values() if one.user_id == user_id)
        return sorted(found, key=lambda one: (one.created_at, one.session_id), reverse=True)

    def remove(self, user_id: str, session_id: str) -> bool:
        return self.sessions.pop((user_id, session_id), None) is not None

    def remove_all(self, user_id: str) -> None:
        for session in self.of_user(user_id):
            self.remove(user_id, session.session_id)


@dataclass
class FakeFlows:
    """Implements `sign_in.ports.Flows`."""

    flows: dict[str, Flow] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)
    finished: set[str] = field(default_factory=set)
    links: dict[str, tuple[str, datetime]] = field(default_factory=dict)

    def put(self, flow: Flow) -> None:
        self.flows[flow.user_digest] = flow

    def attempt(self, token: FlowToken, most: int, now: datetime) -> Flow | None:
        flow = self.flows.get(token.user_digest)
        if flow is None or flow.digest != digest_of(token.secret) or now >= flow.expires_at:
            return None
        count = self.attempts.get(flow.digest, 0)
        if flow.digest in self.finished or count >= most:
            return None
        self.attempts[flow.digest] = count + 1
        return flow

    def finish(self, flow: Flow) -> bool:
        if self.flows.get(flow.user_digest) != flow or flow.digest in self.finished:
            return False
        self.finished.add(flow.digest)
        return True

    def put_link(self, digest: str, address: str, expires_at: datetime) -> None:
        self.links[digest] = address, expires_at

    def redeem_link(self, digest: str, now: datetime) -> str | None:
        address, expires_at = self.links.pop(digest, ("", now))
        return address if now < expires_at else None


@dataclass
class FakeSignInCounts:
    """Implements `sign_in.ports.SignInCounts`."""

    counts: dict[tuple[str, float, int], int] = field(default_factory=dict)

    def count(self, subject: str, window: timedelta, most: int, now: datetime) -> bool:
        seconds = window.total_seconds()
        key = (subject, seconds, int(now.timestamp() // seconds))
        if self.counts.get(key, 0) >= most:
            return False
        self.counts[key] = self.counts.get(key, 0) + 1
        return True


@dataclass
class FakeCodeRequests:
    """Implements `sign_in.ports.CodeRequests`."""

    requests: list[CodeRequest] = field(default_factory=list)

    def put(self, request: CodeRequest) -> None:
        self.requests.append(request)


@dataclass
class FakeSignUps:
    """Implements `sign_in.ports.SignUps`."""

    members: FakeMembers
    accounts: dict[str, Account]
    requests: dict[str, SignUpRequest] = field(default_factory=dict)
    #: Account id -> the first entry of its log.
    entries: dict[str, LogEntry] = field(default_factory=dict)

    def get(self, address: str) -> SignUpRequest | None:
        return self.requests.get(digest_of_address(address))

    def all(self) -> Sequence[SignUpRequest]:
        return sorted(self.requests.values(), key=lambda one: (one.at, one.address))

    def put(self, request: SignUpRequest, before: SignUpRequest | None) -> bool:
        digest = digest_of_address(request.address)
        if self.requests.get(digest) != before:
            return False
        self.requests[digest] = request
        return True

    def create(
        self,
        request: SignUpRequest,
        before: SignUpRequest | None,
        account: Account,
        owner: Member,
        entry: LogEntry | None = None,
    ) -> bool:
        if not self.put(request, before):
            return False
        if entry:
            self.entries[account.account_id] = entry
        self.accounts[account.account_id] = account
        self.members.put(owner)
        return True


@dataclass
class FakePreviewAccounts:
    """Implements `sign_in.ports.PreviewAccounts`."""

    accounts: dict[str, Account] = field(default_factory=dict)
    keys: dict[str, ApiKey] = field(default_factory=dict)
    stopped: dict[str, datetime] = field(default_factory=dict)

    def get(self, account_id: str) -> Account | None:
        return self.accounts.get(account_id)

    def key_digest(self, account_id: str) -> str | None:
        return next((d for d, key in self.keys.items() if key.account_id == account_id), None)

    def put_key(self, key: ApiKey, before: str | None, account: Account | None) -> bool:
        exists = account is not None and account.account_id in self.accounts
        if self.key_digest(key.account_id) != before or exists:
            return False
        if before is not None:
            del self.keys[before]
        if account is not None:
            self.accounts[account.account_id] = account
        self.keys[key.digest] = key
        return True

    def suspend(self, account_id: str, suspension: Suspension) -> None:
        account = self.accounts.get(account_id)
        if account and account.widget_secret and account.suspension is None:
            self.accounts[account_id] = replace(account, suspension=suspension)

    def stop_mail(self, mailbox: str, at: datetime) -> None:
        self.stopped.setdefault(fold_address(mailbox), at)

    def is_stopped(self, mailbox: str) -> bool:
        return fold_address(mailbox) in self.stopped


@dataclass
class FakeProofs:
    """Implements `sign_in.ports.Proofs`."""

    used: dict[str, object] = field(default_factory=dict)

    def key(self) -> bytes:
        return b"key"

    def use(self, proof: CheckedProof) -> bool:
        mark = object()
        return self.used.setdefault(proof.digest, mark) is mark
