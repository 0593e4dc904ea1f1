"""What receiving and reading answers needs from outside."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from pillarbox.domain.replies.received import ReceivedContent, ReceivedMail


@dataclass(frozen=True, slots=True)
class StoredRaw:
    """A mail as SES stored it, and when."""

    octets: bytes
    stored_at: datetime


@dataclass(frozen=True, slots=True)
class ReceivingDomain:
    """A domain that receives, and the account that it receives for.

    `names` are the local parts that get all mail; other mail needs a token.
    """

    domain: str
    account_id: str
    names: frozenset[str] = frozenset()


class ReceivingDomains(Protocol):
    """The domains that receive. Every method may raise `service_unavailable`."""

    def get(self, domain: str) -> ReceivingDomain | None:
        """Read one with strong consistency."""


class ReceivedObjects(Protocol):
    """The bucket of received mail. Every method may raise `service_unavailable`."""

    def get(self, key: str) -> StoredRaw | None:
        """Read a mail as SES stored it; None if it is not there."""

    def save(
        self,
        mail: ReceivedMail,
        octets: bytes,
        content: ReceivedContent,
        files: Iterable[tuple[str, bytes]],
    ) -> None:
        """Write the mail, its texts and its files, each with its type. Repeated, it changes nothing."""

    def delete(self, key: str) -> None:
        """Delete a mail as SES stored it, if it is there."""

    def content(self, mail: ReceivedMail) -> ReceivedContent | None:
        """Read the texts of a mail; None if they are not there any more."""

    def sign(self, mail: ReceivedMail, file: int | None, life: timedelta) -> str:
        """Return a URL that downloads the raw mail, or one of its files by its position."""


class ReceivedMails(Protocol):
    """The records of received mail. Every method may raise `service_unavailable`."""

    def add(self, mail: ReceivedMail) -> bool:
        """Put a record; return whether it is new."""

    def get(self, account_id: str, received_id: UUID) -> ReceivedMail | None:
        """Read one record."""

    def of_account(
        self, account_id: str, before: UUID | None, limit: int
    ) -> Sequence[ReceivedMail]:
        """Read some records, the newest first: those before an id, or the newest."""


class ReplyKeys(Protocol):
    """The keys of tokens. Every method may raise `service_unavailable`."""

    def all(self) -> Sequence[bytes]:
        """Return the keys that count, the newest first."""
