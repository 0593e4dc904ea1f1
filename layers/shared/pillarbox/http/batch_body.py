"""Read the body of a batch. It has a module of its own because a single send need not load it."""

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.domain.errors import FieldError, Json, ServiceError, ValidationFailed
from pillarbox.domain.messages.batch import MAX_MESSAGES, BatchRequest
from pillarbox.domain.messages.mail import SendRequest
from pillarbox.http.accept import ParsedSend, parse_send, read_keyed
from pillarbox.http.messages.wire import SendBatchRequest, batch_hash
from pillarbox.http.wire import validate


def read_batch(event: APIGatewayProxyEvent, route: str) -> ParsedSend[BatchRequest]:
    """Read the body and the Idempotency-Key of a batch; each message is validated by itself."""
    return read_keyed(event, route, parse_batch)


def parse_batch(body: Json) -> BatchRequest:
    """Parse a batch from JSON; the error of a message takes its place."""
    messages = body.get("messages") if isinstance(body, dict) else None
    if isinstance(messages, list) and len(messages) > MAX_MESSAGES:
        return BatchRequest(body_hash="", count=len(messages), items=())
    if isinstance(body, list):
        hint = "must be an object: the emails go in its field messages"
        raise ValidationFailed(FieldError("", hint, "wrong_type"))
    items = validate(SendBatchRequest, body).messages
    return BatchRequest(
        body_hash=batch_hash(body),
        count=len(items),
        items=tuple(_batch_item(position, item) for position, item in enumerate(items)),
    )


def _batch_item(position: int, item: Json) -> SendRequest | ServiceError:
    try:
        return parse_send(item)
    except ValidationFailed as failed:
        return failed.below(f"messages.{position}")
