"""Names of attached files: which are misleading, and which SES refuses."""

import re
import unicodedata
from typing import Final

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

#: What programs may cut off at the end of a name.
_TAIL: Final = r"[\s.'\"]+\Z"


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
