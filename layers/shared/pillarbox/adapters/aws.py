"""The AWS clients: made on first use, with time-outs, and errors told apart."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from pillarbox.domain.errors import ServiceError, Unavailable

#: Errors that pass by themselves; anything else is a fault of ours or of the
#: deployment and is not dressed up as one of these.
_PASSING: Final = frozenset(
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
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)
_SERVER_ERROR: Final = 500
#: botocore's connection pool holds ten.
_PARALLEL: Final = 10

#: A call that hangs must end, and be tried again, well within a handler's time.
PATIENT: Final = Config(
    connect_timeout=1,
    read_timeout=3,
    retries={"mode": "standard", "total_max_attempts": 3},
    tcp_keepalive=True,
    # The SDK's own is put together anew, twice for each call: a tenth of the call's CPU.
    user_agent="pillarbox",
)
#: The same for a call that must not take effect twice: a try whose answer was lost may have.
SINGLE_TRY: Final = PATIENT.merge(Config(retries={"mode": "standard", "total_max_attempts": 1}))


def make_client(service: str, config: Config = PATIENT) -> Any:  # noqa: ANN401  typed by callers
    """Make a client of an AWS service.

    By botocore itself: what boto3 adds is not used here and costs a cold start.

    Each has its own endpoint variable (`AWS_ENDPOINT_URL_SQS`, …): the seam at
    which the local stack stands in for AWS.
    """
    if "AWS_ENDPOINT_URL" in os.environ and service == "s3":
        # A bucket's own host name exists in AWS alone.
        config = config.merge(Config(s3={"addressing_style": "path"}))
    return _session().create_client(service, config=config)


@cache
def _session() -> botocore.session.Session:
    return botocore.session.get_session()


def in_parallel[T, R](call: Callable[[T], R], arguments: Sequence[T]) -> list[R]:
    """Make one call for each argument at the same time; a single one needs no thread.

    Raises:
        Exception: what the first failing call raised; the others end all the same.
    """
    if len(arguments) <= 1:
        return [call(argument) for argument in arguments]
    with ThreadPoolExecutor(min(len(arguments), _PARALLEL)) as pool:
        return list(pool.map(call, arguments))


def code_of(error: ClientError) -> str:
    """The error code of an AWS answer."""
    return error.response.get("Error", {}).get("Code", "")


@contextmanager
def service_errors(what: str) -> Iterator[None]:
    """Turn the errors of an AWS service that is out of reach into `service_unavailable`.

    Raises:
        Unavailable: with the name of what could not be reached.
    """
    try:
        yield
    except ClientError as error:
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code_of(error) in _PASSING or status >= _SERVER_ERROR:
            raise Unavailable(what, aws_error=code_of(error)) from error
        raise
    except BotoCoreError as error:
        raise Unavailable(what, aws_error=type(error).__name__) from error


@contextmanager
def operator_errors(what: str) -> Iterator[None]:
    """Turn every error of an AWS service into `service_unavailable`.

    Raises:
        ServiceError: `service_unavailable`, with what AWS said, such as the right
            that the operator lacks.
    """
    try:
        with service_errors(what):
            yield
    except ClientError as error:
        said = error.response.get("Error", {}).get("Message", "")
        raise ServiceError(
            "service_unavailable",
            f"AWS refused {error.operation_name}: {code_of(error)}: {said}",
        ) from error
