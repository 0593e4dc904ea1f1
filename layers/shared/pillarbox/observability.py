"""Logs and metrics: ids and outcomes, never a key, a body, a variable or an address."""

import traceback
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

if TYPE_CHECKING:
    from aws_lambda_powertools import Metrics


def make_logger() -> Logger:
    """The structured logger of a function; its service is POWERTOOLS_SERVICE_NAME."""
    return Logger(location=None)  # a line says what happened; where, a failure says


def make_metrics() -> "Metrics":
    """Metrics in CloudWatch's embedded format."""
    from aws_lambda_powertools import Metrics  # noqa: PLC0415  the read routes have none

    return Metrics()


def log_failure(logger: Logger, error: Exception, **context: str) -> None:
    """Log an unexpected error: its kind and where it was raised.

    Not its message: libraries quote what they were given.
    """
    frames = traceback.extract_tb(error.__traceback__)
    logger.error(
        "unexpected error",
        extra=context
        | {
            "error": type(error).__name__,
            "raised_at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-8:]],
        },
    )


def log_answer(logger: Logger, event: dict[str, Any], status: int, **context: object) -> None:
    """Log one line for a request: route, status, ids."""
    logger.info(
        "answered",
        extra=context
        | {"route": event.get("resource", ""), "method": event.get("httpMethod"), "status": status},
    )
