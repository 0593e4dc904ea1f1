"""What emails that wait need from the outside world (`application/waiting.py`).

Every method may raise ServiceError `service_unavailable`, as in `application.ports`.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from pillarbox.application.message_log import ScanPage
from pillarbox.domain.messages.mail import Job, Mail
from pillarbox.domain.messages.message import Message


@dataclass(frozen=True, slots=True)
class WaitingContent:
    """A content that waits: whose it is, and since when."""

    account_id: str
    message_id: UUID
    template_id: str | None
    put_at: datetime


class WaitingContents(Protocol):
    """The contents of emails that wait."""

    def put_all(self, mails: Sequence[tuple[Message, Mail]]) -> None:
        """Store contents. After an error some may be stored."""

    def load(self, message: Message) -> Mail:
        """Return the content of a message.

        Raises:
            PayloadGone: there is none any more.
        """

    def remove(self, account_id: str, message_id: UUID, template_id: str | None) -> None:
        """Delete the content of a message, if there is one."""

    def of_account(self, account_id: str, cursor: str | None) -> ScanPage[WaitingContent]:
        """Return the next of an account's contents."""

    def uses(self, account_id: str, template_id: str) -> bool:
        """Return whether an email waits that a saved template made."""


class WakeTimes(Protocol):
    """The timer of emails: jobs without content, each until it is due."""

    def put_all(self, jobs: Sequence[Job]) -> None:
        """Store jobs. The same job is stored once."""

    def due(self, now: datetime) -> Iterable[tuple[datetime, Sequence[Job]]]:
        """Return the jobs that are due soon, in parts, with the minute of each part.

        After all parts, raise the error of a job that cannot be read.
        """

    def remove(self, minute: datetime, jobs: Sequence[Job]) -> None:
        """Remove jobs that were queued."""


class WakeQueue(Protocol):
    """The queue of jobs, for those without content."""

    def wake_all(self, jobs: Collection[Job], now: datetime) -> None:
        """Queue jobs, each hidden until it is due, for at most 15 minutes.

        Raises:
            ServiceError: `service_unavailable`, also if the queue refused one of them.
        """
