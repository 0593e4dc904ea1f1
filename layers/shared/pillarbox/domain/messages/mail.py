"""Emails before delivery: the caller's request, the mail to build, and the job in the queue.

Over HTTP a request names the fields that it wants, and everything outside this table is refused.
Over SMTP the sender writes the whole message, and only `is_ours` removes fields from it. Neither
door delivers a field that is meant for this service or for SES.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from pillarbox.domain.errors import FieldError, Json, ServiceError, ValidationFailed
from pillarbox.domain.messages.attachment import Attachment, check_attachments, check_count
from pillarbox.domain.messages.header_text import is_header_safe, is_visible
from pillarbox.domain.messages.message import Event, Labels

if TYPE_CHECKING:
    from pillarbox.domain.messages.upload import UploadedFile, UploadReference

MAX_HEADERS: Final = 20
#: In octets of UTF-8: all names and values.
MAX_HEADERS_BYTES: Final = 4096
#: In octets. A field is folded between words only, and a line has at most 998 (RFC 5322 section
#: 2.1.1).
_MAX_WORD: Final = 900

#: SES obeys fields with the first prefix (SES, SendRawEmail); the others are for this
#: service.
_OURS: Final = ("x-ses-", "x-tag-", "x-api-key", "x-scheduled-at", "x-replies")
_NAME: Final = "(?ai)x-[a-z0-9_-]{1,62}"

UNSUBSCRIBE: Final = "List-Unsubscribe"
UNSUBSCRIBE_POST: Final = "List-Unsubscribe-Post"
ONE_CLICK: Final = "List-Unsubscribe=One-Click"

_MESSAGE_ID: Final = r"<[!-;=?-~]+@[!-;=?-~]+>"
_LINK: Final = r"<(?ai:https?://|mailto:)[!-;=?-~]+>"

type Headers = Mapping[str, str]


class HeaderError(Exception):
    """A field, or all of them together, cannot be used; the text says why."""


def _listed(item: str, comma: str, joint: str) -> Callable[[str], str | None]:
    """Return what reads a list of items, and writes it with this joint; None for anything else."""

    def normal(value: str) -> str | None:
        is_list = re.fullmatch(f"{item}(?:{comma}{item})*", value)
        return joint.join(re.findall(item, value)) if is_list else None

    return normal


def _one_of(*values: str) -> Callable[[str], str | None]:
    by_lower = {value.lower(): value for value in values}
    return lambda value: by_lower.get(value.lower())


#: Name in lower case -> what returns a value in its one form, or None if it is not valid, and what
#: to say then.
_FIELDS: Final[Mapping[str, tuple[Callable[[str], str | None], str]]] = {
    # RFC 5322 section 3.6.4.
    **dict.fromkeys(
        ("in-reply-to", "references"),
        (
            _listed(_MESSAGE_ID, "[ \t]*", " "),
            "must be message ids such as <id@shop.example>, with blanks between them",
        ),
    ),
    # RFC 2369 section 2, and RFC 8058 section 3.1.
    "list-unsubscribe": (
        _listed(_LINK, "[ \t]*,[ \t]*", ", "),
        "must be links such as <https://shop.example/u>, with commas between them",
    ),
    "list-unsubscribe-post": (_one_of(ONE_CLICK), f"must be {ONE_CLICK}"),
    # RFC 3834 section 5.
    "auto-submitted": (
        _one_of("no", "auto-generated", "auto-replied", "auto-notified"),
        "must be no, auto-generated, auto-replied or auto-notified",
    ),
    # RFC 2076 section 3.9.
    "precedence": (_one_of("bulk", "list", "junk"), "must be bulk, list or junk"),
    "feedback-id": (
        _listed("[!-~]{1,255}", "(?!)", ""),
        "must be at most 255 visible ASCII characters",
    ),
}
#: What the OpenAPI document and the guides list.
NAMES: Final = (
    *("In-Reply-To", "References", UNSUBSCRIBE, UNSUBSCRIBE_POST),
    *("Auto-Submitted", "Precedence", "Feedback-ID"),
)


def is_ours(name: str) -> bool:
    """Return whether a field is for this service or for SES, and not for the recipient.

    `name` is in lower case.
    """
    return name.startswith(_OURS)


def normal_headers(headers: Headers) -> dict[str, str]:
    """Check the fields that a request sets: names, values, number and size.

    Returns them with structured values in one form: programs write `<a>,<b>` and `Bulk` too.
    """
    if len(headers) > MAX_HEADERS:
        raise HeaderError(f"must not have more than {MAX_HEADERS} fields")
    if sum(len(text.encode()) for field in headers.items() for text in field) > MAX_HEADERS_BYTES:
        raise HeaderError(f"must not be larger than {MAX_HEADERS_BYTES} bytes in all")
    normal: dict[str, str] = {}
    for name, value in headers.items():
        normalize, fault = _FIELDS.get(name.lower(), (None, ""))
        found = normalize(value) if normalize else value
        if found is not None:
            fault = _fault(name, found) or ""
        if fault or found is None:
            raise HeaderError(f"{name[:64]!r} {fault}")
        normal[name] = found
    values = {name.lower(): value for name, value in normal.items()}
    if len(values) < len(headers):
        raise HeaderError("must not have the same name twice, in capitals or not")
    if UNSUBSCRIBE_POST.lower() in values and "<https:" not in values.get("list-unsubscribe", ""):
        raise HeaderError(f"'{UNSUBSCRIBE_POST}' needs an https: link in {UNSUBSCRIBE} (RFC 8058)")
    return normal


def _fault(name: str, value: str) -> str | None:
    if not value or not is_visible(value) or value != value.strip():
        return "must have a value without a blank at either end"
    if not is_header_safe(value):
        return "must not have control characters or text direction overrides"
    if max(len(word.encode()) for word in value.split(" ")) > _MAX_WORD:
        return f"must not have a word of more than {_MAX_WORD} bytes"
    if name.isascii() and name.lower() in _FIELDS:  # in small letters the Kelvin sign is a k
        return None
    if name.lower().startswith("x-tag-"):
        return "is a tag, which goes in tags"
    if is_ours(name.lower()):
        return "is not delivered to recipients"
    return None if re.fullmatch(_NAME, name) else f"is none of {', '.join(NAMES)} and X-…"


def unsubscribe_headers(url: str, *, one_click: bool) -> dict[str, str]:
    """Return the fields of RFC 2369 section 3.2, and of RFC 8058 if the URL answers a POST."""
    post = {UNSUBSCRIBE_POST: ONE_CLICK} if one_click else {}
    return {UNSUBSCRIBE: f"<{url}>"} | post


#: Contract 2.1 and 8.2: to, cc and bcc together. Repeated addresses count again.
MAX_RECIPIENTS: Final = 50
#: In octets of UTF-8. With a text part of twice this size, both encoded, and 10 MB of files in
#: base64, every message is within the 40 MB that SES accepts.
MAX_HTML: Final = 2 * 1024 * 1024
#: In octets of UTF-8, of a text part that the caller wrote.
MAX_TEXT: Final = 1024 * 1024
#: How long delivery is attempted if the email does not expire earlier.
MAX_DELIVERY_TIME: Final = timedelta(hours=24)
#: How long the job of an email that waits may take to be arranged. The timer reads the minute of
#: the job, and a worker drops it, later than that by more than clocks differ and calls take.
CHANGE_TIME: Final = timedelta(minutes=10)
#: An email that expires this soon is urgent: it has its own queue and comes first at SES.
URGENT_TIME: Final = timedelta(hours=1)
#: An email that is still in the queue after this time is late; an urgent one sooner.
LATE: Final = timedelta(hours=1)
URGENT_LATE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer to a received mail. `sender` is a sender of the account; None is its default."""

    text: str | None
    html: str | None
    sender: str | None
    idempotency_digest: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SendRequest:
    """A send request (contract 2.1), parsed but not yet checked. Addresses are as written.

    `body_hash` is the SHA-256 of the request's canonical form, in hex. Two
    requests with the same hash are the same request.
    """

    body_hash: str
    to: tuple[str, ...]
    cc: tuple[str, ...] = ()
    bcc: tuple[str, ...] = ()
    #: The names of recipients and of who gets replies, by normalized address. The contract's routes
    #: take none of recipients.
    names: Mapping[str, str] = field(default_factory=dict)
    starter_template: str | None = None
    template_id: UUID | None = None
    #: The locale of the saved template.
    locale: str | None = None
    html: str | None = None
    #: The text part, in place of the one that is made from the HTML.
    text: str | None = None
    variables: Mapping[str, Json] = field(default_factory=dict)
    subject: str | None = None
    from_name: str | None = None
    sender: str | None = None
    #: Normalized addresses.
    reply_to: tuple[str, ...] = ()
    brand_name: str | None = None
    logo_url: str | None = None
    attachments: tuple[Attachment, ...] = ()
    #: Files that the caller uploaded before. They follow the others.
    uploads: "tuple[UploadReference, ...]" = ()
    labels: Labels = field(default_factory=Labels)
    headers: Headers = field(default_factory=dict)
    #: When to send it; None as soon as possible, or when it is released.
    scheduled_at: datetime | None = None
    #: Whether it waits until somebody releases it.
    hold: bool = False
    #: For how many days to keep the content, at most the account's; None: as many as those.
    keep: int | None = None
    #: Whether answers come back to it; None: as the account says.
    replies: bool | None = None
    #: Recipients that were sent but are not in the three lists, because there are far too many.
    more_recipients: int = 0

    @property
    def recipients(self) -> tuple[str, ...]:
        """All recipients as written, including repeated ones."""
        return self.to + self.cc + self.bcc

    @property
    def recipient_count(self) -> int:
        return len(self.to) + len(self.cc) + len(self.bcc) + self.more_recipients

    @property
    def template_ids(self) -> tuple[UUID, ...]:
        """The id of the saved template that the request names, if any."""
        return (self.template_id,) if self.template_id else ()

    def check_mode(self) -> None:
        """Check that the request has one of the three modes (contract 2.1), or text alone."""
        modes = {
            "starterTemplate": self.starter_template,
            "templateId": self.template_id,
            "html": self.html,
        }
        given_modes: list[Json] = [name for name, value in modes.items() if value is not None]
        if not given_modes and self.text is None:
            raise ServiceError(
                "missing_field", "One of starterTemplate, templateId, html and text must be given."
            )
        if len(given_modes) > 1:
            raise ServiceError(
                "multiple_modes",
                "Only one of starterTemplate, templateId and html may be given.",
                details={"given": given_modes},
            )

    @property
    def waits(self) -> bool:
        """Whether it is not to be sent at once."""
        return self.hold or self.scheduled_at is not None

    def check_size(self) -> None:
        """Check the counts and sizes against contract 8.2."""
        if self.recipient_count > MAX_RECIPIENTS:
            raise ServiceError(
                "recipient_limit_exceeded",
                f"An email can have at most {MAX_RECIPIENTS} recipients; "
                f"this one has {self.recipient_count}.",
                details={"count": self.recipient_count, "limit": MAX_RECIPIENTS},
            )
        check_count(len(self.attachments) + len(self.uploads))
        check_attachments(self.attachments)
        self.check_uploads()

    def for_owner(self) -> "SendRequest":
        """Return the request of a key whose emails wait until an owner releases them."""
        if self.scheduled_at is not None:
            message = "is not for this key: each of its emails waits until an owner releases it"
            raise ValidationFailed(FieldError("scheduledAt", message, "not_allowed"))
        held = replace(self, hold=True)
        held.check_uploads()
        return held

    def check_uploads(self) -> None:
        """Check that an email that waits has no uploaded file."""
        if self.waits and self.uploads:
            message = "is deleted too soon for an email that waits; put the content into the email"
            raise ValidationFailed(FieldError("attachments", message, "not_allowed"))


