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
from pillarbox.domain.messages.attachment import ALLOWED_TYPES, UNSUPPORTED_EXTENSIONS

_TEXT: Final = frozenset({"text/plain", "text/html"})
#: Other names of allowed types that the messages of programs have here.
_ALSO_ALLOWED: Final = frozenset({"application/ics"})
#: What a multipart may have besides text and files.
_FORM: Final = {
    "multipart/report": ("message/delivery-status", "message/rfc822", "text/rfc822-headers"),
    "multipart/signed": ("application/pgp-signature", "application/pkcs7-signature"),
    "multipart/alternative": ("text/x-amp-html",),
}
_PROGRAMS: Final = (b"MZ", b"\x7fELF")


def faults_in(raw: bytes) -> list[str]:
    """Return why SES would refuse a message, or why it would mislead its recipients."""
    try:
        check_message(raw)
    except SesError as error:
        return [error.message]
    message = message_from_bytes(raw)
    return list(_faults_within(message, ()))


def _faults_within(part: Message, form: tuple[str, ...]) -> Iterator[str]:
    """Yield the faults of a part, which may have one of these types besides the allowed."""
    yield from _faults_of(part, form)
    # Python takes the fields of a delivery status for messages.
    if part.is_multipart() and part.get_content_type() != "message/delivery-status":
        for inner in part.get_payload():
            assert isinstance(inner, Message)
            yield from _faults_within(inner, _FORM.get(part.get_content_type(), ()))


def _faults_of(part: Message, form: tuple[str, ...]) -> Iterator[str]:
    for defect in part.defects:
        # A multipart that just ends is read alike by all programs.
        if not isinstance(defect, CloseBoundaryNotFoundDefect):
            yield f"defect: {type(defect).__name__}"
    if part.is_multipart():
        if part.get_content_maintype() != "multipart" and part.get_content_type() not in form:
            yield f"a message within the message: {part.get_content_type()}"
        return
    names = list(_names_of(part))
    for name in names:
        extension = name.strip(" .\t").rpartition(".")[2].lower()
        if extension in UNSUPPORTED_EXTENSIONS:
            yield f"the name of a program: {name!r}"
    is_text = part.get_content_type() in _TEXT and not names
    payload = part.get_payload(decode=True)
    allowed = {*ALLOWED_TYPES, *_ALSO_ALLOWED, *form}
    is_pdf = isinstance(payload, bytes) and payload.startswith(b"%PDF-")
    if not is_text and part.get_content_type() not in allowed and not is_pdf:
        yield f"a type that is not allowed: {part.get_content_type()}"
    if not is_text and isinstance(payload, bytes) and payload.startswith(_PROGRAMS):
        yield "a program"


def _names_of(part: Message) -> Iterator[str]:
    for header in ("content-disposition", "content-type"):
        for parameter in ("filename", "name"):
            value = part.get_param(parameter, None, header)
            if value is not None:
                yield decoded(collapse_rfc2231_value(value))
