"""The saved templates that the API shows (contract 4.8 to 4.10).

The API lists, reads and deletes them. It never shows internal copies.
"""

from collections.abc import Iterable, Mapping
from uuid import UUID

from pillarbox.application.templates.authoring import TemplateAuthoring, TemplatePage
from pillarbox.domain.errors import Json
from pillarbox.domain.templates.template import SavedTemplate, unknown_template


class TemplateLibrary:
    """The API's view of saved templates: `TemplateAuthoring` without internal copies or writing."""

    def __init__(self, templates: TemplateAuthoring) -> None:
        self._templates = templates

    def page(self, account_id: str, *, skip: int, limit: int) -> TemplatePage:
        """Read a page, newest first."""
        return self._templates.page(account_id, skip=skip, limit=limit)

    def each(self, account_id: str) -> Iterable[SavedTemplate]:
        """Read all templates, newest first, one by one: together they may be large."""
        templates = self._templates.records.newest_first(account_id)
        return (template for template in templates if not template.internal)

    def get(self, account_id: str, template_id: UUID) -> SavedTemplate:
        """Read one template."""
        template = self._templates.get(account_id, template_id)
        if template.internal:
            raise unknown_template()
        return template

    def render(
        self, account_id: str, template_id: UUID, values: Mapping[str, Json] | None
    ) -> tuple[str, str]:
        """Return the subject and the HTML of a template, as `TemplateAuthoring.render`."""
        self.get(account_id, template_id)
        return self._templates.render(account_id, template_id, values)

    def delete(self, account_id: str, template_id: UUID) -> None:
        """Delete a template for good, or one that was never published."""
        # Safe as two steps: no template becomes internal later. One without a version has a draft.
        template = self._templates.records.get(account_id, template_id)
        if template is not None and template.internal:
            raise unknown_template()
        self._templates.delete(account_id, template_id)
