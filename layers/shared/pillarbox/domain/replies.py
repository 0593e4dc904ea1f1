"""Mail that comes back: its record, and the address by which it finds the email that it answers.

SES replaces Message-ID and leaves References alone, so the same token is in both: in the address
for replies, and in an id that mail programs copy. A token has the id of the email, so nothing is
looked up, and a code that only the service can compute for this account and email.
"""

import hmac
import re
from base64 import b32decode, b32encode
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from pillarbox.domain.errors import cut
from pillarbox.domain.messages.kept import CLASSES
from pillarbox.domain.messages.message import Tags

#: In octets of UTF-8, of each text of a received mail that the record and events have.
MAX_CONTENT: Final = 256 * 1024
#: Files that can be downloaded alone; the others are in the raw mail.
MAX_FILES: Final = 50
#: How long the links to the raw mail and to the files work.
LINK_TIME: Final = timedelta(hours=1)
_CODE: Final = 10
#: Programs change the case of addresses. In base32 (RFC 4648 section 6), of 26 octets.
_FORM: Final = r"[a-z2-7]{42}"
_ADDRESS: Final = re.compile(rf"r\.({_FORM})(?:\+[^\s<>@]*)?@([^\s<>@]+)")
#: A message id as a field has it (RFC 5322 section 3.6.4). Another letter would encode the field,
#: and programs would find no id in it.
MESSAGE_ID: Final = re.compile(r"<[!-;=?-~]{1,512}>")
_ID: Final = re.compile(rf"<({_FORM})@([^\s<>@]+)>")


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
    """The email of the account that a received mail answers."""

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
    #: Addresses in To, Cc and Reply-To.
    to: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    reply_to: tuple[str, ...] = ()

    @property
    def kept_until(self) -> datetime:
        """Until when it can be read."""
        return self.received_at + timedelta(days=self.days)

    @property
    def bucket_days(self) -> int:
        """After how many days the bucket deletes it by itself."""
        return next(days for days in CLASSES if days >= self.days)

    @property
    def deleted_at(self) -> datetime:
        """When its record may go, by which an erasure finds its objects: S3 waits for midnight."""
        return self.received_at + timedelta(days=self.bucket_days + 1)


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

    def within(self, most: int) -> "ReceivedContent":
        """Return it with at most so many octets of each text."""
        text, html, reply = (one and cut(one, most) for one in (self.text, self.html, self.reply))
        is_whole = (text, html, reply) == (self.text, self.html, self.reply)
        return replace(self, text=text, html=html, reply=reply, cut=self.cut or not is_whole)


def reply_token(account_id: str, message_id: UUID, key: bytes) -> str:
    code = hmac.digest(key, account_id.encode() + message_id.bytes, "sha256")[:_CODE]
    octets = message_id.bytes + code
    return b32encode(octets).decode().lower().rstrip("=")


def reply_address(token: str, domain: str) -> str:
    """Return the address for replies: 44 characters before the at sign (at most 64, RFC 5321)."""
    return f"r.{token}@{domain}"


def reply_reference(token: str, domain: str) -> str:
    """Return the message id that stands in References (RFC 5322 section 3.6.4)."""
    return f"<{token}@{domain}>"


def token_in_address(address: str, domain: str) -> str | None:
    match = _ADDRESS.fullmatch(address.lower())
    return match[1] if match and match[2] == domain else None


def tokens_in_references(references: str, domain: str) -> list[str]:
    """Return the tokens of a value of References or In-Reply-To, the last one first.

    The last id is that of the email that somebody answered.
    """
    found = _ID.findall(references.lower())
    return [token for token, of in reversed(found) if of == domain]


def read_token(token: str, account_id: str, keys: Iterable[bytes]) -> UUID | None:
    """Return the id of the email that a token names; None unless it is one of the account."""
    message_id = UUID(bytes=b32decode(token.upper() + "=" * (-len(token) % 8))[:16])
    # The texts are compared: the last letter of a text has bits that no octet has.
    right = [hmac.compare_digest(token, reply_token(account_id, message_id, key)) for key in keys]
    return message_id if any(right) else None
