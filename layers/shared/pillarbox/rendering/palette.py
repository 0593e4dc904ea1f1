"""The colours of the starters that a brand can change, and their contrast (WCAG 2.2).

The sources of the starters name them: `colour-link-dark` becomes `{{ colour.link_dark }}`.
Accepting an email imports this module, so it needs no template engine.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from pillarbox.domain.errors import FieldError, ValidationFailed

#: The colours of an email whose account has no accent. `_dark` is for the dark scheme.
DEFAULT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "accent": "#c4122f",
        "accent_dark": "#e8475a",
        "link": "#a3142a",
        "link_dark": "#ffa3aa",
        "button": "#1d1a17",
        "button_dark": "#f5f1ea",
        "button_text": "#ffffff",
        "button_text_dark": "#1d1a17",
    }
)
#: The backgrounds of cards and panels, as in inline.css and layout.html.
_CARDS: Final = {"white": "#ffffff", "dark": "#1f1c1a"}
_LIGHT_PANEL: Final = "#f8f5f0"
_DARK_PANEL: Final = "#2a2623"
#: WCAG 2.2 AA: the contrast of text (1.4.3), and of bars and buttons to what is around (1.4.11).
_TEXT: Final = 4.5
_GRAPHICS: Final = 3.0
_STEPS: Final = 50


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def check_accent(text: str) -> str:
    """Return an accent colour in lower case, if it is visible in both schemes."""
    if not re.fullmatch("#[0-9a-fA-F]{6}", text):
        raise ValidationFailed(
            FieldError("accent", "must be a colour such as #0a7d5a", "invalid_colour")
        )
    accent = text.lower()
    for scheme, background in _CARDS.items():
        ratio = contrast(accent, background)
        if ratio < _GRAPHICS:
            similar = _readable(accent, background, _GRAPHICS)
            message = (
                f"{accent} has a contrast of {int(ratio * 10) / 10} to 1 on the {scheme} background"
                f" {background}; at least {_GRAPHICS:g} to 1 is needed (WCAG 2.2 AA)."
                f" {similar} would do"
            )
            raise ValidationFailed(FieldError("accent", message, "low_contrast"))
    return accent


@lru_cache
def palette(accent: str | None) -> Mapping[str, str]:
    """Return the colours of an email. Links and buttons get a shade of the accent that is legible.

    Args:
        accent: a colour that `check_accent` accepts, or None for the colours of the starters.
    """
    if accent is None:
        return DEFAULT
    # The label of a button is white. So a link that is legible on a light panel makes a button.
    link = _readable(accent, _LIGHT_PANEL, _TEXT)
    return MappingProxyType(
        {
            "accent": accent,
            "accent_dark": accent,
            "link": link,
            "link_dark": _readable(accent, _DARK_PANEL, _TEXT),
            "button": link,
            "button_dark": link,
            "button_text": "#ffffff",
            "button_text_dark": "#ffffff",
        }
    )


def _readable(colour: str, background: str, ratio: float) -> str:
    """Mix a colour with black or white until its contrast to the background is enough."""
    end = 0 if _luminance(background) > _luminance("#808080") else 255
    mixed = colour
    for step in range(_STEPS + 1):
        parts = (round(part + (end - part) * step / _STEPS) for part in _parts(colour))
        mixed = "#" + "".join(f"{part:02x}" for part in parts)
        if contrast(mixed, background) >= ratio:
            break
    return mixed


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(part / 255) for part in _parts(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4  # noqa: PLR2004  sRGB


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
