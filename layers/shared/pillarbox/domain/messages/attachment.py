"""Attachments: the limits, types and names of contract sections 2.2, 8.2 and 8.3."""

import binascii
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from pillarbox.domain.errors import ServiceError, cut
from pillarbox.domain.messages.header_text import without_invisible

#: Contract 2.2, in characters.
MAX_FILENAME: Final = 255

#: "Amazon SES unsupported attachment types" in the developer guide of SES.
UNSUPPORTED_EXTENSIONS: Final = frozenset(
    """
    ade adp app asp bas bat cer chm cmd com cpl crt csh der exe fxp gadget hlp hta inf ins isp its
    js jse ksh lib lnk mad maf mag mam maq mar mas mat mau mav maw mda mdb mde mdt mdw mdz msc msh
    msh1 msh1xml msh2 msh2xml mshxml msi msp mst ops pcd pif plg prf prg ps1 ps1xml ps2 ps2xml psc1
    psc2 reg scf scr sct shb shs sys tmp url vb vbe vbs vps vsmacros vss vst vsw vxd ws wsc wsf wsh
    xnk
    """.split()  # noqa: SIM905  as a list it has 90 lines
)

#: Separators of paths and of Windows' streams, controls, and characters that show nothing or
#: change the direction. Persian and emoji need joiners and variation selectors.
_REFUSED: Final = (
    r"\u0000-\u001f/:\\\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
)
#: Blanks, dots, and what is invisible among the allowed characters.
_BLANK: Final = r" .\u00a0\u1680\u2000-\u200a\u200c\u200d\u202f\u205f\u2800\u3000\ufe00-\ufe0f"
#: Windows opens a device under these names, with any extension.
_DEVICE: Final = (
    r"(?:[cC][oO][nN]|[pP][rR][nN]|[aA][uU][xX]|[nN][uU][lL]"
    r"|(?:[cC][oO][mM]|[lL][pP][tT])[0-9\u00b9\u00b2\u00b3])"
)
#: Windows removes dots and blanks at the end. In any form of a name, some mail programs decode what
#: begins with "=?" (RFC 2047) and show another name. The syntax is also that of ECMA-262, because
#: the OpenAPI document has this pattern.
FILENAME_PATTERN: Final = (
    rf"^(?!{_DEVICE} *(?:\.|$))(?!.*=\?)(?=.*[^{_BLANK}])[^{_REFUSED}]*[^ .{_REFUSED}]$"
)
#: Compiled at its first use: most emails have no attachment.
_FILENAME: Final = FILENAME_PATTERN.replace("$", r"\Z")

#: What is wrong with a name that is not safe.
UNSAFE_NAME: Final = (
    'must be a plain file name: no path, no colon, no invisible character, no "=?", no dot or'
    " blank at the end, and no name of a device"
)

#: What programs may cut off at the end of a name. It is looked for at the start of each run only,
#: since a name in a message may have 60,000 dots.
_TAIL: Final = r"(?<![\s.'\"])[\s.'\"]++\Z"


def is_safe_filename(name: str) -> bool:
    """Return whether a file can be saved under this name, and the name shows what it is.

    Paths, devices of Windows, invisible characters, encoded-words, and dots or blanks at the end
    are not safe.
    """
    return len(name) <= MAX_FILENAME and re.match(_FILENAME, name) is not None


def unsupported_extension(name: str) -> str | None:
    """Return the extension if SES refuses files that have it, with a dot and in lower case.

    Programs shorten and normalise names, so that neither "a.EXE. " nor a name with an invisible
    character hides its extension.
    """
    # A replaced octet is nothing to a program that drops what it cannot decode.
    visible = unicodedata.normalize("NFKC", without_invisible(name).replace("\ufffd", ""))
    _, dot, extension = re.sub(_TAIL, "", visible).rpartition(".")
    extension = extension.strip().casefold()
    return f".{extension}" if dot and extension in UNSUPPORTED_EXTENSIONS else None


MAX_ATTACHMENTS: Final = 10
MAX_BYTES_EACH: Final = 5 * 1024 * 1024
MAX_BYTES_TOTAL: Final = 10 * 1024 * 1024

