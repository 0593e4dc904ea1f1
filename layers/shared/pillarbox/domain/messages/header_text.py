"""Which text is safe in a header field, which of it people can see, and how long a subject is."""

import re
from typing import Final

#: RFC 5322 section 2.1.1 and contract 8.2, in characters.
MAX_SUBJECT: Final = 998

#: Control characters (C0, DEL, and C1 with NEL), line and paragraph separators,
#: and bidirectional embeddings, overrides and isolates. The last group can make
#: a name or subject look different from its text.
_UNSAFE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

#: Characters that show nothing: Unicode's Default_Ignorable_Code_Point, interlinear annotations,
#: and the empty Braille pattern.
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


#: What is wrong with a text that is not safe in a header field, or shows nothing.
UNSAFE: Final = "must not have control characters or text direction overrides"
INVISIBLE: Final = "must not consist of blanks and invisible characters"


def in_one_line(text: str) -> str:
    """Replace each unsafe character by a space, so that the history can show the text."""
    return _UNSAFE.sub(" ", text)


def is_header_safe(text: str) -> bool:
    """Return whether text can stand in a header field unchanged (RFC 5322 section 2.2)."""
    return _UNSAFE.search(text) is None


def without_invisible(text: str) -> str:
    """Remove the characters that show nothing, such as a zero width space."""
    return _INVISIBLE.sub("", text)


def is_visible(text: str) -> bool:
    """Return whether a text shows anything but blanks. The empty text hides nothing."""
    return not text or bool(without_invisible(text).strip())
