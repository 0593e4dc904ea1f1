"""Reading a request: the key, the body, the headers. Nothing here knows a use-case.

Nor a wire model: the routes without a body need not load pydantic.
"""

import base64
from typing import Any
from uuid import UUID

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.application.authentication import invalid_api_key
from pillarbox.domain import idempotency
from pillarbox.domain.errors import FieldFault, Json, ServiceError, ValidationFailed
from pillarbox.domain.ids import is_uuid
from pillarbox.http.json_body import parse_json


def read_api_key(event: APIGatewayProxyEvent) -> str:
    """The text of the API key (contract section 5).

    Raises:
        ServiceError: `missing_api_key`, `invalid_api_key` when there are several.
    """
    keys = _header(event, "x-api-key")
    if len(keys) > 1:
        raise invalid_api_key()
    if not keys or not keys[0]:
        raise ServiceError(
            "missing_api_key", "The header X-API-Key is missing; it carries the API key."
        )
    return keys[0]


def read_uuid(text: str, field: str) -> UUID:
    """A path parameter that is a UUID.

    Raises:
        ValidationFailed: it is none.
    """
    if not is_uuid(text):
        raise ValidationFailed(FieldFault(field, "must be a UUID", "invalid_uuid"))
    return UUID(text)


def idempotency_digest(event: APIGatewayProxyEvent, route: str) -> str | None:
    """What identifies route and Idempotency-Key (contract 4.11), in hex; None without a key.

    Raises:
        ValidationFailed: the key is not of the documented form.
    """
    return idempotency.idempotency_digest(route, _header(event, "idempotency-key"))


def read_json(event: APIGatewayProxyEvent) -> Json:
    """The body as JSON.

    Raises:
        ValidationFailed: it is none, or is compressed.
    """
    encodings = [value.strip().lower() for value in _header(event, "content-encoding")]
    if any(encoding not in {"", "identity"} for encoding in encodings):
        raise ValidationFailed(
            FieldFault("Content-Encoding", "compressed bodies are not taken", "invalid_header")
        )
    return parse_json(raw_body(event))


def raw_body(event: APIGatewayProxyEvent) -> bytes:
    """The body as it was sent."""
    body = event.raw_event.get("body") or ""
    if not event.raw_event.get("isBase64Encoded"):
        return body.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(body)
    except ValueError:  # not even ASCII, or no base64
        return b""


def _header(event: APIGatewayProxyEvent, name: str) -> list[str]:
    """All values of a header; API Gateway gives the last one alone in `headers`."""
    multiple: dict[str, Any] = event.raw_event.get("multiValueHeaders") or {
        header: [value] for header, value in (event.raw_event.get("headers") or {}).items()
    }
    return [
        value for header, values in multiple.items() if header.lower() == name for value in values
    ]
