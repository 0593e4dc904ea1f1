"""Replies (RFC 5321 section 4.2), each with its enhanced status code (RFC 3463, RFC 2034).

`refusal` is the only place that turns a ServiceError into a reply. Before the login a text repeats
nothing that the client sent, since that may be a key in the wrong place. After it, a text names
the address, parameter, field or file that is refused. `Reply.wire` lets no other character than
visible ASCII and blanks through.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cache, cached_property
from typing import Final

from pillarbox.application.sending.recipients import count_refused, refused_recipients
from pillarbox.domain.accounts.key_policy import SUSPENDED
from pillarbox.domain.errors import ServiceError, ValidationFailed
from pillarbox.domain.messages.mail import MAX_RECIPIENTS

#: RFC 5321 section 4.5.3.1.5: octets of a reply line, including code and CR LF.
_MAX_LINE: Final = 512
#: The characters that a reply may not contain (RFC 5321 section 4.2): controls and non-ASCII.
_FORBIDDEN: Final = re.compile(r"[^ -~]")
#: The same in an address, and the backslash that begins an encoded character.
_FORBIDDEN_IN_ADDRESS: Final = re.compile(r"[^ -\[\]-~]")
#: RFC 5321 section 4.5.3.1.3: octets of a path. An encoded address may be longer.
_MAX_PATH: Final = 256
#: A reply names at most this many refused recipients, each on a line of its own.
_MAX_NAMED: Final = 10
#: The first code of permanent failures.
_PERMANENT: Final = 500


class AfterReply(Enum):
    """The connection's action after it has written a reply."""

    CONTINUE = auto()
    START_TLS = auto()
    CLOSE = auto()


@dataclass(frozen=True)
class Reply:
    """One reply; `status` is empty where RFC 2034 section 4 allows none (greeting, EHLO, 3xx)."""

    code: int
    status: str
    lines: tuple[str, ...]
    then: AfterReply = AfterReply.CONTINUE

    @cached_property
    def wire(self) -> bytes:
        """The reply's octets. Every line but the last has a hyphen after its code."""
        status = f"{self.status} " if self.status else ""
        texts = [f"{status}{_FORBIDDEN.sub('?', ' '.join(line.split()))}" for line in self.lines]
        *others, last = [text[: _MAX_LINE - len("250 \r\n")] for text in texts]
        text = "".join(f"{self.code}-{line}\r\n" for line in others)
        return f"{text}{self.code} {last}\r\n".encode("ascii")

    @property
    def is_permanent_failure(self) -> bool:
        """Whether the reply rejects a command permanently."""
        return self.code >= _PERMANENT

    def about(self, address: str, reason: str) -> "Reply":
        """Return this reply with a text that names the address and the reason."""
        return replace(self, lines=(_line(address, reason),))


def _line(address: str, reason: str) -> str:
    """Return a line about an address; what is not ASCII is encoded as in RFC 6533 section 3.

    SMTPUTF8 is not announced, so that no client can ask for the address as it is written.
    """
    encoded = _FORBIDDEN_IN_ADDRESS.sub(lambda found: f"\\x{{{ord(found[0]):02X}}}", address)
    return f"<{encoded[:_MAX_PATH]}> {reason}"


def _reply(code: int, status: str, text: str, then: AfterReply = AfterReply.CONTINUE) -> Reply:
    return Reply(code, status, (text,), then)


# --- the dialogue (RFC 5321 section 4.3.2) ------------------------------------------------------
READY_FOR_TLS: Final = _reply(220, "2.0.0", "Ready to start TLS", AfterReply.START_TLS)
BYE: Final = _reply(221, "2.0.0", "Bye", AfterReply.CLOSE)
AUTHENTICATED: Final = _reply(235, "2.7.0", "Authentication succeeded")
OK: Final = _reply(250, "2.0.0", "Ok")
SENDER_OK: Final = _reply(250, "2.1.0", "Sender ok")
RECIPIENT_OK: Final = _reply(250, "2.1.5", "Recipient ok")
NOT_VERIFIED: Final = _reply(
    252, "2.1.5", "Cannot verify the address; the server will try to deliver"
)
HELP: Final = _reply(214, "2.0.0", "RFC 5321, RFC 6409, RFC 4954, RFC 3207")
START_CONTENT: Final = _reply(354, "", "End data with <CR><LF>.<CR><LF>")

