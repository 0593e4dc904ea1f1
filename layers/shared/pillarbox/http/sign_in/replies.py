"""Write the responses about sessions, sign-ups and preview keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pillarbox.domain.sign_in.preview_key import UNUSED_TIME
from pillarbox.domain.sign_in.proof_of_work import ALGORITHM, MAX_NUMBER
from pillarbox.domain.sign_in.session import ACCESS_TIME
from pillarbox.http.messages.replies import timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pillarbox.application.sign_in.session_start import AccountInvitation, IssuedAccess
    from pillarbox.application.sign_in.sign_in import LinkOwner
    from pillarbox.application.sign_in.sign_up import SignUpOffer
    from pillarbox.domain.accounts.account import Account
    from pillarbox.domain.accounts.issued_key import IssuedKey
    from pillarbox.domain.sign_in.codes import FlowToken
    from pillarbox.domain.sign_in.proof_of_work import Challenge
    from pillarbox.domain.sign_in.session import Session
    from pillarbox.domain.sign_in.sign_up import Newcomers, SignUpRequest
    from pillarbox.http.sign_in import reply_types as session_types


def flow_item(flow: FlowToken) -> session_types.FlowItem:
    """Return a new flow."""
    return {"flow": str(flow)}


def requested_code(flow: FlowToken, newcomers: Newcomers) -> session_types.RequestedCode:
    """Return a new flow, and whether newcomers get codes."""
    until = timestamp(newcomers.until) if newcomers.until else None
    return {"flow": str(flow), "newcomers": {"admitted": newcomers.admitted, "until": until}}


def access_item(access: IssuedAccess) -> session_types.AccessItem:
    """Return a new access token."""
    user, chosen = access.user, access.chosen
    return {
        "token": access.text,
        "expiresIn": round(ACCESS_TIME.total_seconds()),
        "user": {
            "id": user.user_id,
            "email": user.address,
            "operator": user.operator and not access.passkey_needed,
            "passkeyNeeded": access.passkey_needed,
        },
        "account": chosen_account(chosen.account) if chosen else None,
        "role": chosen.role if chosen else None,
        "accounts": [
            {"id": one.account.account_id, "name": one.account.name, "role": one.role}
            for one in access.accounts
        ],
        "invitations": [_invitation_item(one) for one in access.invitations],
    }


def link_item(owner: LinkOwner) -> session_types.LinkItem:
    """Return whom a link signs in."""
    return {
        "email": owner.address,
        "invitation": next(map(_invitation_item, owner.invitations), None),
    }


def _invitation_item(invitation: AccountInvitation) -> session_types.AccountInvitationItem:
    return {
        "id": invitation.account.account_id,
        "name": invitation.account.name,
        "role": invitation.role,
        "invitedBy": invitation.invited_by,
    }


def session_list(sessions: Sequence[Session], current: str) -> session_types.SessionList:
    """Return a user's sessions; `current` is the id of the caller's."""
    return {"items": [_session_item(session, current) for session in sessions]}


def _session_item(session: Session, current: str) -> session_types.SessionItem:
    return {
        "id": session.session_id,
        "current": session.session_id == current,
        "userAgent": session.agent,
        "createdAt": timestamp(session.created_at),
        "lastUsedAt": timestamp(session.used_at),
        "expiresAt": timestamp(session.expires_at),
    }


def sign_up_item(offer: SignUpOffer) -> session_types.SignUpItem:
    """Return what a user can do."""
    return {
        "status": offer.status,
        "challenge": challenge_item(offer.challenge) if offer.challenge else None,
        "account": chosen_account(offer.account) if offer.account else None,
    }


def chosen_account(account: Account) -> session_types.ChosenAccount:
    """Return an account that a user has chosen or created."""
    return {"id": account.account_id, "name": account.name, "plan": account.plan}


def pending_list(requests: Iterable[SignUpRequest]) -> session_types.PendingList:
    """Return the sign-ups that wait for the operator."""
    return {"items": [pending_sign_up(request) for request in requests]}


def pending_sign_up(request: SignUpRequest) -> session_types.PendingSignUp:
    """Return what a user asks for."""
    return {
        "email": request.address,
        "name": request.name or "",
        "createdAt": timestamp(request.at),
    }


def challenge_item(challenge: Challenge) -> session_types.ChallengeItem:
    """Return a challenge."""
    return {
        "algorithm": ALGORITHM,
        "challenge": challenge.challenge,
        "maxnumber": MAX_NUMBER,
        "salt": challenge.salt,
        "signature": challenge.signature,
    }


def challenge_offer(challenge: Challenge) -> session_types.ChallengeOffer:
    """Return a challenge."""
    return {"challenge": challenge_item(challenge)}


def preview_key_item(issued: IssuedKey, address: str) -> session_types.PreviewKeyItem:
    """Return a new key, which no other response has."""
    return {"key": issued.text, "email": address, "expiresInDays": UNUSED_TIME.days}
