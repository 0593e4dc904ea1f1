"""Tell the parts that are the form of a message, such as its signature, from files."""

import re
from typing import Final

from pillarbox.mime.content import MimePart, first_octets
from pillarbox.mime.parameters import StructuredValue

#: What a report says to programs, and the message that it is about (RFC 6522, RFC 6533).
_REPORTED: Final = re.compile(
    r"message/(?:global-)?(?:delivery-status|disposition-notification)"
    r"|text/rfc822-headers|message/global-headers|message/rfc822|message/global"
)
#: RFC 3156 section 5 and RFC 8551 section 3.5, with the name that older programs write.
_SIGNATURE: Final = re.compile(r"application/(?:pgp|(?:x-)?pkcs7)-signature")
#: RFC 3156 section 4.
_ENCRYPTED: Final = {1: "application/pgp-encrypted", 2: "application/octet-stream"}
_ARMOR: Final = b"-----BEGIN PGP MESSAGE-----"
#: What has another extension could be opened as a file.
_NAME: Final = re.compile(r"[^.]*|.*\.(?:p7s|asc|sig|pgp|eml|txt)", re.IGNORECASE | re.ASCII)


def is_form(
    octets: bytes | bytearray, part: MimePart, container: StructuredValue, number: int
) -> bool:
    """Return whether a part is no file, by its place: its number, from 1, in a multipart."""
    kind = part.content_type
    match container.value:
        case "multipart/report":
            found = number > 1 and _REPORTED.fullmatch(kind) is not None
        case "multipart/signed":
            protocol = container.text(b"protocol").decode("latin-1").lower()
            found = (number, kind) == (2, protocol) and _SIGNATURE.fullmatch(kind) is not None
        case "multipart/encrypted":
            found = kind == _ENCRYPTED.get(number) and (
                number == 1 or first_octets(octets, part, 64).lstrip().startswith(_ARMOR)
            )
        case "multipart/alternative":
            found = kind == "text/x-amp-html" and part.disposition != "attachment"
        case _:
            found = False
    return found and all(map(_NAME.fullmatch, part.filenames))
