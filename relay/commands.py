"""Commands and their arguments (RFC 5321 section 4.1), read strictly.

What is not in the grammar is refused, not guessed at: two programs that guess
differently are how mail gets past a check.
"""

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from pillarbox.domain.address import AddressSyntaxError, parse_address
from relay import replies
from relay.replies import Reply

_COMMAND: Final = re.compile(rb"([A-Za-z]{4,8})(?: (.*))?", re.DOTALL)
#: RFC 5321 section 4.1.2: a path, then esmtp-params.
_MAIL: Final = re.compile(rb"FROM:<([^<>]*)>((?: [^ ]+)*)", re.IGNORECASE | re.DOTALL)
_RCPT: Final = re.compile(rb"TO:<([^<>]*)>((?: [^ ]+)*)", re.IGNORECASE | re.DOTALL)
_PARAMETER: Final = re.compile(rb"([A-Za-z0-9][A-Za-z0-9-]*)(?:=([!-<>-~]+))?")
_SIZE: Final = re.compile(rb"[0-9]{1,20}")
#: A domain or address literal, as far as its characters go.
_HOST: Final = re.compile(rb"[!-~]{1,255}")


class CommandRejected(Exception):
    """An argument that is not taken, with the reply that says so."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.lines[0])
        self.reply = reply


class Command(NamedTuple):
    """A verb in upper case and its argument; None when there is not even a space."""

    verb: bytes
    argument: bytes | None


@dataclass(frozen=True, slots=True)
class MailCommand:
    """MAIL: the reverse-path, None for the null one, and the size that is announced."""

    sender: str | None
    size: int


def parse_command(line: bytes) -> Command | None:
    """Take a line apart; None when it is no command at all. Space at its end is let pass."""
    match = _COMMAND.fullmatch(line.rstrip(b" \t"))
    return None if match is None else Command(match[1].upper(), match[2])


def parse_host(argument: bytes | None) -> None:
    """The argument of EHLO; nothing is believed of it, so only its form matters.

    Raises:
        Refused: it is not there or not of visible ASCII.
    """
    if argument is None or not _HOST.fullmatch(argument):
        raise CommandRejected(replies.BAD_ARGUMENTS)


def parse_mail(argument: bytes | None) -> MailCommand:
    """The argument of MAIL (RFC 5321 4.1.1.2, SIZE of RFC 1870, BODY of RFC 6152).

    Raises:
        Refused: it is not of that form, or has parameters that were not announced.
    """
    match = _MAIL.fullmatch(argument or b"")
    if match is None:
        raise CommandRejected(replies.BAD_ARGUMENTS)
    sender = _address(match[1], replies.BAD_SENDER) if match[1] else None
    parameters = _parameters(match[2])
    size = parameters.pop(b"SIZE", b"0") or b""
    if not _SIZE.fullmatch(size):
        raise CommandRejected(replies.BAD_ARGUMENTS)
    if (parameters.pop(b"BODY", b"7BIT") or b"").upper() not in {b"7BIT", b"8BITMIME"}:
        raise CommandRejected(replies.BAD_ARGUMENTS)
    # RFC 4954 section 5: whoever announces AUTH takes it here; nobody is trusted for it.
    parameters.pop(b"AUTH", None)
    if parameters:
        raise CommandRejected(replies.UNKNOWN_PARAMETER)
    return MailCommand(sender, int(size))


def parse_rcpt(argument: bytes | None) -> str:
    """The argument of RCPT (RFC 5321 section 4.1.1.3): the address it names.

    Raises:
        Refused: it is not of that form, names no mailbox, or has parameters.
    """
    match = _RCPT.fullmatch(argument or b"")
    if match is None:
        raise CommandRejected(replies.BAD_ARGUMENTS)
    address = _address(match[1], replies.BAD_RECIPIENT)
    if match[2]:
        raise CommandRejected(replies.UNKNOWN_PARAMETER)
    return address


def _address(path: bytes, fault: Reply) -> str:
    if not path.isascii():
        raise CommandRejected(replies.NON_ASCII_ADDRESS)
    try:
        return parse_address(path.decode("ascii"), str)
    except AddressSyntaxError as error:
        raise CommandRejected(fault) from error


def _parameters(text: bytes) -> dict[bytes, bytes | None]:
    parameters: dict[bytes, bytes | None] = {}
    for word in text.split():
        match = _PARAMETER.fullmatch(word)
        if match is None or match[1].upper() in parameters:
            raise CommandRejected(replies.BAD_ARGUMENTS)
        parameters[match[1].upper()] = match[2]
    return parameters
