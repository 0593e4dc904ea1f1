"""Suppressions of people whose address was erased: only a hash of the address is stored."""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

_HASHED: Final = r"sha256:[0-9a-f]{64}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """A mailbox that an account must not send to; `message_id` is the message that caused it.

    `address` is a hash (`hashed_mailbox`) if the address itself was erased.
    """

    address: str
    reason: str
    at: datetime
    message_id: UUID | None = None


def hashed_mailbox(account_id: str, mailbox: str) -> str:
    """Return the hash that stands for a mailbox among an account's suppressions.

    It contains the account, so the hashes of two accounts do not show that both know a person.
    """
    return f"sha256:{hashlib.sha256(f'{account_id}\n{mailbox}'.encode()).hexdigest()}"


def is_hashed(text: str) -> bool:
    """Return whether a text is a hash that stands for a mailbox."""
    return re.fullmatch(_HASHED, text) is not None
