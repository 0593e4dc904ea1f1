"""AWS clients with time-outs, and the translation of their errors."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

from pillarbox.adapters.direct import (
    MAX_PARALLEL,
    AccessKey,
    CallLimits,
    DirectClient,
    Endpoint,
)
from pillarbox.domain.errors import ServiceError, Unavailable

if TYPE_CHECKING:
    from botocore.config import Config

#: Temporary errors. Every other error is a mistake in the code or the deployment,
#: and is not reported as `service_unavailable`.
_TRANSIENT: Final = frozenset(
    {
        "InternalError",
        "InternalFailure",
        "InternalServerError",
        "LimitExceededException",
        "OverLimit",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestTimeout",
        "ServiceUnavailable",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)
_SERVER_ERROR: Final = 500
#: How AWS says which action a policy does not allow on which resource; SES has quotes.
_DENIED: Final = (
    r"not authorized to perform:? [`\"']?([\w-]+:\w+)['\"]?(?: on resource:? [`\"']?([^\s`\"']+))?"
)
#: A call that hangs must end and be retried well within a handler's time.
WITH_RETRIES: Final = CallLimits()
#: For calls that must not take effect twice: a try whose response was lost may have
#: taken effect.
WITHOUT_RETRIES: Final = CallLimits(attempts=1)

#: Clients must not be made at the same time: the SDK's session cannot.
_MAKING: Final = Lock()
#: The services that are called without the SDK, if `use_direct_client` is on, with the client of
#: each for the limits. A client has connections, which all who use it share.
_DIRECT: Final[dict[str, dict[CallLimits, DirectClient]]] = {}
#: The last two say that the credentials in the environment expire, or are of an older form.
_CREDENTIALS: Final = (
    "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN"
    " AWS_CREDENTIAL_EXPIRATION AWS_SECURITY_TOKEN"
)
#: The services of which the adapters that this process has imported have clients.
_OF_ADAPTERS: Final = {"dynamodb"}


def use_direct_client(*, on: bool) -> None:
    """Let the clients that are made from now on call some services without the SDK, or not."""
    _DIRECT.clear()
    if on:
        _DIRECT.update({"dynamodb": {}, "lambda": {}, "sqs": {}})


def connect(connections: int = 1) -> None:
    """Connect to the services that the first request may call without the SDK."""
    for service in _DIRECT.keys() & _OF_ADAPTERS:
        make_client(service)
        for client in _DIRECT[service].values():
            for _ in range(connections):
                client.connect()


def make_client(
    service: str,
    limits: "CallLimits | Config" = WITH_RETRIES,
    **others: str,
) -> Any:  # noqa: ANN401  typed by callers
    """Return a client of an AWS service.

    Args:
        limits: how long and how often it tries.
        others: a region or credentials, as botocore calls them, that are not the function's.

    Each service has its own endpoint variable (`AWS_ENDPOINT_URL_SQS`, …). The local
    stack sets these variables to replace AWS.
    """
    with _MAKING:
        if service in _DIRECT and isinstance(limits, CallLimits) and not others:
            made = _DIRECT[service]
            if limits not in made and (endpoint := Endpoint.find(service)):
                made[limits] = DirectClient(endpoint, limits, _find_credentials())
            if limits in made:
                return made[limits]
        # Most functions do not need it, and it takes a cold start's time.
        from pillarbox.adapters.sdk import make_sdk_client  # noqa: PLC0415  see above

        return make_sdk_client(service, limits, **others)


def _find_credentials() -> Callable[[], AccessKey]:
    """Return what returns the credentials: Lambda's, or those of botocore, such as a container's.

    botocore's are refreshed before they expire.
    """
    access_key, secret_key, token, *others = map(os.environ.get, _CREDENTIALS.split())
    if access_key and secret_key and not any(others):
        fixed = AccessKey(access_key, secret_key, token)
        return lambda: fixed
    # No function needs it, and it takes a cold start's time.
    from pillarbox.adapters.sdk import sdk_session  # noqa: PLC0415  see above

    def current() -> AccessKey:
        if found := sdk_session().get_credentials():
            # The stubs allow keys that are None.
            return AccessKey(*found.get_frozen_credentials()[:3])  # type: ignore[arg-type]
        raise NoCredentialsError

    return current


class _LazyClient:
    def __init__(self, *client: Any) -> None:  # noqa: ANN401  as `make_client`
        self._client = client

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, adapter: Any, _: object = None) -> Any:  # noqa: ANN401  as `make_client`
        # Python finds it there from now on.
        made = adapter.__dict__[self._name] = make_client(*self._client)
        return made


def client_of(service: str, limits: "CallLimits | Config" = WITH_RETRIES) -> Any:  # noqa: ANN401  annotations say which
    """Return an attribute of an adapter's class: a client, which its first use makes."""
    _OF_ADAPTERS.add(service)
    return _LazyClient(service, limits)


def in_parallel[T, R](call: Callable[[T], R], arguments: Sequence[T]) -> list[R]:
    """Make one call for each argument in parallel. A single call runs without a thread."""
    if len(arguments) <= 1:
        return [call(argument) for argument in arguments]
    with ThreadPoolExecutor(min(len(arguments), MAX_PARALLEL)) as pool:
        return list(pool.map(call, arguments))


def code_of(error: ClientError) -> str:
    """Return the error code of an AWS response."""
    return error.response.get("Error", {}).get("Code", "")


@contextmanager
def ignoring(*codes: str) -> Iterator[None]:
    """End quietly at an error of AWS with one of these codes."""
    try:
        yield
    except ClientError as error:
        if code_of(error) not in codes:
            raise


@contextmanager
def service_errors(service_name: str) -> Iterator[None]:
    """Raise `service_unavailable` for errors that show that an AWS service is out of reach."""
    try:
        yield
    except ClientError as error:
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code_of(error) in _TRANSIENT or status >= _SERVER_ERROR:
            raise Unavailable(service_name, aws_error=code_of(error)) from error
        raise
    except BotoCoreError as error:
        raise Unavailable(service_name, aws_error=type(error).__name__) from error


@contextmanager
def operator_errors(service_name: str) -> Iterator[None]:
    """Raise `service_unavailable`, with a `refusal`, for every error of an AWS service."""
    try:
        with service_errors(service_name):
            yield
    except ClientError as error:
        raise ServiceError("service_unavailable", refusal(error)) from error


def refusal(error: ClientError) -> str:
    """Say to an operator what AWS refused: the action that a policy lacks, or AWS's message."""
    message = error.response.get("Error", {}).get("Message", "")
    if denied := re.search(_DENIED, message):
        place = f" on {denied[2]}" if denied[2] else ""
        # A policy of the organization denies with a reason of its own.
        why = message[denied.end() :].strip("`\"'. ").partition(". ")[0]
        said = f"{denied[1]} is not allowed{place} {why}".rstrip()
        return f"{said}. `pillarbox policy` prints what is needed."
    return f"AWS refused {error.operation_name}: {code_of(error)}: {message}"
