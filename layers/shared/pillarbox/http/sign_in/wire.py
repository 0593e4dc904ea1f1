"""Read the requests of the dashboard: sessions in Authorization, and the cookie of signing in."""

import re
from typing import TYPE_CHECKING, Final

from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.codes import CODE_LENGTH, LONG_CODE_LENGTH
from pillarbox.domain.sign_in.session import (
    ACCESS_TOKEN_PREFIX,
    IDLE_TIME,
    SessionToken,
    invalid_session,
    parse_access_token,
)
from pillarbox.http.requests import bearer_tokens, header_values
from pillarbox.http.wire import FLAG, WireModel, invalid, optional, required, text

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent
    from pydantic_core.core_schema import ValidationInfo

#: The prefix lets a browser accept it only with Secure, for this host alone and for all paths.
COOKIE: Final = "__Host-pillarbox"
_ATTRIBUTES: Final = "Path=/; Secure; HttpOnly; SameSite=Strict"
_LOOPBACK: Final = re.compile(
    r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?", re.IGNORECASE | re.ASCII
)
_JSON: Final = "application/json"
#: In characters; a flow, an id and a link have fewer.
_MAX_TEXT: Final = 200


def _is_complete(link: str | None, info: "ValidationInfo") -> str | None:
    # A field that is invalid itself is absent.
    given = [info.data[name] is not None for name in ("flow", "code") if name in info.data]
    if given not in ([], [True]) and given != [link is None] * 2:
        raise invalid("incomplete", "give either link, or flow and code")
    return link


class CodeRequestBody(WireModel):
    """A request for a one-time code."""

    email = required(text(least=1, most=1_016), type="string", format="email")
    """Where the code is to go."""


class SignInRequest(WireModel):
    """Give either `flow` and `code`, or `link`."""

    flow = optional(text(least=1, most=_MAX_TEXT))
    """The `flow` of the request for the code."""
    code = optional(text(least=CODE_LENGTH, most=LONG_CODE_LENGTH))
    """The digits of the email: six, or ten after many requests."""
    link = optional(text(least=1, most=_MAX_TEXT), check=_is_complete)
    """The text of a one-time link, in place of flow and code."""


class LinkRequest(WireModel):
    """A one-time link that is not used yet."""

    link = required(text(least=1, most=_MAX_TEXT))
    """The text after the `#` of the link."""


class EndSessionsQuery(WireModel):
    """Which sessions are to end."""

    in_query = True

    every = optional(FLAG, name="all")
    """Whether all sessions of the user end."""


class TokenRequest(WireModel):
    """The account that an access token is for."""

    account_id = optional(text(least=1, most=_MAX_TEXT))
    """The id of one of the user's accounts. By default the one whose member the user is longest."""


def read_session(event: "APIGatewayProxyEvent") -> SessionToken:
    """Return the access token of a route that takes sessions only."""
    tokens = bearer_tokens(event)
    if len(tokens) == 1 and tokens[0].startswith(ACCESS_TOKEN_PREFIX):
        return parse_access_token(tokens[0])
    if header_values(event, "x-api-key"):
        raise ServiceError(
            "session_required", "API keys cannot be used here: sign in to the dashboard."
        )
    raise invalid_session()


def read_cookie(event: "APIGatewayProxyEvent") -> str:
    """Return the text of the cookie. Only one route reads it."""
    pairs = [
        pair.strip().partition("=")
        for field in header_values(event, "cookie")
        for pair in field.split(";")
    ]
    found = [value for name, _, value in pairs if name == COOKIE]
    if len(found) != 1:
        raise invalid_session()
    return found[0]


def cookie_header(value: str) -> dict[str, str]:
    """Return the header that stores the cookie for as long as an unused session lasts."""
    age = round(IDLE_TIME.total_seconds())
    return {"Set-Cookie": f"{COOKIE}={value}; Max-Age={age}; {_ATTRIBUTES}"}


def no_cookie_header() -> dict[str, str]:
    return {"Set-Cookie": f"{COOKIE}=; Max-Age=0; {_ATTRIBUTES}"}


def check_same_origin(event: "APIGatewayProxyEvent") -> None:
    """Accept JSON that a page of this host's own origin sends."""
    types = [
        kind.partition(";")[0].strip().lower() for kind in header_values(event, "content-type")
    ]
    if (
        header_values(event, "origin") != [_own_origin(event)]
        or header_values(event, "sec-fetch-site") != ["same-origin"]
        or types != [_JSON]
    ):
        raise _cross_site_request()


def refuse_other_sites(event: "APIGatewayProxyEvent") -> None:
    """Refuse what a browser sends for a page of another site. Programs do not name a site.

    Otherwise such a page could ask for codes from the networks of all its visitors.
    """
    if {*header_values(event, "sec-fetch-site")} - {"same-origin", "none"}:
        raise _cross_site_request()


def user_agent(event: "APIGatewayProxyEvent") -> str:
    """Return the User-Agent, by which a user recognizes a session."""
    return "".join(header_values(event, "user-agent")[-1:])


def _own_origin(event: "APIGatewayProxyEvent") -> str:
    """Return the origin of the host that the browser called, which only the edge knows.

    A page of another site cannot set these headers. Browsers treat pages of this machine as secure
    without TLS.
    """
    hosts = header_values(event, "x-pillarbox-host") or header_values(event, "host")
    host = hosts[-1] if hosts else ""
    return f"{'http' if _LOOPBACK.fullmatch(host) else 'https'}://{host}"


def _cross_site_request() -> ServiceError:
    return ServiceError(
        "cross_site_request", "Only this service's own pages may send this, as JSON."
    )
