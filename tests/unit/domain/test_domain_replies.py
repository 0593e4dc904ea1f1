"""The id of a received mail, as an answer repeats it (RFC 5322 section 3.6.4)."""

import pytest

from pillarbox.domain.replies import MESSAGE_ID


@pytest.mark.parametrize(
    ("text", "is_id"),
    [
        ("<1@customer.example>", True),
        (f"<{'a' * 512}>", True),
        (f"<{'a' * 513}>", False),
        ("<ü@customer.example>", False),
        ("<a\x01@customer.example>", False),
        ("<a @customer.example>", False),
        ("<a>@customer.example>", False),
    ],
)
def test_an_answer_repeats_an_id_that_a_field_can_have(text: str, *, is_id: bool) -> None:
    assert bool(MESSAGE_ID.fullmatch(text)) is is_id
