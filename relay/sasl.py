"""AUTH PLAIN and AUTH LOGIN (RFC 4954, RFC 4616), which transmit a user and a password.

An exchange is a generator: it yields challenges, receives responses, and returns the
credentials.
"""

import binascii
from base64 import b64encode
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Final

from pillarbox.domain.messages.attachment import is_canonical_base64

#: The user names; the API key identifies the account (contract 4.12). With the second one each
#: recipient is refused for itself, as mail servers expect it.
USERS: Final = {"apikey": False, "apikey+each": True}


@dataclass(frozen=True, slots=True)
class Credentials:
    """The user and password that a client sent; not printed, since the password is an API key."""

    user: str
    password: str

    def __repr__(self) -> str:
        """Return only the class name."""
        return "Credentials(…)"


class BadResponse(Exception):
    """A response is not base64, or does not have the mechanism's form."""


class ExchangeCancelled(Exception):
    """The client sent "*" (RFC 4954 section 4)."""


type Exchange = Generator[str, bytes, Credentials]


def plain(initial: bytes | None) -> Exchange:
    """Run PLAIN (RFC 4616): authorization identity, user and password, separated by NULs."""
    response = _decode((yield "") if initial is None else initial)
    parts = response.split("\0")
    if len(parts) != len(("authzid", "authcid", "passwd")):
        raise BadResponse
    authorize_as, user, password = parts
    # A request to act as another user gets the same reply as a wrong user.
    return Credentials(user if authorize_as in {"", user} else "", password)


def login(initial: bytes | None) -> Exchange:
    """Run LOGIN (draft-murchison-sasl-login): ask for the user, then for the password."""
    user = _decode((yield _encode("Username:")) if initial is None else initial)
    password = _decode((yield _encode("Password:")))
    return Credentials(user, password)


MECHANISMS: Final[dict[bytes, Callable[[bytes | None], Exchange]]] = {
    b"PLAIN": plain,
    b"LOGIN": login,
}


def _encode(text: str) -> str:
    return b64encode(text.encode()).decode()


def _decode(response: bytes) -> str:
    if response == b"*":
        raise ExchangeCancelled
    text = response.decode("ascii", "replace")
    if not is_canonical_base64(text):
        raise BadResponse
    # Keys are ASCII, so octets that are not UTF-8 only make the password wrong.
    return binascii.a2b_base64(text).decode("utf-8", "replace")
