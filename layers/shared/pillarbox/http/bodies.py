"""Reading a send or a batch: what only these two routes load."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.application.sending.batch import MAX_MESSAGES, BatchRequest
from pillarbox.domain.errors import FieldFault, Json, ServiceError, ValidationFailed
from pillarbox.domain.mail import SendRequest
from pillarbox.http.json_body import canonical
from pillarbox.http.models import SendBatchRequest, SendEmailRequest
from pillarbox.http.requests import idempotency_digest, read_json
from pillarbox.http.validation import validate


@dataclass(frozen=True, slots=True)
class ParsedSend[T]:
    """What came in; `request` may be what is wrong with its form, with every fault."""

    request: T | ServiceError
    idempotency_digest: str | None


def read_send(event: APIGatewayProxyEvent, route: str) -> ParsedSend[SendRequest]:
    """The body and Idempotency-Key of a send."""
    return _read(event, route, _send)


def read_batch(event: APIGatewayProxyEvent, route: str) -> ParsedSend[BatchRequest]:
    """The body and Idempotency-Key of a batch; each message has faults of its own."""
    return _read(event, route, _batch)


def _read[T](event: APIGatewayProxyEvent, route: str, parse: Callable[[Json], T]) -> ParsedSend[T]:
    faults: list[FieldFault] = []
    digest = request = None
    try:
        digest = idempotency_digest(event, route)
    except ValidationFailed as failed:
        faults += failed.faults
    try:
        request = parse(read_json(event))
    except ValidationFailed as failed:
        faults += failed.faults
    if faults or request is None:
        return ParsedSend(ValidationFailed(*faults), None)
    return ParsedSend(request, digest)


def _send(body: Json) -> SendRequest:
    return validate(SendEmailRequest, body).to_domain(body)


def _batch(body: Json) -> BatchRequest:
    messages = body.get("messages") if isinstance(body, dict) else None
    if isinstance(messages, list) and len(messages) > MAX_MESSAGES:
        return BatchRequest(body_hash="", count=len(messages), items=())
    items = validate(SendBatchRequest, body).messages
    return BatchRequest(
        body_hash=hashlib.sha256(canonical(body)).hexdigest(),
        count=len(items),
        items=tuple(_item(position, item) for position, item in enumerate(items)),
    )


def _item(position: int, item: Json) -> SendRequest | ServiceError:
    try:
        return _send(item)
    except ValidationFailed as failed:
        place = f"messages.{position}"
        return ValidationFailed(
            *(
                replace(fault, field=f"{place}.{fault.field}" if fault.field else place)
                for fault in failed.faults
            )
        )
