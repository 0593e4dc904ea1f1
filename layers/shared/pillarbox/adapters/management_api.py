"""The HTTP API with a management key, for programs that set accounts up."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from pillarbox.adapters.api_probe import HttpApiProbe
from pillarbox.application.management import RefusedCall

#: Requests that the service refuses for now are repeated so often, after so many seconds.
_TRIES: Final = 12
_WAIT: Final = 10.0


@dataclass(frozen=True, slots=True)
class HttpManagementApi:
    """Implements `management.ManagementApi`.

    Args:
        probe: makes the requests.
        key: the text of the management key.
        sleep: waits before another try.
        tries: how often a call is made that the service refuses for now.
    """

    probe: HttpApiProbe
    key: str = field(repr=False)
    sleep: Callable[[float], None] = time.sleep
    tries: int = _TRIES

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,  # noqa: ANN401  JSON
        *,
        account: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:  # noqa: ANN401  JSON
        """Make a request, again if the service is busy, and return the body of a success."""
        sent = {**(headers or {}), **({"X-Account": account} if account else {})}
        for left in reversed(range(self.tries)):
            status, content = self.probe.request(
                method, path, key=self.key, body=body, headers=sent
            )
            if status < HTTPStatus.BAD_REQUEST:
                return content
            refused = _refusal(f"{method} {path}", status, content)
            if not (refused.is_busy and left):
                raise refused
            self.sleep(_WAIT)
        raise AssertionError("the last try returns or raises")


def _refusal(call: str, status: int, content: Any) -> RefusedCall:  # noqa: ANN401  JSON
    error = content.get("error", {}) if isinstance(content, dict) else {}
    faults = (error.get("details") or {}).get("errors", [])
    texts = [f"{one['field']} {one['message']}" for one in faults] or [error.get("message", "")]
    code = error.get("code", "service_unavailable")
    return RefusedCall(f"{call} got {status} {code}: {'; '.join(texts)}", status, code)


@dataclass(frozen=True, slots=True)
class DeployedApi:
    """Implements `management.ManagementApi` for this stack. It reads address and key at each call.

    A busy service is its caller's matter.
    """

    address: Callable[[], str]
    key: Callable[[], str]

    def call(self, method: str, path: str, body: object = None, **more: Any) -> Any:  # noqa: ANN401  as the protocol
        """Make a request and return the body of a success."""
        api = HttpManagementApi(HttpApiProbe(self.address()), self.key().strip(), tries=1)
        return api.call(method, path, body, **more)
