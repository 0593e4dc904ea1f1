"""Signing in: one-time codes that are bound to a browser, one-time links, and limits.

A flow begins when a browser asks for a code. Its text has an id, which the link in the email
contains too, the digest of the address, under which its record is stored, and a secret, which only
this browser has. The code is checked together with the secret, so it works nowhere else. Each flow
has a record of its own, so a stranger's request leaves the code of the address's owner alone.
"""

import hmac
import re
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import new_token
from pillarbox.domain.sign_in.session import digest_of, user_digest

#: How long a code and its flow are valid.
CODE_TIME: Final = timedelta(minutes=10)
CODE_LENGTH: Final = 6
#: Digits of a code that cannot be guessed.
LONG_CODE_LENGTH: Final = 10
#: The codes that are checked in one flow.
MAX_ATTEMPTS: Final = 5
#: How long a link of the operator's command is valid.
LINK_TIME: Final = timedelta(hours=1)
#: How long the link of an invitation is valid.
INVITATION_TIME: Final = timedelta(days=7)

_FLOW_ID_LENGTH: Final = 12
_SECRET_LENGTH: Final = 32
_FLOW: Final = re.compile(
    rf"([0-9a-z]{{{_FLOW_ID_LENGTH}}})\.([0-9a-f]{{64}})\.([0-9a-z]{{{_SECRET_LENGTH}}})"
)

HOUR: Final = timedelta(hours=1)
MINUTE: Final = timedelta(minutes=1)
#: The most codes that one address gets in an hour for requests from one block of IP addresses. So
#: a stranger does not use up those of the address's owner.
PER_ADDRESS_AND_BLOCK: Final = 5
#: The most that it gets in an hour in all.
PER_ADDRESS: Final = 15
#: The most codes of `CODE_LENGTH` that it gets in a day; the others are long. With the attempts of
#: each, this bounds how often a code can be guessed: 25 of a million in a day.
SHORT_PER_DAY: Final = 5
#: The most codes in a day that an address gets whose reader has stopped mail of the service, for
#: requests from one block of IP addresses and in all. A stranger uses up those of its own network.
PER_UNWILLING_AND_BLOCK: Final = 3
PER_UNWILLING: Final = 30
#: The most codes that one block of IP addresses asks for in an hour, and in a minute.
PER_BLOCK: Final = 20
PER_BLOCK_AND_MINUTE: Final = 3


@dataclass(frozen=True, slots=True)
class FlowToken:
    """The text of a flow, in its parts."""

    flow_id: str
    user_digest: str
    secret: str = field(repr=False)

    def __str__(self) -> str:
        """Write it as the browser gets it."""
        return f"{self.flow_id}.{self.user_digest}.{self.secret}"

    def code_hash(self, code: str) -> str:
        """Return the hash of a code, which cannot be checked without the secret."""
        return hmac.digest(self.secret.encode(), code.encode(), "sha256").hex()


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """The record of a flow. `digest` is that of its secret."""

    user_digest: str
    digest: str
    address: str
    code_hash: str
    expires_at: datetime

    @property
    def at(self) -> datetime:
        """Return when the flow began."""
        return self.expires_at - CODE_TIME

    def accepts(self, token: FlowToken, code: str) -> bool:
        """Return whether a code is right, in a time that does not depend on it."""
        return hmac.compare_digest(self.code_hash, token.code_hash(code))


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The record of a one-time link; that of an invitation has the account."""

    address: str
    at: datetime
    expires_at: datetime
    account_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRequest:
    """A code for the worker to send: to a user, or to anybody who asks for a preview key."""

    flow_id: str
    address: str
    code: str = field(repr=False)
    at: datetime
    for_preview: bool = False
    #: The network that asked for it (`strangers.network_party`).
    party: str = ""


def invalid_code() -> ServiceError:
    """Return the error for a code or a link that does not work. It tells no reason."""
    return ServiceError(
        "invalid_code",
        "The code does not work: it is wrong, used or too old, or is for another browser.",
    )


def new_flow(
    address: str,
    now: datetime,
    preview_digest: str | None = None,
    *,
    length: int = CODE_LENGTH,
    party: str = "",
) -> tuple[FlowToken, Flow, CodeRequest]:
    """Begin a flow with a new code.

    Args:
        preview_digest: for a preview key, the digest of the folded address.
        party: the network that asks.
    """
    digest = preview_digest or user_digest(address)
    token = FlowToken(new_token(_FLOW_ID_LENGTH), digest, new_token(_SECRET_LENGTH))
    code = f"{secrets.randbelow(10**length):0{length}}"
    flow = Flow(
        user_digest=digest,
        digest=digest_of(token.secret),
        address=address,
        code_hash=token.code_hash(code),
        expires_at=now + CODE_TIME,
    )
    request = CodeRequest(
        flow_id=token.flow_id,
        address=address,
        code=code,
        at=now,
        for_preview=preview_digest is not None,
        party=party,
    )
    return token, flow, request


def parse_flow(text: str) -> FlowToken:
    match = _FLOW.fullmatch(text)
    if match is None:
        raise invalid_code()
    return FlowToken(match[1], match[2], match[3])


def new_link() -> str:
    return new_token(_SECRET_LENGTH)
