"""What operators need from the outside world.

Every method may raise ServiceError `service_unavailable`, as in `application.ports`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Redrive:
    """One redrive or drop. `by` is the address of an operator, or `account_log.COMMAND`."""

    entry_id: str
    at: datetime
    by: str
    queue: str
    #: None until the redrive has ended, so also if it failed: then its number is not known.
    moved: int | None = None
    #: SQS's id of the dead letter that was dropped; None if dead letters were moved.
    dropped: str | None = None


class AccountData(Protocol):
    """Everything that is stored under an account's id."""

    def delete_contents(self, account_id: str, shards: int) -> Iterator[tuple[str, int]]:
        """Delete all but the account's record, and yield the kind and number of each batch.

        It can be repeated after it was interrupted.
        """

    def delete_account(self, account_id: str) -> None:
        """Delete the account's record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStatus:
    """The approximate number of messages in a queue, and where it sets some aside."""

    waiting: int
    #: Received by a worker and not finished, including messages that it postponed.
    in_flight: int
    delayed: int
    #: The URL of the queue to which SQS moves what fails too often; None if there is none.
    dead_letters_url: str | None = None


class Queues(Protocol):
    """The service's queues, by URL."""

    def status(self, queue_url: str) -> QueueStatus:
        """Count a queue's messages, and read its redrive policy."""

    def move(self, source_url: str, target_url: str, at_most: int) -> int:
        """Move messages from one queue to another and return how many."""


class QueueLog(Protocol):
    """What operators moved and dropped."""

    def put(self, redrive: Redrive) -> None:
        """Put a redrive, or replace the one with this id."""

    def newest(self, limit: int) -> Sequence[Redrive]:
        """Return the last redrives, the newest first."""


class QueueAges(Protocol):
    """How long messages wait in the service's queues, by URL."""

    def oldest_message_age(self, queue_url: str) -> float | None:
        """Return the age in seconds of a queue's oldest message; None without a recent metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendingStatus:
    """The AWS account at the provider. Quota and rate count recipients."""

    sandbox: bool
    #: Of the request for production access: PENDING, DENIED, FAILED; empty without one.
    review: str = ""
    sending: bool
    #: HEALTHY, PROBATION or SHUTDOWN.
    enforcement: str
    #: -1 if there is no limit.
    daily_quota: float
    sent_last_24_hours: float
    #: Per second.
    max_rate: float
    #: The time of the response by the provider's clock, and by this machine's clock.
    provider_time: datetime | None
    local_time: datetime
    #: For which reasons the provider lists addresses on its own suppression list.
    suppresses: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationSet:
    """The provider's settings for sending; `published` are the event types on the event bus."""

    sending: bool
    published: frozenset[str]
    #: In place of those of the AWS account; None without a choice.
    suppresses: frozenset[str] | None = None


class ProviderAccount(Protocol):
    """The AWS account at the provider."""

    def sending_status(self) -> SendingStatus:
        """Read quotas and status."""

    def configuration_set(self, name: str) -> ConfigurationSet | None:
        """Read a configuration set; return None if there is no such set."""
