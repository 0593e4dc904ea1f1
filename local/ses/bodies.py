"""Reads the JSON bodies of requests to the SES stand-in."""

import json

from starlette.requests import Request

from local.ses.errors import SesError, bad_request
from pillarbox.domain.errors import Json


async def read_object(request: Request) -> dict[str, Json]:
    """Return the body, which is a JSON object.

    Raises:
        SesError: SerializationException.
    """
    try:
        body = json.loads(await request.body())
    except ValueError as error:
        raise SesError("SerializationException", "The body is not JSON.") from error
    if not isinstance(body, dict):
        raise SesError("SerializationException", "The body is not a JSON object.")
    return body


def text_of(body: dict[str, Json], name: str) -> str:
    """Return a member that is a text and not empty.

    Raises:
        SesError: BadRequestException.
    """
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise bad_request(f"{name} is missing.")
    return value
