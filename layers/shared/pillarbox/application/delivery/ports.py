"""The ports of delivery and the sweep, as Protocols. `application/ports.py` names their errors."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from pillarbox.application.history.ports import RebuildMark
from pillarbox.application.message_log import ScanPage
from pillarbox.domain.address import SIMULATOR_DOMAIN, domain_of
from pillarbox.domain.messages.message import SUPPRESSED_BY_SES, Event, Message


@dataclass(frozen=True, slots=True)
class SpoolObject:
    """An object in the spool: its key and its message; None for an uploaded file."""

    key: str
    account_id: str
    message_id: UUID | None


class Spool(Protocol):
    """All objects of the spool; `Jobs` uses single ones."""

    def account_ids(self) -> Iterable[str]:
        """Return the accounts that have objects."""

    def put_before(
        self, account_id: str, moment: datetime, cursor: str | None
    ) -> ScanPage[SpoolObject]:
        """Return the next of an account's objects that were put before a moment."""

    def delete(self, key: str) -> None:
        """Delete an object, if it still exists."""


class AccountIds(Protocol):
    """The ids of all accounts."""

    def all_ids(self) -> Iterable[str]:
        """Read the ids of all accounts."""


class SweepStep(StrEnum):
    """A step of a sweep task. The first six belong together, in this order."""

    OVERDUE = "overdue"
    HOPELESS = "hopeless"
    WAITING = "waiting"
    STATISTICS = "statistics"
    DOMAINS = "domains"
    #: Only for accounts that do not want their records for ever.
    RECORDS = "records"
    #: Only for accounts that have objects in the spool.
    SPOOL = "spool"
    #: Only for hours that are marked.
    REBUILD = "rebuild"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepTask:
    """A small part of a pass: the sweep of one account, from a step on.

    The time ranges depend on when the pass began, however late the task runs. The cursor says
    where to continue the step, and `mark` is for the step REBUILD.
    """

    account_id: str
    pass_at: datetime
    step: SweepStep
    cursor: str | None = None
    mark: RebuildMark | None = None


class SweepTasks(Protocol):
    """The queue of sweep tasks."""

    def put_all(self, tasks: Iterable[SweepTask]) -> int:
        """Queue tasks, and return how many. After an error a part of them may be queued."""


class DeadLetters(Protocol):
    """The dead-letter queue, which keeps poison jobs for an operator."""

    def put(self, text: str) -> None:
        """Put a job as it was received."""


class Mailer(Protocol):
    """The delivery provider."""

    def send(
        self, message: Message, recipients: tuple[str, ...], raw: bytes, tenant: str | None
    ) -> str:
        """Hand over one message once, without retries; return the provider's id.

        The recipients are those of the envelope; the header fields of `raw` stay unchanged.
        With a tenant, the provider counts the message for it, and takes none while it is paused.

        Raises:
            SendThrottled: not accepted now, but may be accepted later.
            SendRejected: not accepted, and never will be.
            SendUncertain: may have been accepted.
        """

    def send_probe(self, message: Message) -> None:
        """Hand over an email whose events show that events arrive, from the sender of a message.

        It reaches no person. No error is raised if the provider does not take it.
        """


class SendThrottled(Exception):
    """The provider did not accept the message now, and may accept it later.

    Args:
        code: the provider's error for the log; None if it gave no answer.
        too_fast: the reason is the rate of the account's emails.
    """

    def __init__(self, code: str | None = None, *, too_fast: bool = False) -> None:
        super().__init__()
        self.code = code
        self.too_fast = too_fast


class SendRejected(Exception):
    """The provider will never accept the message.

    Args:
        code: stable and short.
        reason: what the provider said.
    """

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class SendUncertain(Exception):
    """The provider gave no response, so it may have accepted the message or not."""

    def __init__(self, error: str = "NoResponse") -> None:
        super().__init__()
        self.error = error


class SendingRate(Protocol):
    """The recipients per second that SES grants, shared by all workers."""

    def acquire(
        self,
        account_id: str,
        recipients: int,
        *,
        urgent: bool,
        comes_back: bool = False,
        since: datetime | None = None,
    ) -> timedelta | None:
        """Take the tokens of one email; return None, or the wait before another try.

        A short wait is spent here, a longer one by an email that comes back. After a returned wait
        no token was taken. `since` is when the email was queued first; by default it is new.
        """

    def give_back(self, recipients: int) -> None:
        """Let this worker's next email have tokens that were taken and not used."""

    def slow_down(self, account_id: str, recipients: int, *, urgent: bool) -> None:
        """Take fewer tokens for some seconds: SES throttled an email that had its tokens.

        These do not count as the account's share.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEvent:
    """One event record of the provider, in this service's terms.

    `suppress` has the addresses to suppress, with the reason. `unknown` names what is new in the
    record, for the log.
    """

    account_id: str
    message_id: UUID
    at: datetime
    events: tuple[Event, ...]
    suppress: tuple[tuple[str, str], ...] = ()
    provider_message_id: str | None = None
    unknown: tuple[str, ...] = ()

    @property
    def listed(self) -> Sequence[str]:
        """The addresses that the provider has on a list of its own, or will have there soon.

        It lists none of its simulator.
        """
        unsent = (one.recipient for one in self.events if one.code == SUPPRESSED_BY_SES)
        addresses = {*unsent, *(address for address, _ in self.suppress)}
        return sorted(one for one in addresses if one and domain_of(one) != SIMULATOR_DOMAIN)


class UnreadableEvent(ValueError):
    """A record of the provider that is not an event of a known form.

    Its text says what is unknown or wrong, without a text of senders and recipients.
    """


@dataclass(frozen=True, slots=True)
class TenantChange:
    """The name of a tenant that the provider has paused, or lets send again."""

    tenant: str


@dataclass(frozen=True, slots=True)
class EventRecord:
    """A record of the provider as the queue delivers it; `receives` counts this delivery too."""

    text: str
    receives: int = 1


@dataclass(frozen=True, slots=True)
class TaggedMessage:
    """The message that a record of the provider names, and the provider's id of it."""

    account_id: str
    message_id: UUID
    provider_message_id: str | None = None


@dataclass(frozen=True, slots=True)
class SeenEvent:
    """What a mark holds: the provider's id of the message, and when an event of it was received."""

    provider_message_id: str | None
    at: datetime


class SeenEvents(Protocol):
    """Marks of events that arrived but could not be merged into their messages yet.

    A mark shows that the provider took the message. It is kept for two days.
    """

    def put_all(self, messages: Collection[TaggedMessage], at: datetime) -> None:
        """Mark that events of messages were received; after an error some marks may be put."""

    def find(self, account_id: str, message_id: UUID) -> SeenEvent | None:
        """Return the mark of a message, if it has one."""


class EventQueue(Protocol):
    """The queue of the provider's events, with its dead-letter queue."""

    def may_hold_older_than(self, moment: datetime, message: Message) -> bool:
        """Return whether an event of a message from before a moment may still have to be recorded.

        A queue does not preserve order, so newer events that were recorded do not show it.
        """


class EventHeartbeat(Protocol):
    """Whether the provider's events arrive at all.

    A missing event means something only while others arrive.
    """

    def record(self, at: datetime) -> None:
        """Record that an event of the given time has been recorded."""

    def latest(self) -> datetime | None:
        """Return the time of the newest event that is known to be recorded."""

    def take_probe(self, now: datetime) -> bool:
        """Return whether a probe may be sent now, and count it: all workers send one in a while."""
