"""List the built-in templates (contract 4.6)."""

from pillarbox.domain.templates.template import StarterTemplate
from pillarbox.rendering.starters import all_starters


def list_starters() -> tuple[StarterTemplate, ...]:
    """Return all starter templates in the contract's order."""
    return all_starters()
