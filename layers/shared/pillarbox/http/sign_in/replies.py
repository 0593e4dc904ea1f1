"""Write the responses about sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pillarbox.domain.sign_in.session import ACCESS_TIME
from pillarbox.http.messages.replies import timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pillarbox.application.sign_in.sign_in import IssuedAccess
    from pillarbox.domain.sign_in.codes import FlowToken
    from pillarbox.domain.sign_in.session import Session
    from pillarbox.http.sign_in import reply_types as session_types


def flow_item(flow: FlowToken) -> session_types.FlowItem:
    """Return a new flow."""
    return {"flow": str(flow)}


def access_item(access: IssuedAccess) -> session_types.AccessItem:
    """Return a new access token."""
    user, chosen = access.user, access.chosen
    return {
        "token": access.text,
        "expiresIn": round(ACCESS_TIME.total_seconds()),
        "user": {"id": user.user_id, "email": user.address, "operator": user.operator},
        "account": {
            "id": chosen.account.account_id,
            "name": chosen.account.name,
            "plan": chosen.account.plan,
        }
        if chosen
        else None,
        "role": chosen.role if chosen else None,
        "accounts": [
            {"id": one.account.account_id, "name": one.account.name, "role": one.role}
            for one in access.accounts
        ],
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
