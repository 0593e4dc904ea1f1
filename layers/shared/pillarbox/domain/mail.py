"""A mail as it is accepted: what the caller asked for, and what the worker will deliver."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from pillarbox.domain.attachment import Attachment, check_attachments
from pillarbox.domain.errors import Json, ServiceError

#: Contract 2.1 and 8.2: to + cc + bcc together, counted as given.
MAX_RECIPIENTS: Final = 50
#: RFC 5322 section 2.1.1 and contract 8.2, in characters.
MAX_SUBJECT: Final = 998
#: How long delivery of an email is tried when the email itself sets no deadline.
LONGEST_TRIAL: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class SendRequest:
    """A send request of the right shape (contract 2.1); addresses as the caller wrote them.

    `body_hash` is the SHA-256 of the request's canonical form, in hex: two
    requests with one hash are the same request.
    """

    body_hash: str
    to: tuple[str, ...]
    cc: tuple[str, ...] = ()
    bcc: tuple[str, ...] = ()
    starter_template: str | None = None
    template_id: UUID | None = None
    html: str | None = None
    variables: Mapping[str, Json] = field(default_factory=dict)
    subject: str | None = None
    from_name: str | None = None
    sender: str | None = None
    reply_to: str | None = None
    brand_name: str | None = None
    logo_url: str | None = None
    attachments: tuple[Attachment, ...] = ()

    @property
    def recipients(self) -> tuple[str, ...]:
        """All recipients as given, repeated ones too."""
        return self.to + self.cc + self.bcc

    @property
    def template_ids(self) -> tuple[UUID, ...]:
        """The saved template that the request names, if any."""
        return (self.template_id,) if self.template_id else ()

    def check_mode(self) -> None:
        """Exactly one of the three modes must be given (contract 2.1).

        Raises:
            ServiceError: `missing_field` or `multiple_modes`.
        """
        modes = {
            "starterTemplate": self.starter_template,
            "templateId": self.template_id,
            "html": self.html,
        }
        given: list[Json] = [name for name, value in modes.items() if value is not None]
        if not given:
            raise ServiceError(
                "missing_field", "One of starterTemplate, templateId and html must be given."
            )
        if len(given) > 1:
            raise ServiceError(
                "multiple_modes",
                "Only one of starterTemplate, templateId and html may be given.",
                details={"given": given},
            )

    def check_size(self) -> None:
        """Hold the counts and sizes against contract 8.2.

        Raises:
            ServiceError: `recipient_limit_exceeded` or one of the attachments' codes.
        """
        if len(self.recipients) > MAX_RECIPIENTS:
            raise ServiceError(
                "recipient_limit_exceeded",
                f"A mail goes to at most {MAX_RECIPIENTS} recipients; "
                f"this one has {len(self.recipients)}.",
                details={"count": len(self.recipients), "limit": MAX_RECIPIENTS},
            )
        check_attachments(self.attachments)


@dataclass(frozen=True, slots=True, kw_only=True)
class StarterBody:
    """A body made from a starter template; the values are complete."""

    slug: str
    values: Mapping[str, Json]
    brand_name: str | None
    logo_url: str | None
    attribution: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedBody:
    """A body made from a saved template, as its source was when the mail was accepted."""

    source: str
    values: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlBody:
    """A body sent as it was written."""

    html: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RawBody:
    """A whole message (RFC 5322) as its sender wrote it; only what it lacks is added."""

    octets: bytes
    has_message_id: bool
    has_date: bool


type RenderedBody = StarterBody | SavedBody | HtmlBody
type Body = RenderedBody | RawBody


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """Everything that the worker needs to build and send one message."""

    sender: str
    from_name: str | None
    to: tuple[str, ...]
    cc: tuple[str, ...]
    bcc: tuple[str, ...]
    reply_to: str | None
    subject: str
    body: Body
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A mail on its way through the queue.

    It is no accepted mail by itself: only the message record with the same id
    and hash makes it one. `queued_at` starts the wait for that record, since an
    id may be older than the job when an earlier try was taken over. After
    `deadline` the mail is of no use any more and is not delivered.
    """

    account_id: str
    message_id: UUID
    body_hash: str
    queued_at: datetime
    deadline: datetime
    #: The mail when it came along in the queue, else where the spool has it.
    mail: Mail | None = None
    spool_key: str | None = None
