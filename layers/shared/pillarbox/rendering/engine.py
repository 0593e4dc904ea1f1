"""Rendering: a starter or saved template and its values become the HTML of a mail.

A starter is stored ready to be filled, its layout and CSS in place (see
`assemble_starters.py`). Compiled once per process, it costs a mail its values alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from jinja2 import Template, UndefinedError

from pillarbox.domain.errors import FieldFault, Json, ServiceError, ValidationFailed
from pillarbox.rendering.allowlist import compile_saved
from pillarbox.rendering.sandbox import MailEnvironment, RenderTooLarge, render_bounded
from pillarbox.rendering.starters import STARTERS, find_starter
from pillarbox.rendering.words import contact_url, days_ahead, duration

__all__ = ["Branding", "RenderTooLarge", "render_saved", "render_starter"]

#: Compiled saved templates kept per process; each is a few times its HTML.
_SAVED_KEPT: Final = 32


@dataclass(frozen=True, slots=True)
class Branding:
    """Whose mail it is: shown at the head, and whether the foot names the service."""

    name: str | None
    logo_url: str | None
    attribution: bool


def render_starter(slug: str, values: Mapping[str, Json], branding: Branding) -> str:
    """The HTML document of a starter template.

    Args:
        slug: a starter's slug.
        values: a value for each of its variables (see `rendering.values`).
        branding: the head and foot of the mail.

    Raises:
        ServiceError: `template_not_found`.
        RenderTooLarge: the document is over 1 MB (1,048,576 bytes).
    """
    if find_starter(slug) is None:
        raise ServiceError("template_not_found", "There is no starter template of this slug.")
    return render_bounded(
        _starter(slug),
        {
            **values,
            "brand_name": branding.name,
            "logo_url": branding.logo_url,
            "attribution": branding.attribution,
        },
    )


def render_saved(html: str, values: Mapping[str, Json]) -> str:
    """The HTML of a saved template.

    It is held against the allow-list again: what runs has been checked by the
    code that runs it, whatever an older release let in.

    Raises:
        ValidationFailed: the template is not of the allowed kind, or a value
            that it needs is lacking or of no use in its place.
        RenderTooLarge: the document is over 1 MB (1,048,576 bytes).
    """
    try:
        return render_bounded(_saved(html), values)
    except UndefinedError as lacking:
        fault = FieldFault(
            "variables", "The template shows a value that is lacking.", "missing_variable"
        )
        raise ValidationFailed(fault) from lacking


@cache
def _starter(slug: str) -> Template:
    source = (STARTERS / slug / "mail.html").read_text(encoding="utf-8")
    return _mails().from_string(source)


@cache
def _mails() -> MailEnvironment:
    environment = MailEnvironment(block_start="<!--%", block_end="%-->")
    environment.filters.update(contact_url=contact_url, days_ahead=days_ahead, duration=duration)
    return environment


@lru_cache(_SAVED_KEPT)
def _saved(html: str) -> Template:
    return compile_saved(html)
