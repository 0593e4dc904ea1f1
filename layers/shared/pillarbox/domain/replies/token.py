"""The address by which an answer finds the email that it answers.

SES replaces Message-ID and leaves References alone, so the same token is in both: in the address
for replies, and in an id that mail programs copy. A token has the id of the email, so nothing is
looked up, and a code that only the service can compute for this account and email.
"""

import hmac
import re
from base64 import b32decode, b32encode
from collections.abc import Iterable
from typing import Final
from uuid import UUID

_CODE: Final = 10
#: Programs change the case of addresses. In base32 (RFC 4648 section 6), of 26 octets.
_FORM: Final = r"[a-z2-7]{42}"
_ADDRESS: Final = re.compile(rf"r\.({_FORM})@([^\s<>@]+)")
_ID: Final = re.compile(rf"<({_FORM})@([^\s<>@]+)>")


def reply_token(account_id: str, message_id: UUID, key: bytes) -> str:
    """Return the token of an email."""
    octets = message_id.bytes + _code(account_id, message_id, key)
    return b32encode(octets).decode().lower().rstrip("=")


def reply_address(token: str, domain: str) -> str:
    """Return the address for replies: 44 characters before the at sign (at most 64, RFC 5321)."""
    return f"r.{token}@{domain}"


def reply_reference(token: str, domain: str) -> str:
    """Return the message id that stands in References (RFC 5322 section 3.6.4)."""
    return f"<{token}@{domain}>"


def token_in_address(address: str, domain: str) -> str | None:
    """Return the token of an address of a domain, if it has one."""
    match = _ADDRESS.fullmatch(address.lower())
    return match[1] if match and match[2] == domain else None


def tokens_in_references(references: str, domain: str) -> list[str]:
    """Return the tokens of a value of References or In-Reply-To, the last one first.

    The last id is that of the email that somebody answered.
    """
    found = _ID.findall(references.lower())
    return [token for token, of in reversed(found) if of == domain]


def read_token(token: str, account_id: str, keys: Iterable[bytes]) -> UUID | None:
    """Return the id of the email that a token names; None unless it is one of the account."""
    octets = b32decode(token.upper() + "=" * (-len(token) % 8))
    message_id, code = UUID(bytes=octets[:16]), octets[16:]
    codes = (_code(account_id, message_id, key) for key in keys)
    right = [hmac.compare_digest(code, each) for each in codes]
    return message_id if any(right) else None


def _code(account_id: str, message_id: UUID, key: bytes) -> bytes:
    return hmac.digest(key, account_id.encode() + message_id.bytes, "sha256")[:_CODE]
