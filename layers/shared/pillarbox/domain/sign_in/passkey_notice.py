"""What an email tells a user of a passkey."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class PasskeyChange(StrEnum):
    """What an email tells the user."""

    ADDED = "added"
    REMOVED = "removed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyNotice:
    """An email about a passkey. Each id is sent once."""

    notice_id: str
    change: PasskeyChange
    address: str
    name: str
    at: datetime
