"""Identifiers: UUIDv7 (RFC 9562 section 5.7), so ids sort by creation time."""

import hashlib
import re
import secrets
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

_VERSION_7: Final = 0x7 << 76
_VARIANT: Final = 0b10 << 62
_RAND_A: Final = (1 << 12) - 1
_RAND_B: Final = (1 << 62) - 1

_UUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE | re.ASCII)

#: Crockford's base32 alphabet. It leaves out i, l, o and u, which are easy to misread.
_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(now: datetime) -> UUID:
    """Create a new id with the given time in it."""
    return _uuid7(_milliseconds(now), secrets.randbits(74))


def derived_id(generation: UUID, position: int) -> UUID:
    """Derive the id of one message from a claim's generation and its position in the request.

    A retry under the same claim gets the same ids, so it recognises the records
    of an earlier attempt. The generation is random and never leaves the service,
    so the other ids cannot be computed from one of them.
    """
    digest = hashlib.sha256(generation.bytes + position.to_bytes(4)).digest()
    return _uuid7(generation.int >> 80, int.from_bytes(digest[:10]))


def is_uuid(text: str) -> bool:
    """Return whether text is a UUID in the form of RFC 9562 section 4.

    Python's UUID() accepts many other forms.
    """
    return _UUID.fullmatch(text) is not None


def created_at(identifier: UUID) -> datetime:
    """Return the creation time in an id, to the millisecond."""
    return datetime.fromtimestamp((identifier.int >> 80) / 1000, UTC)


def new_token(length: int) -> str:
    """Create a random lower-case text with 5 bits per character."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def is_token(text: str, length: int) -> bool:
    """Return whether text has the form of a token of this length."""
    return len(text) == length and set(text) <= set(_ALPHABET)


def _milliseconds(time: datetime) -> int:
    return round(time.timestamp() * 1000)


def _uuid7(milliseconds: int, randomness: int) -> UUID:
    rand_a = (randomness >> 62) & _RAND_A
    return UUID(
        int=milliseconds << 80 | _VERSION_7 | rand_a << 64 | _VARIANT | randomness & _RAND_B
    )
