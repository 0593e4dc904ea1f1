"""The ten starter templates of contract section 2.6: what is known of each without rendering it.

Accepting a mail imports this, so it needs no template engine and reads one
small file for the one template that is asked for.
"""

import json
from functools import cache
from pathlib import Path
from typing import Final

from pillarbox.domain.template import StarterTemplate, StarterVariable, VariableKind

#: One folder per starter: `template.json` (metadata, samples), `body.html`, and the
#: `mail.html` that is made of it (see `assemble_starters.py`).
STARTERS: Final = Path(__file__).parent / "starter"

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
    """Every starter template, in the contract's order."""
    return tuple(_read(slug) for slug in SLUGS)


def find_starter(slug: str) -> StarterTemplate | None:
    """The starter of this slug, or None. A slug is compared, never used as a path."""
    return _read(slug) if slug in SLUGS else None


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
        expiry_minutes=source.get("expiry_minutes"),
    )
