"""Reads the JSON bodies of requests to the SES stand-in."""

import json
from collections.abc import Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from local.ses.errors import SesError, bad_request, not_imitated
from pillarbox.domain.errors import Json

#: The entries of a page if a request does not say how many it wants.
_PAGE: Final = 100


async def read_object(request: Request, *imitated: str) -> dict[str, Json]:
    """Return the body, which is a JSON object.

    Args:
        request: with the body.
        imitated: the members that the stand-in acts on.
    """
    try:
        body = json.loads(await request.body())
    except ValueError as error:
        raise SesError("SerializationException", "The body is not JSON.") from error
    if not isinstance(body, dict):
        raise SesError("SerializationException", "The body is not a JSON object.")
    for name in body.keys() - {*imitated}:
        raise not_imitated(name)
    return body


def only(body: dict[str, Json], name: str, *imitated: str) -> dict[str, Json]:
    """Return a member that is an object, empty if it is missing."""
    value = body.get(name) or {}
    if not isinstance(value, dict):
        raise bad_request(f"{name} must be an object.")
    for member in value.keys() - {*imitated}:
        raise not_imitated(f"{name}.{member}")
    return value


def flag_of(body: dict[str, Json], name: str) -> bool:
    """Return a member that is true or false; SES reads a missing one as false."""
    value = body.get(name, False)
    if not isinstance(value, bool):
        raise bad_request(f"{name} must be true or false.")
    return value


def text_of(body: dict[str, Json], name: str) -> str:
    """Return a member that is a text and not empty."""
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise bad_request(f"{name} is missing.")
    return value


def page_of(body: dict[str, Json], name: str, found: Sequence[Json]) -> Response:
    """Return the page of a list that a body asks for."""
    return page(name, found, body.get("NextToken"), body.get("PageSize"))


def page(name: str, found: Sequence[Json], token: Json, size: Json) -> Response:
    """Return a page of a list; the token is the number of entries before the next one."""
    start = int(token) if isinstance(token, str) and token.isdigit() else 0
    end = start + (size if isinstance(size, int) and size else _PAGE)
    entries: dict[str, Json] = {name: [*found[start:end]]}
    return JSONResponse(entries | ({"NextToken": str(end)} if end < len(found) else {}))
