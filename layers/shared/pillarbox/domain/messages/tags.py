"""Tags: names and values that a sender gives an email, to find it again.

The contract has no tags. The names have the alphabet of SES and of most peers.
"""

import re
from collections.abc import Mapping
from typing import Final

from pillarbox.domain.messages.header_text import is_header_safe, is_visible

MAX_TAGS: Final = 5
#: In characters.
MAX_VALUE: Final = 64
#: In octets of UTF-8: all names and values, so that a record stays within one write unit.
MAX_TAGS_BYTES: Final = 256
TAG_NAME: Final = "^[A-Za-z0-9_-]{1,32}$"

_NAME: Final = TAG_NAME

type Tags = Mapping[str, str]


class TagError(Exception):
    """A tag, or all of them together, cannot be used; the text says why."""


def check_tags(tags: Tags) -> None:
    """Check the names and values of an email's tags, and their number and size.

    Raises:
        TagError: the first fault.
    """
    if len(tags) > MAX_TAGS:
        raise TagError(f"must not have more than {MAX_TAGS} tags")
    for name, value in tags.items():
        if not re.fullmatch(_NAME, name):
            raise TagError("must have names of 1 to 32 letters, digits, hyphens and underscores")
        if not _is_value(value):
            raise TagError(
                f"must have values of 1 to {MAX_VALUE} visible characters, without a blank at"
                " either end"
            )
    if sum(len(text.encode()) for tag in tags.items() for text in tag) > MAX_TAGS_BYTES:
        raise TagError(f"must not be larger than {MAX_TAGS_BYTES} bytes in all")


def _is_value(text: str) -> bool:
    return (
        0 < len(text) <= MAX_VALUE
        and text == text.strip()
        and is_header_safe(text)
        and is_visible(text)
    )
