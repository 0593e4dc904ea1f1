"""Write the responses about passkeys."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING

from pillarbox.http.messages.replies import timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pillarbox.application.sign_in.passkeys import NewPasskeyChallenge, PasskeyChallenge
    from pillarbox.domain.sign_in.passkey import Passkey
    from pillarbox.domain.sign_in.session import Session
    from pillarbox.http.sign_in import reply_types


def passkey_challenge(begun: PasskeyChallenge) -> reply_types.PasskeyChallengeItem:
    """Return what a browser asks an authenticator."""
    return {
        "flow": begun.flow,
        "challenge": _base64url(begun.challenge),
        "rpId": begun.site.rp_id,
    }


def new_passkey_challenge(begun: NewPasskeyChallenge) -> reply_types.NewPasskeyChallengeItem:
    """Return the same for a new passkey."""
    return {
        **passkey_challenge(begun),
        "userHandle": _base64url(begun.user.user_id.encode()),
        "email": begun.user.address,
        "existing": [{"id": one.credential} for one in begun.existing],
    }


def passkey_list(passkeys: Sequence[Passkey], session: Session) -> reply_types.PasskeyList:
    """Return a user's passkeys."""
    return {"items": [passkey_item(passkey, session) for passkey in passkeys]}


def passkey_item(passkey: Passkey, session: Session) -> reply_types.PasskeyItem:
    """Return a passkey, as the session of its user sees it."""
    return {
        "id": passkey.passkey_id,
        "name": passkey.name,
        "current": session.passkey_id == passkey.passkey_id,
        "synced": passkey.synced,
        "createdAt": timestamp(passkey.created_at),
        "lastUsedAt": timestamp(passkey.used_at) if passkey.used_at else None,
        "stoppedAt": timestamp(passkey.stopped_at) if passkey.stopped_at else None,
    }


def _base64url(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()
