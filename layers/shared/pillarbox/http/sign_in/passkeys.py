"""The requests and responses about passkeys. An authenticator's answer is in base64url."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING, Final

from pillarbox.domain.sign_in.passkey import NewPasskeyAnswer, PasskeyAnswer
from pillarbox.http.messages.replies import timestamp
from pillarbox.http.wire import WireModel, required, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pillarbox.application.sign_in.passkeys import NewPasskeyChallenge, PasskeyChallenge
    from pillarbox.domain.sign_in.passkey import Passkey
    from pillarbox.domain.sign_in.session import Session
    from pillarbox.http.sign_in import reply_types

#: In characters. A credential's id has at most 1,023 bytes (WebAuthn section 4).
_MAX_ID: Final = 1_364
_MAX_FLOW: Final = 64
#: A challenge and an origin are short.
_MAX_CLIENT_DATA: Final = 4_096
#: With the certificates of an authenticator whose maker vouches for it.
_MAX_ATTESTATION: Final = 32_768
_MAX_AUTHENTICATOR_DATA: Final = 4_096
#: RSA with 4,096 bits has 512 bytes.
_MAX_SIGNATURE: Final = 1_024
#: A user's handle has at most 64 bytes (WebAuthn section 5.4.3).
_MAX_HANDLE: Final = 88
_MAX_NAME: Final = 64


class PasskeySignIn(WireModel):
    """The answer of an authenticator to a challenge to sign in."""

    flow = required(text(least=1, most=_MAX_FLOW))
    credential_id = required(text(least=1, most=_MAX_ID))
    client_data = required(text(least=1, most=_MAX_CLIENT_DATA))
    authenticator_data = required(text(least=1, most=_MAX_AUTHENTICATOR_DATA))
    signature = required(text(least=1, most=_MAX_SIGNATURE))
    user_handle = required(text(least=1, most=_MAX_HANDLE))

    def answer(self) -> PasskeyAnswer:
        """Return the answer."""
        return PasskeyAnswer(
            self.credential_id,
            self.client_data,
            self.authenticator_data,
            self.signature,
            self.user_handle,
        )


class NewPasskey(WireModel):
    """A passkey that an authenticator has made, with the name that its user gives it."""

    flow = required(text(least=1, most=_MAX_FLOW))
    name = required(text(least=1, most=_MAX_NAME))
    credential_id = required(text(least=1, most=_MAX_ID))
    client_data = required(text(least=1, most=_MAX_CLIENT_DATA))
    attestation = required(text(least=1, most=_MAX_ATTESTATION))

    def answer(self) -> NewPasskeyAnswer:
        """Return the answer."""
        return NewPasskeyAnswer(self.credential_id, self.client_data, self.attestation)


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
