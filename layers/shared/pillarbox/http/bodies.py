"""Read the bodies of POST requests: a send, a preview."""

from collections.abc import Callable
from dataclasses import dataclass

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.domain.errors import FieldError, Json, ServiceError, ValidationFailed
from pillarbox.domain.messages.mail import SendRequest
from pillarbox.domain.templates.template import RenderValues
from pillarbox.http.messages.wire import RenderStarterRequest, SendEmailRequest
from pillarbox.http.requests import idempotency_digest, raw_body, read_json
from pillarbox.http.wire import validate


@dataclass(frozen=True, slots=True)
class ParsedSend[T]:
    """A parsed request, or in its place the error that names everything wrong with its form."""

    request: T | ServiceError
    idempotency_digest: str | None


def read_send(event: APIGatewayProxyEvent, route: str) -> ParsedSend[SendRequest]:
    """Read the body and the Idempotency-Key of a send."""
    return read_keyed(event, route, parse_send)


def read_render_values(event: APIGatewayProxyEvent) -> RenderValues:
    """Read the body of a preview (contract 4.7); it is optional."""
    if not raw_body(event):
        return RenderValues()
    return parse_render_values(read_json(event))


def parse_render_values(value: Json) -> RenderValues:
    """Parse the values of a preview from JSON."""
    body = validate(RenderStarterRequest, value)
    return RenderValues(
        variables=body.variables or {}, brand_name=body.brand_name, logo_url=body.logo_url
    )


def read_keyed[T](
    event: APIGatewayProxyEvent, route: str, parse: Callable[[Json], T]
) -> ParsedSend[T]:
    """Read a body that `parse` understands, and the Idempotency-Key."""
    errors: list[FieldError] = []
    unlisted = 0
    digest = request = None
    try:
        digest = idempotency_digest(event, route)
    except ValidationFailed as failed:
        errors += failed.errors
    try:
        request = parse(read_json(event))
    except ValidationFailed as failed:
        errors += failed.errors
        unlisted = failed.unlisted
    if errors or request is None:
        return ParsedSend(ValidationFailed(*errors, unlisted=unlisted), None)
    return ParsedSend(request, digest)


def parse_send(body: Json) -> SendRequest:
    """Parse a send from JSON."""
    if isinstance(body, list):
        hint = "must be an object: several emails go to POST /api/v1/emails/batch"
        raise ValidationFailed(FieldError("", hint, "wrong_type"))
    return validate(SendEmailRequest, body).to_domain(body)
