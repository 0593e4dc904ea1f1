"""An account's library of saved templates, as the API shows it (contract 4.8 to 4.10).

Internal copies are no part of it: they are neither listed nor found here.
"""

from typing import Final
from uuid import UUID

from pillarbox.application.templates.authoring import (
    TemplateAuthoring,
    TemplatePage,
    template_not_found,
)
from pillarbox.domain.errors import ValidationFailed
from pillarbox.domain.template import SavedTemplate
from pillarbox.rendering.saved import sample_values

#: Characters of a preview (contract 2.7).
PREVIEW_LENGTH: Final = 500


class TemplateLibrary:
    """Listing, reading and deleting; authoring is the dashboard's."""

    def __init__(self, templates: TemplateAuthoring) -> None:
        self._templates = templates

    def page(self, account_id: str, *, skip: int, limit: int) -> TemplatePage:
        """Read a page, the newest first."""
        return self._templates.page(account_id, skip=skip, limit=limit)

    def get(self, account_id: str, template_id: UUID) -> SavedTemplate:
        """Read one template.

        Raises:
            ServiceError: `template_not_found`, alike for an absent template, an
                internal one, and another account's.
        """
        template = self._templates.get(account_id, template_id)
        if template.internal:
            raise template_not_found()
        return template

    def delete(self, account_id: str, template_id: UUID) -> None:
        """Delete a template for good.

        Raises:
            ServiceError: `template_not_found` as in `get`; `template_in_use`, while
                something refers to it: it stays.
        """
        self.get(account_id, template_id)  # none becomes internal later
        self._templates.delete(account_id, template_id)


def preview(template: SavedTemplate) -> str:
    """The first 500 characters of a template's HTML, rendered.

    What a send would have to give stands there by its name, `[order.total]`;
    defaults, conditions and repetitions are carried out. A template that no
    such values satisfy is shown as it was written.
    """
    from pillarbox.rendering.engine import render_saved  # noqa: PLC0415  loads the engine

    try:
        html = render_saved(template.html, sample_values(template.required))
    except ValidationFailed:
        html = template.html
    return html[:PREVIEW_LENGTH]
