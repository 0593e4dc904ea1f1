"""Commands and their arguments (RFC 5321 section 4.1), parsed strictly.

Anything outside the grammar is refused. If two programs guess differently what a
malformed command means, mail can get past a check.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from pillarbox.domain.address import AddressSyntaxError, parse_address
from relay import replies
from relay.replies import Reply

_COMMAND: Final = re.compile(rb"([A-Za-z]{4,8})(?: (.*))?", re.DOTALL)
#: RFC 5321 section 4.1.2: a path, then esmtp-params. Some clients write blanks after the colon, or
#: several between parameters. The path is in angle brackets, so nothing can be misread.
_MAIL: Final = re.compile(
    rb"FROM:[ \t]*<([^<>]*)>((?:[ \t]+[^ \t]+)*)", re.IGNORECASE | re.ASCII | re.DOTALL
)
_RCPT: Final = re.compile(
    rb"TO:[ \t]*<([^<>]*)>((?:[ \t]+[^ \t]+)*)", re.IGNORECASE | re.ASCII | re.DOTALL
)
_PARAMETER: Final = re.compile(rb"([A-Za-z0-9][A-Za-z0-9-]*)(?:=([!-<>-~]+))?")
_SIZE: Final = re.compile(rb"[0-9]{1,20}")


class CommandRejected(Exception):
    """A command is refused with `reply`."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.lines[0])
        self.reply = reply


class Command(NamedTuple):
    """A verb in upper case and its argument, which is None if no space follows the verb."""

    verb: bytes
    argument: bytes | None


@dataclass(frozen=True, slots=True)
class MailCommand:
    """MAIL: the reverse-path, None if it is the null one, and the announced size in octets."""

    sender: str | None
    size: int


def parse_command(line: bytes) -> Command | None:
    """Parse a line, ignoring white space at its end. Return None if it is not a command."""
    match = _COMMAND.fullmatch(line.rstrip(b" \t"))
    return None if match is None else Command(match[1].upper(), match[2])


def check_host(argument: bytes | None) -> None:
    """Check that EHLO has an argument. Clients send any name of their computer; none is used."""
    if not argument:
        raise CommandRejected(replies.NO_HOST)


def parse_mail(argument: bytes | None) -> MailCommand:
    """Parse the argument of MAIL (RFC 5321 4.1.1.2, SIZE of RFC 1870, BODY of RFC 6152)."""
    match = _MAIL.fullmatch(argument or b"")
    if match is None:
        raise CommandRejected(replies.BAD_MAIL)
    sender = _parse_path(match[1], replies.BAD_SENDER) if match[1] else None
    parameters = _parse_parameters(match[2])
    size = parameters.pop(b"SIZE", b"0") or b""
    if not _SIZE.fullmatch(size):
        raise CommandRejected(replies.BAD_ARGUMENTS)
    if (parameters.pop(b"BODY", b"7BIT") or b"").upper() not in {b"7BIT", b"8BITMIME"}:
        raise CommandRejected(replies.BAD_ARGUMENTS)
    # RFC 4954 section 5: a server that announces AUTH accepts this parameter. It is not trusted.
    parameters.pop(b"AUTH", None)
    if parameters:
        raise CommandRejected(_unknown(parameters))
    return MailCommand(sender, int(size))


def parse_rcpt(argument: bytes | None) -> str:
    """Return the address in the argument of RCPT (RFC 5321 section 4.1.1.3)."""
    match = _RCPT.fullmatch(argument or b"")
    if match is None:
        raise CommandRejected(replies.BAD_RCPT)
    address = _parse_path(match[1], replies.BAD_RECIPIENT)
    if parameters := _parse_parameters(match[2]):
        raise CommandRejected(_unknown(parameters))
    return address


def _parse_path(path: bytes, syntax_error: Reply) -> str:
    address = path.decode("utf-8", "replace")
    if not path.isascii():
        reason = "must be ASCII: an international domain is written with xn--"
        raise CommandRejected(replies.NON_ASCII_ADDRESS.about(address, reason))
    try:
        return parse_address(address, str)
    except AddressSyntaxError as error:
        raise CommandRejected(syntax_error.about(address, str(error))) from error


def _unknown(parameters: Iterable[bytes]) -> Reply:
    name = b", ".join(parameters).decode("ascii")
    text = f"{name}: not a parameter of this server; EHLO names its extensions"
    return replace(replies.UNKNOWN_PARAMETER, lines=(text,))


def _parse_parameters(text: bytes) -> dict[bytes, bytes | None]:
    parameters: dict[bytes, bytes | None] = {}
    for word in text.split():
        match = _PARAMETER.fullmatch(word)
        if match is None or match[1].upper() in parameters:
            raise CommandRejected(replies.BAD_ARGUMENTS)
        parameters[match[1].upper()] = match[2]
    return parameters
