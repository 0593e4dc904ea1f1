"""Idempotency keys as clients send them (contract 4.11)."""

import hashlib
from collections.abc import Sequence
from typing import Final

from pillarbox.domain.errors import FieldFault, ValidationFailed

#: Contract 8.2 says "under 256 bytes" and "at most 256": 256 are taken.
MAX_IDEMPOTENCY_KEY: Final = 256


def idempotency_digest(route: str, values: Sequence[str]) -> str | None:
    """What identifies a route and the values of its Idempotency-Key header, in hex.

    None when there is no such header.

    Raises:
        ValidationFailed: the key is not of the documented form, or there are several.
    """
    if not values:
        return None
    visible = all("!" <= c <= "~" for c in values[0])
    if len(values) > 1 or not visible or not 0 < len(values[0]) <= MAX_IDEMPOTENCY_KEY:
        raise ValidationFailed(
            FieldFault(
                "Idempotency-Key",
                f"must be one value of 1 to {MAX_IDEMPOTENCY_KEY} visible ASCII characters",
                "invalid_header",
            )
        )
    return hashlib.sha256(f"{route}\n{values[0]}".encode()).hexdigest()
