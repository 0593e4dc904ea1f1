"""Identifiers: UUIDv7 (RFC 9562 section 5.7), so that ids sort by the time they were made."""

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

#: Crockford's alphabet: no I, L, O, U to misread.
_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(now: datetime) -> UUID:
    """Make a fresh id of the given moment."""
    return _uuid7(_milliseconds(now), secrets.randbits(74))


def derived_id(generation: UUID, position: int) -> UUID:
    """Make the id of the message at a position of a claim's generation.

    A retry under the same claim converges on the same id, so whatever an
    earlier try left behind is recognised. The generation is random and never
    leaves the service, so ids cannot be guessed from one another.
    """
    digest = hashlib.sha256(generation.bytes + position.to_bytes(4)).digest()
    return _uuid7(generation.int >> 80, int.from_bytes(digest[:10]))


def is_uuid(text: str) -> bool:
    """Whether text is a UUID as RFC 9562 section 4 writes it; Python's UUID() takes far more."""
    return _UUID.fullmatch(text) is not None


def created_at(identifier: UUID) -> datetime:
    """Read the moment, to the millisecond, out of an id."""
    return datetime.fromtimestamp((identifier.int >> 80) / 1000, UTC)


def new_token(length: int) -> str:
    """Make random text of 5 bits a character, in lower case."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def is_token(text: str, length: int) -> bool:
    """Whether text has the shape that `new_token` gives."""
    return len(text) == length and set(text) <= set(_ALPHABET)


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _uuid7(milliseconds: int, randomness: int) -> UUID:
    rand_a = (randomness >> 62) & _RAND_A
    return UUID(
        int=milliseconds << 80 | _VERSION_7 | rand_a << 64 | _VARIANT | randomness & _RAND_B
    )
