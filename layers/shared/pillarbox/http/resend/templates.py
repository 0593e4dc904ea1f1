"""Saved templates as Resend shows them: those that are published, newest first."""

from collections.abc import Sequence
from typing import Final

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.application.templates.saved import TemplateLibrary
from pillarbox.domain.accounts.limits import MAX_TEMPLATES
from pillarbox.domain.templates.template import SavedTemplate
from pillarbox.http.messages.replies import timestamp
from pillarbox.http.query import read_query
from pillarbox.http.resend.pages import CursorQuery

#: Templates that were made before the limit may be more.
_ALL: Final = 10 * MAX_TEMPLATES


def page_of_templates(
    event: APIGatewayProxyEvent, library: TemplateLibrary, account_id: str
) -> dict[str, object]:
    """Return a page of an account's templates.

    Raises:
        ValidationFailed: a parameter is unknown or wrong.
    """
    query = read_query(event, CursorQuery)
    items = library.page(account_id, skip=0, limit=_ALL).items
    # Ids sort by the time of their creation.
    if query.older_than:
        items = [item for item in items if item.template_id < query.older_than.lower()]
    more = len(items) > query.limit
    shown = items[: query.limit]
    if query.newer_than:
        newer = [item for item in items if item.template_id > query.newer_than.lower()]
        more, shown = len(newer) > query.limit, newer[-query.limit :]
    return {"object": "list", "has_more": more, "data": [*map(_listed, shown)]}


def template_detail(template: SavedTemplate) -> dict[str, object]:
    """Return one template with its content."""
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
