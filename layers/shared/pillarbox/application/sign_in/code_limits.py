"""The limits of one-time codes, for signing in and for preview keys."""

from datetime import datetime

from pillarbox.application.sign_in.ports import SignInCounts
from pillarbox.domain.client_origin import block_of
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.codes import (
    HOUR,
    MINUTE,
    PER_ADDRESS,
    PER_ADDRESS_AND_BLOCK,
    PER_BLOCK,
    PER_BLOCK_AND_MINUTE,
)


def count_code(counts: SignInCounts, purpose: str, digest: str, client: str, now: datetime) -> None:
    """Count a request for a code."""
    subject, block = f"{purpose}address#{digest}", block_of(client)
    # The count of all networks comes last: one that is refused before takes none of it.
    limits = [
        (f"{subject}#{block}", HOUR, PER_ADDRESS_AND_BLOCK),
        (subject, HOUR, PER_ADDRESS),
    ]
    if block:
        subject = f"{purpose}block#{block}"
        limits[:0] = [(subject, MINUTE, PER_BLOCK_AND_MINUTE), (subject, HOUR, PER_BLOCK)]
    for subject, window, most in limits:
        if not counts.count(subject, window, most, now):
            message = "Too many codes were requested. Try again later."
            raise ServiceError("rate_limit_exceeded", message)
