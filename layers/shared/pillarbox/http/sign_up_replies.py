"""Write the responses about signing up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pillarbox.domain.proof_of_work import ALGORITHM, MAX_NUMBER

if TYPE_CHECKING:
    from pillarbox.application.sign_in.sign_up import SignUpOffer
    from pillarbox.domain.proof_of_work import Challenge
    from pillarbox.http import sign_up_types


def sign_up_item(offer: SignUpOffer) -> sign_up_types.SignUpItem:
    """Return what a user can do."""
    account = offer.account
    return {
        "status": offer.status,
        "challenge": challenge_item(offer.challenge) if offer.challenge else None,
        "account": {"id": account.account_id, "name": account.name, "plan": account.plan}
        if account
        else None,
    }


def challenge_item(challenge: Challenge) -> sign_up_types.ChallengeItem:
    """Return a challenge."""
    return {
        "algorithm": ALGORITHM,
        "challenge": challenge.challenge,
        "maxnumber": MAX_NUMBER,
        "salt": challenge.salt,
        "signature": challenge.signature,
    }
