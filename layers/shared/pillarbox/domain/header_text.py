"""Which text is safe in a header field."""

import re
from typing import Final

#: Control characters (C0, DEL, and C1 with NEL), line and paragraph separators,
#: and bidirectional embeddings, overrides and isolates. The last group can make
#: a name or subject look different from its text.
_UNSAFE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def in_one_line(text: str) -> str:
    """Replace each unsafe character by a space, so that the history can show the text."""
    return _UNSAFE.sub(" ", text)


def is_header_safe(text: str) -> bool:
    """Return whether text can stand in a header field unchanged (RFC 5322 section 2.2)."""
    return _UNSAFE.search(text) is None
