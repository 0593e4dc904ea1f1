"""Read a message that came over SMTP, and check what can be checked without its account.

The message is delivered as its sender wrote it, with two changes. Fields that are only for this
service, that recipients must not see, or that SES would obey are removed. Message-ID and Date are
added if they are missing.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pillarbox.application.sending.prepare import PreparedMessage
from pillarbox.application.sending.recipients import Recipients
from pillarbox.application.validation import to_a_label
from pillarbox.domain.account import Account
from pillarbox.domain.address import AddressSyntaxError, distinct_mailboxes, parse_address
from pillarbox.domain.attachment import check_attachments
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.header_text import in_one_line
from pillarbox.domain.idempotency import idempotency_digest
from pillarbox.domain.mail import MAX_SUBJECT, Mail, RawBody
from pillarbox.mime.mailbox import Mailbox, addresses_in, read_mailbox, read_text
from pillarbox.mime.parse import MessageStructure, MimePart, decoded_size, first_octets, parse

ROUTE: Final = "SMTP"

#: Recipients must not see Bcc; the last host writes Return-Path (RFC 5321 section 4.4).
_REMOVED: Final = frozenset({b"bcc", b"resent-bcc", b"return-path", b"idempotency-key"})
#: SES obeys fields with this prefix (SES, SendRawEmail).
_SES_PREFIX: Final = b"x-ses-"
#: Fields that a program changes each time it tries to send a message.
_PER_TRY: Final = _REMOVED | {b"date", b"message-id", b"received"}
_TEXT: Final = frozenset({"text/plain", "text/html"})
#: Contract 2.1, in characters.
_MAX_NAME: Final = 1_024
#: In octets: a larger message may go through the spool.
SMALL: Final = 50_000


@dataclass(frozen=True, slots=True)
class _File:
    """An attachment inside a message."""

    filename: str
    content_type: str
    size: int
    first_octets: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpMessage:
    """A message that passed every check that does not need the account that sends it."""

    recipients: Recipients
    #: The addresses in From and Sender: each must be a sender of the account.
    authors: tuple[str, ...]
    mail: Mail
    body_hash: str
    #: Identifies the Idempotency-Key, in hex.
    idempotency_digest: str | None
    #: Whether it may be accepted in one group with others. A message with a claim, or
    #: a large one that must be uploaded, would make them wait.
    groupable: bool

    def prepare(
        self, account: Account, suppressed: Mapping[str, str], now: datetime
    ) -> PreparedMessage:
        """Check the message against its account.

        Raises:
            ServiceError: `no_verified_sender` or `recipient_suppressed`.
        """
        if not all(may_send_as(account, author) for author in self.authors):
            raise no_verified_sender("The From field has no verified sender of this account.")
        self.recipients.check_suppressed(suppressed)
        return PreparedMessage.of(self.mail, account, self.body_hash, now)


def read_message(recipients: tuple[str, ...], octets: bytearray) -> SmtpMessage:
    """Parse a message and check what needs neither its account nor the DNS.

    Args:
        recipients: the envelope recipients; they decide who gets the message.
        octets: the message, with CR LF as its only line end. It is emptied once
            its content is copied, so that memory holds the message once.

    Raises:
        ServiceError: `validation_failed` if it cannot be parsed, `no_verified_sender`
            if From is not one address, or an attachment's code.
    """
    structure = parse(octets)
    check_attachments(_files(octets, structure.parts))
    authors = _authors(structure)
    keys = [field.value.decode("latin-1") for field in structure.all(b"idempotency-key")]
    digest = idempotency_digest(ROUTE, keys)
    body_hash = _hash(octets, structure, recipients)
    parsed_recipients = Recipients.parse(recipients)
    mail = _mail(octets, structure, authors[0], parsed_recipients)
    groupable = digest is None and len(octets) <= SMALL
    octets.clear()
    return SmtpMessage(
        recipients=parsed_recipients,
        authors=tuple(author.address for author in authors),
        mail=mail,
        body_hash=body_hash,
        idempotency_digest=digest,
        groupable=groupable,
    )


def may_send_as(account: Account, address: str) -> bool:
    """Whether an account may send from an address: on free plans only from the default one."""
    try:
        return account.sender(address) == address
    except ServiceError:
        return False


def no_verified_sender(text: str) -> ServiceError:
    """Return the error for a From field that this account may not use."""
    return ServiceError("no_verified_sender", text)


def _authors(structure: MessageStructure) -> tuple[Mailbox, ...]:
    """Return the addresses in From and in Sender, which SES checks as well."""
    authors, senders = structure.all(b"from"), structure.all(b"sender")
    if len(authors) != 1 or len(senders) > 1:
        raise no_verified_sender("A message has one From field.")
    return tuple(_normalize(read_mailbox(field.value)) for field in authors + senders)


def _normalize(mailbox: Mailbox | None) -> Mailbox:
    if mailbox is None:
        raise no_verified_sender("The From field must be one address, with or without a name.")
    try:
        return Mailbox(mailbox.name, parse_address(mailbox.address, to_a_label))
    except AddressSyntaxError as error:
        raise no_verified_sender("The From field has no valid address.") from error


def _files(octets: bytearray, parts: Iterable[MimePart]) -> list[_File]:
    """Return every part except the text itself: what the recipient could open."""
    return [
        _File(
            part.filename or "A part of the message",
            part.content_type,
            decoded_size(octets, part),
            first_octets(octets, part),
        )
        for part in parts
        if part.content_type not in _TEXT or part.disposition == "attachment" or part.filename
    ]


def _hash(octets: bytearray, structure: MessageStructure, recipients: tuple[str, ...]) -> str:
    """Hash a message without the fields and boundaries that differ between two tries."""
    digest = hashlib.sha256(json.dumps(recipients).encode())
    per_try = [(field.start, field.end) for field in structure.fields if field.name in _PER_TRY]
    position = 0
    with memoryview(octets) as view:
        for start, end in sorted([*per_try, *structure.boundaries]):
            digest.update(view[position:start])
            position = end
        digest.update(view[position:])
    return digest.hexdigest()


def _mail(
    octets: bytearray, structure: MessageStructure, author: Mailbox, recipients: Recipients
) -> Mail:
    envelope = distinct_mailboxes(recipients.normalized.values())
    in_to, in_cc = _addresses(structure, b"to"), _addresses(structure, b"cc")
    to = tuple(address for address in envelope if address.lower() in in_to)
    others = [address for address in envelope if address not in to]
    cc = tuple(address for address in others if address.lower() in in_cc)
    blind = tuple(address for address in others if address not in cc)
    if not to:  # a record needs at least one To
        to, cc, blind = (*cc, *blind)[:1], cc[1:], blind[0 if cc else 1 :]
    subjects = structure.all(b"subject")
    return Mail(
        sender=author.address,
        from_name=in_one_line(author.name)[:_MAX_NAME] if author.name else None,
        to=to,
        cc=cc,
        bcc=blind,
        reply_to=None,
        subject=in_one_line(read_text(subjects[0].value))[:MAX_SUBJECT] if subjects else "",
        body=RawBody(
            octets=_outgoing(octets, structure),
            has_message_id=bool(structure.all(b"message-id")),
            has_date=bool(structure.all(b"date")),
        ),
    )


def _addresses(structure: MessageStructure, name: bytes) -> frozenset[str]:
    return frozenset().union(*(addresses_in(field.value) for field in structure.all(name)))


def _outgoing(octets: bytearray, structure: MessageStructure) -> bytes:
    """Return the message without the fields that are not delivered."""
    with memoryview(octets) as view:
        pieces = []
        position = 0
        for field in structure.fields:
            if field.name in _REMOVED or field.name.startswith(_SES_PREFIX):
                pieces.append(view[position : field.start])
                position = field.end
        pieces.append(view[position:])
        message = b"".join(pieces)
        for piece in pieces:
            piece.release()
    return message
