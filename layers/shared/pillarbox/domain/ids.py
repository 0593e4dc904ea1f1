"""Identifiers: UUIDv7 (RFC 9562 section 5.7), so ids sort by creation time.

The messages of an account with several shards have a UUIDv8 (section 5.8) of the same layout,
whose 12 bits after the version hold the number of shards and choose one of them:

     4 bits  the binary logarithm of the number of shards
     8 bits  random; the lowest of them are the shard

So an id alone says where its message is, even if the number of shards has changed.
"""

import hashlib
import re
import secrets
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

_VERSION_7: Final = 0x7 << 76
_VERSION_8: Final = 0x8 << 76
#: A shard is a number of 8 bits.
MAX_SHARDS: Final = 256
_VARIANT: Final = 0b10 << 62
_RAND_A: Final = (1 << 12) - 1
_RAND_B: Final = (1 << 62) - 1

_UUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE | re.ASCII)

#: Crockford's base32 alphabet. It leaves out i, l, o and u, which are easy to misread.
_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(now: datetime, shards: int = 1) -> UUID:
    """Create a new id with the given time in it, in one of a number of shards."""
    return _uuid(_milliseconds(now), secrets.randbits(74), shards)


def named_id(name: str, now: datetime, shards: int = 1) -> UUID:
    """Return the id with the given time in it that a name always has."""
    digest = hashlib.sha256(name.encode()).digest()
    return _uuid(_milliseconds(now), int.from_bytes(digest[:10]), shards)


def derived_id(generation: UUID, position: int) -> UUID:
    """Derive the id of one message from a claim's generation and its position in the request.

    A retry under the same claim gets the same ids, so it recognises the records
    of an earlier attempt. The generation is random and never leaves the service,
    so the other ids cannot be computed from one of them. They have the number of shards of the
    generation: a retry gets the same ids, even if the account's number was raised in between.
    """
    digest = hashlib.sha256(generation.bytes + position.to_bytes(4)).digest()
    return _uuid(generation.int >> 80, int.from_bytes(digest[:10]), shard_count(generation))


def shard_count(identifier: UUID) -> int:
    """Return the number of shards that an id was made for, 1 for a UUIDv7."""
    return 1 << (identifier.int >> 72 & 0xF) if _is_sharded(identifier) else 1


def shard_of(identifier: UUID) -> int:
    """Return the shard of an id, 0 for a UUIDv7."""
    if not _is_sharded(identifier):
        return 0
    return identifier.int >> 64 & 0xFF & (shard_count(identifier) - 1)


#: What is wrong with a text that is not a UUID.
NOT_A_UUID: Final = "must be a UUID"


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
    return token_of(secrets.token_bytes(length), length)


def token_of(digest: bytes, length: int) -> str:
    """Return the text of that form that a digest always has, of one byte for each character."""
    return "".join(_ALPHABET[octet % len(_ALPHABET)] for octet in digest[:length])


def is_token(text: str, length: int) -> bool:
    """Return whether text has the form of a token of this length."""
    return len(text) == length and set(text) <= set(_ALPHABET)


def _milliseconds(time: datetime) -> int:
    return round(time.timestamp() * 1000)


def _is_sharded(identifier: UUID) -> bool:
    return identifier.int >> 76 & 0xF == _VERSION_8 >> 76


def _uuid(milliseconds: int, randomness: int, shards: int) -> UUID:
    version, rand_a = _VERSION_7, (randomness >> 62) & _RAND_A
    if shards > 1:
        version, rand_a = _VERSION_8, (shards.bit_length() - 1) << 8 | rand_a & 0xFF
    return UUID(int=milliseconds << 80 | version | rand_a << 64 | _VARIANT | randomness & _RAND_B)
