"""What a request is, and what its answer means: the same for both kinds of client."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote
from uuid import uuid4

from pillarbox_client.errors import PillarboxError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

#: Answers after which the same request may succeed.
_AGAIN: Final = frozenset({500, 502, 503, 504})
#: Another try with the same Idempotency-Key still runs.
_IN_FLIGHT: Final = "idempotency_in_flight"
_REPEATABLE: Final = frozenset({"GET", "DELETE", "PATCH", "PUT"})
#: Seconds: the first wait, which doubles, and the longest.
_FIRST_WAIT: Final = 0.5
_LONGEST_WAIT: Final = 60.0


@dataclass(frozen=True)
class Request:
    """A request that can be sent, and sent again.

    Attributes:
        method: the method of HTTP.
        path: the path, from `/api/v1/`.
        query: the query; None leaves a name out.
        body: what is sent as JSON; None sends no body.
        idempotency_key: the key by which the service knows a second try.
    """

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    idempotency_key: str | None = None

    @property
    def repeatable(self) -> bool:
        """Whether a second try has no other effect than the first."""
        return self.method in _REPEATABLE or self.idempotency_key is not None

    @property
    def given_query(self) -> dict[str, Any]:
        """The query without what was left out."""
        return {name: value for name, value in self.query.items() if value is not None}


def segment(value: str | int) -> str:
    """Return a value as a segment of a path.

    Raises:
        ValueError: the value is empty, which would be another path.
    """
    if value == "":
        raise ValueError("An id is empty.")
    return quote(str(value), safe="")


def new_idempotency_key() -> str:
    """Return a key for one call and its retries."""
    return str(uuid4())


def result(response: httpx.Response) -> Any:  # noqa: ANN401  JSON
    """Return the JSON of a response, or None if it has none.

    Raises:
        PillarboxError: the response is an error.
    """
    if response.is_success:
        return response.json() if response.content else None
    request_id = response.headers.get("X-Request-Id", "")
    raise PillarboxError(response.status_code, _error(response), request_id)


def wait_before_retry(made: Request, response: httpx.Response | None, tried: int) -> float | None:
    """Return the seconds until the next try, or None if there is to be none.

    Args:
        made: the request.
        response: its answer; None if the connection failed.
        tried: how often it was sent.
    """
    if response is None:
        return _backoff(tried) if made.repeatable else None
    status = response.status_code
    throttled = status == HTTPStatus.TOO_MANY_REQUESTS
    in_flight = status == HTTPStatus.CONFLICT and _error(response).get("code") == _IN_FLIGHT
    if not (throttled or in_flight or (status in _AGAIN and made.repeatable)):
        return None
    headers = response.headers
    asked = headers.get("Retry-After") or (headers.get("RateLimit-Reset") if throttled else None)
    if asked is None or not asked.isdecimal():
        return _backoff(tried)
    # The limit of a minute ends soon, that of a day does not.
    return int(asked) if int(asked) <= _LONGEST_WAIT else None


def _backoff(tried: int) -> float:
    longest = min(_FIRST_WAIT * 2 ** (tried - 1), _LONGEST_WAIT)
    return random.uniform(longest / 2, longest)  # noqa: S311  it keeps clients apart


def _error(response: httpx.Response) -> dict[str, Any]:
    try:
        error = response.json()["error"]
    except (ValueError, LookupError, TypeError):
        return {}
    return error if isinstance(error, dict) else {}
