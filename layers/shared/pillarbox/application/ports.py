"""What the use cases need from the outside world, as Protocols; the adapters implement them.

Every method may raise `service_unavailable` if the service behind it cannot be reached. Nothing was
changed then, unless a docstring says otherwise.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.key import ApiKey
from pillarbox.domain.accounts.quota import NOTHING, Amount, Limits, QuotaCounts, QuotaState
from pillarbox.domain.ids import derived_id

if TYPE_CHECKING:
    # Only named here: those that need them at run time import them, so others start faster.
    from pillarbox.domain.errors import Json
    from pillarbox.domain.messages.mail import HandOverResult, Job, Mail
    from pillarbox.domain.messages.message import Message
    from pillarbox.domain.messages.schedule import Schedule
    from pillarbox.domain.sign_in.strangers import StrangerDay
    from pillarbox.domain.templates.template import SavedTemplate


class ServiceAddress(Protocol):
    """Return the address of API and dashboard, for links in emails; never that of a request.

    Raises:
        ServiceError: `service_unavailable`: no deployment has stored it yet.
    """

    def __call__(self) -> str: ...


class Clock(Protocol):
    """Return the time in UTC, with a time zone."""

    def __call__(self) -> datetime: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryResult:
    """The result of one read of the directory."""

    key: ApiKey | None = None
    account: Account | None = None
    #: The suppressed ones among the requested addresses, with the reason.
    suppressed: Mapping[str, str] = field(default_factory=dict)
    templates: "Mapping[UUID, SavedTemplate]" = field(default_factory=dict)
    quota: QuotaCounts = field(default_factory=QuotaCounts)
    #: The counts of the key's own quota, if it was asked for.
    own_quota: QuotaCounts = field(default_factory=QuotaCounts)


class Directory(Protocol):
    """Keys, accounts, suppressions, templates and quotas, read together and consistently."""

    def look_up(  # noqa: PLR0913  what one read can find
        self,
        account_id: str,
        *,
        key_digest: str | None = None,
        addresses: Iterable[str] = (),
        template_ids: Iterable[UUID] = (),
        quota: bool = False,
        own_quota_id: str | None = None,
        preview: bool = False,
    ) -> DirectoryResult:
        """Read an account and the requested records of it, never from a cache.

        `own_quota_id` asks for the counts of the key's own quota (`Principal.own_quota_id`).
        With `preview`, addresses that want no preview mail are suppressed too.
        """


@dataclass(frozen=True, slots=True)
class AcceptedMessage:
    """What a caller learns about an accepted message (contract 2.3)."""

    message_id: UUID
    sender: str
    scheduled_at: datetime | None = None  # as the request asked for
    held: bool = False
    for_owner: bool = False

    @classmethod
    def of(cls, message: "Message") -> "AcceptedMessage":
        """Return what to tell of a message, also if its time has changed since."""
        wish = message.origin.scheduled_at, message.origin.held, message.origin.for_owner
        return cls(message.message_id, message.sender, *wish)


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """The response to an accepted send: a text that replays repeat byte for byte.

    The other fields are not part of the response. `message_ids` has the id of each message by
    position, None for a refused one; it is empty for the replay of a batch. `amount` is what the
    messages took from the quota, and `quota` the state after that.
    """

    body: str
    replayed: bool = False
    message_ids: tuple[UUID | None, ...] = field(default=(), compare=False, kw_only=True)
    amount: Amount = field(default=NOTHING, compare=False, kw_only=True)
    quota: QuotaState | None = field(default=None, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An idempotency key that one request has acquired (contract 4.11).

    The ids of its messages derive from its generation. Each owner has a generation of its own, so
    it also says who owns the claim.
    """

    account_id: str
    digest: str
    body_hash: str
    generation: UUID
    #: How many messages the request has.
    count: int = 1
    #: The generations of dead owners that accepted a part of this request.
    earlier: tuple[UUID, ...] = ()

    @property
    def message_ids(self) -> tuple[UUID, ...]:
        """Return the id of each message by position."""
        return tuple(derived_id(self.generation, position) for position in range(self.count))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredClaim:
    """The claim that a key has. `response` is that to a batch, once it is finished."""

    claim: Claim
    leased_until: datetime
    expires_at: datetime
    response: StoredResponse | None = None


