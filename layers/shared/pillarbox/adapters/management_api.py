"""The API at its public address, and what stacks need that describe objects of it."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPException
from time import sleep
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from pillarbox.adapters.aws import client_of, ignoring, service_errors
from pillarbox.application.management import RefusedCall
from pillarbox.domain.errors import Json, ServiceError, Unavailable

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


#: Requests that the service refuses for now are repeated so often, after so many seconds.
_TRIES: Final = 12
_WAIT: Final = 10.0


@dataclass(frozen=True, slots=True)
class HttpManagementApi:
    """Implements `management.ManagementApi`."""

    probe: HttpApiProbe
    key: str = field(repr=False)
    sleep: Callable[[float], None] = time.sleep
    #: How often a call is made that the service refuses for now.
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
        api = HttpManagementApi(HttpApiProbe(self.address()), self.key().strip(), tries=1)
        return api.call(method, path, body, **more)


_NAME: Final = "secret store"
_ABSENT: Final = "ResourceNotFoundException"


class ProvisionedSecrets:
    """Implements `management.SecretValues`. `prefix` begins the name of each."""

    _secrets: Any = client_of("secretsmanager")

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def store(self, owner: str, value: str) -> str:
        """Put a value into the secret, or create it."""
        name = self._prefix + owner
        arn = self._arn("put_secret_value", SecretId=name, SecretString=value)
        return arn or str(self._arn("create_secret", Name=name, SecretString=value))

    def find(self, owner: str) -> str | None:
        return self._arn("describe_secret", SecretId=self._prefix + owner)

    def delete(self, owner: str) -> None:
        """Delete it at once: its value works no longer."""
        name = self._prefix + owner
        self._arn("delete_secret", SecretId=name, ForceDeleteWithoutRecovery=True)

    def _arn(self, operation: str, **parameters: Any) -> str | None:  # noqa: ANN401  of the SDK
        with service_errors(_NAME), ignoring(_ABSENT):
            return str(getattr(self._secrets, operation)(**parameters)["ARN"])
        return None


_ANSWER_TRIES: Final = 3
#: Seconds of a try, and between two. All together fit into the half of `RESERVE` that is left.
_ANSWER_TIMEOUT: Final = 6.0
_ANSWER_WAIT: Final = 5.0
#: Where the bucket of CloudFormation is, in each partition of AWS.
_HOSTS: Final = (".amazonaws.com", ".amazonaws.com.cn")


def put_response(url: str, body: bytes) -> None:
    """Put a response, in several tries."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not (parts.hostname or "").endswith(_HOSTS):
        raise Unavailable("CloudFormation", "The response is for no address of AWS.")
    for left in reversed(range(_ANSWER_TRIES)):
        # The signature in the URL is for a request without a type.
        request = Request(url, data=body, headers={"Content-Type": ""}, method="PUT")  # noqa: S310  https, see above
        try:
            with urlopen(request, timeout=_ANSWER_TIMEOUT):  # noqa: S310  as above
                return
        except OSError:  # an HTTPError is one
            if left:
                sleep(_ANSWER_WAIT)
    raise Unavailable("CloudFormation", "CloudFormation did not take the response.")
