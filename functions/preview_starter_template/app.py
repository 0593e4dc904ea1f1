"""POST /v1/starter-templates/{slug}/preview: render without sending (contract 4.7)."""

from pillarbox.application.templates.previews import render_with_samples
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.bodies import read_render_values
from pillarbox.http.callers import known
from pillarbox.http.messages.replies import Reply, reply
from pillarbox.http.messages.views import RenderedStarterItem
from pillarbox.http.messages.wire import RenderStarterRequest
from pillarbox.http.requests import read_credential, request_origin
from pillarbox.wiring import load, services, utc_now

app = build_app()
route = routes(app)


@route(
    "POST /v1/starter-templates/{slug}/preview",
    known(),
    body=RenderStarterRequest,
    body_required=False,
    response=RenderedStarterItem,
)
def preview_starter_template(slug: str) -> Reply:
    """Preview a starter template.

    Renders the template with samples, which the given variables replace. Nothing is sent. The
    method is POST so that access logs do not have the variables.
    """
    event = app.current_event
    principal = services().caller_authentication.authenticate(
        read_credential(event), origin=request_origin(event)
    )
    values = read_render_values(event)
    return reply(
        RenderedStarterItem.of(render_with_samples(slug, values, principal.account, utc_now()))
    )


load(lambda it: it.caller_authentication)
lambda_handler = entrypoint(app)