class Claims(Protocol):
    """Idempotency keys: one key, one operation, for 24 hours.

    `application.sending.claiming` has the rules. After an error of `put` or `replace` the claim
    may be there; it ends like that of a dead owner.
    """

    def put(self, claim: Claim, now: datetime) -> StoredClaim | None:
        """Put a claim, with a lease from now on, unless its key has one; return that one."""

    def replace(self, stored: StoredClaim, claim: Claim, now: datetime) -> bool:
        """Put a claim in place of one; return False if that one has changed meanwhile.

        The same request keeps the expiry of a claim that has not expired.
        """

    def finish(self, claim: Claim, response: StoredResponse) -> None:
        """Store the response to a batch, whose records exist, unless it was taken over.

        If this fails, the claim stays pending: a retry takes it over and finds the records.
        """

    def release(self, claim: Claim) -> None:
        """Delete a claim, unless it is finished or was taken over, so that a retry starts anew."""


class KeyUses(Protocol):
    """When each API key last sent a message, to within an hour."""

    def record(self, account_id: str, key_id: str, at: datetime) -> None:
        """Record a use, unless one is recorded that is at most an hour older, or newer."""

    def last_use(self, account_id: str, key_id: str) -> datetime | None:
        """Return the recorded use of a key, or None if there is none."""

    def last_uses(self, account_id: str) -> Mapping[str, datetime]:
        """Return the recorded uses of an account's keys by their ids."""


class Quotas(Protocol):
    """Counts of accepted messages in the current minute, day and month, and of their recipients."""

    def reserve(self, account_id: str, amount: Amount, limits: Limits, now: datetime) -> None:
        """Count messages, all of them or none.

        Raises:
            QuotaExceeded: a window has no room for them.
        """

    def refund(
        self, account_id: str, amount: Amount, now: datetime, *, of_minute: bool = True
    ) -> None:
        """Undo the count of messages that were reserved at `now`, perhaps but for the minute's."""


class Refusals(Protocol):
    """Counts of costly refusals (`domain/accounts/quota.py`)."""

    def count(self, account_id: str, count: int, now: datetime) -> None:
        """Count refused messages in the current minute. `Directory` reads the count."""


class Messages(Protocol):
    """The records of accepted messages."""

    def commit(self, message: "Message") -> None:
        """Accept a message: put its record. An id that has a record already accepts nothing new.

        After an error the outcome is unknown; `withdraw` settles it.

        Raises:
            Withdrawn: the id was withdrawn.
        """

    def commit_all(self, messages: "Sequence[Message]") -> frozenset[UUID]:
        """Accept up to 100 messages, each by itself; return the ids that were withdrawn.

        After an error the outcome is unknown; `withdraw` settles it.
        """

    def withdraw(
        self, account_id: str, message_ids: Sequence[UUID], now: datetime
    ) -> "Mapping[UUID, Message]":
        """Put a tombstone under each id without a message; return the messages of the others.

        Nothing can be accepted under such an id any more, not even by a write that is still on
        its way. After an error the outcome is unknown.
        """

    def is_withdrawn(self, account_id: str, message_id: UUID) -> bool:
        """Return whether there is a tombstone under an id, consistently."""

    def get_all(self, account_id: str, message_ids: Sequence[UUID]) -> "Mapping[UUID, Message]":
        """Read several messages; absent ones are omitted."""

    def get(self, account_id: str, message_id: UUID) -> "Message | None":
        """Read one message consistently: every acknowledged write is visible."""

    def peek(self, account_id: str, message_id: UUID) -> "Message | None":
        """Read one message eventually consistently, at half the cost of `get`.

        Use it for a change that `save` refuses if the message has changed since.
        """

    def lease(  # noqa: PLR0913  what it leases, and for whom
        self,
        account_id: str,
        message_id: UUID,
        body_hash: str,
        owner: str,
        now: datetime,
        *,
        schedule: "Schedule | None" = None,
        unkept: bool = False,
    ) -> "Message | LeaseRefusal":
        """Lease a pending message for one hand-over, unless its schedule is another by now."""

    def save(self, message: "Message") -> bool:
        """Replace the revision that a changed message was made from.

        Return False, and write nothing, if another worker was faster.
        """


