"""Authenticate callers: from the text of an API key to a principal (contract section 5).

A key that does not exist costs two item reads: its own and its account's. A send also reads the
suppressions of its recipients, the quotas and more. For a key that this process has seen valid, all
of it is one read, so that accepting a message takes no more rounds. Every other key is read first,
with its account only.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Final
from uuid import UUID

from pillarbox.application.ports import Clock, Directory, DirectoryResult
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.key import ApiKey, account_of_key, digest_of_key
from pillarbox.domain.accounts.key_policy import KeyPolicy, Principal, policy_of_text
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.preview_key import is_unused

#: The keys that a process remembers: more than use one process within minutes.
_MAX_KEYS: Final = 1_000

#: Raises the error of a principal that may not make the request.
type Authorize = Callable[[Principal], None]


@dataclass(frozen=True, slots=True)
class ParsedKey:
    """A key of the right form; only the directory knows whether it exists."""

    account_id: str
    digest: str
    #: What the text tells of the key's policy.
    policy: KeyPolicy


def invalid_api_key() -> ServiceError:
    """Return the error for a key that does not work. It does not tell the reason."""
    return ServiceError(
        "invalid_api_key",
        "The API key is not valid: it is unknown, revoked, expired or incomplete, or it does not"
        " work from this address. The header X-API-Key has one whole key, without Bearer.",
    )


def parse_key(text: str) -> ParsedKey:
    """Parse the text of a key. A malformed key is refused here, without a read."""
    account_id = account_of_key(text)
    if account_id is None:
        raise invalid_api_key()
    return ParsedKey(account_id, digest_of_key(text), policy_of_text(text))


class KeyCheck:
    """Decides whether a key that was read works, now and from where it is used."""

    __slots__ = ("_is_of_edge", "clock")

    def __init__(self, clock: Clock, is_of_edge: Callable[[str], bool] = lambda _: False) -> None:
        """Store the clock, and what returns whether a text is the edge's secret.

        Only keys with sources ask for the secret.
        """
        self.clock = clock
        self._is_of_edge = is_of_edge

    def works(self, key: ApiKey, origin: ClientOrigin | None) -> bool:
        """Return whether a key works for a request from `origin`.

        Without an origin, a key that works only from some addresses does not.
        """
        if not key.works(self.clock):
            return False
        if not key.sources:
            return True
        if origin is None:
            return False
        from pillarbox.domain.client_origin import is_within  # noqa: PLC0415  few keys need it

        return is_within(origin.client(self._is_of_edge), key.sources)


def make_principal(
    directory: DirectoryResult, origin: ClientOrigin | None, check: KeyCheck
) -> Principal:
    """Return the principal of a key and an account that were just read."""
    key, account = directory.key, directory.account
    if key is None or account is None or not check.works(key, origin):
        raise invalid_api_key()
    principal = Principal(key, account)
    if account.suspension is not None:
        raise ServiceError("account_suspended", principal.policy.suspended)
    return principal


class Authentication:
    """Authenticate callers on the routes that need no other read at the same time.

    The account of the service has no record: its keys are those of the operator's command.
    """

    def __init__(
        self,
        directory: Directory,
        check: KeyCheck,
        service: Callable[[], Account | None] = lambda: None,
    ) -> None:
        self._directory = directory
        self._check = check
        self._service = service

    def authenticate(
        self, key_text: str, scope: str | None = None, *, origin: ClientOrigin | None = None
    ) -> Principal:
        """Return the principal of a key, and check that it has a scope if one is given."""
        key = parse_key(key_text)
        directory = self._directory.look_up(key.account_id, key_digest=key.digest)
        if directory.account is None:
            service = self._service()
            if service and key.account_id == service.account_id:
                directory = replace(directory, account=service)
        principal = make_principal(directory, origin, self._check)
        if scope is not None:
            principal.require(scope)
        return principal


class RecentKeys:
    """A set of the digests of keys. It keeps the last ones that were added. Threads may share it.

    It never decides whether a key is valid. Each request reads that again. It keeps the id of a
    key's own quota, which only the key's record tells, so that the first read can ask for it.
    """

    def __init__(self, most: int = _MAX_KEYS) -> None:
        self._most = most
        self._lock = Lock()
        self._digests: dict[str, str | None] = {}

    def __contains__(self, digest: str) -> bool:
        return digest in self._digests

    def own_quota_id(self, digest: str) -> str | None:
        """Return the id of a key's own quota; None if it has none, or is not remembered."""
        return self._digests.get(digest)

    def add(self, digest: str, own_quota_id: str | None = None) -> None:
        """Add a digest as the newest; forget the oldest one if there are too many."""
        with self._lock:
            self._digests.pop(digest, None)
            self._digests[digest] = own_quota_id
            if len(self._digests) > self._most:
                del self._digests[next(iter(self._digests))]

    def discard(self, digest: str) -> None:
        with self._lock:
            self._digests.pop(digest, None)