_OFFICE: Final = "application/vnd.openxmlformats-officedocument"
#: Contract 8.3, by the extensions of file names.
TYPES_BY_EXTENSION: Final = {
    "pdf": "application/pdf",
    "ics": "text/calendar",
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "txt": "text/plain",
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": f"{_OFFICE}.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    "ppt": "application/vnd.ms-powerpoint",
    "pptx": f"{_OFFICE}.presentationml.presentation",
}
ALLOWED_TYPES: Final = frozenset(TYPES_BY_EXTENSION.values())
_ALLOWED_EXTENSIONS: Final = ", ".join(TYPES_BY_EXTENSION)

#: Names of the Encoding Standard (encoding.spec.whatwg.org, "Names and labels") that files have:
#: SES refuses a text with another one.
_CHARSET: Final = (
    r"utf-8|us-ascii|utf-16(?:be|le)?|iso-8859-(?:[1-9]|1[0-6])|windows-(?:125[0-8]|874)|koi8-[ru]"
    r"|gbk|gb2312|gb18030|big5|euc-jp|euc-kr|iso-2022-jp|shift_jis"
)
#: A type in the form that `normal_type` gives it. `method` is that of a calendar (RFC 6047
#: section 2.4). The syntax is also that of ECMA-262.
CONTENT_TYPE_PATTERN: Final = (
    rf"^(?:{'|'.join(map(re.escape, sorted(ALLOWED_TYPES)))})"
    rf"(?:; charset=(?:{_CHARSET}))?(?:; method=[A-Za-z-]{{1,32}})?$"
).replace(r"\-", "-")
_PARAMETER: Final = r"""[ \t]*([\w-]+)[ \t]*=[ \t]*(?:"([^"\\]*)"|([^ \t";]*))[ \t]*(?:;|\Z)"""

#: How many bytes of a content type a response repeats. A valid one is shorter
#: (RFC 6838 section 4.2).
_MAX_LABEL: Final = 255

#: The first bytes of Windows and Linux programs. They count more than the content type.
_EXECUTABLE_MAGIC: Final = (b"MZ", b"\x7fELF")


class AttachedFile(Protocol):
    """A file in an email that was submitted over HTTP or SMTP."""

    @property
    def filename(self) -> str: ...

    @property
    def names(self) -> Sequence[str]:
        """Every name that some mail program shows for it."""

    @property
    def content_type(self) -> str: ...

    @property
    def size(self) -> int:
        """Decoded size in bytes."""

    @property
    def first_octets(self) -> bytes:
        """The first few decoded bytes, which identify a program."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """One file of an email.

    `content` is canonical base64 text (RFC 4648 section 4), as the caller sent
    it. The MIME message also carries base64, so the content is never decoded.
    """

    filename: str
    content_type: str
    content: str
    inline: bool = False
    content_id: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.filename,)

    @property
    def size(self) -> int:
        """Decoded size in bytes, from the length of the base64 text."""
        padding = self.content.count("=", -2) if self.content else 0
        return len(self.content) // 4 * 3 - padding

    @property
    def first_octets(self) -> bytes:
        """The first six decoded bytes."""
        return binascii.a2b_base64(self.content[:8])


def normal_type(text: str) -> str:
    """Return a content type in lower case, followed by its charset and its method, if it has them.

    The name is left out, because the file has one. A type with other parameters is returned as it
    is, and `check_attachments` refuses it.
    """
    media_type, _, rest = text.partition(";")
    parameters: dict[str, str] = {}
    position = 0
    while rest[position:].strip(" \t;"):
        match = re.compile(_PARAMETER, re.ASCII).match(rest, position)
        if match is None or match[1].lower() in parameters:
            return text
        parameters[match[1].lower()] = match[2] if match[2] is not None else match[3]
        position = match.end()
    parameters.pop("name", None)
    normal = media_type.strip(" \t").lower()
    if charset := parameters.pop("charset", "").lower():
        normal += f"; charset={'utf-8' if charset == 'utf8' else charset}"
    if method := parameters.pop("method", ""):
        normal += f"; method={method}"
    return text if parameters else normal


def is_normal_type(content_type: str) -> bool:
    """Return whether a content type has the form of `CONTENT_TYPE_PATTERN`, in any case."""
    return bool(re.fullmatch(CONTENT_TYPE_PATTERN, content_type, re.IGNORECASE | re.ASCII))


def check_count(count: int) -> None:
    if count > MAX_ATTACHMENTS:
        raise ServiceError(
            "too_many_attachments",
            f"An email can have at most {MAX_ATTACHMENTS} attachments; this one has {count}.",
            details={"count": count, "limit": MAX_ATTACHMENTS},
        )


def check_attachments(attachments: Sequence[AttachedFile]) -> None:
    """Check the attachments of one email against the contract's limits."""
    check_count(len(attachments))
    for position, attachment in enumerate(attachments):
        _check_type(position, attachment)
    for attachment in attachments:
        if attachment.size > MAX_BYTES_EACH:
            raise ServiceError(
                "attachment_too_large",
                f"{attachment.filename} is larger than {MAX_BYTES_EACH} bytes.",
                details={
                    "scope": "per_attachment",
                    "filename": attachment.filename,
                    "size_bytes": attachment.size,
                    "limit_bytes": MAX_BYTES_EACH,
                },
            )
    total = sum(attachment.size for attachment in attachments)
    if total > MAX_BYTES_TOTAL:
        raise ServiceError(
            "attachment_too_large",
            f"The attachments together are larger than {MAX_BYTES_TOTAL} bytes.",
            details={"scope": "total", "size_bytes": total, "limit_bytes": MAX_BYTES_TOTAL},
        )


