"""Accepting a message over SMTP: the same rules and the same promise as over HTTP.

The message goes out as it was written. What is taken out are the fields that
are for us or for nobody to see, and what instructs SES; what is added are the
two fields that a message must have.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pillarbox.application.authentication import make_principal, parse_key
from pillarbox.application.ports import DirectoryResult
from pillarbox.application.sending.acceptance import Acceptance
from pillarbox.application.sending.recipients import Recipients
from pillarbox.application.sending.single import PreparedMessage, SingleSend
from pillarbox.application.validation import to_a_label
from pillarbox.domain.account import Account
from pillarbox.domain.address import AddressSyntaxError, parse_address
from pillarbox.domain.attachment import check_attachments
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.header_text import in_one_line
from pillarbox.domain.idempotency import idempotency_digest
from pillarbox.domain.key import EMAILS_SEND, Principal
from pillarbox.domain.mail import MAX_SUBJECT, Mail, RawBody
from pillarbox.mime.mailbox import Mailbox, addresses_in, read_mailbox, read_text
from pillarbox.mime.parse import MessageStructure, MimePart, decoded_size, first_octets, parse

ROUTE: Final = "SMTP"

#: Bcc is nobody's to see, Return-Path is the last host's to write (RFC 5321 section 4.4).
_TAKEN_OUT: Final = frozenset({b"bcc", b"resent-bcc", b"return-path", b"idempotency-key"})
#: SES obeys these, as its documentation of SendRawEmail says.
_FOR_SES: Final = b"x-ses-"
#: What differs between two tries of one program to send one mail.
_OF_ONE_TRY: Final = _TAKEN_OUT | {b"date", b"message-id", b"received"}
_TEXT: Final = frozenset({"text/plain", "text/html"})
#: Contract 2.1, in characters.
_MAX_NAME: Final = 1_024
#: In octets: a larger message may go through the spool.
SMALL: Final = 50_000


@dataclass(frozen=True, slots=True)
class _File:
    """An attachment as it lies in a message."""

    filename: str
    content_type: str
    size: int
    first_octets: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpMessage:
    """A message that is good as far as it can be told without the account that sends it."""

    recipients: Recipients
    #: Who it says it is from: each must be a sender of the account.
    authors: tuple[str, ...]
    mail: Mail
    body_hash: str
    #: Identifies an Idempotency-Key, in hex.
    idempotency_digest: str | None
    #: Whether it may be accepted together with others: they would wait for a claim, or
    #: for the upload of a large one.
    groupable: bool

    def draft(
        self, account: Account, suppressed: Mapping[str, str], now: datetime
    ) -> PreparedMessage:
        """Hold it against its account.

        Raises:
            ServiceError: `no_verified_sender` or `recipient_suppressed`.
        """
        if not all(may_send_as(account, author) for author in self.authors):
            raise _no_sender("The From field names no verified sender of this account.")
        self.recipients.check_suppressed(suppressed)
        return PreparedMessage.of(self.mail, account.account_id, self.body_hash, now)


@dataclass(frozen=True, slots=True)
class SmtpSubmission:
    """Takes messages of RFC 5322 into the service (contract 4.12)."""

    one: SingleSend
    paid_plans_only: bool = False

    def authenticate(self, key_text: str) -> Principal:
        """Tell whose key it is.

        Raises:
            ServiceError: `invalid_api_key`, `scope_required` or `upgrade_required`.
        """
        key = parse_key(key_text)
        return self._admitted(self.one.directory.look_up(key.account_id, key_digest=key.digest))

    def prepare(self, recipients: tuple[str, ...], octets: bytearray) -> SmtpMessage:
        """Read a message, and hold it against all that can be told without its account.

        Args:
            recipients: the envelope's; they decide who gets it.
            octets: the message, with CR LF as the only line end. It is emptied
                once it is taken over, so that it is in memory once.

        Raises:
            ServiceError: `validation_failed` when it cannot be read, `no_verified_sender`
                when From is not one address, an attachment's code, `invalid_recipient`.
        """
        parsed = parse(octets)
        check_attachments(_files(octets, parsed.parts))
        authors = _authors(parsed)
        keys = [each.value.decode("latin-1") for each in parsed.all(b"idempotency-key")]
        digest = idempotency_digest(ROUTE, keys)
        body_hash = _hash(octets, parsed, recipients)
        parsed_recipients = Recipients.parse(recipients)
        mail = _mail(octets, parsed, authors[0], parsed_recipients)
        groupable = digest is None and len(octets) <= SMALL
        octets.clear()
        if groupable:  # others do not wait for the DNS; one with a claim asks under it
            parsed_recipients.check(self.one.domains)
        return SmtpMessage(
            recipients=parsed_recipients,
            authors=tuple(author.address for author in authors),
            mail=mail,
            body_hash=body_hash,
            idempotency_digest=digest,
            groupable=groupable,
        )

    def submit(self, key_text: str, prepared: SmtpMessage) -> str:
        """Accept a message, or say why not; an error leaves nothing behind.

        Args:
            key_text: the API key, which is looked up once more.
            prepared: the message.

        Returns:
            The message's id.

        Raises:
            ServiceError: as over HTTP.
        """
        principal, found = self._look_up(key_text, [prepared])

        def draft() -> PreparedMessage:
            if not prepared.groupable:
                prepared.recipients.check(self.one.domains)
            return prepared.draft(principal.account, found.suppressed, self.one.clock())

        answer = self.one.accept(principal, prepared.body_hash, prepared.idempotency_digest, draft)
        return str(json.loads(answer.body)["messageId"])

    def submit_all(
        self, key_text: str, prepared: Sequence[SmtpMessage]
    ) -> Sequence[str | ServiceError]:
        """Accept groupable messages of one key in few calls, each on its own merits.

        Returns:
            For each its id, or why it is not accepted.

        Raises:
            ServiceError: why none is.
        """
        principal, found = self._look_up(key_text, prepared)
        now = self.one.clock()
        drafts: dict[int, PreparedMessage] = {}
        errors: dict[int, ServiceError] = {}
        for position, each in enumerate(prepared):
            try:
                drafts[position] = each.draft(principal.account, found.suppressed, now)
            except ServiceError as error:
                errors[position] = error
        acceptance = Acceptance(self.one, principal)
        try:
            errors |= acceptance.reserve(drafts, anything_else=True)
            errors |= acceptance.queue(drafts)
            acceptance.commit(drafts)
        except ServiceError as error:
            errors |= dict.fromkeys(drafts, error)
        ids = {at: str(draft.message.message_id) for at, draft in drafts.items()}
        return [errors.get(position) or ids[position] for position in range(len(prepared))]

    def _look_up(
        self, key_text: str, prepared: Sequence[SmtpMessage]
    ) -> tuple[Principal, DirectoryResult]:
        key = parse_key(key_text)
        addresses = {box for each in prepared for box in each.recipients.mailboxes}
        found = self.one.directory.look_up(
            key.account_id, key_digest=key.digest, addresses=addresses
        )
        return self._admitted(found), found

    def _admitted(self, found: DirectoryResult) -> Principal:
        principal = make_principal(found)
        principal.require(EMAILS_SEND)
        plan = principal.account.plan
        if principal.preview or (self.paid_plans_only and not plan.paid):
            raise ServiceError(
                "upgrade_required",
                "The SMTP relay is not open to this key.",
                upgrade_url=self.one.preview.upgrade_url,
            )
        return principal


def may_send_as(account: Account, address: str) -> bool:
    """Whether mail of an account may come from an address: on free plans the default one only."""
    try:
        return account.sender(address) == address
    except ServiceError:
        return False


def _authors(parsed: MessageStructure) -> tuple[Mailbox, ...]:
    """Who From says it is, and Sender, which SES checks as well."""
    froms, senders = parsed.all(b"from"), parsed.all(b"sender")
    if len(froms) != 1 or len(senders) > 1:
        raise _no_sender("A message has one From field.")
    return tuple(_spelled(read_mailbox(each.value)) for each in froms + senders)


def _spelled(mailbox: Mailbox | None) -> Mailbox:
    if mailbox is None:
        raise _no_sender("The From field must be one address, with or without a name.")
    try:
        return Mailbox(mailbox.name, parse_address(mailbox.address, to_a_label))
    except AddressSyntaxError as error:
        raise _no_sender("The From field has no valid address.") from error


def _no_sender(text: str) -> ServiceError:
    return ServiceError("no_verified_sender", text)


def _files(octets: bytearray, parts: Iterable[MimePart]) -> list[_File]:
    """Every part but the text itself: what the recipient could open."""
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


def _hash(octets: bytearray, parsed: MessageStructure, recipients: tuple[str, ...]) -> str:
    """What makes two messages the same: not what a program makes up anew for each try."""
    digest = hashlib.sha256(json.dumps(recipients).encode())
    anew = [(each.start, each.end) for each in parsed.fields if each.name in _OF_ONE_TRY]
    position = 0
    with memoryview(octets) as whole:
        for start, end in sorted([*anew, *parsed.boundaries]):
            digest.update(whole[position:start])
            position = end
        digest.update(whole[position:])
    return digest.hexdigest()


def _mail(
    octets: bytearray, parsed: MessageStructure, author: Mailbox, recipients: Recipients
) -> Mail:
    envelope = dict.fromkeys(recipients.spelling.values())
    shown_to, shown_cc = _shown(parsed, b"to"), _shown(parsed, b"cc")
    to = tuple(each for each in envelope if each.lower() in shown_to)
    cc = tuple(each for each in envelope if each not in to and each.lower() in shown_cc)
    blind = tuple(each for each in envelope if each not in to and each not in cc)
    if not to:  # a record names somebody it went to
        to, cc, blind = (*cc, *blind)[:1], cc[1:], blind[0 if cc else 1 :]
    subjects = parsed.all(b"subject")
    return Mail(
        sender=author.address,
        from_name=in_one_line(author.name)[:_MAX_NAME] if author.name else None,
        to=to,
        cc=cc,
        bcc=blind,
        reply_to=None,
        subject=in_one_line(read_text(subjects[0].value))[:MAX_SUBJECT] if subjects else "",
        body=RawBody(
            octets=_outgoing(octets, parsed),
            has_message_id=bool(parsed.all(b"message-id")),
            has_date=bool(parsed.all(b"date")),
        ),
    )


def _shown(parsed: MessageStructure, name: bytes) -> frozenset[str]:
    return frozenset().union(*(addresses_in(each.value) for each in parsed.all(name)))


def _outgoing(octets: bytearray, parsed: MessageStructure) -> bytes:
    """The message without the fields that do not go out."""
    with memoryview(octets) as whole:
        pieces = []
        position = 0
        for each in parsed.fields:
            if each.name in _TAKEN_OUT or each.name.startswith(_FOR_SES):
                pieces.append(whole[position : each.start])
                position = each.end
        pieces.append(whole[position:])
        message = b"".join(pieces)
        for piece in pieces:
            piece.release()
    return message
