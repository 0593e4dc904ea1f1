"""A mail that somebody sent to an address of an account, as its record has it."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from pillarbox.domain.messages.kept import CLASSES
from pillarbox.domain.messages.message import Tags

#: In octets of UTF-8, of each text of a received mail that the record and events have.
MAX_CONTENT: Final = 256 * 1024
#: Files that can be downloaded alone; the others are in the raw mail.
MAX_FILES: Final = 50
#: How long the links to the raw mail and to the files work.
LINK_TIME: Final = timedelta(hours=1)


class MailVerdict(StrEnum):
    """What SES found when it received a mail; `unknown` if it could not say."""

    PASS = "pass"  # noqa: S105  a verdict
    FAIL = "fail"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """The verdicts of SES, which no sender can write."""

    spam: MailVerdict = MailVerdict.UNKNOWN
    virus: MailVerdict = MailVerdict.UNKNOWN
    spf: MailVerdict = MailVerdict.UNKNOWN
    dkim: MailVerdict = MailVerdict.UNKNOWN
    dmarc: MailVerdict = MailVerdict.UNKNOWN


class Automatic(StrEnum):
    """What a program wrote, and no person; it is never answered."""

    #: An answer of an absent person (RFC 3834).
    REPLY = "reply"
    #: A report about delivery or reading (RFC 3464, RFC 8098), or a mail without a return path.
    REPORT = "report"
    #: A list or bulk mail (RFC 2919, RFC 2076 section 3.9).
    LIST = "list"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedFile:
    """A file of a received mail. Its name is safe to save."""

    filename: str | None
    content_type: str
    size: int
    content_id: str | None = None
    inline: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarAnswer:
    """What somebody answered to an invitation (RFC 5546 section 3.2.3)."""

    method: str
    uid: str | None
    attendee: str | None
    status: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The email of the account that a received mail answers, and how that was found."""

    message_id: UUID
    tags: Tags = field(default_factory=dict, hash=False)
    template: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedMail:
    """The record of a received mail; its texts and files are in the bucket."""

    account_id: str
    received_id: UUID
    received_at: datetime
    #: In octets, of the raw mail.
    size: int
    #: For how many days it is kept.
    days: int
    #: Whether its header and its texts could be read.
    parsed: bool
    #: The address of the account that it was sent to.
    recipient: str
    sender: str
    sender_name: str | None
    subject: str
    #: As its sender wrote it, with angle brackets.
    message_id_header: str | None
    answered: Answered | None
    verdicts: Verdicts
    authenticated: bool
    automatic: Automatic | None
    files: tuple[ReceivedFile, ...] = ()
    #: Addresses in To and Cc.
    to: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()

    @property
    def kept_until(self) -> datetime:
        """Until when its content is there."""
        return self.received_at + timedelta(days=self.days)

    @property
    def bucket_days(self) -> int:
        """After how many days the bucket deletes it by itself."""
        return next(days for days in CLASSES if days >= self.days)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedContent:
    """The texts of a received mail, each cut at `MAX_CONTENT`."""

    text: str | None = None
    html: str | None = None
    #: What its writer wrote, without the quotation.
    reply: str | None = None
    #: Whether a text was cut.
    cut: bool = False
    calendar: tuple[CalendarAnswer, ...] = ()