@dataclass(frozen=True, slots=True)
class LeaseRefusal:
    """The message that could not be leased; None if there is no record."""

    message: "Message | None"


class Jobs(Protocol):
    """The queue between acceptance and delivery, with the spool for large emails."""

    def put(self, job: "Job", mail: "Mail") -> None:
        """Queue a job; a large mail is put into the spool first."""

    def put_all(self, jobs: "Sequence[tuple[Job, Mail]]") -> frozenset[UUID]:
        """Queue several jobs; return the message ids of those that were refused."""

    def put_result(self, job: "Job", result: "HandOverResult") -> None:
        """Queue a job that only records the result of an attempt for the job's message."""

    def load(self, job: "Job") -> "Mail":
        """Return the mail of a job, from the job itself or from the spool.

        Raises:
            PayloadGone: the spool no longer has it.
        """

    def discard(self, job: "Job") -> None:
        """Delete the spool object of a finished job, if there is one."""


class PayloadGone(Exception):
    """The spool no longer has the mail of a job.

    Another copy of the job was finished, or the mail was stored longer than the spool keeps it.
    """


class UnreadableJob(ValueError):
    """A queue message that this version of the service cannot read as a job.

    Args:
        newer: whether it has a newer version, which a newer worker may know.
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


class BuildDied(Exception):
    """A process that built or compiled something was killed, had no memory, or took too long."""


class StrangerMail(Protocol):
    """Counts the service's own emails to people who have not agreed to get any, by day in UTC.

    `name` is an audience, a party of one or `strangers.ALL`.
    """

    def add_sent(self, name: str, day: date) -> None:
        """Count one."""

    def set_sent(self, name: str, day: date, sent: int) -> None:
        """Store how many were sent, in place of a count."""

    def add_bounced(self, name: str, day: date, message_id: UUID) -> int:
        """Note that one bounced for good; `day` is that of the email. Return how many did.

        Each counts once.
        """

    def since(self, name: str, day: date) -> "Sequence[StrangerDay]":
        """Read the counts from a day on, the oldest first."""


class SendMail(Protocol):
    """Accepts an email that the service itself writes, such as a code, an invitation or a notice.

    No request asks for it, so it has no key and counts in no quota. It is a message of `account`,
    by default the service's own. With a `message_id` it is accepted once; `deadline` is when
    delivery is given up, by default the usual time. A `stop_url` is for people who have not agreed
    to get it: there they stop such email. The `tags` say why they get it.
    """

    def __call__(  # noqa: PLR0913  an email, and what only some have
        self,
        address: str,
        subject: str,
        source: str,
        values: "Mapping[str, Json]",
        *,
        account: Account | None = None,
        message_id: UUID | None = None,
        deadline: datetime | None = None,
        stop_url: str = "",
        tags: "Mapping[str, str] | None" = None,
    ) -> None: ...


class DomainVerdict(StrEnum):
    """What the DNS says about a mail domain (RFC 5321 section 5.1, RFC 7505)."""

    ACCEPTS = "accepts"
    NO_DOMAIN = "no_domain"
    NO_MX = "no_mx"
    NULL_MX = "null_mx"
    UNKNOWN = "unknown"


class MailDomains(Protocol):
    """The mail exchangers in the DNS."""

    def look_up(self, domains: Iterable[str]) -> Mapping[str, DomainVerdict]:
        """Look up the mail exchangers of all domains within 2 seconds."""


class Suppressions(Protocol):
    """Addresses that an account must no longer send to."""

    def put(
        self, account_id: str, address: str, reason: str, at: datetime, message_id: UUID | None
    ) -> None:
        """Suppress an address, unless it is suppressed already."""

    def find_suppressed(
        self, account_id: str, addresses: Iterable[str], *, hashed: bool = False
    ) -> frozenset[str]:
        """Return the suppressed ones among some addresses, read consistently.

        `hashed` also looks for suppressions that have only a hash of the address.
        """
