"""Read parts of a request: the API key, a path parameter, headers, the body.

This module imports no wire model, so that routes without a body do not load pydantic.
"""

import base64
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.application.authentication import (
    ParsedKey,
    invalid_api_key,
    parse_key,
)
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import FieldError, Json, ServiceError, ValidationFailed
from pillarbox.domain.ids import NOT_A_UUID, is_uuid
from pillarbox.domain.messages import idempotency
from pillarbox.http.json_body import parse_json

if TYPE_CHECKING:
    from pillarbox.application.sign_in.authentication import CallerRequest
    from pillarbox.domain.sign_in.session import SessionToken

#: The header in which an operator's key names the account that a request is for.
_ACCOUNT: Final = "x-account"
#: The types of the bodies that forms of HTML have, and those of curl without a header.
_FORMS: Final = ("application/x-www-form-urlencoded", "multipart/form-data")
_BEARER: Final = re.compile(r"bearer +([!-~]+)", re.IGNORECASE | re.ASCII)
#: Contract section 5: libraries' default user agents, and a missing or empty one. The edge refuses
#: the same ones earlier.
_DEFAULT_AGENTS: Final = re.compile(r"python-urllib/|$", re.IGNORECASE | re.ASCII)


def check_agent(event: APIGatewayProxyEvent) -> None:
    """Accept a User-Agent that names an application (contract section 5)."""
    agents = header_values(event, "user-agent") or [""]
    if any(_DEFAULT_AGENTS.match(agent) for agent in agents):
        raise ServiceError(
            "client_blocked", "Send a User-Agent header that names your application."
        )


def read_api_key(event: APIGatewayProxyEvent) -> str:
    """Return the text of the API key (contract section 5), for a request to its own account."""
    refuse_account(event)
    return _read_key(event)


def refuse_account(event: APIGatewayProxyEvent) -> None:
    """Accept a request that names no account."""
    if header_values(event, _ACCOUNT):
        message = "only routes that manage an account take it"
        raise ValidationFailed(FieldError("X-Account", message, "invalid_header"))


def _read_key(event: APIGatewayProxyEvent) -> str:
    keys = header_values(event, "x-api-key")
    if len(keys) > 1:
        raise invalid_api_key()
    if not keys or not keys[0]:
        hint = ", not in Authorization" if header_values(event, "authorization") else ""
        raise ServiceError(
            "missing_api_key", f"The header X-API-Key is missing. Send the API key in it{hint}."
        )
    return keys[0]


def request_origin(event: APIGatewayProxyEvent) -> ClientOrigin:
    identity = event.raw_event.get("requestContext", {}).get("identity") or {}
    return ClientOrigin(
        str(identity.get("sourceIp", "")),
        "".join(header_values(event, "x-pillarbox-client")[-1:]),
        "".join(header_values(event, "x-pillarbox-edge")),
    )


def read_credential(
    event: APIGatewayProxyEvent,
    read_key: Callable[[APIGatewayProxyEvent], str] = read_api_key,
) -> "str | SessionToken":
    """Return the text of the API key or, without a key, the session in Authorization."""
    tokens = [] if header_values(event, "x-api-key") else bearer_tokens(event)
    if tokens:
        from pillarbox.domain.sign_in.session import (  # noqa: PLC0415  a send has a key and no session
            ACCESS_TOKEN_PREFIX,
            parse_access_token,
        )

        if any(token.startswith(ACCESS_TOKEN_PREFIX) for token in tokens):
            return parse_access_token(tokens[0] if len(tokens) == 1 else "")
    return read_key(event)


def read_caller(event: APIGatewayProxyEvent) -> "CallerRequest":
    """Return who calls a route that manages an account, for which account, and what for."""
    return caller_request(event, read_credential(event, _read_key))


def caller_request(
    event: APIGatewayProxyEvent, credential: "str | SessionToken"
) -> "CallerRequest":
    from pillarbox.application.sign_in.authentication import (  # noqa: PLC0415  sends have no use for it
        CallerRequest,
    )

    accounts = header_values(event, _ACCOUNT)
    return CallerRequest(
        credential=credential,
        origin=request_origin(event),
        account_id=",".join(accounts) if accounts else None,
        # A recipient's address would stay in the account's log after it is erased elsewhere.
        call=f"{event.http_method} /api"
        + (event.resource if "address" in (event.path_parameters or {}) else event.path),
    )


def bearer_tokens(event: APIGatewayProxyEvent) -> list[str]:
    """Return what follows `Bearer` in each Authorization (RFC 6750 section 2.1), or "".

    Only spaces are between them, as the edge reads it: the firewall counts each key once.
    """
    found = map(_BEARER.fullmatch, header_values(event, "authorization"))
    return [match[1] if match else "" for match in found]


def parse_api_key(event: APIGatewayProxyEvent) -> ParsedKey:
    """Return the API key if it has the right form; only the directory knows whether it exists."""
    return parse_key(read_api_key(event))


def read_uuid(text: str, field: str) -> UUID:
    if not is_uuid(text):
        raise ValidationFailed(FieldError(field, NOT_A_UUID, "invalid_uuid"))
    return UUID(text)


def read_known(event: APIGatewayProxyEvent) -> list[str] | None:
    """Return the ids beside which an object may be created, from If-None-Match or If-Match.

    None lets others have its name.
    """
    if header_values(event, "if-none-match") == ["*"]:
        return []
    known = ",".join(header_values(event, "if-match"))
    return [one.strip(' "') for one in known.split(",")] if known else None


def idempotency_digest(event: APIGatewayProxyEvent, route: str) -> str | None:
    """Return the hex digest of route and Idempotency-Key (contract 4.11); None without a key."""
    return idempotency.idempotency_digest(route, header_values(event, "idempotency-key"))


def read_json(event: APIGatewayProxyEvent) -> Json:
    """Parse the body as JSON."""
    encodings = [value.strip().lower() for value in header_values(event, "content-encoding")]
    if any(encoding not in {"", "identity"} for encoding in encodings):
        raise ValidationFailed(
            FieldError("Content-Encoding", "compressed bodies are not supported", "invalid_header")
        )
    body = raw_body(event)
    if not body.strip():
        raise ValidationFailed(FieldError("", "the body is empty, not JSON", "invalid_json"))
    try:
        return parse_json(body)
    except ValidationFailed:
        types = [value.strip().lower() for value in header_values(event, "content-type")]
        if body.lstrip()[:1] != b"{" and any(value.startswith(_FORMS) for value in types):
            error = FieldError("", "the body is a form, not JSON", "invalid_json")
            raise ValidationFailed(error) from None
        raise


def raw_body(event: APIGatewayProxyEvent) -> bytes:
    """Return the body as the client sent it."""
    body = event.raw_event.get("body") or ""
    if not event.raw_event.get("isBase64Encoded"):
        return body.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(body)
    except ValueError:  # not ASCII, or not base64
        return b""


def header_values(event: APIGatewayProxyEvent, name: str) -> list[str]:
    """Return all values of a header; API Gateway's `headers` has only the last one."""
    multiple: dict[str, Any] = event.raw_event.get("multiValueHeaders") or {
        header: [value] for header, value in (event.raw_event.get("headers") or {}).items()
    }
    return [
        value for header, values in multiple.items() if header.lower() == name for value in values
    ]
