"""What a file over SMTP is. Programs choose its label, and not all of them know the usual one."""

import re
from collections.abc import Sequence
from typing import Final

from pillarbox.domain.messages.attachment import TYPES_BY_EXTENSION

#: How many octets tell text from other data (mimesniff.spec.whatwg.org, "resource header").
HEADER_LENGTH: Final = 1_445

#: Former and invented names of allowed types, by the extension of the type.
_OTHER_NAMES: Final = {
    "pdf": "application/x-pdf application/acrobat text/pdf",
    "ics": "application/ics application/calendar text/ics text/x-vcalendar",
    "png": "image/x-png",
    "jpg": "image/jpg image/pjpeg image/x-jpeg",
    "gif": "image/x-gif",
    "webp": "image/x-webp",
    "csv": "application/csv application/x-csv text/x-csv"
    " text/comma-separated-values text/x-comma-separated-values",
    "doc": "application/x-msword application/vnd.msword",
    "xls": "application/excel application/msexcel application/x-excel application/x-msexcel",
    "ppt": "application/mspowerpoint application/powerpoint application/x-mspowerpoint",
}
_TYPES: Final = {
    label: TYPES_BY_EXTENSION[extension]
    for extension, labels in _OTHER_NAMES.items()
    for label in labels.split()
}
#: Labels of programs that do not know what the file is.
_GENERIC: Final = re.compile(
    r"(?:application|binary)/(?:(?:x-)?octet-?stream|x-download|(?:x-)?force-download|download"
    r"|(?:x-)?unknown|(?:x-)?binary|save-as|save)"
)
_OLE2: Final = rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP: Final = rb"PK\x03\x04"
#: Without the octets that the same standard calls binary data.
_TEXT: Final = rb"[^\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]*+\Z"
_FIRST_OCTETS: Final = {
    "pdf": rb"%PDF-",
    **dict.fromkeys(("ics", "txt", "csv"), _TEXT),
    "png": rb"\x89PNG\r\n\x1a\n",
    **dict.fromkeys(("jpg", "jpeg"), rb"\xff\xd8\xff"),
    "gif": rb"GIF8[79]a",
    "webp": rb"RIFF.{4}WEBP",
    **dict.fromkeys(("doc", "xls", "ppt"), _OLE2),
    **dict.fromkeys(("docx", "xlsx", "pptx"), _ZIP),
}


def is_generic(label: str) -> bool:
    """Return whether a type in lower case says nothing, such as application/octet-stream."""
    return _GENERIC.fullmatch(label) is not None


def type_of(label: str) -> str:
    """Return the allowed type that a type in lower case is another name of, or else itself."""
    return _TYPES.get(label, label)


def type_of_name(names: Sequence[str], header: bytes) -> str | None:
    """Return the type of a file by the extension that all its names have.

    None if they have none of an allowed type, or if the file does not begin as this type does.
    """
    extensions = {name.rpartition(".")[2].lower() for name in names}
    extension = extensions.pop() if len(extensions) == 1 else ""
    begins = _FIRST_OCTETS.get(extension)
    if begins is None or not re.match(begins, header, re.DOTALL):
        return None
    return TYPES_BY_EXTENSION[extension]