@dataclass(frozen=True, slots=True, kw_only=True)
class StarterBody:
    """A body that is rendered from a starter template. `values` has every variable."""

    slug: str
    values: Mapping[str, Json]
    brand_name: str | None
    logo_url: str | None
    attribution: bool
    #: Whether the top of the email says that it is a test with sample values.
    is_test: bool = False
    #: The colour of the brand. None has the colours of the starters.
    accent: str | None = None
    #: The token of the link by which the recipient of a test stops such mail.
    report: str | None = field(default=None, repr=False)

    def subject_values(self) -> Mapping[str, Json]:
        """Return what the subject can name: the values, and the brand."""
        return {**self.values, "brand_name": self.brand_name}


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedBody:
    """A body that is rendered from a saved template.

    `source` is the template's HTML at the time when the email was accepted.
    """

    source: str
    values: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlBody:
    """A body that the caller wrote in HTML."""

    html: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBody:
    """A body of plain text alone: the text part of the mail, with no HTML."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawBody:
    """A complete RFC 5322 message as its sender wrote it. Only a missing Date is added."""

    octets: bytes
    has_date: bool


type RenderedBody = StarterBody | SavedBody | HtmlBody
type Body = RenderedBody | TextBody | RawBody


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """Everything that the worker needs to build and send one email."""

    sender: str
    from_name: str | None
    to: tuple[str, ...]
    cc: tuple[str, ...] = ()
    bcc: tuple[str, ...] = ()
    reply_to: tuple[str, ...] = ()
    subject: str
    body: Body
    #: The names of those in To, Cc and Reply-To, by address.
    names: Mapping[str, str] = field(default_factory=dict)
    #: The text part; None has one that is made from the HTML.
    text: str | None = None
    headers: Headers = field(default_factory=dict)
    attachments: tuple[Attachment, ...] = ()
    #: Files in the bucket. The worker reads them, and then they follow the others.
    uploads: "tuple[UploadedFile, ...]" = ()
    #: The domain of the account that receives answers to it; None: none comes back.
    reply_domain: str | None = None

    @property
    def replies_to(self) -> str | None:
        """Return who gets replies, with their names, as people read it; None is the sender."""
        own = f"an address at {self.reply_domain}" if self.reply_domain else None
        return ", ".join(self.named(self.reply_to)) or own

    def named(self, addresses: tuple[str, ...]) -> tuple[str, ...]:
        """Return addresses with their names, as people read them."""
        return tuple(
            f"{self.names[one]} <{one}>" if one in self.names else one for one in addresses
        )

    @property
    def files(self) -> "tuple[Attachment | UploadedFile, ...]":
        return self.attachments + self.uploads

    @property
    def has_report_link(self) -> bool:
        return isinstance(self.body, StarterBody) and self.body.report is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOverResult:
    """What the provider answered to one attempt, as events of the message.

    Without events the provider did not take the mail, and it may be handed over again.
    """

    attempt: int
    events: tuple[Event, ...] = ()
    provider_message_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A mail in the queue.

    A job alone is not an accepted email. It becomes one when the message record
    with the same id and hash exists. After `deadline` the email is useless and is not delivered.
    """

    account_id: str
    message_id: UUID
    body_hash: str
    queued_at: datetime
    deadline: datetime
    #: When it is due, if its content waits in the table. It is the time in the record, unless that
    #: has changed, and then another job is or will be on its way.
    due_at: datetime | None = None
    #: The mail if it is in the queue. Otherwise `spool_key` says where it is in the spool.
    mail: Mail | None = None
    spool_key: str | None = None
    #: The tenant of SES that the account had at acceptance. A worker that does not know the field
    #: sends without it.
    tenant: str | None = None
    #: A job with a result only records it. It replaces the save of a worker that failed to save.
    result: HandOverResult | None = None

    @property
    def urgent(self) -> bool:
        """Whether the email expires soon, such as a one-time code."""
        return self.deadline - self.queued_at <= URGENT_TIME

    def is_late(self, now: datetime) -> bool:
        """Return whether the email is late, from when it was queued or due."""
        return now - self.queued_at > (URGENT_LATE if self.urgent else LATE)
