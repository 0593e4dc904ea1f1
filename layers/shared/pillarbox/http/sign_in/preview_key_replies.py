"""Write the responses about preview keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pillarbox.domain.sign_in.preview_key import UNUSED_TIME
from pillarbox.http.sign_in.sign_up_replies import challenge_item

if TYPE_CHECKING:
    from pillarbox.domain.accounts.issued_key import IssuedKey
    from pillarbox.domain.sign_in.proof_of_work import Challenge
    from pillarbox.http.sign_in import preview_key_types


def challenge_offer(challenge: Challenge) -> preview_key_types.ChallengeOffer:
    """Return a challenge."""
    return {"challenge": challenge_item(challenge)}


def key_item(issued: IssuedKey, address: str) -> preview_key_types.PreviewKeyItem:
    """Return a new key, which no other response has."""
    return {"key": issued.text, "address": address, "expiresInDays": UNUSED_TIME.days}
