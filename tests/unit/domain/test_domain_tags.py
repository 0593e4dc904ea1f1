"""Tags: which names and values an email can have."""

from string import ascii_letters, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.messages.header_text import is_header_safe, is_visible
from pillarbox.domain.messages.message import TagError, Tags, check_tags

MAX_TAGS_BYTES = 256

NAMES = st.text(ascii_letters + digits + "-_", min_size=1, max_size=32)


@pytest.mark.parametrize(
    "tags",
    [
        {},
        {"order": "10442"},
        {"A-z_9" + "x" * 27: "ü" * 64},
        {"a": "two words", "b": "name:value"},
        {str(number): "x" for number in range(5)},
        {"a": "x" * 64, "b": "x" * 64, "c": "x" * 64, "d": "x" * 60},
    ],
)
def test_these_are_tags(tags: Tags) -> None:
    """Five short names with visible values, 256 bytes in all, are accepted."""
    check_tags(tags)


@pytest.mark.parametrize(
    ("tags", "fault"),
    [
        ({str(number): "x" for number in range(6)}, "more than 5"),
        ({"": "x"}, "names"),
        ({"x" * 33: "x"}, "names"),
        ({"a:b": "x"}, "names"),
        ({"ü": "x"}, "names"),
        ({"a\n": "x"}, "names"),
        ({"a": ""}, "values"),
        ({"a": "x" * 65}, "values"),
        ({"a": " x"}, "values"),
        ({"a": "x "}, "values"),
        ({"a": "x\r\ny"}, "values"),
        ({"a": "\u202ex"}, "values"),
        ({"a": "\u200b"}, "values"),
        ({"a": "x" * 64, "b": "x" * 64, "c": "x" * 64, "d": "x" * 61}, "256 bytes"),
    ],
)
def test_these_are_not(tags: Tags, fault: str) -> None:
    """A wrong name, a value that shows nothing or that a header cannot have, and too much text."""
    with pytest.raises(TagError, match=fault):
        check_tags(tags)


@given(st.dictionaries(NAMES, st.text(max_size=70), max_size=6))
def test_accepted_tags_are_small_and_visible(tags: dict[str, str]) -> None:
    """All that is accepted fits the limits, and can stand in a header field."""
    try:
        check_tags(tags)
    except TagError:
        return
    assert len(tags) <= 5
    assert sum(len(name) + len(value.encode()) for name, value in tags.items()) <= MAX_TAGS_BYTES
    assert all(is_header_safe(value) and is_visible(value) and value for value in tags.values())
