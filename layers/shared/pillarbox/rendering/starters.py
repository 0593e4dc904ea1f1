"""The data of the ten starter templates (contract section 2.6), without rendering.

Accepting an email imports this module. Therefore it needs no template engine, and
reads only the small file of the requested template.
"""

import json
from functools import cache
from pathlib import Path
from typing import Final

from pillarbox.domain.errors import ServiceError, cut
from pillarbox.domain.templates.template import StarterTemplate, StarterVariable, VariableKind

#: Has one folder per starter: `template.json` (metadata, samples), `body.html`, and the
#: generated `mail.html` (see `assemble_starters.py`).
STARTERS: Final = Path(__file__).parent / "starter"

#: In bytes, of a slug that an error repeats.
_MAX_SHOWN: Final = 64

#: What starters can show besides the contract's variables.
_OPTIONAL: Final = {
    name: StarterVariable(name, "", kind, required=False)
    for name, kind in (
        ("lines", VariableKind.LINES),
        ("action_url", VariableKind.WEB_URL),
        ("support_email", VariableKind.CONTACT),
        ("company_address", VariableKind.TEXT),
    )
}
#: In the order of the contract's table.
SLUGS: Final = (
    "otp",
    "magic_link",
    "email_verify",
    "welcome",
    "password_reset",
    "password_changed",
    "team_invite",
    "trial_ending",
    "payment_receipt",
    "security_alert",
)


def all_starters() -> tuple[StarterTemplate, ...]:
    return tuple(_read(slug) for slug in SLUGS)


def find_starter(slug: str) -> StarterTemplate | None:
    """Return the starter with this slug, or None. An unknown slug is never used as a path."""
    return _read(slug) if slug in SLUGS else None


def get_starter(slug: str) -> StarterTemplate:
    if slug in SLUGS:
        return _read(slug)
    import difflib  # noqa: PLC0415  few requests need it

    shown = cut(slug, _MAX_SHOWN)
    normal = shown.lower().replace("-", "_").replace(" ", "_")
    close = difflib.get_close_matches(normal, SLUGS, n=1)
    hint = f"; did you mean {close[0]}?" if close else "."
    raise ServiceError(
        "template_not_found",
        f"There is no starter template {shown!r}{hint} The slugs are {', '.join(SLUGS)}.",
    )


@cache
def _read(slug: str) -> StarterTemplate:
    source = json.loads((STARTERS / slug / "template.json").read_text(encoding="utf-8"))
    return StarterTemplate(
        slug=slug,
        name=source["name"],
        description=source["description"],
        subject=source["subject"],
        variables=tuple(
            StarterVariable(
                name=variable["name"],
                sample=variable["sample"],
                kind=VariableKind(variable.get("kind", VariableKind.TEXT)),
                required=variable.get("required", True),
            )
            for variable in source["variables"]
        ),
        optional=tuple(_OPTIONAL[name] for name in source["optional"]),
        expiry_minutes=source.get("expiry_minutes"),
    )