@dataclass(frozen=True, slots=True)
class SeenKeys:
    """What a process remembers of keys, by their digests. It saves reads, and allows nothing."""

    #: The keys whose last request was authorized.
    valid: RecentKeys = field(default_factory=RecentKeys)
    #: The keys whose last request over HTTP read much and accepted nothing.
    costly: RecentKeys = field(default_factory=RecentKeys)
    #: The keys whose last message over SMTP was refused for a quota or its recipients' domains.
    #: Their next one is accepted alone, so that its quota is read before the DNS is asked.
    refused: RecentKeys = field(default_factory=RecentKeys)


@dataclass(frozen=True, slots=True)
class SenderLookup:
    """Read callers that send, together with what their request needs."""

    directory: Directory
    seen: SeenKeys
    authorize: Authorize
    check: KeyCheck

    def authenticate(self, key_text: str, *, origin: ClientOrigin | None = None) -> None:
        """Refuse a wrong key, or one with too many refusals, before its request is parsed."""
        key = parse_key(key_text)
        if key.digest in self.seen.costly:
            principal, directory = self.look_up(key_text, origin=origin)
            try:
                directory.quota.check_refusals(principal.limits, self.check.clock())
            except ServiceError as error:
                error.log_fields = {"account_id": key.account_id}
                raise
            self.seen.costly.discard(key.digest)
        elif key.digest not in self.seen.valid:
            self.read(key_text, origin=origin)

    def read(self, key_text: str, *, origin: ClientOrigin | None = None) -> Principal:
        """Read a key and its account alone, and authorize the principal."""
        key = parse_key(key_text)
        directory = self.directory.look_up(key.account_id, key_digest=key.digest)
        return self._principal(key, origin, directory)

    def look_up(
        self,
        key_text: str,
        *,
        origin: ClientOrigin | None = None,
        addresses: Iterable[str] = (),
        template_ids: Iterable[UUID] = (),
    ) -> tuple[Principal, DirectoryResult]:
        """Read a caller with its quota and the requested records of its account."""
        key = parse_key(key_text)
        if key.digest not in self.seen.valid:
            self.read(key_text, origin=origin)
        directory = self.directory.look_up(
            key.account_id,
            key_digest=key.digest,
            addresses=addresses,
            template_ids=template_ids,
            quota=True,
            own_quota_id=self.seen.valid.own_quota_id(key.digest),
            preview=key.policy.obeys_stops,
        )
        principal = self._principal(key, origin, directory)
        if principal.policy.ends_unused:
            # The quota that is read anyway says when the key was last used.
            used = directory.quota.last_day()
            if is_unused(principal.key.created_at, used, self.check.clock()):
                raise invalid_api_key()
        return principal, directory

    def _principal(
        self, key: ParsedKey, origin: ClientOrigin | None, directory: DirectoryResult
    ) -> Principal:
        try:
            principal = make_principal(directory, origin, self.check)
            self.authorize(principal)
        except ServiceError:
            self.seen.valid.discard(key.digest)
            raise
        own_quota_id = principal.own_quota_id if principal.own_limits else None
        self.seen.valid.add(key.digest, own_quota_id)
        return principal
