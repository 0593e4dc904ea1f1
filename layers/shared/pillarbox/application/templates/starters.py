"""List and preview the built-in templates (contract 4.6 and 4.7)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from pillarbox.domain.accounts.account import Account
from pillarbox.domain.errors import Json
from pillarbox.domain.messages.mail import StarterBody
from pillarbox.domain.templates.template import RenderValues, StarterTemplate, fill_subject
from pillarbox.rendering.starters import all_starters, get_starter
from pillarbox.rendering.values import brand_values, check_logo_url, values_or_samples


@dataclass(frozen=True, slots=True)
class RenderedStarter:
    """A starter template, rendered with sample values. Nothing is sent.

    `values` are those of the contract's variables.
    """

    slug: str
    subject: str
    html: str
    values: Mapping[str, Json]


def list_starters() -> tuple[StarterTemplate, ...]:
    """Return all starter templates in the contract's order."""
    return all_starters()


def render_with_samples(
    slug: str, values: RenderValues, account: Account, now: datetime
) -> RenderedStarter:
    """Render a starter template with its sample values, as a send of the account would look.

    Raises:
        ServiceError: `template_not_found`, or `validation_failed` for an invalid value.
    """
    from pillarbox.application.render import render  # noqa: PLC0415  loads the engine

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
