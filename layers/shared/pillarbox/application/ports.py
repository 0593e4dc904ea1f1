"""What the use-cases need of the world, as Protocols; the adapters fulfil them.

Every method may raise ServiceError `service_unavailable` when what lies behind
it cannot be reached; nothing was done then, unless a docstring says otherwise.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from pillarbox.domain.account import Account
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.key import ApiKey
from pillarbox.domain.mail import Job, Mail
from pillarbox.domain.message import Event, Message
from pillarbox.domain.quota import Limits
from pillarbox.domain.template import SavedTemplate


class Clock(Protocol):
    """Tells the time, aware and in UTC."""

    def __call__(self) -> datetime: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryResult:
    """What one read of the directory brought along."""

    key: ApiKey | None = None
    account: Account | None = None
    #: Of the addresses asked for, those that are suppressed, with the reason.
    suppressed: Mapping[str, str] = field(default_factory=dict)
    templates: Mapping[UUID, SavedTemplate] = field(default_factory=dict)


class Directory(Protocol):
    """Keys, accounts, suppressions and templates, in one consistent read."""

    def look_up(
        self,
        account_id: str,
        *,
        key_digest: str | None = None,
        addresses: Iterable[str] = (),
        template_ids: Iterable[UUID] = (),
    ) -> DirectoryResult:
        """Read an account, and of it whatever else is asked for; never from a cache."""
        ...


@dataclass(frozen=True, slots=True)
class AcceptedMessage:
    """What a caller learns about an accepted message (contract 2.3)."""

    message_id: UUID
    sender: str


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """The response to an accepted send: a text that replays repeat byte for byte.

    The other fields are not part of the response. `message_ids` has the id of each accepted
    message by position (None for a refused one), `errors` the errors of the refused ones.
    A replay of a batch has neither; `generation` is that of the claim that stored it.
    """

    body: str
    replayed: bool = False
    message_ids: tuple[UUID | None, ...] = field(default=(), compare=False, kw_only=True)
    errors: Mapping[int, ServiceError] = field(default_factory=dict, compare=False, kw_only=True)
    generation: UUID | None = field(default=None, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An idempotency key taken by one request (contract 4.11).

    `generation` is the seed of the message ids; it outlives an owner that
    died, so that a retry converges on the same ids.
    """

    account_id: str
    digest: str
    owner: str
    body_hash: str
    generation: UUID
    #: Taken over from an owner that died: part of its work may be there.
    resumed: bool = False


class Claims(Protocol):
    """Idempotency keys: one key, one operation, for 24 hours."""

    def acquire(
        self, account_id: str, digest: str, body_hash: str, now: datetime
    ) -> "Claim | StoredResponse":
        """Claim a key, or give the stored answer of an earlier success.

        Raises:
            ServiceError: `idempotency_key_mismatch` or `idempotency_in_flight`.
        """
        ...

    def finish(self, claim: Claim, answer: StoredResponse) -> None:
        """Keep the answer of an operation whose records are there already.

        When that fails the claim stays pending: a retry takes it over and
        finds the records.
        """
        ...

    def release(self, claim: Claim) -> StoredResponse | None:
        """Give a claim up after a failure, so that a retry is a new attempt.

        After this the claim can no longer be committed. Returns the answer
        when it had been committed all the same: an outcome that was unknown.
        """
        ...


class Quotas(Protocol):
    """Counts of accepted messages in the current minute, day and month."""

    def reserve(self, account_id: str, count: int, limits: Limits, now: datetime) -> None:
        """Count messages in, all of them or none.

        Raises:
            QuotaExceeded: when a window lacks the room.
        """
        ...

    def refund(self, account_id: str, count: int, now: datetime) -> None:
        """Count messages out again that were reserved at `now` and not accepted."""
        ...


class Messages(Protocol):
    """The records of accepted mail."""

    def commit(self, message: Message, claim: Claim | None, answer: StoredResponse) -> None:
        """Accept a mail: put its record and, in one step with it, the claim's answer.

        An error leaves the outcome unknown: with a claim, `Claims.release`
        settles it; without, `get` tells.
        """
        ...

    def commit_all(self, messages: Sequence[Message]) -> None:
        """Accept up to 100 mails: put the records that are not there yet, all or none.

        An error leaves the outcome unknown; `get_all` tells.
        """
        ...

    def get_all(self, account_id: str, message_ids: Sequence[UUID]) -> Mapping[UUID, Message]:
        """Read several messages; absent ones are left out."""
        ...

    def get(self, account_id: str, message_id: UUID) -> Message | None:
        """Read one message, seeing every write that was answered."""
        ...

    def peek(self, account_id: str, message_id: UUID) -> Message | None:
        """Read one message as it was a moment ago: half the price of `get`.

        Good for a change that `save` then refuses if the message is another by now.
        """
        ...

    def lease(
        self, account_id: str, message_id: UUID, body_hash: str, owner: str, now: datetime
    ) -> "Message | LeaseRefusal":
        """Lease a pending message for one hand-over to the provider."""
        ...

    def save(self, message: Message) -> bool:
        """Write a changed message over the revision that it was made from.

        Returns False, having written nothing, when somebody was faster.
        """
        ...


