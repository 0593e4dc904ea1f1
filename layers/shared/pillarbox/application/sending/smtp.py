"""Accept messages over SMTP (contract 4.12): the same rules and the same promise as over HTTP.

The message is delivered as its sender wrote it, with two changes. Fields that are only for this
service, that recipients must not see, that SES would obey, or that should name addresses and are
empty, are removed. Date and the empty line after the header are added if they are
missing. What SES would refuse later is refused here.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from pillarbox.application.authentication import ParsedKey, SeenKeys, SenderLookup, parse_key
from pillarbox.application.ports import AcceptedMessage, DirectoryResult, StoredResponse
from pillarbox.application.sending.acceptance import Acceptance, MessageGroup
from pillarbox.application.sending.admission import check_domains, check_paused, find_paused
from pillarbox.application.sending.ports import SendingPorts
from pillarbox.application.sending.prepare import Caller, PreparedMessage, reply_domain
from pillarbox.application.sending.recipients import Recipients
from pillarbox.application.validation import to_a_label
from pillarbox.domain.accounts.key import EMAILS_SEND, ApiKey
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.accounts.quota import QuotaExceeded
from pillarbox.domain.address import AddressSyntaxError, distinct_mailboxes, parse_address
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import ServiceError, cut
from pillarbox.domain.messages.attachment import (
    TYPES_BY_EXTENSION,
    UNSAFE_NAME,
    check_attachments,
    is_safe_filename,
)
from pillarbox.domain.messages.header_text import (
    INVISIBLE,
    MAX_SUBJECT,
    UNSAFE,
    in_one_line,
    is_header_safe,
    is_visible,
)
from pillarbox.domain.messages.idempotency import idempotency_digest
from pillarbox.domain.messages.mail import Mail, RawBody, is_ours
from pillarbox.domain.messages.message import Labels, SendRoute, TagError, Tags, check_tags
from pillarbox.domain.timing import NO_MOMENT, parse_moment
from pillarbox.mime.fields import (
    Field,
    Mailbox,
    addresses_in,
    bad_message,
    check_repeats,
    every_reading,
    first_bad_entry,
    is_address_list,
    read_commented_mailbox,
    read_text,
    unquoted_name,
)
from pillarbox.mime.parse import (
    MESSAGE_FIELDS,
    MessageStructure,
    MimePart,
    decoded_size,
    first_octets,
    parse,
)

#: How many octets tell text from other data (mimesniff.spec.whatwg.org, "resource header").
HEADER_LENGTH: Final = 1_445

#: Former and invented names of allowed types, by the extension of the type.
_OTHER_NAMES: Final = {
    "pdf": "application/x-pdf application/acrobat text/pdf",
    "ics": "application/ics application/calendar text/ics text/x-vcalendar",
    "png": "image/x-png",
    "jpg": "image/jpg image/pjpeg image/x-jpeg",
    "gif": "image/x-gif",
    "webp": "image/x-webp",
    "csv": "application/csv application/x-csv text/x-csv"
    " text/comma-separated-values text/x-comma-separated-values",
    "doc": "application/x-msword application/vnd.msword",
    "xls": "application/excel application/msexcel application/x-excel application/x-msexcel",
    "ppt": "application/mspowerpoint application/powerpoint application/x-mspowerpoint",
}
_TYPES: Final = {
    label: TYPES_BY_EXTENSION[extension]
    for extension, labels in _OTHER_NAMES.items()
    for label in labels.split()
}
#: Labels of programs that do not know what the file is.
_GENERIC: Final = re.compile(
    r"(?:application|binary)/(?:(?:x-)?octet-?stream|x-download|(?:x-)?force-download|download"
    r"|(?:x-)?unknown|(?:x-)?binary|save-as|save)"
)
_OLE2: Final = rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP: Final = rb"PK\x03\x04"
#: Without the octets that the same standard calls binary data.
_LABEL_TEXT: Final = rb"[^\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]*+\Z"
_FIRST_OCTETS: Final = {
    "pdf": rb"%PDF-",
    **dict.fromkeys(("ics", "txt", "csv"), _LABEL_TEXT),
    "png": rb"\x89PNG\r\n\x1a\n",
    **dict.fromkeys(("jpg", "jpeg"), rb"\xff\xd8\xff"),
    "gif": rb"GIF8[79]a",
    "webp": rb"RIFF.{4}WEBP",
    **dict.fromkeys(("doc", "xls", "ppt"), _OLE2),
    **dict.fromkeys(("docx", "xlsx", "pptx"), _ZIP),
}


def is_generic(label: str) -> bool:
    """Return whether a type in lower case says nothing, such as application/octet-stream."""
    return _GENERIC.fullmatch(label) is not None


def type_of(label: str) -> str:
    """Return the allowed type that a type in lower case is another name of, or else itself."""
    return _TYPES.get(label, label)


def type_of_name(names: Sequence[str], header: bytes) -> str | None:
    """Return the type of a file by the extension that all its names have.

    None if they have none of an allowed type, or if the file does not begin as this type does.
    """
    extensions = {name.rpartition(".")[2].lower() for name in names}
    extension = extensions.pop() if len(extensions) == 1 else ""
    begins = _FIRST_OCTETS.get(extension)
    if begins is None or not re.match(begins, header, re.DOTALL):
        return None
    return TYPES_BY_EXTENSION[extension]


ROUTE: Final = "SMTP"

#: Recipients must not see Bcc; the last host writes Return-Path (RFC 5321 section 4.4).
_REMOVED: Final = frozenset({b"bcc", b"resent-bcc", b"return-path", b"idempotency-key"})
#: A field `X-Tag-order: 10442` is a tag and is not delivered.
_TAG_PREFIX: Final = b"x-tag-"
#: Says when to send the message, and is not delivered.
_SCHEDULED_AT: Final = b"x-scheduled-at"
#: Says whether answers come back, and is not delivered.
_REPLIES: Final = b"x-replies"
#: SES refuses a message in which one of these has something else than addresses.
_ADDRESS_FIELDS: Final = frozenset({b"to", b"cc", b"reply-to"})
#: Fields that a program changes each time it tries to send a message.
_PER_TRY: Final = _REMOVED | {b"date", b"message-id", b"received"}
_TEXT: Final = frozenset({"text/plain", "text/html"})
_LENIENT: Final = re.compile("[\t\x80-\x9f]")
#: Contract 2.1, in characters.
_MAX_NAME: Final = 1_024
#: In bytes, of a text of the message that a reply repeats.
_MAX_SHOWN: Final = 64
#: In octets: a larger message may go through the spool.
SMALL: Final = 50_000


@dataclass(frozen=True, slots=True)
class _File:
    """An attachment inside a message."""

    filename: str
    names: tuple[str, ...]
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
    labels: Labels
    #: When to send it (X-Scheduled-At); None as soon as possible.
    scheduled_at: datetime | None
    #: Whether answers come back (X-Replies); None: as the account says.
    replies: bool | None

    def prepare(
        self,
        principal: Principal,
        suppressed: Mapping[str, str],
        now: datetime,
    ) -> PreparedMessage:
        """Check the message against the account that sends it."""
        for name, author in zip(("From", "Sender"), self.authors, strict=False):
            try:
                principal.account.check_sends_from(author)
            except ServiceError as error:
                raise _bad_author(f"{name}: {error.message}") from error
        principal.check_recipients(self.recipients.normalized.values())
        self.recipients.check_suppressed(suppressed)
        origin = Caller(principal, SendRoute.SMTP).origin(self.labels)
        mail = replace(self.mail, reply_domain=reply_domain(principal.account, self.replies))
        prepared = PreparedMessage.of(mail, principal.account, self.body_hash, now, origin)
        if principal.account.keep:
            prepared = prepared.keeping(principal.account)
        return prepared.at(self.scheduled_at) if self.scheduled_at else prepared


def read_message(recipients: tuple[str, ...], octets: bytearray) -> SmtpMessage:
    """Parse a message and check what needs neither its account nor the DNS.

    Args:
        recipients: the envelope recipients; they decide who gets the message.
        octets: the message, with CR LF as its only line end. It is emptied once
            its content is copied, so that memory holds the message once.

    Raises:
        ServiceError: `validation_failed` if it cannot be parsed or misleads, `no_verified_sender`
            if From is not one address, or an attachment's code.
    """
    structure = parse(octets)
    delivered = [field for field in structure.fields if not _is_removed(field)]
    check_repeats(delivered, MESSAGE_FIELDS, "repeated_field")
    files = _files(octets, structure.parts)
    check_attachments(files)
    _check_names(files)
    authors = _authors(structure)
    _check_address_fields(structure)
    subject = _subject(structure)
    tags, scheduled_at = _tags(structure), _scheduled_at(structure)
    replies = _replies(structure)
    keys = [field.value.decode("latin-1") for field in structure.all(b"idempotency-key")]
    digest = idempotency_digest(ROUTE, keys)
    body_hash = _hash(octets, structure, recipients)
    parsed_recipients = Recipients.parse(recipients)
    mail = _mail(octets, structure, authors[0], subject, parsed_recipients)
    groupable = digest is None and len(octets) <= SMALL
    octets.clear()
    return SmtpMessage(
        recipients=parsed_recipients,
        authors=tuple(author.address for author in authors),
        mail=mail,
        body_hash=body_hash,
        idempotency_digest=digest,
        groupable=groupable,
        labels=Labels(tags=tags),
        scheduled_at=scheduled_at,
        replies=replies,
    )


def _authors(structure: MessageStructure) -> tuple[Mailbox, ...]:
    """Return the addresses in From and in Sender, which SES checks as well."""
    authors, senders = structure.all(b"from"), structure.all(b"sender")
    if len(authors) != 1 or len(senders) > 1:
        raise _bad_author(
            f"A message has one From field, and at most one Sender field; this one has"
            f" {len(authors)} and {len(senders)}."
        )
    return tuple(read_author(field) for field in authors + senders)


def read_author(field: Field) -> Mailbox:
    """Return the address in a From or Sender field, with its name."""
    name, mailbox = field.usual_name, read_commented_mailbox(field.value)
    if mailbox is None:
        shown = _shown(unquoted_name(field.value))
        advice = f"; if {shown} is the name, put the name in quotes" if shown else ""
        raise _bad_author(f"{name}: must be one address, with or without a name{advice}.")
    try:
        address = parse_address(mailbox.address, to_a_label)
    except AddressSyntaxError as error:
        raise _bad_author(f"{name}: {mailbox.address}: {error}.") from error
    _check_shown(field, mailbox.name or "")
    return Mailbox(mailbox.name, address)


def _bad_author(text: str) -> ServiceError:
    return ServiceError("no_verified_sender", text)


def _check_address_fields(structure: MessageStructure) -> None:
    for each in structure.fields:
        if each.name in _ADDRESS_FIELDS and not is_address_list(each.value):
            raise bad_message(
                each.usual_name,
                f"must be a list of addresses with commas between them{_culprit(each.value)}",
                "bad_header",
            )


def _culprit(value: bytes) -> str:
    """Return the words that name the first entry that is no address, if one is found."""
    shown = _shown(first_bad_entry(value))
    return f"; {shown} is none" if shown else ""


def _shown(text: bytes) -> str:
    """Return the beginning of a text of the message, for a reply; empty if there is none."""
    return json.dumps(cut(read_text(text), _MAX_SHOWN)) if text else ""


def _subject(structure: MessageStructure) -> str:
    fields = structure.all(b"subject")
    if not fields:
        return ""
    subject = read_text(fields[0].value)
    _check_shown(fields[0], subject)
    return subject


def _tags(structure: MessageStructure) -> Tags:
    """Return the tags in X-Tag fields. Names are in lower case, as field names have no case."""
    fields = [field for field in structure.fields if field.name.startswith(_TAG_PREFIX)]
    names = [field.name.removeprefix(_TAG_PREFIX).decode("latin-1") for field in fields]
    tags = dict(zip(names, (read_text(field.value) for field in fields), strict=True))
    if len(tags) < len(fields):
        raise bad_message("X-Tag", "must not have the same name twice", "bad_header")
    try:
        check_tags(tags)
    except TagError as error:
        raise bad_message("X-Tag", str(error), "invalid_tags") from None
    return tags


def _scheduled_at(structure: MessageStructure) -> datetime | None:
    fields = structure.all(_SCHEDULED_AT)
    if not fields:
        return None
    moment = parse_moment(fields[0].value.decode("latin-1").strip())
    if moment is None or len(fields) > 1:
        raise bad_message("X-Scheduled-At", NO_MOMENT, "invalid_time")
    return moment


def _replies(structure: MessageStructure) -> bool | None:
    values = [field.value.decode("latin-1").lower() for field in structure.all(_REPLIES)]
    if not values:
        return None
    if len(values) > 1 or values[0] not in {"true", "false"}:
        raise bad_message("X-Replies", "must be true or false", "invalid_value")
    return values[0] == "true"


def _check_shown(field: Field, text: str) -> None:
    """Raise if a field shows no text, or something else than its text in any mail program.

    A folded line may contain a tab. Older programs call windows-1252 iso-8859-1, and what they
    mean by its characters from 0x80 to 0x9f are quotation marks and dashes, not controls.
    """
    readings = (text, *every_reading(field.value))
    if not all(is_header_safe(_LENIENT.sub("", each)) for each in readings):
        raise bad_message(field.usual_name, UNSAFE, "bad_header")
    if not is_visible(text):
        raise bad_message(field.usual_name, INVISIBLE, "bad_header")


def _files(octets: bytearray, parts: Iterable[MimePart]) -> list[_File]:
    """Return every part except the text itself: what the recipient could open."""
    return [
        _File(
            part.filenames[0] if part.filenames else "A part of the message",
            part.filenames,
            _counts_as(octets, part),
            decoded_size(octets, part),
            first_octets(octets, part),
        )
        for part in parts
        if part.content_type not in _TEXT or part.disposition == "attachment" or part.filenames
    ]


def _counts_as(octets: bytearray, part: MimePart) -> str:
    """Return the allowed type that a part counts as, or its own if that is not allowed."""
    if part.is_form:
        return "text/plain"  # with the limits and the checks of a file
    if is_generic(part.content_type):
        header = first_octets(octets, part, HEADER_LENGTH)
        return type_of_name(part.filenames, header) or part.content_type
    return type_of(part.content_type)


def _check_names(files: Iterable[_File]) -> None:
    if not all(is_safe_filename(name) for file in files for name in file.names):
        raise bad_message("filename", UNSAFE_NAME, "invalid_filename")


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
    octets: bytearray,
    structure: MessageStructure,
    author: Mailbox,
    subject: str,
    recipients: Recipients,
) -> Mail:
    envelope = distinct_mailboxes(recipients.normalized.values())
    in_to, in_cc = _addresses(structure, b"to"), _addresses(structure, b"cc")
    to = tuple(address for address in envelope if address.lower() in in_to)
    others = [address for address in envelope if address not in to]
    cc = tuple(address for address in others if address.lower() in in_cc)
    blind = tuple(address for address in others if address not in cc)
    if not to:  # a record needs at least one To
        to, cc, blind = (*cc, *blind)[:1], cc[1:], blind[0 if cc else 1 :]
    return Mail(
        sender=author.address,
        from_name=in_one_line(author.name)[:_MAX_NAME] if author.name else None,
        to=to,
        cc=cc,
        bcc=blind,
        subject=in_one_line(subject)[:MAX_SUBJECT],
        body=RawBody(
            octets=_outgoing(octets, structure),
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
            if _is_removed(field):
                pieces.append(view[position : field.start])
                position = field.end
        pieces.append(view[position:])
        # SES wants an empty line after the header, even if there is no body.
        has_header_only = bool(structure.fields) and structure.body == structure.fields[-1].end
        return b"".join([*pieces, b"\r\n" if has_header_only else b""])


def _is_removed(field: Field) -> bool:
    is_empty = field.name in _ADDRESS_FIELDS and not field.value
    return is_empty or field.name in _REMOVED or is_ours(field.name.decode("latin-1"))


@dataclass(frozen=True, slots=True)
class SmtpSubmission:
    """Authenticate SMTP clients and accept their messages (RFC 5322)."""

    ports: SendingPorts
    seen: SeenKeys = field(default_factory=SeenKeys)
    paid_plans_only: bool = False

    def authenticate(self, key_text: str, *, origin: ClientOrigin | None = None) -> Principal:
        """Return the principal of an API key."""
        return self._senders.read(key_text, origin=origin)

    def check_recipient(
        self, key_text: str, address: str, *, origin: ClientOrigin | None = None
    ) -> None:
        """Check one recipient before its message is there, as `submit` will."""
        recipients = Recipients.parse((address,))
        recipients.check_syntax()
        principal, directory = self._senders.look_up(
            key_text, origin=origin, addresses=recipients.mailboxes
        )
        principal.check_recipients(recipients.normalized.values())
        recipients.check_suppressed(directory.suppressed)
        with self._remembering(principal.key.digest, ServiceError):
            check_domains(self.ports, principal.account.account_id, recipients)

    def prepare(self, key_text: str, recipients: tuple[str, ...], octets: bytearray) -> SmtpMessage:
        """Read a message, and check what can be checked without its account.

        Args:
            octets: the message; it is emptied (see `read_message`).
        """
        key = parse_key(key_text)
        message = read_message(recipients, octets)
        message.recipients.check_syntax()
        if key.digest in self.seen.refused:
            return replace(message, groupable=False)
        if message.groupable:
            # The others of its group must not wait for the DNS. A message that is accepted by
            # itself is checked later, so that one with an Idempotency-Key has its claim by then.
            self._check_domains(key, message)
        return message

    def submit(
        self, key_text: str, message: SmtpMessage, *, origin: ClientOrigin | None = None
    ) -> str:
        """Accept a message and return its id. The key is read again; an error leaves nothing."""
        principal, directory = self._look_up(key_text, origin, [message])
        digest = principal.key.digest
        with self._remembering(digest, QuotaExceeded):
            acceptance = Acceptance(self.ports, principal)
            claim = acceptance.claim(message.idempotency_digest, message.body_hash, _id_of)
            if isinstance(claim, StoredResponse):
                response = claim
            else:
                with acceptance.released_on_error(claim):
                    prepared = self._prepare(principal, directory, message)
                    prepared = acceptance.reserve(prepared, claim)
                response = acceptance.commit(prepared, claim, _id_of(prepared.accepted))
        self.seen.refused.discard(digest)
        return response.body

    def submit_all(
        self,
        key_text: str,
        messages: Sequence[SmtpMessage],
        *,
        origin: ClientOrigin | None = None,
    ) -> Sequence[str | ServiceError]:
        """Accept groupable messages of one key in few calls; return the id or error of each.

        Their clients may differ. Each had its own origin checked when it logged in, so `origin` is
        that of any of them.

        Raises:
            ServiceError: the error of all, such as a revoked key.
        """
        principal, directory = self._look_up(key_text, origin, messages)
        now = self.ports.clock()
        group = MessageGroup({}, {})
        for position, message in enumerate(messages):
            try:
                group.prepared[position] = message.prepare(principal, directory.suppressed, now)
            except ServiceError as error:
                group.outcomes[position] = error
        acceptance = Acceptance(self.ports, principal)
        origins = {at: prepared.message.origin for at, prepared in group.prepared.items()}
        group.refuse(find_paused(self.ports.quotas, principal, origins, now))
        try:
            acceptance.reserve_all(group, may_refuse_all=True)
            acceptance.queue_all(group)
            acceptance.commit_all(group)
        except ServiceError as error:  # that of each message which it stops
            group.outcomes.update(dict.fromkeys(group.prepared, error))
        if any(isinstance(outcome, QuotaExceeded) for outcome in group.in_order):
            self.seen.refused.add(principal.key.digest)
        return [
            outcome if isinstance(outcome, ServiceError) else str(outcome.message_id)
            for outcome in group.in_order
        ]

    def _look_up(
        self, key_text: str, origin: ClientOrigin | None, messages: Sequence[SmtpMessage]
    ) -> tuple[Principal, DirectoryResult]:
        addresses = {mailbox for message in messages for mailbox in message.recipients.mailboxes}
        return self._senders.look_up(key_text, origin=origin, addresses=addresses)

    def _prepare(
        self, principal: Principal, directory: DirectoryResult, message: SmtpMessage
    ) -> PreparedMessage:
        """Check a message against its account, and what `prepare` has left."""
        now = self.ports.clock()
        prepared = message.prepare(principal, directory.suppressed, now)
        check_paused(self.ports.quotas, principal, prepared.message.origin, now)
        if not message.groupable:
            directory.quota.check(principal.limits, now)
            self._check_domains(principal.key, message)
        return prepared

    def _check_domains(self, key: ParsedKey | ApiKey, message: SmtpMessage) -> None:
        with self._remembering(key.digest, ServiceError):
            check_domains(self.ports, key.account_id, message.recipients)

    @contextmanager
    def _remembering(self, digest: str, refusal: type[ServiceError]) -> Iterator[None]:
        """Remember a key whose message is refused."""
        try:
            yield
        except refusal:
            self.seen.refused.add(digest)
            raise

    @property
    def _senders(self) -> SenderLookup:
        return SenderLookup(self.ports.directory, self.seen, self._authorize, self.ports.key_check)

    def _authorize(self, principal: Principal) -> None:
        principal.require(EMAILS_SEND)
        principal.check_smtp()
        plan = principal.account.plan
        if principal.policy.starters_only or (self.paid_plans_only and not plan.paid):
            raise self.ports.preview.upgrade_required("The SMTP relay is not open to this key.")


def _id_of(accepted: AcceptedMessage) -> str:
    return str(accepted.message_id)