def is_canonical_base64(text: str) -> bool:
    """Return whether text is base64 with padding, without white space and unused bits.

    RFC 4648 section 3.5: the bits beyond the data must be zero, so that one file
    has exactly one encoding. Only the last four characters can hold such bits.
    """
    if len(text) % 4 or not text.isascii():
        return False
    try:
        binascii.a2b_base64(text, strict_mode=True)
    except binascii.Error:
        return False
    last_group = text[-4:]
    encoded = binascii.b2a_base64(binascii.a2b_base64(last_group), newline=False)
    return encoded.decode() == last_group


def _odd_parameter(label: str) -> str:
    names = re.findall(r";[ \t]*([\w-]+)[ \t]*=", label, re.ASCII)
    others = [name for name in names if name.lower() not in {"charset", "method", "name"}]
    if others:
        return f"the parameter {others[0]}"
    charset = re.fullmatch(r"[^;]+; charset=([^; ]+)(?:; method=.*)?", label)
    if charset and not re.fullmatch(_CHARSET, charset[1]):
        return f"the charset {charset[1]}"
    return "a parameter that cannot be read"


def _check_type(position: int, attachment: AttachedFile) -> None:
    label = cut(attachment.content_type, _MAX_LABEL)
    media_type = label.partition(";")[0].lower()
    if media_type not in ALLOWED_TYPES:
        known = TYPES_BY_EXTENSION.get(attachment.filename.rpartition(".")[2].lower())
        advice = f"; label it {known}" if known else f". Allowed are {_ALLOWED_EXTENSIONS}"
        reason = f"{attachment.filename}: {label} files cannot be attached{advice}."
    elif not is_normal_type(attachment.content_type):
        reason = (
            f"{attachment.filename}: {label} has {_odd_parameter(label)}. Only a charset that all"
            f" programs know and the method of a calendar are sent with a type."
        )
    elif extension := next(filter(None, map(unsupported_extension, attachment.names)), None):
        reason = (
            f"{attachment.filename}: {extension} files cannot be attached."
            f" Allowed are {_ALLOWED_EXTENSIONS}."
        )
    elif attachment.first_octets.startswith(_EXECUTABLE_MAGIC):
        reason = f"{attachment.filename} is a program; programs cannot be attached."
    else:
        return
    raise ServiceError(
        "attachment_type_not_allowed",
        reason,
        details={
            "filename": attachment.filename,
            "content_type": label,
            "position": position,
        },
    )
