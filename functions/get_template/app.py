"""GET /v1/templates/{id}: get a saved template with a preview (contract 4.9)."""

from pillarbox.application.templates.previews import preview_html
from pillarbox.domain.accounts.key import TEMPLATES_READ
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import managing
from pillarbox.http.messages.replies import Reply, reply
from pillarbox.http.messages.views import TemplateDetail
from pillarbox.http.requests import read_caller, read_uuid
from pillarbox.wiring import load, services

app = build_app()
route = routes(app)


@route("GET /v1/templates/{id}", managing(TEMPLATES_READ), response=TemplateDetail)
def get_template(template_id: str) -> Reply:
    """Get a saved template.

    The template with a preview.
    """
    principal = services().caller_authentication.manage(
        read_caller(app.current_event), TEMPLATES_READ
    )
    template = services().template_library.get(
        principal.account.account_id, read_uuid(template_id, "id")
    )
    return reply(TemplateDetail.of(template, preview_html=preview_html(template)))


load(lambda it: (it.caller_authentication, it.template_library))
lambda_handler = entrypoint(app)
