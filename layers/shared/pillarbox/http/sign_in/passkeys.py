"""The requests and responses about passkeys. An authenticator's answer is in base64url."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING, Any, Final

from pillarbox.domain.sign_in.passkey import NewPasskeyAnswer, PasskeyAnswer
from pillarbox.http.messages.replies import View, taken_from
from pillarbox.http.wire import HEADER_TEXT, WireModel, required, text

if TYPE_CHECKING:
    from typing import Annotated

    from pydantic import Field

    from pillarbox.domain.sign_in.passkey import Passkey
    from pillarbox.domain.sign_in.session import Session
    from pillarbox.http.json_types import Timestamp

    type PasskeyId = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]

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
    """That of the challenge."""
    credential_id = required(text(least=1, most=_MAX_ID))
    """The `id` of the credential, in base64url."""
    client_data = required(text(least=1, most=_MAX_CLIENT_DATA))
    """`response.clientDataJSON`, in base64url."""
    authenticator_data = required(text(least=1, most=_MAX_AUTHENTICATOR_DATA))
    """`response.authenticatorData`, in base64url."""
    signature = required(text(least=1, most=_MAX_SIGNATURE))
    """`response.signature`, in base64url."""
    user_handle = required(text(least=1, most=_MAX_HANDLE))
    """`response.userHandle`, in base64url."""

    def answer(self) -> PasskeyAnswer:
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
    """That of the challenge."""
    name = required(text(least=1, most=_MAX_NAME), pattern=HEADER_TEXT, maxLength=64)
    """A name for the user."""
    credential_id = required(text(least=1, most=_MAX_ID))
    """The `id` of the credential, in base64url."""
    client_data = required(text(least=1, most=_MAX_CLIENT_DATA))
    """`response.clientDataJSON`, in base64url."""
    attestation = required(text(least=1, most=_MAX_ATTESTATION))
    """`response.attestationObject`, in base64url."""

    def answer(self) -> NewPasskeyAnswer:
        return NewPasskeyAnswer(self.credential_id, self.client_data, self.attestation)


def _base64url(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


class PasskeyChallengeItem(View, name="PasskeyChallenge"):
    """What a browser asks an authenticator to answer within five minutes."""

    flow: str
    """Send it with the answer. It works once."""
    challenge: str = taken_from(lambda begun: _base64url(begun.challenge))
    """In base64url."""
    rp_id: str = taken_from("site.rp_id")
    """The name that the passkeys of this service have."""


class KnownCredential(View):
    """A passkey that the user has, so that the same authenticator makes no second one."""

    id: str = taken_from("credential")
    """In base64url."""


class NewPasskeyChallengeItem(PasskeyChallengeItem, name="NewPasskeyChallenge"):
    """The same for a new passkey."""

    user_handle: str = taken_from(lambda begun: _base64url(begun.user.user_id.encode()))
    """The user's id for authenticators, in base64url."""
    email: str = taken_from("user.address")
    existing: list[KnownCredential]


class PasskeyItem(View, name="Passkey"):
    """A passkey."""

    id: PasskeyId = taken_from("passkey_id")
    name: str
    current: bool
    """Whether this session began with it."""
    synced: bool
    """Whether a provider keeps it for several devices."""
    created_at: Timestamp
    last_used_at: Timestamp | None = taken_from("used_at")
    stopped_at: Timestamp | None
    """When a copy of it seemed to be in use. Since then it does not sign in."""


def passkey_item(passkey: Passkey, session: Session) -> dict[str, Any]:
    """Return a passkey, as the session of its user sees it."""
    return PasskeyItem.of(passkey, current=session.passkey_id == passkey.passkey_id)


class PasskeyList(View):
    """The user's passkeys, the oldest first."""

    items: list[PasskeyItem]
