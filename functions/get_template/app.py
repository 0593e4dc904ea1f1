"""GET /v1/templates/{id}: get a saved template with a preview (contract 4.9)."""

from typing import Any
from uuid import UUID

from pillarbox.application.templates.previews import preview_html
from pillarbox.domain.accounts.key import TEMPLATES_READ
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import Manager, managing
from pillarbox.http.messages.views import TemplateDetail
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route("GET /v1/templates/{id}", managing(TEMPLATES_READ), response=TemplateDetail)
def get_template(principal: Manager, template_id: UUID) -> dict[str, Any]:
    """Get a saved template.

    The template with a preview.
    """
    template = services().template_library.get(principal.account.account_id, template_id)
    return TemplateDetail.of(template, preview_html=preview_html(template))


load(lambda it: (it.caller_authentication, it.template_library))
lambda_handler = entrypoint(app)
