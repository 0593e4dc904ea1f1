"""GET /v1/templates: list an account's saved templates (contract 4.8)."""

from pillarbox.domain.accounts.key import TEMPLATES_READ
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import Manager, managing
from pillarbox.http.messages.replies import Reply, reply_page
from pillarbox.http.messages.views import SavedTemplatePage, TemplateItem
from pillarbox.http.query import TemplatesQuery
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route(
    "GET /v1/templates", managing(TEMPLATES_READ), query=TemplatesQuery, response=SavedTemplatePage
)
def list_templates(principal: Manager, query: TemplatesQuery) -> Reply:
    """List saved templates.

    The newest first. Internal copies of templates are not listed.
    """
    page = services().template_library.page(
        principal.account.account_id, skip=query.skip, limit=query.limit
    )
    return reply_page(
        map(TemplateItem.of, page.items), page.total, skip=query.skip, limit=query.limit
    )


load(lambda it: (it.caller_authentication, it.template_library))
lambda_handler = entrypoint(app)
