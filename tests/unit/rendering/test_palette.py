"""The accent of a brand: which colours it may be, and the colours made from it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.rendering.palette import check_accent, contrast, palette
from tests.loops import for_each
from tests.refusals import fault

colours = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")


def error_of(accent: str) -> FieldError:
    error = fault(check_accent, accent)
    assert error.field == "accent"
    return error


def accepted(colour: str) -> str:
    """Return the colour if it can be an accent, else the one that the error names."""
    try:
        return check_accent(colour)
    except ValidationFailed as failed:
        return str(re.findall("#[0-9a-f]{6}", failed.errors[0].message)[-1])


def test_contrast_of_known_colours() -> None:
    """The contrast is that of WCAG 2.2: 21 for black and white, 1 for a colour and itself."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#0a7d5a", "#0a7d5a") == 1
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@for_each("text", ["red", "#fff", "0a7d5a", "#0a7d5g", "#0a7d5a ", "#0a7d5a;x", ""])
def test_another_form_is_refused(text: str) -> None:
    """Only # and six hexadecimal digits are a colour, so nothing else reaches a style."""
    assert error_of(text).code == "invalid_colour"


def test_capital_letters_become_small() -> None:
    assert check_accent("#0A7D5A") == "#0a7d5a"


@pytest.mark.parametrize(
    ("accent", "scheme"), [("#ffd500", "white"), ("#ffffff", "white"), ("#1e3a8a", "dark")]
)
def test_an_accent_that_nobody_sees_is_refused(accent: str, scheme: str) -> None:
    error = error_of(accent)
    assert error.code == "low_contrast"
    assert error.message.startswith(f"{accent} has a contrast of ")
    assert f"on the {scheme} background" in error.message
    assert "at least 3 to 1 is needed (WCAG 2.2 AA)" in error.message


@given(colours)
def test_the_named_colour_is_accepted(colour: str) -> None:
    accent = accepted(colour)
    assert check_accent(accent) == accent


@given(colours)
def test_every_accent_is_legible(colour: str) -> None:
    """Bars and buttons have 3 to 1 on both cards; links and labels have 4.5 to 1."""
    made = palette(accepted(colour))
    for name, card in (("", "#ffffff"), ("_dark", "#1f1c1a")):
        assert contrast(made[f"accent{name}"], card) >= 3
        assert contrast(made[f"button{name}"], card) >= 3
        assert contrast(made[f"button_text{name}"], made[f"button{name}"]) >= 4.5
    for name, panels in (("link", ("#ffffff", "#f8f5f0")), ("link_dark", ("#1f1c1a", "#2a2623"))):
        assert all(contrast(made[name], panel) >= 4.5 for panel in panels)


def test_a_brand_without_an_accent_has_the_colours_of_the_starters() -> None:
    assert palette(None)["accent"] == "#c4122f"
    assert set(palette(None)) == set(palette("#0a7d5a"))
