"""Requests to the local stack, with the standard library alone."""

from __future__ import annotations

import json
from http import HTTPStatus
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

#: The stack is on this machine or beside it, so no proxy may stand in between.
_OPENER: Final = build_opener(ProxyHandler({}))


class StackNotRunning(Exception):
    """No local stack answers; the text says what to do."""


def get(url: str, timeout: float = 30.0, body: object = None) -> Any:  # noqa: ANN401  JSON
    """Return the JSON of a URL, or None if there is nothing (404); with a body it is posted.

    Raises:
        StackNotRunning: nothing answers there.
        ValueError: it answers with another error.
    """
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data, {"Content-Type": "application/json"})  # noqa: S310  the stack's
    try:
        with _OPENER.open(request, timeout=timeout) as response:
            return json.load(response)
    except HTTPError as error:
        if error.code == HTTPStatus.NOT_FOUND:
            return None
        body = error.read().decode("utf-8", "replace")
        raise ValueError(f"{url} answers {error.code}: {body}") from error
    except (OSError, HTTPException) as error:
        message = (
            f"No Pillarbox stack answers at {url.partition('?')[0]} ({error}).\n"
            "Start it again: run `make up` in your clone of Pillarbox."
        )
        raise StackNotRunning(message) from error
