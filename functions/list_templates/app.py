"""GET /v1/templates: list an account's saved templates (contract 4.8)."""

from pillarbox.domain.accounts.key import TEMPLATES_READ
from pillarbox.http.app import build_app, entrypoint
from pillarbox.http.messages.replies import Reply, reply_page
from pillarbox.http.messages.views import TemplateItem
from pillarbox.http.query import TemplatesQuery, read_query
from pillarbox.http.requests import read_caller
from pillarbox.wiring import load, services

app = build_app()


@app.get("/v1/templates")
def list_templates() -> Reply:
    principal = services().caller_authentication.manage(
        read_caller(app.current_event), TEMPLATES_READ
    )
    query = read_query(app.current_event, TemplatesQuery)
    page = services().template_library.page(
        principal.account.account_id, skip=query.skip, limit=query.limit
    )
    return reply_page(
        map(TemplateItem.of, page.items), page.total, skip=query.skip, limit=query.limit
    )


load(lambda it: (it.caller_authentication, it.template_library))
lambda_handler = entrypoint(app)
