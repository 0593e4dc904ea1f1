"""Logs and metrics. They contain ids and outcomes, but no key, body, variable or address."""

import logging
import os
import traceback
from typing import TYPE_CHECKING, Any

from pillarbox.domain.errors import ServiceError

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger, Metrics


def make_logger() -> "Logger":
    """Return a function's structured logger. POWERTOOLS_SERVICE_NAME names its service."""
    from aws_lambda_powertools import Logger  # noqa: PLC0415  the relay formats its own log

    logger = Logger(location=None)  # only a failure reports a location, in `raised_at`
    # Powertools would prefer Lambda's own level, which lets the lines of metrics through.
    logging.getLogger(logger.name).setLevel(os.environ.get("POWERTOOLS_LOG_LEVEL", "INFO"))
    return logger


def make_metrics() -> "Metrics":
    """Return the metrics of a function, in CloudWatch's embedded format."""
    from aws_lambda_powertools import Metrics  # noqa: PLC0415  the read routes have no metrics

    return Metrics()


def log_failure(logger: "Logger | logging.Logger", error: Exception, **context: str) -> None:
    """Log an unexpected error with its type, its AWS error code and its location.

    The error's message is not logged, because libraries quote their input in it.
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
        case {"Error": {"Code": str(code)}}:  # botocore: few of its classes name the code
            return {"aws_error": code}
    return {}


def log_response(logger: "Logger", event: dict[str, Any], status: int, **context: object) -> None:
    """Log one line for a request with its route, status and ids."""
    logger.info(
        "answered",
        extra=context
        | {"route": event.get("resource", ""), "method": event.get("httpMethod"), "status": status},
    )
