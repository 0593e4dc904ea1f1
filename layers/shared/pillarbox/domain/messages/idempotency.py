"""Idempotency keys, as clients send them (contract 4.11)."""

import hashlib
from collections.abc import Sequence
from typing import Final

from pillarbox.domain.errors import FieldError, ValidationFailed

#: Contract 8.2 says both "under 256 bytes" and "at most 256". We accept 256.
MAX_IDEMPOTENCY_KEY: Final = 256


def idempotency_digest(route: str, values: Sequence[str]) -> str | None:
    """Return the digest that identifies a route and an Idempotency-Key, in hex.

    Return None if the request has no such header.
    """
    if not values:
        return None
    is_visible_ascii = all("!" <= character <= "~" for character in values[0])
    if len(values) > 1 or not is_visible_ascii or not 0 < len(values[0]) <= MAX_IDEMPOTENCY_KEY:
        raise ValidationFailed(
            FieldError(
                "Idempotency-Key",
                f"must be one value of 1 to {MAX_IDEMPOTENCY_KEY} visible ASCII characters",
                "invalid_header",
            )
        )
    return hashlib.sha256(f"{route}\n{values[0]}".encode()).hexdigest()
