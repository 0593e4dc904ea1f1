"""Render starter and saved templates with their values to HTML.

A starter is stored with its layout and inlined CSS (see `assemble_starters.py`). It
is compiled once per process, so rendering an email only inserts the values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from typing import Final

from jinja2 import Template, UndefinedError

from pillarbox.domain.errors import FieldError, Json, ValidationFailed
from pillarbox.rendering.fuel import Fuel, RequestFuel
from pillarbox.rendering.palette import palette
from pillarbox.rendering.sandbox import (
    FUEL,
    MAX_BYTES,
    MailEnvironment,
    RenderTooLarge,
    SavedProgram,
    compile_saved,
    render_bounded,
)
from pillarbox.rendering.source_errors import as_source_errors
from pillarbox.rendering.starters import STARTERS, get_starter
from pillarbox.rendering.values import (
    contact_url,
    currency_code,
    days_ahead,
    duration,
    format_date,
    grouped,
)

__all__ = ["Branding", "RenderTooLarge", "render_saved", "render_starter"]

#: How many compiled saved templates a process keeps. Each is a few times larger than its HTML.
_MAX_COMPILED: Final = 32


@dataclass(frozen=True, slots=True)
class Branding:
    """The brand of an email, when it is sent, and whether the footer names the service.

    A test says at its top that it is one. With `report_url`, the footer links to it, so that the
    recipient can stop such mail.
    """

    name: str | None
    logo_url: str | None
    attribution: bool
    is_test: bool = False
    accent: str | None = None
    sent_at: datetime | None = None
    report_url: str | None = None


def render_starter(slug: str, values: Mapping[str, Json], branding: Branding) -> str:
    """Render a starter template to an HTML document.

    Args:
        slug: the starter's slug.
        values: a value for each variable (see `rendering.values`); optional ones may be left out.
        branding: the content of the header and footer.

    Raises:
        ServiceError: `template_not_found`.
        RenderTooLarge: the document is over 1 MB (1,048,576 bytes).
    """
    starter = get_starter(slug)
    return render_bounded(
        compile_starter(slug),
        {
            **{variable.name: None for variable in starter.optional},
            **values,
            "brand_name": branding.name or "",
            "logo_url": branding.logo_url,
            "attribution": branding.attribution,
            "is_test": branding.is_test,
            "report_url": branding.report_url,
            "colour": dict(palette(branding.accent)),
            "date": format_date(branding.sent_at) if branding.sent_at else None,
        },
    )


@as_source_errors
def render_saved(
    html: str, values: Mapping[str, Json], request_fuel: RequestFuel | None = None
) -> str:
    """Render a saved template to HTML.

    Check the template against the allow-list again, which may have become shorter since then.

    Args:
        html: the template.
        values: the values of its variables.
        request_fuel: what the emails of one request share.

    Raises:
        ValidationFailed: the template is not allowed, or a value is missing or has
            the wrong type.
        OutOfFuel: rendering takes too many steps.
        RenderTooLarge: the document is over 1 MB (1,048,576 bytes).
    """
    request_fuel = request_fuel or RequestFuel()
    request_fuel.check()
    program = _compile_saved(html)
    request_fuel.charge_compiling(html, program.tokens)
    fuel = Fuel()
    characters = MAX_BYTES  # unless rendering succeeds
    try:
        fuel.burn(program.fuel)
        rendered = render_bounded(program.template, {**values, FUEL: fuel})
        characters = len(rendered)
    except UndefinedError as error:
        missing = FieldError(
            "variables", "the template needs a value that is missing", "missing_variable"
        )
        raise ValidationFailed(missing) from error
    finally:
        request_fuel.charge_rendering(fuel, characters)
    return rendered


@cache
def compile_starter(slug: str) -> Template:
    """Return a starter template as a program; a process compiles each once."""
    source = (STARTERS / slug / "mail.html").read_text(encoding="utf-8")
    return _starter_environment().from_string(source)


@cache
def _starter_environment() -> MailEnvironment:
    environment = MailEnvironment(block_start="<!--%", block_end="%-->")
    environment.filters.update(
        contact_url=contact_url,
        currency_code=currency_code,
        days_ahead=days_ahead,
        duration=duration,
        grouped=grouped,
    )
    return environment


@lru_cache(_MAX_COMPILED)
def _compile_saved(html: str) -> SavedProgram:
    return compile_saved(html)
