"""The bodies of requests that reschedule a message, or send it again."""

from dataclasses import dataclass
from datetime import datetime

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.http.messages.wire import MOMENT, to_moment
from pillarbox.http.requests import idempotency_digest, raw_body
from pillarbox.http.validation import read_body
from pillarbox.http.wire import WireModel, optional, required, text


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
