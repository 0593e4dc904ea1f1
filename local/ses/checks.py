"""Checks a raw message as SES does before it accepts it.

The rules are from the developer guide of SES: "Amazon SES header fields", "Amazon SES unsupported
attachment types", the API's RawMessage, and the errors that it returns for malformed addresses.
The code shares neither lists nor a parser with the service, so that neither repeats the other's
mistakes.
"""

import codecs
import re
from collections.abc import Iterator
from email import message_from_bytes
from email.errors import (
    InvalidMultipartContentTransferEncodingDefect,
    MultipartInvariantViolationDefect,
    NoBoundaryInMultipartDefect,
    StartBoundaryNotFoundDefect,
)
from email.message import Message
from email.utils import collapse_rfc2231_value
from typing import Final

from local.ses.addresses import addresses_in, check_address
from local.ses.errors import bad_request
from local.ses.headers import decoded, header_fields
from local.ses.lists import SINGLE_FIELDS, SINGLE_RECIPIENT_FIELDS, UNSUPPORTED_TYPES

#: A MIME message of this size, before the API's own base64.
RAW_LIMIT: Final = 40 * 1024 * 1024
#: A line of over 998 characters without its line end (RFC 5322 section 2.1.1).
_LONG_LINE: Final = re.compile(rb"(?:\A|[\r\n])[^\r\n]{999}")
_HEADER_END: Final = re.compile(rb"(?:\A|\r?\n)\r?\n")
_HEADER_LINE: Final = re.compile(rb"[!-9;-~]+:.*|[ \t].*", re.DOTALL)
_SINGLE: Final = SINGLE_FIELDS | SINGLE_RECIPIENT_FIELDS
_ADDRESS_FIELDS: Final = frozenset({"from", "sender", "reply-to", "to", "cc", "bcc"})
#: Families of character sets that Python knows only in part.
_OTHER_CHARSETS: Final = ("euc-", "iso-", "unknown-8bit", "viscii", "windows-", "x-")
_MALFORMED: Final = (
    InvalidMultipartContentTransferEncodingDefect,
    MultipartInvariantViolationDefect,
    NoBoundaryInMultipartDefect,
    StartBoundaryNotFoundDefect,
)


def check_message(raw: bytes) -> tuple[tuple[str, str], ...]:
    """Return the header fields of a message that SES would accept."""
    if len(raw) > RAW_LIMIT:
        raise bad_request(f"Message length is more than {RAW_LIMIT} bytes long: '{len(raw)}'.")
    if _LONG_LINE.search(raw):
        raise bad_request("A line of the message is longer than 998 characters.")
    fields = header_fields(raw)
    names = [name.lower() for name, _ in fields]
    if "from" not in names:
        raise bad_request("Missing required header 'From'.")
    _check_header_lines(raw)
    for name in sorted(_SINGLE):
        if names.count(name) > 1:
            raise bad_request(f"Duplicate header '{name.title()}'.")
    for name, value in fields:
        if name.lower() in _ADDRESS_FIELDS:
            for address in addresses_in(value):
                check_address(address)
    _check_parts(raw)
    return fields


def _check_header_lines(raw: bytes) -> None:
    end = _HEADER_END.search(raw)
    if end is None:
        raise bad_request("The message has no empty line after its header.")
    for line in re.split(rb"\r?\n", raw[: end.start()]):
        if line.startswith(b":"):
            raise bad_request("Empty header names are illegal.")
        if not _HEADER_LINE.fullmatch(line):
            name = line.partition(b":")[0].decode("ascii", "replace")
            raise bad_request(f"Illegal header '{name}'.")


def _parts(part: Message) -> Iterator[Message]:
    yield part
    # Python takes the fields of a delivery status for messages.
    if part.is_multipart() and part.get_content_type() != "message/delivery-status":
        for inner in part.get_payload():
            yield from _parts(inner)  # type: ignore[arg-type]  # a list of messages


def _check_parts(raw: bytes) -> None:
    for part in _parts(message_from_bytes(raw)):
        if any(isinstance(defect, _MALFORMED) for defect in part.defects):
            raise bad_request("A multipart is not formatted properly.")
        if part.get_content_maintype() == "text":  # elsewhere it means nothing (RFC 2046 section 4)
            _check_charset(part.get_param("charset"))
        for read in (part.get_filename(), collapse_rfc2231_value(part.get_param("name", ""))):
            name = decoded(str(read or ""))
            _, dot, extension = name.rpartition(".")
            if dot and extension.strip().lower() in UNSUPPORTED_TYPES:
                raise bad_request(f"Illegal filename '{name}'.")


def _check_charset(value: object) -> None:
    if not isinstance(value, str) or value.lower().startswith(_OTHER_CHARSETS):
        return
    try:
        codecs.lookup(value.partition("(")[0].strip())  # without a comment
    except (LookupError, ValueError):
        raise bad_request(f"Unsupported encoding {value}.") from None
