"""AWS clients with time-outs, and the translation of their errors."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, Final

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from pillarbox.domain.errors import ServiceError, Unavailable

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
#: botocore's connection pool has ten connections.
MAX_PARALLEL: Final = 10

#: A call that hangs must end and be retried well within a handler's time.
WITH_RETRIES: Final = Config(
    connect_timeout=1,
    read_timeout=3,
    retries={"mode": "standard", "total_max_attempts": 3},
    tcp_keepalive=True,
    # The SDK builds its own user agent twice for each call: a tenth of the call's CPU.
    user_agent="pillarbox",
    # AWS checks parameters too. The tests turn this on, since the SDK drops unknown ones silently.
    parameter_validation=False,
)
#: For calls that must not take effect twice: a try whose response was lost may have
#: taken effect.
WITHOUT_RETRIES: Final = WITH_RETRIES.merge(
    Config(retries={"mode": "standard", "total_max_attempts": 1})
)


#: botocore's session must not make two clients at the same time.
_MAKING: Final = Lock()
#: Services whose endpoint depends on no parameter of ours.
_ONE_ENDPOINT: Final = frozenset({"dynamodb", "lambda", "sqs"})


def make_client(service: str, config: Config = WITH_RETRIES) -> Any:  # noqa: ANN401  typed by callers
    """Return a client of an AWS service.

    It uses botocore directly: what boto3 adds is not needed and slows a cold start.

    Each service has its own endpoint variable (`AWS_ENDPOINT_URL_SQS`, …). The local
    stack sets these variables to replace AWS.
    """
    if "AWS_ENDPOINT_URL" in os.environ and service == "s3":
        # Only AWS has a host name for each bucket.
        config = config.merge(Config(s3={"addressing_style": "path"}))
    with _MAKING:
        client: Any = sdk_session().create_client(service, config=config)
    if service in _ONE_ENDPOINT:
        _find_endpoint_once(client._ruleset_resolver)  # noqa: SLF001  no setting does it
    return client


class _LazyClient:
    def __init__(self, *client: Any) -> None:  # noqa: ANN401  as `make_client`
        self._client = client

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, adapter: Any, _: object = None) -> Any:  # noqa: ANN401  as `client_of`
        # Python finds it there from now on.
        made = adapter.__dict__[self._name] = make_client(*self._client)
        return made


def client_of(service: str, config: Config = WITH_RETRIES) -> Any:  # noqa: ANN401  annotations say which
    """Return an attribute of an adapter's class: a client, which its first use makes."""
    return _LazyClient(service, config)


def _find_endpoint_once(resolver: Any) -> None:  # noqa: ANN401  botocore has no types
    """Keep the endpoint that the first call finds: finding it takes 5 % of a call's CPU."""
    find = resolver.construct_endpoint
    found: list[object] = []

    def construct_endpoint(**call: object) -> object:
        if not found:
            found.append(find(**call))
        return found[0]

    resolver.construct_endpoint = construct_endpoint


@cache
def sdk_session() -> botocore.session.Session:
    """Return the session that makes all clients of this module."""
    return botocore.session.get_session()


def in_parallel[T, R](call: Callable[[T], R], arguments: Sequence[T]) -> list[R]:
    """Make one call for each argument in parallel. A single call runs without a thread.

    Raises:
        Exception: the error of the first failed call. The other calls run to their end.
    """
    if len(arguments) <= 1:
        return [call(argument) for argument in arguments]
    with ThreadPoolExecutor(min(len(arguments), MAX_PARALLEL)) as pool:
        return list(pool.map(call, arguments))


def code_of(error: ClientError) -> str:
    """Return the error code of an AWS response."""
    return error.response.get("Error", {}).get("Code", "")


@contextmanager
def service_errors(service_name: str) -> Iterator[None]:
    """Raise `service_unavailable` for errors that show that an AWS service is out of reach.

    Raises:
        Unavailable: it names the service.
    """
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
    """Raise `service_unavailable` for every error of an AWS service.

    Raises:
        ServiceError: `service_unavailable` with AWS's message, such as the permission
            that the operator does not have.
    """
    try:
        with service_errors(service_name):
            yield
    except ClientError as error:
        reason = error.response.get("Error", {}).get("Message", "")
        raise ServiceError(
            "service_unavailable",
            f"AWS refused {error.operation_name}: {code_of(error)}: {reason}",
        ) from error
