"""Passkeys: credentials of WebAuthn that sign a user in without an address or a code.

A flow is the text of a challenge. The challenge is an HMAC of the flow and of what it is for, so
the service stores nothing until a flow is used. Only the browser that asked has the flow, and an
authenticator's answer does not contain it.
"""

import hmac
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import new_token
from pillarbox.domain.sign_in.codes import HOUR, MINUTE
from pillarbox.domain.sign_in.session import Session, digest_of
from pillarbox.domain.sign_in.sign_up import CheckedProof
from pillarbox.domain.timing import milliseconds, to_datetime

#: How long a person may take to answer a challenge.
FLOW_TIME: Final = timedelta(minutes=5)
#: A session may add a passkey for so long after it began: a passkey outlives the session.
FRESH_TIME: Final = timedelta(minutes=15)
MAX_PASSKEYS: Final = 10
#: The most sign-ins with a passkey that one block of IP addresses tries in a minute, and in an
#: hour. More than codes, of which each is an email.
PER_BLOCK_AND_MINUTE: Final = 20
PER_BLOCK: Final = 200
#: The most of one user in an hour: from one block, and in all.
PER_USER_AND_BLOCK: Final = 20
PER_USER: Final = 60

_SECRET_LENGTH: Final = 32
_FLOW: Final = re.compile(rf"([0-9]{{13}})\.[0-9a-z]{{{_SECRET_LENGTH}}}")
#: Browsers allow passkeys for a name only, and take `localhost` as secure without TLS.
_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})

#: What a flow is for: signing in.
SIGN_IN: Final = "sign-in"


class Site(NamedTuple):
    """What a passkey is bound to (WebAuthn level 3, sections 5.1 and 13.4.9)."""

    rp_id: str
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Passkey:
    """A passkey of a user. `credential` and `public_key` are base64url."""

    user_id: str
    address: str
    credential: str
    public_key: str
    sign_count: int
    name: str
    #: Whether a provider keeps copies of it for the user's other devices.
    synced: bool
    created_at: datetime
    used_at: datetime | None = None
    #: When a copy of it seemed to be in use. Since then it does not sign in.
    stopped_at: datetime | None = None

    @property
    def passkey_id(self) -> str:
        """Return the id under which it is stored and listed."""
        return digest_of(self.credential)

    def is_copied(self, sign_count: int) -> bool:
        """Return whether an answer with a right signature shows that there are two authenticators.

        One that counts counts up (WebAuthn section 6.1.1). Synced passkeys stay at 0.
        """
        return (self.sign_count, sign_count) != (0, 0) and sign_count <= self.sign_count


class PasskeyAnswer(NamedTuple):
    """What an authenticator answered when a user signed in. All texts are base64url."""

    credential: str
    client_data: str
    authenticator_data: str
    signature: str
    user_handle: str


class NewPasskeyAnswer(NamedTuple):
    """What an authenticator answered when it made a passkey. All texts are base64url."""

    credential: str
    client_data: str
    attestation: str


class VerifiedPasskey(NamedTuple):
    """What a right answer tells of a new passkey. `public_key` is base64url."""

    public_key: str
    sign_count: int
    synced: bool


def is_passkey_id(text: str) -> bool:
    return re.fullmatch("[0-9a-f]{64}", text) is not None


def site_of(base_url: str) -> Site:
    """Return the site of the service's own address; a request's host never decides it."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    if host in _LOOPBACK:
        host = "localhost"
    port = f":{parts.port}" if parts.port else ""
    return Site(host, f"{parts.scheme}://{host}{port}")


def registration_of(session: Session) -> str:
    """Return what the flow of a new passkey is for: this session alone."""
    return f"add {session.user_id} {session.session_id}"


def new_flow(now: datetime) -> str:
    """Create the text of a flow: when it ends, and a secret."""
    return f"{milliseconds(now + FLOW_TIME)}.{new_token(_SECRET_LENGTH)}"


def challenge_of(key: bytes, purpose: str, flow: str) -> bytes:
    return hmac.digest(key, f"passkey {purpose} {flow}".encode(), "sha256")


def parse_flow(text: str, now: datetime) -> CheckedProof | None:
    """Return the mark of a flow's use, with its end; None for one that is malformed or too old."""
    match = _FLOW.fullmatch(text)
    if match is None:
        return None
    expires_at = to_datetime(int(match[1]))
    return CheckedProof(digest_of(f"passkey {text}"), expires_at) if now < expires_at else None


def limits_of(block: str) -> list[tuple[str, timedelta, int]]:
    """Return the limits of a block of addresses: the subject, the window, the most."""
    subject = f"passkeys#block#{block}"
    return [(subject, MINUTE, PER_BLOCK_AND_MINUTE), (subject, HOUR, PER_BLOCK)] if block else []


def limits_of_user(user_id: str, block: str) -> list[tuple[str, timedelta, int]]:
    subject = f"passkeys#user#{user_id}"
    return [(f"{subject}#{block}", HOUR, PER_USER_AND_BLOCK), (subject, HOUR, PER_USER)]


def invalid_passkey() -> ServiceError:
    """Return the error for a passkey that does not sign in. It tells no reason."""
    return ServiceError(
        "invalid_passkey",
        "The passkey does not sign you in: it is unknown, was removed or stopped, or the page"
        " waited too long. Try again, or sign in with a code.",
    )


class PasskeyChange(StrEnum):
    """What an email tells the user."""

    ADDED = "added"
    REMOVED = "removed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyNotice:
    """An email about a passkey. Each id is sent once."""

    notice_id: str
    change: PasskeyChange
    address: str
    name: str
    at: datetime
