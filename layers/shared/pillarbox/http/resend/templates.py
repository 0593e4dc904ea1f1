"""Saved templates as Resend shows them: those that are published, newest first."""

from collections.abc import Sequence
from typing import Final

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.application.templates.authoring import TemplateLibrary
from pillarbox.domain.accounts.account import MAX_TEMPLATES
from pillarbox.domain.templates.template import SavedTemplate
from pillarbox.http.messages.replies import timestamp
from pillarbox.http.resend.pages import page_of

#: Templates that were made before the limit may be more.
_ALL: Final = 10 * MAX_TEMPLATES


def page_of_templates(
    event: APIGatewayProxyEvent, library: TemplateLibrary, account_id: str
) -> dict[str, object]:
    items = library.page(account_id, skip=0, limit=_ALL).items
    return page_of(event, [*map(_listed, items)])


def template_detail(template: SavedTemplate) -> dict[str, object]:
    return _listed(template) | {
        "object": "template",
        "from": None,
        "reply_to": None,
        "subject": template.subject,
        "html": template.html,
        "text": template.text,
        "variables": _variables(template),
    }


def _variables(template: SavedTemplate) -> Sequence[dict[str, object]]:
    return [{"key": name, "type": "string", "fallback_value": None} for name in template.variables]


def _listed(template: SavedTemplate) -> dict[str, object]:
    return {
        "id": template.template_id,
        "name": template.name,
        "alias": None,
        "status": "published",
        "created_at": timestamp(template.created_at),
        "updated_at": timestamp(template.updated_at),
        "published_at": timestamp(template.updated_at),
    }
