"""Logs: JSON, a line each; ids and outcomes, never a key, a message or an address of mail."""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Final, TextIO

#: What a log record may carry besides its message; nothing else is written.
_FIELDS: Final = (
    "account_id",
    "message_id",
    "code",
    "size",
    "recipients",
    "milliseconds",
    "error",
    "raised_at",
    "port",
)


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "level": record.levelname,
            "message": record.getMessage(),
            "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat("T", "milliseconds"),
            "service": "pillarbox-relay",
        }
        line |= {name: getattr(record, name) for name in _FIELDS if hasattr(record, name)}
        return json.dumps(line, separators=(",", ":"))


def set_up(level: str, stream: TextIO | None = None) -> None:
    """Write the relay's log to a stream, standard output unless another is given."""
    handler = logging.StreamHandler(stream or sys.stdout)
    handler.setFormatter(_JsonLines())
    logger = logging.getLogger("relay")
    logger.handlers = [handler]
    logger.setLevel(level)
    logger.propagate = False


def log_failure(logger: logging.Logger, error: Exception) -> None:
    """Log an unexpected error: its kind and place, not its message, which quotes its input."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    logger.error(
        "unexpected error",
        extra={
            "error": type(error).__name__,
            "raised_at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
        },
    )
