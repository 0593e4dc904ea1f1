"""Logs and metrics: ids and outcomes, never a key, a body, a variable or an address."""

import traceback
from typing import TYPE_CHECKING, Any

from pillarbox.domain.errors import ServiceError

if TYPE_CHECKING:
    import logging

    from aws_lambda_powertools import Logger, Metrics


def make_logger() -> "Logger":
    """Make a function's structured logger; its service is POWERTOOLS_SERVICE_NAME."""
    from aws_lambda_powertools import Logger  # noqa: PLC0415  the relay has a log of its own

    return Logger(location=None)  # a line says what happened; where, a failure says


def make_metrics() -> "Metrics":
    """Make the metrics of a function, in CloudWatch's embedded format."""
    from aws_lambda_powertools import Metrics  # noqa: PLC0415  the read routes have none

    return Metrics()


def log_failure(logger: "Logger | logging.Logger", error: Exception, **context: str) -> None:
    """Log an unexpected error: its kind, AWS's code for it and where it was raised.

    Its message stays out of the log: libraries quote their input.
    """
    frames = traceback.extract_tb(error.__traceback__)
    logger.error(
        "unexpected error",
        extra=context
        | _log_fields(error)
        | {
            "error": type(error).__name__,
            "raised_at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-8:]],
        },
    )


def _log_fields(error: Exception) -> dict[str, str]:
    if isinstance(error, ServiceError):
        return error.log_fields
    match getattr(error, "response", None):
        case {"Error": {"Code": str(code)}}:  # botocore's: few of its classes name the code
            return {"aws_error": code}
    return {}


def log_answer(logger: "Logger", event: dict[str, Any], status: int, **context: object) -> None:
    """Log one line for a request: route, status, ids."""
    logger.info(
        "answered",
        extra=context
        | {"route": event.get("resource", ""), "method": event.get("httpMethod"), "status": status},
    )
