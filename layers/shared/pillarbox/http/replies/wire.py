"""The request that answers a received mail."""

from typing import TYPE_CHECKING, Final

from pillarbox.application.replies.answering import Answer
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.messages.mail import MAX_HTML, MAX_TEXT
from pillarbox.http.messages.wire import HTML, TEXT
from pillarbox.http.requests import idempotency_digest
from pillarbox.http.wire import WireModel, optional, read_body, text

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

_ROUTE: Final = "POST /v1/received/{received_id}/reply"


class AnswerRequest(WireModel):
    """What to answer: a text, HTML or both."""

    own_text = optional(TEXT, name="text", maxLength=MAX_TEXT)
    """At most 1 MB. Without it, one is made from the HTML."""
    html = optional(HTML, maxLength=MAX_HTML)
    """At most 2 MB."""
    sender = optional(text(least=1), name="from", format="email")
    """A verified sender of the account; by default the default sender."""


def read_answer(event: "APIGatewayProxyEvent") -> Answer:
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
        idempotency_digest=idempotency_digest(event, _ROUTE),
    )