# --- errors of the client -----------------------------------------------------------------------
UNKNOWN_COMMAND: Final = _reply(500, "5.5.1", "Command not recognized")
LINE_TOO_LONG: Final = _reply(500, "5.5.2", "Line too long")
BARE_CONTROL: Final = _reply(
    500,
    "5.5.2",
    "A line must end with CR LF and contain no other CR or LF, and no NUL",
    AfterReply.CLOSE,
)
BARE_CONTROL_IN_CONTENT: Final = _reply(
    550,
    "5.5.2",
    "A line must end with CR LF and contain no other CR or LF, and no NUL",
    AfterReply.CLOSE,
)
CONTENT_LINE_TOO_LONG: Final = _reply(
    500, "5.5.2", "A line of the message is longer than 998 octets (RFC 5321 4.5.3.1.6)"
)
BAD_ARGUMENTS: Final = _reply(501, "5.5.4", "Syntax error in the arguments")
NO_HOST: Final = _reply(501, "5.5.4", "EHLO and HELO need the name of your host")
BAD_MAIL: Final = _reply(501, "5.5.4", "Write MAIL FROM:<address>")
BAD_RCPT: Final = _reply(501, "5.5.4", "Write RCPT TO:<address>")
BAD_SENDER: Final = _reply(501, "5.1.7", "Not a mailbox address")
BAD_RECIPIENT: Final = _reply(501, "5.1.3", "Not a mailbox address")
BAD_BASE64: Final = _reply(501, "5.5.2", "Not a valid base64 response")
AUTH_CANCELLED: Final = _reply(501, "5.7.0", "Authentication cancelled")
NOT_IMPLEMENTED: Final = _reply(502, "5.5.1", "Command not implemented")
BAD_SEQUENCE: Final = _reply(503, "5.5.1", "Bad sequence of commands")
UNKNOWN_MECHANISM: Final = _reply(504, "5.5.4", "Use AUTH PLAIN or AUTH LOGIN")
TLS_REQUIRED: Final = _reply(530, "5.7.0", "Must issue a STARTTLS command first")
AUTH_REQUIRED: Final = _reply(530, "5.7.0", "Authentication required")
AUTH_FAILED: Final = _reply(
    535, "5.7.8", "Authentication failed: use the user apikey and a live API key as the password"
)
#: RFC 5248 section 2.4.
ACCOUNT_SUSPENDED: Final = _reply(525, "5.7.13", SUSPENDED)
LACKS_RECIPIENT: Final = _reply(550, "5.1.3", "A recipient was refused, so nothing is sent")
TOO_LARGE: Final = _reply(552, "5.3.4", "The message is larger than the SIZE in the reply to EHLO")
TOO_LARGE_BY_FAR: Final = replace(TOO_LARGE, then=AfterReply.CLOSE)
NON_ASCII_ADDRESS: Final = _reply(553, "5.6.7", "Addresses must be ASCII")
UNKNOWN_PARAMETER: Final = _reply(555, "5.5.4", "Parameter not recognized")

# --- temporary failures -------------------------------------------------------------------------
TOO_MANY_CONNECTIONS: Final = _reply(
    421, "4.7.0", "Too many connections from your address", AfterReply.CLOSE
)
TOO_MANY_OF_ACCOUNT: Final = _reply(
    421, "4.7.0", "Too many connections of your account", AfterReply.CLOSE
)
SERVER_FULL: Final = _reply(421, "4.3.2", "Too many connections; try again later", AfterReply.CLOSE)
TOO_MANY_FAILURES: Final = _reply(421, "4.7.0", "Too many failed logins", AfterReply.CLOSE)
TOO_MANY_COMMANDS: Final = _reply(
    421, "4.7.0", "Too many errors or idle commands", AfterReply.CLOSE
)
KEY_NO_LONGER_VALID: Final = _reply(
    421, "4.7.0", "The API key is no longer valid", AfterReply.CLOSE
)
TIMED_OUT: Final = _reply(421, "4.4.2", "Timed out", AfterReply.CLOSE)
SHUTTING_DOWN: Final = _reply(421, "4.3.2", "Shutting down; connect again", AfterReply.CLOSE)
OUT_OF_MEMORY: Final = _reply(452, "4.3.1", "Too many messages in progress; try again later")
SLOWEST_MESSAGE: Final = _reply(
    421, "4.3.2", "Too many messages in progress, and yours was slow; try again", AfterReply.CLOSE
)
TOO_SLOW: Final = _reply(421, "4.4.2", "The message arrived too slowly", AfterReply.CLOSE)
TOO_MANY_RECIPIENTS: Final = _reply(
    452, "4.5.3", f"An email can have at most {MAX_RECIPIENTS} recipients"
)
AUTH_UNAVAILABLE: Final = _reply(454, "4.7.0", "Authentication is temporarily unavailable")
TEMPORARY_FAILURE: Final = _reply(451, "4.3.0", "Temporary failure; try again later")

