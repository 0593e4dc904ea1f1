"""What the operator's command needs from the outside world, as Protocols."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pillarbox.domain.errors import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStatus:
    """How many messages a queue has, approximately."""

    waiting: int
    #: Handed to a worker, or postponed by one.
    in_flight: int
    delayed: int


class Queues(Protocol):
    """The service's queues, by their URLs."""

    def status(self, queue_url: str) -> QueueStatus:
        """Count a queue's messages."""
        ...

    def move(self, source_url: str, target_url: str, at_most: int) -> int:
        """Move messages from one queue to another; gives how many there were."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SendingStatus:
    """The account at the delivery provider; quotas count recipients."""

    sandbox: bool
    sending: bool
    #: HEALTHY, PROBATION or SHUTDOWN.
    enforcement: str
    per_day: float
    sent_of_day: float
    per_second: float
    #: What the provider's clock said, and what ours did.
    their_time: datetime | None
    our_time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationSet:
    """Under which mail is handed over; `published` are the kinds of events on the event bus."""

    sending: bool
    published: frozenset[str]


class ProviderAccount(Protocol):
    """What the delivery provider says of the account."""

    def sending_status(self) -> SendingStatus:
        """Read quotas and state."""
        ...

    def configuration_set(self, name: str) -> ConfigurationSet | None:
        """Read a configuration set; None when there is no such one."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TableProtectionState:
    """How the table is protected."""

    recovery: bool
    deletion_protection: bool
    #: The attribute by which items expire; None when none do.
    expiry: str | None


class TableProtection(Protocol):
    """The table as a resource."""

    def read(self) -> TableProtectionState:
        """Read how it is protected."""
        ...


class StackMonitoring(Protocol):
    """What watches the service."""

    def firing_alarms(self) -> Sequence[str]:
        """The names of the service's alarms that are in alarm."""
        ...

    def alarm_subscribers(self) -> int:
        """How many are told of alarms."""
        ...

    def function_concurrency(self) -> int:
        """How many functions the AWS account runs at a time."""
        ...

    def oldest_message_age(self, queue_url: str) -> float | None:
        """Seconds that a queue's oldest message has waited; None when nothing was measured."""
        ...


class ApiProbe(Protocol):
    """The service's public address."""

    def request(
        self, method: str, path: str, *, key: str | None = None, body: Json = None
    ) -> tuple[int, Json]:
        """Make a request as a client does; gives the status and what the answer says."""
        ...


class CertificateProbe(Protocol):
    """The certificate that the relay shows."""

    def certificate_expiry(self) -> datetime:
        """When it ends.

        Raises:
            ServiceError: `service_unavailable`, when a client would not trust it.
        """
        ...
