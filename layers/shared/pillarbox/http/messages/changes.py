"""The requests that change, repeat or answer a mail, and the response with kept content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.messages.mail import MAX_HTML, MAX_TEXT, Answer
from pillarbox.http.messages.replies import View, taken_from
from pillarbox.http.messages.wire import HTML, MOMENT, OF_MOMENT, TEXT
from pillarbox.http.requests import idempotency_digest, raw_body
from pillarbox.http.wire import WireModel, optional, read_body, required, text

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

    from pillarbox.http.json_types import Timestamp, Uuid


class RescheduleRequest(WireModel):
    """A new time for a message that waits for one."""

    scheduled_at = required(MOMENT, **OF_MOMENT)
    """ISO 8601 with an offset, at least a minute and at most 30 days ahead."""


class ResendRequest(WireModel):
    """To whom to send a message again. Without an address: to the same recipients."""

    to = optional(text(least=1), format="email")
    """Another address. Without it, the recipients are the same."""


@dataclass(frozen=True, slots=True)
class ParsedResend:
    """A request to send a message again."""

    to: str | None
    idempotency_digest: str | None


def read_resend(event: APIGatewayProxyEvent) -> ParsedResend:
    """Return the body, which is optional, and the digest of the Idempotency-Key."""
    to = read_body(event, ResendRequest).to if raw_body(event) else None
    return ParsedResend(to, idempotency_digest(event, "POST /v1/emails/{message_id}/resend"))


class AnswerRequest(WireModel):
    """What to answer: a text, HTML or both."""

    own_text = optional(TEXT, name="text", maxLength=MAX_TEXT)
    """At most 1 MB. Without it, one is made from the HTML."""
    html = optional(HTML, maxLength=MAX_HTML)
    """At most 2 MB."""
    sender = optional(text(least=1), name="from", format="email")
    """A verified sender of the account; by default the default sender."""


def read_answer(event: APIGatewayProxyEvent) -> Answer:
    """Return the body, and the digest of the Idempotency-Key.

    Raises:
        ServiceError: `validation_failed`.
    """
    body = read_body(event, AnswerRequest)
    if not (body.own_text or body.html):
        raise ValidationFailed(FieldError("text", "is required, or html", "required"))
    return Answer(
        text=body.own_text,
        html=body.html,
        sender=body.sender,
        idempotency_digest=idempotency_digest(event, "POST /v1/received/{received_id}/reply"),
    )


class ContentFile(View):
    """A file in the kept content of a message."""

    filename: str | None
    content_type: str
    size: int
    """In bytes, decoded."""


class ContentLink(View):
    """A link that downloads the message, for everybody who has it."""

    url: str
    expires_at: Timestamp = taken_from("url_until")


class MessageContent(View):
    """The kept content of a message."""

    message_id: Uuid = taken_from("message.message_id")
    subject: str = taken_from("message.subject")
    html: str | None = taken_from("mail.html")
    """Null if there is none, or it is larger than 512 KB."""
    text: str | None = taken_from("mail.text")
    """Null if there is none, or it is larger than 512 KB."""
    attachments: list[ContentFile] = taken_from("mail.files")
    size: int = taken_from("mail.size")
    """Of the whole message, in bytes."""
    kept: Timestamp = taken_from("until")
    """Until when it is kept."""
    eml: ContentLink = taken_from(lambda content: content)
    """The whole message as a file (RFC 5322)."""