#: Error code of the service -> reply. Generated from openapi/errors.py by `make openapi`.
_REFUSALS: Final[Mapping[str, tuple[int, str]]] = {
    "invalid_recipient": (550, "5.1.2"),
    "recipient_suppressed": (550, "5.7.1"),
    "recipient_limit_exceeded": (452, "4.5.3"),
    "attachment_type_not_allowed": (554, "5.7.1"),
    "attachment_too_large": (552, "5.3.4"),
    "too_many_attachments": (554, "5.7.1"),
    "no_verified_sender": (550, "5.7.1"),
    "recipient_not_allowed": (550, "5.7.1"),
    "sending_paused": (450, "4.7.1"),
    "idempotency_key_mismatch": (554, "5.5.0"),
    "idempotency_in_flight": (451, "4.5.0"),
    "request_too_large": (552, "5.3.4"),
    "validation_failed": (554, "5.6.0"),
    "rate_limit_exceeded": (451, "4.7.1"),
    "daily_limit_exceeded": (452, "4.7.1"),
    "monthly_limit_exceeded": (452, "4.7.1"),
}

#: The reasons for refusing a recipient that have their own reply (RFC 7505 section 4.1, RFC 3463).
_RECIPIENT_REFUSALS: Final[Mapping[str, tuple[int, str]]] = {
    "null_mx": (556, "5.1.10"),
    "syntax": (501, "5.1.3"),
}
_LOOP: Final = (554, "5.4.6")

#: The service's error codes for a key that may not send.
KEY_ERRORS: Final = frozenset(
    {"invalid_api_key", "scope_required", "upgrade_required", "confirmation_required"}
)


@cache
def greeting(host: str) -> Reply:
    """Return the greeting (RFC 5321 section 4.2)."""
    return _reply(220, "", f"{host} ESMTP Pillarbox")


@cache
def hello(host: str, extensions: tuple[str, ...] = ()) -> Reply:
    """Return the reply to EHLO, with a line for each extension, or the reply to HELO."""
    return Reply(250, "", (host, *extensions))


def queued(message_id: str) -> Reply:
    """Return the promise: the message is committed, and the history shows it under this id."""
    return _reply(250, "2.0.0", f"Ok: queued as {message_id}")


def lacks_recipients(refused: Sequence[str]) -> Reply:
    """Return the refusal of a message some of whose recipients were refused, each with its reason.

    Programs show their user the last reply.
    """
    return replace(LACKS_RECIPIENT, lines=(*refused[:_MAX_NAMED], *LACKS_RECIPIENT.lines))


def challenge(text: str) -> Reply:
    """Return a SASL challenge (RFC 4954 section 4); `text` is base64."""
    return _reply(334, "", text)


def refusal(error: ServiceError) -> Reply:
    """Return the reply to a refusal. An error that the client did not cause becomes a 451."""
    if error.code in KEY_ERRORS:
        return KEY_NO_LONGER_VALID
    if error.code == "account_suspended":
        return ACCOUNT_SUSPENDED
    if error.code not in _REFUSALS:
        return TEMPORARY_FAILURE
    code, status = _REFUSALS[error.code]
    if error.code == "invalid_recipient":
        code, status = _recipient_refusal(error)
    elif isinstance(error, ValidationFailed) and error.errors[0].code == "mail_loop":
        code, status = _LOOP
    refused = refused_recipients(error.details)
    if not refused:
        return _reply(code, status, error.message)
    named = [_line(*each) for each in refused[:_MAX_NAMED]]
    return Reply(code, status, (*named, f"{count_refused(len(refused))}; nothing was sent."))


def _recipient_refusal(error: ServiceError) -> tuple[int, str]:
    """Return the code of the refused recipients. All lines have the same (RFC 2034 section 4)."""
    listed = (error.details or {}).get("recipients")
    reasons = {
        str(item.get("code"))
        for item in (listed if isinstance(listed, list) else [])
        if isinstance(item, dict)
    }
    general = _REFUSALS["invalid_recipient"]
    return _RECIPIENT_REFUSALS.get(reasons.pop(), general) if len(reasons) == 1 else general
