"""Says whether a message that was accepted can be sent, and is what it seems to be.

It shares no parser with the service: the SES stand-in has its own, and the rest is the standard
library's.
"""

from collections.abc import Iterator
from email import message_from_bytes
from email.errors import CloseBoundaryNotFoundDefect
from email.message import Message
from email.utils import collapse_rfc2231_value
from typing import Final

from local.ses.checks import check_message
from local.ses.errors import SesError
from local.ses.headers import decoded
from pillarbox.domain.messages.attachment import ALLOWED_TYPES
from pillarbox.domain.messages.filename import UNSUPPORTED_EXTENSIONS

_TEXT: Final = frozenset({"text/plain", "text/html"})
_PROGRAMS: Final = (b"MZ", b"\x7fELF")


def faults_in(raw: bytes) -> list[str]:
    """Return why SES would refuse a message, or why it would mislead its recipients."""
    try:
        check_message(raw)
    except SesError as error:
        return [error.message]
    message = message_from_bytes(raw)
    return [fault for part in message.walk() for fault in _faults_of(part)]


def _faults_of(part: Message) -> Iterator[str]:
    for defect in part.defects:
        # A multipart that just ends is read alike by all programs.
        if not isinstance(defect, CloseBoundaryNotFoundDefect):
            yield f"defect: {type(defect).__name__}"
    if part.is_multipart():
        if part.get_content_maintype() != "multipart":
            yield f"a message within the message: {part.get_content_type()}"
        return
    names = list(_names_of(part))
    for name in names:
        extension = name.strip(" .\t").rpartition(".")[2].lower()
        if extension in UNSUPPORTED_EXTENSIONS:
            yield f"the name of a program: {name!r}"
    is_text = part.get_content_type() in _TEXT and not names
    if not is_text and part.get_content_type() not in ALLOWED_TYPES:
        yield f"a type that is not allowed: {part.get_content_type()}"
    payload = part.get_payload(decode=True)
    if not is_text and isinstance(payload, bytes) and payload.startswith(_PROGRAMS):
        yield "a program"


def _names_of(part: Message) -> Iterator[str]:
    for header in ("content-disposition", "content-type"):
        for parameter in ("filename", "name"):
            value = part.get_param(parameter, None, header)
            if value is not None:
                yield decoded(collapse_rfc2231_value(value))
