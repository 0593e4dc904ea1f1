"""Resolve the character references of HTML (HTML standard, 13.2.5.72)."""

import html
import re
from typing import Final

#: More digits than any character's number has. Python converts at most 4,300 of them to a number.
_TOO_MANY_DIGITS: Final = 1_000
_LONG_NUMBER: Final = re.compile(f"&#[0-9]{{{_TOO_MANY_DIGITS},}};?")


def unescape(text: str) -> str:
    """Resolve character references. A number that is too long stands for no character."""
    if len(text) > _TOO_MANY_DIGITS:
        text = _LONG_NUMBER.sub("\ufffd", text)
    return html.unescape(text)
