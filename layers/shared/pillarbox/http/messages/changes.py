"""The requests that change a message or send it again, and the response with kept content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pillarbox.http.messages.replies import timestamp
from pillarbox.http.messages.wire import MOMENT, to_moment
from pillarbox.http.requests import idempotency_digest, raw_body
from pillarbox.http.wire import WireModel, optional, read_body, required, text

if TYPE_CHECKING:
    from datetime import datetime

    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

    from pillarbox.application.kept import ReadContent
    from pillarbox.http.messages.reply_types import MessageContent


class RescheduleRequest(WireModel):
    """A new time for a message that waits for one."""

    scheduled_at = required(MOMENT)


class ResendRequest(WireModel):
    """To whom to send a message again. Without an address: to the same recipients."""

    to = optional(text(least=1))


@dataclass(frozen=True, slots=True)
class ParsedResend:
    """A request to send a message again."""

    to: str | None
    idempotency_digest: str | None


def read_resend(event: APIGatewayProxyEvent) -> ParsedResend:
    """Return the body, which is optional, and the digest of the Idempotency-Key.

    Raises:
        ServiceError: `validation_failed`.
    """
    to = read_body(event, ResendRequest).to if raw_body(event) else None
    return ParsedResend(to, idempotency_digest(event, "POST /v1/emails/{message_id}/resend"))


def read_time(event: APIGatewayProxyEvent) -> datetime:
    """Return the time in a request.

    Raises:
        ServiceError: `validation_failed`.
    """
    return to_moment(read_body(event, RescheduleRequest).scheduled_at)


def message_content(content: ReadContent) -> MessageContent:
    """Return the parts of a message, and the link to all of it."""
    mail = content.mail
    return {
        "messageId": str(content.message.message_id),
        "subject": content.message.subject,
        "html": mail.html,
        "text": mail.text,
        "attachments": [
            {"filename": one.filename, "contentType": one.content_type, "size": one.size}
            for one in mail.files
        ],
        "size": mail.size,
        "kept": timestamp(content.until),
        "eml": {"url": content.url, "expiresAt": timestamp(content.url_until)},
    }
