"""Times on the command line: an ISO 8601 time, or how long ago."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from pillarbox.domain.errors import FieldError, ValidationFailed

_AGO: Final = re.compile(r"([0-9]{1,5})([mhd])", re.ASCII)
_UNITS: Final = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
HELP: Final = "2026-11-20T09:00 (UTC unless it has an offset), or how long ago: 30m, 6h, 2d."


def parse_time(field: str, text: str, now: datetime) -> datetime:
    if ago := _AGO.fullmatch(text):
        return now - int(ago[1]) * _UNITS[ago[2]]
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        message = f"{text!r} is no time. Write {HELP}"
        raise ValidationFailed(FieldError(field, message, "invalid")) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
