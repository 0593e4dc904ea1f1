"""Preview templates with sample values (contract 4.7 and 4.9). This loads the template engine."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pillarbox.application.render import render
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.errors import Json, ValidationFailed
from pillarbox.domain.messages.mail import StarterBody
from pillarbox.domain.templates.template import RenderValues, SavedTemplate, fill_subject
from pillarbox.rendering.sandbox import render_saved
from pillarbox.rendering.saved import sample_values
from pillarbox.rendering.starters import get_starter
from pillarbox.rendering.values import brand_values, check_logo_url, values_or_samples

#: Characters of a preview (contract 2.7).
PREVIEW_LENGTH: Final = 500


@dataclass(frozen=True, slots=True)
class RenderedStarter:
    """A starter template, rendered with sample values. Nothing is sent.

    `values` are those of the contract's variables.
    """

    slug: str
    subject: str
    html: str
    values: Mapping[str, Json]


def render_with_samples(
    slug: str, values: RenderValues, account: Account, now: datetime
) -> RenderedStarter:
    """Render a starter template with its sample values, as a send of the account would look."""
    starter = get_starter(slug)
    if values.logo_url is not None:
        check_logo_url(values.logo_url)
    brand = account.brand.override(name=values.brand_name, logo_url=values.logo_url)
    company = brand_values(starter, brand, account.default_sender)
    shown, name = values_or_samples(starter, values.variables, company), brand.name_or(account.name)
    body = StarterBody(
        slug=slug,
        values=shown,
        brand_name=name,
        logo_url=brand.logo_url,
        attribution=not account.plan.paid,
        accent=brand.accent,
    )
    return RenderedStarter(
        slug,
        fill_subject(starter.subject, body.subject_values()),
        render(body, sent_at=now),
        {variable: shown[variable] for variable in starter.names},
    )


def preview_html(template: SavedTemplate) -> str:
    """Return the first 500 characters of a template's rendered HTML.

    Required variables appear as their names, such as `[order.total]`. Defaults, conditions
    and loops are applied. If the template does not render with such values, the preview
    shows its source.
    """
    try:
        html = render_saved(template.html, sample_values(template.required))
    except ValidationFailed:
        html = template.html
    return html[:PREVIEW_LENGTH]