@dataclass(frozen=True, slots=True)
class LeaseRefusal:
    """A message that could not be leased, as it stands; None when there is no record."""

    message: Message | None


class Jobs(Protocol):
    """The queue from accepting to delivering, with the spool for large mails."""

    def put(self, job: Job, mail: Mail) -> None:
        """Queue a job; its mail goes to the spool first when it is large."""
        ...

    def put_all(self, jobs: Sequence[tuple[Job, Mail]]) -> frozenset[UUID]:
        """Queue several jobs; gives the message ids of those that were not queued."""
        ...

    def load(self, job: Job) -> Mail:
        """Give the mail of a job, from the spool when it lies there.

        Raises:
            PayloadGone: the spool has it no more.
        """
        ...

    def discard(self, job: Job) -> None:
        """Delete what the spool holds of a finished job."""
        ...


class PayloadGone(Exception):
    """The spool does not hold the mail of a job any more: a duplicate finished it."""


@dataclass(frozen=True, slots=True)
class SpoolObject:
    """A mail in the spool, by its key there and the message that it is of."""

    key: str
    account_id: str
    message_id: UUID


class Spool(Protocol):
    """The spool as a whole; `Jobs` reaches single mails in it."""

    def all_before(self, moment: datetime) -> Iterable[SpoolObject]:
        """List what was put before a moment."""
        ...

    def delete(self, key: str) -> None:
        """Delete a mail; one that is gone already is fine."""
        ...


class AccountIds(Protocol):
    """Which accounts there are."""

    def all_ids(self) -> Iterable[str]:
        """Read the ids of all accounts."""
        ...


class UnreadableJob(ValueError):
    """A message of the queue that is no job as far as this version of the service knows.

    Args:
        why: what is wrong with it.
        newer: it has a version that a newer worker may know.
        account_id: whose message, and which, when that much could be read.
        message_id: the same.
    """

    def __init__(
        self,
        why: str,
        *,
        newer: bool = False,
        account_id: str | None = None,
        message_id: UUID | None = None,
    ) -> None:
        super().__init__(why)
        self.newer = newer
        self.account_id = account_id
        self.message_id = message_id


class DeadLetters(Protocol):
    """Where what the worker cannot do is kept for an operator."""

    def put(self, text: str) -> None:
        """Keep a job as it came."""
        ...


class DomainVerdict(StrEnum):
    """What the DNS says of a mail domain (RFC 5321 section 5.1, RFC 7505)."""

    ACCEPTS = "accepts"
    NO_DOMAIN = "no_domain"
    NO_MX = "no_mx"
    NULL_MX = "null_mx"
    UNKNOWN = "unknown"


class MailDomains(Protocol):
    """The domain name system, as far as mail needs it."""

    def look_up(self, domains: Iterable[str]) -> Mapping[str, DomainVerdict]:
        """Ask for the mail exchangers of all domains; ends within 2 seconds."""
        ...


class Mailer(Protocol):
    """The delivery provider."""

    def send(self, message: Message, recipients: tuple[str, ...], raw: bytes) -> str:
        """Hand one message over, once, without retries; gives the provider's id.

        The recipients are the envelope's; the header fields of `raw` stay as they are.

        Raises:
            Throttled: not taken; may be taken later.
            Refused: not taken, and never will be.
            Uncertain: may have been taken.
        """
        ...


class SendThrottled(Exception):
    """The provider did not take the mail and may take it later."""


class SendRejected(Exception):
    """The provider will never take the mail; the message says why.

    Args:
        code: stable and short.
        reason: what the provider said.
    """

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class SendUncertain(Exception):
    """The provider gave no answer, so it may have taken the mail or not."""


class Suppressions(Protocol):
    """Addresses that an account must not mail any more."""

    def put(
        self, account_id: str, address: str, reason: str, at: datetime, message_id: UUID | None
    ) -> None:
        """Suppress an address; an address that is suppressed already stays as it is."""
        ...

    def find_suppressed(self, account_id: str, addresses: Iterable[str]) -> frozenset[str]:
        """Which of some addresses are suppressed, seeing every write that was answered."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEvent:
    """One record of the provider, in our terms.

    `suppress` are the addresses that must not be mailed again, with the reason.
    """

    account_id: str
    message_id: UUID
    at: datetime
    events: tuple[Event, ...]
    suppress: tuple[tuple[str, str], ...] = ()
    provider_message_id: str | None = None


class EventHeartbeat(Protocol):
    """Whether the provider's events are arriving at all.

    The absence of one event means something only while others come in.
    """

    def record(self, at: datetime) -> None:
        """Note that an event of the given time has arrived."""
        ...

    def latest(self) -> datetime | None:
        """The time of the newest event that is known to have arrived."""
        ...


class MessageLog(Protocol):
    """The records of accepted mail, many at a time; times are milliseconds since 1970."""

    def newest_first(self, account_id: str, since: int, until: int) -> Iterable[Message]:
        """The messages created from `since` to before `until`, seeing every write answered."""
        ...

    def get_all(self, account_id: str, message_ids: Iterable[UUID]) -> Iterable[Message]:
        """Those of some messages that exist, in any order, seeing every write answered."""
        ...
