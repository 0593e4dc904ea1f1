"""The relay's log: JSON lines; ids and outcomes, never a key, a message or an address of mail.

Not by Powertools' formatter: a line would take 1.8 times the instructions and each process
4 MB more, and it would write every field that it is given (docs/decisions.md).
"""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Final, TextIO

#: The fields that a line may have besides the usual ones; all others are left out.
_FIELDS: Final = (
    "account_id",
    "message_id",
    "code",
    "unavailable",
    "aws_error",
    "size",
    "recipients",
    "milliseconds",
    "error",
    "raised_at",
    "port",
)
_ENCODE: Final = json.JSONEncoder(separators=(",", ":")).encode


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "level": record.levelname,
            "message": record.getMessage(),
            "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat("T", "milliseconds"),
            "service": "pillarbox-relay",
        }
        given = vars(record)
        return _ENCODE(line | {name: given[name] for name in _FIELDS if name in given})


def set_up(level: str, stream: TextIO | None = None) -> None:
    """Write the relay's log to a stream, by default to standard output."""
    handler = logging.StreamHandler(stream or sys.stdout)
    handler.setFormatter(_JsonLines())
    logger = logging.getLogger("relay")
    logger.handlers = [handler]
    logger.setLevel(level)
    logger.propagate = False
