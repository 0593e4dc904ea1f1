"""AUTH PLAIN and AUTH LOGIN (RFC 4954, RFC 4616), which carry a user and a password.

An exchange is a generator: it yields challenges, is sent responses, and returns
the credentials.
"""

import binascii
from base64 import b64encode
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Final

from pillarbox.domain.attachment import is_canonical_base64

#: The one user there is; who is calling, the API key tells (contract 4.12).
USER: Final = "apikey"


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a client says it is; not printed, since the password is a key."""

    user: str
    password: str

    def __repr__(self) -> str:
        """Name the class alone."""
        return "Credentials(…)"


class BadResponse(Exception):
    """A response that is no base64, or not of the mechanism's form."""


class ExchangeCancelled(Exception):
    """The client sent "*" (RFC 4954 section 4)."""


type Exchange = Generator[str, bytes, Credentials]


def plain(initial: bytes | None) -> Exchange:
    """RFC 4616: authorization identity, user and password, divided by NULs."""
    response = _decode((yield "") if initial is None else initial)
    parts = response.split("\0")
    if len(parts) != len(("authzid", "authcid", "passwd")):
        raise BadResponse
    authorize_as, user, password = parts
    # Whoever asks to act as another user gets what a wrong user gets.
    return Credentials(user if authorize_as in {"", user} else "", password)


def login(initial: bytes | None) -> Exchange:
    """The mechanism of draft-murchison-sasl-login: user and password, asked for in turn."""
    user = _decode((yield _prompt("Username:")) if initial is None else initial)
    password = _decode((yield _prompt("Password:")))
    return Credentials(user, password)


MECHANISMS: Final[dict[bytes, Callable[[bytes | None], Exchange]]] = {
    b"PLAIN": plain,
    b"LOGIN": login,
}


def _prompt(text: str) -> str:
    return b64encode(text.encode()).decode()


def _decode(response: bytes) -> str:
    if response == b"*":
        raise ExchangeCancelled
    text = response.decode("ascii", "replace")
    if not is_canonical_base64(text):
        raise BadResponse
    # Keys are ASCII: whatever is not becomes a wrong password.
    return binascii.a2b_base64(text).decode("utf-8", "replace")
