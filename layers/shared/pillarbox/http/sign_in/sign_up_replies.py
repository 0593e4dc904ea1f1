"""Write the responses about signing up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pillarbox.domain.sign_in.proof_of_work import ALGORITHM, MAX_NUMBER
from pillarbox.http.messages.replies import timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pillarbox.application.sign_in.sign_up import SignUpOffer
    from pillarbox.domain.accounts.account import Account
    from pillarbox.domain.sign_in.proof_of_work import Challenge
    from pillarbox.domain.sign_in.sign_up import SignUpRequest
    from pillarbox.http.sign_in import reply_types as session_types
    from pillarbox.http.sign_in import sign_up_types


def sign_up_item(offer: SignUpOffer) -> sign_up_types.SignUpItem:
    """Return what a user can do."""
    return {
        "status": offer.status,
        "challenge": challenge_item(offer.challenge) if offer.challenge else None,
        "account": created_account(offer.account) if offer.account else None,
    }


def created_account(account: Account) -> session_types.ChosenAccount:
    """Return a new account."""
    return {"id": account.account_id, "name": account.name, "plan": account.plan}


def pending_list(requests: Iterable[SignUpRequest]) -> sign_up_types.PendingList:
    """Return the sign-ups that wait for the operator."""
    return {
        "items": [
            {"email": one.address, "name": one.name or "", "askedAt": timestamp(one.at)}
            for one in requests
        ]
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
