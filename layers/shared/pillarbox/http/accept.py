"""What all routes that send do: read the body, accept, reply."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.application.ports import StoredResponse
from pillarbox.domain.accounts.key import account_of_key
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import FieldError, Json, ServiceError, ValidationFailed
from pillarbox.domain.messages.mail import SendRequest
from pillarbox.domain.templates.template import RenderValues
from pillarbox.http.app import log_accepted, request_id
from pillarbox.http.messages.replies import Reply, reply_stored
from pillarbox.http.messages.wire import RenderStarterRequest, SendEmailRequest
from pillarbox.http.requests import idempotency_digest, raw_body, read_json, request_origin
from pillarbox.http.wire import validate


@dataclass(frozen=True, slots=True)
class ParsedSend[T]:
    """A parsed request, or in its place the error that names everything wrong with its form."""

    request: T | ServiceError
    idempotency_digest: str | None


def read_send(event: APIGatewayProxyEvent, route: str) -> ParsedSend[SendRequest]:
    return read_keyed(event, route, parse_send)


def read_render_values(event: APIGatewayProxyEvent) -> RenderValues:
    """Read the body of a preview (contract 4.7); it is optional."""
    if not raw_body(event):
        return RenderValues()
    return parse_render_values(read_json(event))


def parse_render_values(value: Json) -> RenderValues:
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
    if isinstance(body, list):
        hint = "must be an object: several emails go to POST /api/v1/emails/batch"
        raise ValidationFailed(FieldError("", hint, "wrong_type"))
    return validate(SendEmailRequest, body).to_domain(body)


class Accepts[Request, Accepted](Protocol):
    """The use case of a route: `SingleSend`, or `BatchSend`."""

    def authenticate(self, key_text: str, *, origin: ClientOrigin | None) -> None:
        """Check the key, before the body is read."""

    def submit(  # noqa: PLR0913  that of the use cases
        self,
        key_text: str,
        request: Request | ServiceError,
        idempotency_digest: str | None,
        write_response: Callable[[Accepted], str],
        /,
        *,
        origin: ClientOrigin | None,
        request_id: str | None,
    ) -> StoredResponse:
        """Accept what the request asks for, or replay the response to its first copy."""


def accept[Request, Accepted](
    event: APIGatewayProxyEvent,
    key_text: str,
    use_case: Accepts[Request, Accepted],
    read: Callable[[APIGatewayProxyEvent], ParsedSend[Request]],
    write: Callable[[Request | ServiceError, Accepted], str],
) -> Reply:
    """Authenticate the key, read the body, submit it, and reply as `write` says.

    The key comes before the use case, so that nothing is made for a request without one.
    """
    origin = request_origin(event)
    use_case.authenticate(key_text, origin=origin)
    send = read(event)
    response = use_case.submit(
        key_text,
        send.request,
        send.idempotency_digest,
        lambda accepted: write(send.request, accepted),
        origin=origin,
        request_id=request_id(event.raw_event),
    )
    log_accepted(event.raw_event, account_of_key(key_text), response)
    return reply_stored(response)
