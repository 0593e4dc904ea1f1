"""What receiving and reading answers needs from outside."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final, Protocol
from uuid import UUID

from pillarbox.domain.replies import ReceivedContent, ReceivedFile, ReceivedMail

#: The start of the keys under which SES stores mail; after it, the domain and SES's own id.
RECEIVED: Final = "received/"


@dataclass(frozen=True, slots=True)
class StoredRaw:
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
    #: On which day it got too many mails, so that its rule is stopped.
    stopped_on: date | None = None
    #: Whether it receives no more, and mail on its way still comes to the account.
    ended: bool = False


@dataclass(frozen=True, slots=True)
class LinkedFile:
    """A file of a received mail, with a link that downloads it, and what reads it."""

    file: ReceivedFile
    url: str
    read: Callable[[], bytes | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMail:
    """A received mail with its texts, and with links that work for an hour."""

    mail: ReceivedMail
    content: ReceivedContent
    files: tuple[LinkedFile, ...]
    raw_url: str
    url_until: datetime

    def within(self, most: int) -> "ReadMail":
        """Return it with at most so many octets of each text, and with links alone to its files.

        With no octets it has the first ten of each list alone: a stranger can fill them, too.
        """
        kept = slice(None if most else 10)
        mail = self.mail
        lists = {name: getattr(mail, name)[kept] for name in ("files", "to", "cc", "reply_to")}
        return replace(
            self,
            mail=replace(mail, **lists),
            content=self.content.within(most),
            files=tuple(replace(each, read=None) for each in self.files[kept]),
        )


class ReceivingDomains(Protocol):
    """The domains that receive. Every method may raise `service_unavailable`."""

    def get(self, domain: str) -> ReceivingDomain | None:
        """Read one with strong consistency."""

    def put(self, domain: ReceivingDomain) -> ReceivingDomain | None:
        """Add one or change its names; return None if another account receives there.

        One that was stopped stays so until it is resumed or ended.
        """

    def stop(self, domain: ReceivingDomain, day: date) -> bool:
        """Note that one is stopped; return False if it has ended meanwhile."""

    def resume(self, domain: ReceivingDomain) -> None:
        """Note that one goes on, unless it was stopped again, or has ended, since it was read."""

    def end(self, domain: str, account_id: str, until: datetime) -> None:
        """End one, if it is the account's. Another account may have it then."""


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
        """Write the mail, its texts and its files, each with its type; it may be repeated."""

    def delete(self, key: str) -> None:
        """Delete a mail as SES stored it, if it is there."""

    def content(self, mail: ReceivedMail) -> ReceivedContent | None:
        """Read the texts of a mail; None if they are not there any more."""

    def file(self, mail: ReceivedMail, number: int) -> bytes | None:
        """Read a file of a mail by its position; None if it is not there any more."""

    def remove(self, mail: ReceivedMail) -> None:
        """Delete all that is kept of a mail."""

    def sign(self, mail: ReceivedMail, file: int | None, life: timedelta) -> str:
        """Return a URL that downloads the raw mail, or one of its files by its position."""


class ReceivedMails(Protocol):
    """The records of received mail. Every method may raise `service_unavailable`."""

    def add(self, mail: ReceivedMail) -> bool:
        """Put a record; return whether it is new."""

    def get(self, account_id: str, received_id: UUID) -> ReceivedMail | None: ...

    def all(self, account_id: str) -> Iterator[ReceivedMail]: ...

    def remove(self, mail: ReceivedMail) -> None:
        """Delete a record, and its entry among the answers to an email."""

    def of_account(
        self, account_id: str, before: UUID | None, limit: int
    ) -> Sequence[ReceivedMail]:
        """Read some records, the newest first: those before an id, or the newest."""

    def answers_to(
        self, account_id: str, message_id: UUID, before: UUID | None, limit: int
    ) -> Sequence[ReceivedMail]:
        """Read some records of the mails that answer an email, the newest first."""


class ReceiptRules(Protocol):
    """The rules of SES. Every method may raise `service_unavailable`."""

    def put(self, domain: str) -> None:
        """Let SES store the mail of a domain, also if it did."""

    def switch(self, domain: str, *, on: bool) -> None:
        """Let SES store or refuse the mail of a domain, if it has a rule."""

    def remove(self, domain: str) -> None:
        """Remove the rule of a domain, if there is one."""
