"""List and preview the built-in templates (contract 4.6 and 4.7)."""

from collections.abc import Mapping
from dataclasses import dataclass

from pillarbox.domain.errors import Json, ServiceError
from pillarbox.domain.mail import StarterBody
from pillarbox.domain.template import StarterTemplate, fill_subject
from pillarbox.rendering.starters import all_starters, find_starter
from pillarbox.rendering.values import preview_values


@dataclass(frozen=True, slots=True)
class Preview:
    """A starter template, rendered with sample values. Nothing is sent."""

    slug: str
    subject: str
    html: str
    values: Mapping[str, Json]


def list_starters() -> tuple[StarterTemplate, ...]:
    """Return all starter templates in the contract's order."""
    return all_starters()


def preview_starter(slug: str, variables: Mapping[str, Json]) -> Preview:
    """Render a starter template with its sample values, overridden by `variables`.

    Raises:
        ServiceError: `template_not_found`, or `validation_failed` for an invalid value.
    """
    from pillarbox.application.render import render  # noqa: PLC0415  loads the engine

    starter = find_starter(slug)
    if starter is None:
        raise ServiceError("template_not_found", "There is no such starter template.")
    values = preview_values(starter, variables)
    body = StarterBody(slug=slug, values=values, brand_name=None, logo_url=None, attribution=True)
    return Preview(slug, fill_subject(starter.subject, values), render(body), values)
