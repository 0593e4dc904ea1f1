"""Requests to the API at its public address, as a client makes them."""

import json
from collections.abc import Mapping
from http.client import HTTPException
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from pillarbox.domain.errors import Json, ServiceError

#: Seconds.
_TIMEOUT: Final = 30.0
#: The firewall refuses the default User-Agent of Python.
_AGENT: Final = "pillarbox/1"


class HttpApiProbe:
    """Implements `ports.ApiProbe` of the command's use cases.

    Args:
        base_url: the stack's output ApiUrl; the API is under `/api`.
    """

    def __init__(self, base_url: str) -> None:
        self._base = f"{base_url.rstrip('/')}/api"

    def request(
        self,
        method: str,
        path: str,
        *,
        key: str | None = None,
        body: Json = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, Json]:
        """Make a request; return the status and the JSON body, or None if it is not JSON."""
        sent = {"User-Agent": _AGENT, "Content-Type": "application/json", **(headers or {})}
        if key is not None:
            sent["X-API-Key"] = key
        request = Request(  # noqa: S310  the stack's address; http on the local stack
            f"{self._base}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers=sent,
            method=method,
        )
        try:
            with urlopen(request, timeout=_TIMEOUT) as response:  # noqa: S310  as above
                return response.status, _parse(response.read())
        except HTTPError as error:
            with error:
                return error.code, _parse(error.read())
        except (URLError, HTTPException, OSError) as error:
            message = f"{self._base} cannot be reached: {error}"
            raise ServiceError("service_unavailable", message) from error


def _parse(text: bytes) -> Json:
    try:
        content: Json = json.loads(text)
    except ValueError:
        return None
    return content
