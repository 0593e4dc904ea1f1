"""Replies (RFC 5321 section 4.2), each with its enhanced status code (RFC 3463, RFC 2034).

What the service refuses becomes a reply in one place, `refusal`. A text repeats
nothing that the client sent, which may be an address, or a key in the wrong place,
but the name of a file that is refused.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache, cached_property
from typing import Final

from pillarbox.domain.errors import ServiceError, ValidationFailed

#: RFC 5321 section 4.5.3.1.5: octets of a reply line with code and CRLF.
_MAX_LINE: Final = 512
#: What the text of a reply may not have (RFC 5321 section 4.2): controls, and beyond ASCII.
_NOT_SAID: Final = re.compile(r"[^ -~]")
#: The first digit from which on a reply says that the client did something wrong.
_PERMANENT: Final = 500


class AfterReply(Enum):
    """What the connection does once a reply is written."""

    GO_ON = auto()
    START_TLS = auto()
    CLOSE = auto()


@dataclass(frozen=True)
class Reply:
    """One reply; `status` is empty where RFC 2034 section 4 has none (greeting, EHLO, 3xx)."""

    code: int
    status: str
    lines: tuple[str, ...]
    then: AfterReply = AfterReply.GO_ON

    @cached_property
    def wire(self) -> bytes:
        """The octets; every line but the last has a hyphen after its code."""
        status = f"{self.status} " if self.status else ""
        *others, last = [f"{status}{line}"[: _MAX_LINE - len("250 \r\n")] for line in self.lines]
        text = "".join(f"{self.code}-{line}\r\n" for line in others)
        return f"{text}{self.code} {last}\r\n".encode("ascii")

    @property
    def refuses(self) -> bool:
        """Whether it says for good that a command was wrong."""
        return self.code >= _PERMANENT


def _reply(code: int, status: str, text: str, then: AfterReply = AfterReply.GO_ON) -> Reply:
    return Reply(code, status, (text,), then)


# --- the dialogue (RFC 5321 section 4.3.2) ------------------------------------------------------
READY_FOR_TLS: Final = _reply(220, "2.0.0", "Ready to start TLS", AfterReply.START_TLS)
BYE: Final = _reply(221, "2.0.0", "Bye", AfterReply.CLOSE)
AUTHENTICATED: Final = _reply(235, "2.7.0", "Authentication succeeded")
OK: Final = _reply(250, "2.0.0", "Ok")
SENDER_OK: Final = _reply(250, "2.1.0", "Sender ok")
RECIPIENT_OK: Final = _reply(250, "2.1.5", "Recipient ok")
NOT_VERIFIED: Final = _reply(252, "2.1.5", "Cannot verify; send the message and see")
HELP: Final = _reply(214, "2.0.0", "RFC 5321, RFC 6409, RFC 4954, RFC 3207")
START_CONTENT: Final = _reply(354, "", "End data with <CR><LF>.<CR><LF>")

# --- what a client did wrong --------------------------------------------------------------------
UNKNOWN_COMMAND: Final = _reply(500, "5.5.1", "Command not recognized")
LINE_TOO_LONG: Final = _reply(500, "5.5.2", "Line too long")
BARE_CONTROL: Final = _reply(
    500, "5.5.2", "Lines end with CR LF; neither occurs alone, nor does NUL", AfterReply.CLOSE
)
BARE_CONTROL_IN_CONTENT: Final = _reply(
    550, "5.5.2", "Lines end with CR LF; neither occurs alone, nor does NUL", AfterReply.CLOSE
)
CONTENT_LINE_TOO_LONG: Final = _reply(
    500, "5.5.2", "A line of the message is longer than 998 octets (RFC 5321 4.5.3.1.6)"
)
BAD_ARGUMENTS: Final = _reply(501, "5.5.4", "Syntax error in the arguments")
BAD_SENDER: Final = _reply(501, "5.1.7", "Not the address of a mailbox")
BAD_RECIPIENT: Final = _reply(501, "5.1.3", "Not the address of a mailbox")
BAD_BASE64: Final = _reply(501, "5.5.2", "Not the base64 of a response")
AUTH_CANCELLED: Final = _reply(501, "5.7.0", "Authentication cancelled")
NOT_IMPLEMENTED: Final = _reply(502, "5.5.1", "Command not implemented")
BAD_SEQUENCE: Final = _reply(503, "5.5.1", "Bad sequence of commands")
UNKNOWN_MECHANISM: Final = _reply(504, "5.5.4", "The mechanisms are PLAIN and LOGIN")
TLS_REQUIRED: Final = _reply(530, "5.7.0", "Must issue a STARTTLS command first")
AUTH_REQUIRED: Final = _reply(530, "5.7.0", "Authentication required")
AUTH_FAILED: Final = _reply(
    535, "5.7.8", "Authentication failed: the user is apikey, the password a live API key"
)
SENDER_REFUSED: Final = _reply(550, "5.7.1", "Not a verified sender of this account")
TOO_LARGE: Final = _reply(552, "5.3.4", "Message too large")
TOO_LARGE_BY_FAR: Final = _reply(552, "5.3.4", "Message too large", AfterReply.CLOSE)
NON_ASCII_ADDRESS: Final = _reply(553, "5.6.7", "Addresses must be ASCII")
UNKNOWN_PARAMETER: Final = _reply(555, "5.5.4", "Parameter not recognized")

# --- what may go better later -------------------------------------------------------------------
TOO_MANY_CONNECTIONS: Final = _reply(
    421, "4.7.0", "Too many connections, or failed logins, from your address", AfterReply.CLOSE
)
SERVER_FULL: Final = _reply(421, "4.3.2", "Too many connections; try again later", AfterReply.CLOSE)
TOO_MANY_FAILURES: Final = _reply(421, "4.7.0", "Too many failed logins", AfterReply.CLOSE)
TOO_MANY_COMMANDS: Final = _reply(
    421, "4.7.0", "Too many errors or idle commands", AfterReply.CLOSE
)
KEY_WITHDRAWN: Final = _reply(421, "4.7.0", "The API key is not valid any more", AfterReply.CLOSE)
TIMED_OUT: Final = _reply(421, "4.4.2", "Timed out", AfterReply.CLOSE)
SHUTTING_DOWN: Final = _reply(421, "4.3.2", "Shutting down; connect again", AfterReply.CLOSE)
OUT_OF_MEMORY: Final = _reply(452, "4.3.1", "Too much mail in transit; try again later")
TOO_MANY_RECIPIENTS: Final = _reply(452, "4.5.3", "A message takes at most 50 recipients")
AUTH_UNAVAILABLE: Final = _reply(454, "4.7.0", "Authentication is out of order for the moment")
OUT_OF_ORDER: Final = _reply(451, "4.3.0", "Out of order for the moment; nothing was sent")

#: The service's codes (contract section 7) in the words of SMTP.
_REFUSALS: Final[Mapping[str, tuple[int, str]]] = {
    "invalid_recipient": (550, "5.1.2"),
    "recipient_suppressed": (550, "5.7.1"),
    "recipient_limit_exceeded": (452, "4.5.3"),
    "attachment_type_not_allowed": (554, "5.7.1"),
    "attachment_too_large": (552, "5.3.4"),
    "too_many_attachments": (554, "5.7.1"),
    "no_verified_sender": (550, "5.7.1"),
    "idempotency_key_mismatch": (554, "5.5.0"),
    "idempotency_in_flight": (451, "4.5.0"),
    "request_too_large": (552, "5.3.4"),
    "validation_failed": (554, "5.6.0"),
    "rate_limit_exceeded": (451, "4.7.1"),
    "daily_limit_exceeded": (452, "4.7.1"),
    "monthly_limit_exceeded": (452, "4.7.1"),
}

#: Why a recipient is refused, where SMTP tells it apart (RFC 7505 section 4.1, RFC 3463).
_RECIPIENT_REFUSALS: Final[Mapping[str, tuple[int, str]]] = {
    "null_mx": (556, "5.1.10"),
    "syntax": (501, "5.1.3"),
}
_LOOP: Final = (554, "5.4.6")

#: What a key that stopped working in the middle of a session comes to.
KEY_FAULTS: Final = frozenset({"invalid_api_key", "scope_required", "upgrade_required"})


@cache
def greeting(host: str) -> Reply:
    """The first thing said (RFC 5321 section 4.2)."""
    return _reply(220, "", f"{host} ESMTP Pillarbox")


@cache
def hello(host: str, extensions: tuple[str, ...] = ()) -> Reply:
    """The answer to EHLO: a line each; to HELO without extensions."""
    return Reply(250, "", (host, *extensions))


def queued(message_id: str) -> Reply:
    """The promise: the message is committed, and found in the history under this id."""
    return _reply(250, "2.0.0", f"Ok: queued as {message_id}")


def challenge(text: str) -> Reply:
    """A challenge of SASL, in base64 already (RFC 4954 section 4)."""
    return _reply(334, "", text)


def refusal(error: ServiceError) -> Reply:
    """What the service refused, as a reply; what is not the client's doing is a 451."""
    if error.code in KEY_FAULTS:
        return KEY_WITHDRAWN
    if error.code not in _REFUSALS:
        return OUT_OF_ORDER
    code, status = _REFUSALS[error.code]
    if error.code == "invalid_recipient":
        code, status = _recipient_refusal(error)
    elif isinstance(error, ValidationFailed) and error.faults[0].code == "mail_loop":
        code, status = _LOOP
    return _reply(code, status, _NOT_SAID.sub("?", " ".join(error.message.split())))


def _recipient_refusal(error: ServiceError) -> tuple[int, str]:
    """The first refused recipient's; the whole message is refused with it."""
    listed = (error.details or {}).get("recipients")
    first = listed[0] if isinstance(listed, list) and listed else None
    reason = first.get("code") if isinstance(first, dict) else None
    return _RECIPIENT_REFUSALS.get(str(reason), _REFUSALS["invalid_recipient"])
