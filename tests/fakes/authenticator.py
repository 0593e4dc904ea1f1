"""A software authenticator for passkeys, written from WebAuthn and not from our verifier."""

import hashlib
import json
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from secrets import token_bytes
from typing import Any, Final

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

#: Bits of the flags (WebAuthn section 6.1).
PRESENT: Final = 0x01
VERIFIED: Final = 0x04
CAN_BE_SYNCED: Final = 0x08
SYNCED: Final = 0x10
_HAS_CREDENTIAL: Final = 0x40


def encode(content: bytes) -> str:
    """Write bytes as base64url without padding."""
    return urlsafe_b64encode(content).rstrip(b"=").decode()


@dataclass(slots=True)
class Authenticator:
    """An authenticator with one passkey, in the browser of a page."""

    origin: str
    rp_id: str
    #: What it says of the user, of itself, and of the page.
    flags: int = PRESENT | VERIFIED
    count: int = 0
    counts: bool = False
    cross_origin: bool = False
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )
    credential: bytes = field(default_factory=lambda: token_bytes(16))
    user_handle: str = ""

    def create(self, options: dict[str, Any]) -> dict[str, str]:
        """Make the passkey for a challenge; return the answer, as the dashboard sends it."""
        self.user_handle = options["userHandle"]
        numbers = self.key.public_key().public_numbers()
        # COSE_Key of ES256 (RFC 9053 section 7.1).
        cose = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)}
        credential = bytes(16) + len(self.credential).to_bytes(2) + self.credential
        data = self._data(_HAS_CREDENTIAL) + credential + cbor2.dumps(cose)
        attestation = {"fmt": "none", "attStmt": {}, "authData": data}
        return {
            "flow": options["flow"],
            "credentialId": encode(self.credential),
            "clientData": encode(self._client_data("webauthn.create", options["challenge"])),
            "attestation": encode(cbor2.dumps(attestation)),
        }

    def get(self, options: dict[str, Any]) -> dict[str, str]:
        """Sign a challenge; return the answer, as the dashboard sends it."""
        if self.counts:
            self.count += 1
        data = self._data(0)
        client = self._client_data("webauthn.get", options["challenge"])
        signed = data + hashlib.sha256(client).digest()
        return {
            "flow": options["flow"],
            "credentialId": encode(self.credential),
            "clientData": encode(client),
            "authenticatorData": encode(data),
            "signature": encode(self.key.sign(signed, ec.ECDSA(hashes.SHA256()))),
            "userHandle": self.user_handle,
        }

    def _data(self, more: int) -> bytes:
        name = hashlib.sha256(self.rp_id.encode()).digest()
        return name + bytes([self.flags | more]) + self.count.to_bytes(4)

    def _client_data(self, kind: str, challenge: str) -> bytes:
        data = {
            "type": kind,
            "challenge": challenge,
            "origin": self.origin,
            "crossOrigin": self.cross_origin,
        }
        return json.dumps(data).encode()
