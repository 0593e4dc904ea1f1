"""The service's public address, asked as a client asks it."""

import json
from http.client import HTTPException
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from pillarbox.domain.errors import Json, ServiceError

_TIME_OUT: Final = 30.0
#: The firewall refuses a library's own name.
_AGENT: Final = "pillarbox-doctor/1"


class HttpApiProbe:
    """Fulfils `administration.ports.ApiProbe`.

    Args:
        base_url: as the stack's output says it; the API is under `/api`.
    """

    def __init__(self, base_url: str) -> None:
        self._base = f"{base_url.rstrip('/')}/api"

    def request(
        self, method: str, path: str, *, key: str | None = None, body: Json = None
    ) -> tuple[int, Json]:
        """Make a request; an answer that is not JSON says nothing."""
        headers = {"User-Agent": _AGENT, "Content-Type": "application/json"}
        if key is not None:
            headers["X-API-Key"] = key
        request = Request(  # noqa: S310  the stack's own address, http on the local one
            f"{self._base}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers=headers,
            method=method,
        )
        try:
            with urlopen(request, timeout=_TIME_OUT) as answer:  # noqa: S310  as above
                return answer.status, _read(answer.read())
        except HTTPError as error:
            with error:
                return error.code, _read(error.read())
        except (URLError, HTTPException, OSError) as error:
            message = f"{self._base} cannot be reached: {error}"
            raise ServiceError("service_unavailable", message) from error


def _read(text: bytes) -> Json:
    try:
        content: Json = json.loads(text)
    except ValueError:
        return None
    return content
