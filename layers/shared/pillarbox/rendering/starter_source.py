"""Write a starter in the language of saved templates, for an account to change it."""

from typing import Final

from markupsafe import Markup

from pillarbox.domain.accounts.account import Brand
from pillarbox.domain.templates.template import StarterTemplate, fill_subject
from pillarbox.rendering.sandbox import Branding, render_starter
from pillarbox.rendering.values import brand_values

#: What an email shows for a variable that the request does not give.
_DEFAULTS: Final = {"name": "'there'", "ip": "'Not recorded'"}


def starter_source(starter: StarterTemplate, brand: Brand, contact: str | None) -> tuple[str, str]:
    """Return subject and HTML with the brand, whose name stands in place of `app_name` too.

    `contact` is for a brand without support.

    Each variable has a reference to itself as its value. Words that depend on a value, such as
    "tomorrow", are therefore general: "in {{ days_left }} days".
    """
    values: dict[str, str] = {
        variable.name: Markup("{{ %s }}") % variable.name for variable in starter.variables
    }
    values |= {
        variable: Markup("{{ %s | default(%s) }}") % (variable, Markup(default))  # noqa: S704  both are ours
        for variable, default in _DEFAULTS.items()
        if variable in values
    }
    if "expiry_minutes" in values:
        # Without quotes, which would be escaped where the words of a duration surround the value.
        minutes = f"{{{{ expiry_minutes | default({starter.expiry_minutes}) }}}}"
        values["expiry_minutes"] = Markup(minutes)  # noqa: S704  it is ours
    if "app_name" in values:
        values["app_name"] = brand.name or ""
    branding = Branding(brand.name, brand.logo_url, attribution=False, accent=brand.accent)
    html = render_starter(starter.slug, brand_values(starter, brand, contact) | values, branding)
    return fill_subject(starter.subject, values | {"brand_name": brand.name}), html
