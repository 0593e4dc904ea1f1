"""Text that becomes part of a header field."""

import re
from typing import Final

#: Controls (C0, DEL, C1 with NEL), line and paragraph separators, and the
#: bidirectional embeddings, overrides and isolates that make a name or subject
#: read otherwise than it is written.
_UNSAFE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def in_one_line(text: str) -> str:
    """Text with spaces for what cannot stand in a header field: as a history shows it."""
    return _UNSAFE.sub(" ", text)


def is_header_safe(text: str) -> bool:
    """Whether text can stand in a header field as it is (RFC 5322 section 2.2)."""
    return _UNSAFE.search(text) is None
