"""An account's library of saved templates, for whoever holds its keys (contract 4.8 to 4.10).

Internal copies are no part of it: they are neither listed nor found here.
"""

from typing import Final
from uuid import UUID

from pillarbox.application.administration.saved_templates import SavedTemplates, TemplatePage
from pillarbox.domain.errors import ServiceError, ValidationFailed
from pillarbox.domain.key import TEMPLATES_READ, TEMPLATES_WRITE, Principal
from pillarbox.domain.template import SavedTemplate
from pillarbox.rendering.samples import sample_values

#: Characters of a preview (contract 2.7).
PREVIEW_LENGTH: Final = 500


class Library:
    """Listing, reading and deleting; authoring is the dashboard's."""

    def __init__(self, templates: SavedTemplates) -> None:
        self._templates = templates

    def page(self, principal: Principal, *, skip: int, limit: int) -> TemplatePage:
        """Read a page of the library, the newest first.

        Raises:
            ServiceError: `scope_required`.
        """
        principal.require(TEMPLATES_READ)
        return self._templates.page(principal.account.account_id, skip=skip, limit=limit)

    def get(self, principal: Principal, template_id: UUID) -> SavedTemplate:
        """Read one template.

        Raises:
            ServiceError: `scope_required`; `template_not_found`, alike for an absent
                template, an internal one, and another account's.
        """
        principal.require(TEMPLATES_READ)
        return self._find(principal, template_id)

    def delete(self, principal: Principal, template_id: UUID) -> None:
        """Delete a template for good.

        Raises:
            ServiceError: `scope_required`; `template_not_found` as in `get`;
                `template_in_use`, while something refers to it: it stays.
        """
        principal.require(TEMPLATES_WRITE)
        self._find(principal, template_id)  # a template never becomes internal later
        self._templates.delete(principal.account.account_id, template_id)

    def _find(self, principal: Principal, template_id: UUID) -> SavedTemplate:
        template = self._templates.get(principal.account.account_id, template_id)
        if template.internal:
            raise ServiceError("template_not_found", "There is no such template.")
        return template


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
