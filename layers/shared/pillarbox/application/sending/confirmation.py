"""Tokens by which a client says that its user confirmed one send of an agent.

A token says that this service showed this request, for this key, at a time. Its secret is the text
of the key, which the service gets with each request and stores nowhere. So there is no other
secret to keep or to rotate, and a token ends with its key. A program that has the key could make
a token itself, but it could also ask for one. A token protects against a model that skips the
question, not against such a program.
"""

import hashlib
import hmac
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

#: How long a token is valid.
CONFIRMATION_TIME: Final = timedelta(minutes=10)
#: The digits of a moment in a token: milliseconds in hexadecimal.
_MOMENT: Final = 12
_HASH: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class SendConfirmation:
    """What a token confirms: one request of one key.

    `idempotency_key` is the caller's own, or empty. With the moment of the token it decides
    under which idempotency key the request is sent, so a token sends at most once.
    """

    key_text: str
    tool: str
    body_hash: str
    idempotency_key: str = ""

    def issue(self, now: datetime) -> str:
        moment = round(now.timestamp() * 1000)
        return self._token(f"{moment:0{_MOMENT}x}")

    def moment(self, token: str, now: datetime) -> datetime | None:
        """Return when a token was issued; None if it is not valid for this request now."""
        digits = token[:_MOMENT]
        if len(token) != _MOMENT + _HASH or not token.isascii():
            return None
        if not hmac.compare_digest(token, self._token(digits)):
            return None
        issued = datetime.fromtimestamp(int(digits, 16) / 1000, UTC)
        return issued if now - CONFIRMATION_TIME <= issued <= now + CONFIRMATION_TIME else None

    def _token(self, digits: str) -> str:
        parts = (digits, self.tool, self.body_hash, self.idempotency_key)
        digest = hmac.digest(self.key_text.encode(), "\n".join(parts).encode(), hashlib.sha256)
        return f"{digits}{digest.hex()}"
