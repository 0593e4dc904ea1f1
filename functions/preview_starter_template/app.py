"""POST /v1/starter-templates/{slug}/preview: render without sending (contract 4.7)."""

from typing import Any

from pillarbox.application.render import template_of_codes
from pillarbox.application.templates.previews import render_with_samples
from pillarbox.http.accept import read_render_values
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import KnownCaller, known
from pillarbox.http.messages.views import RenderedStarterItem
from pillarbox.http.messages.wire import RenderStarterRequest
from pillarbox.wiring import load, services, utc_now

app = build_app()
route = routes(app, services)


@route(
    "POST /v1/starter-templates/{slug}/preview",
    known(),
    body=RenderStarterRequest,
    body_required=False,
    response=RenderedStarterItem,
)
def preview_starter_template(caller: KnownCaller, slug: str) -> dict[str, Any]:
    """Preview a starter template.

    Renders the template with samples, which the given variables replace. Nothing is sent. The
    method is POST so that access logs do not have the variables.
    """
    values = read_render_values(app.current_event)
    return RenderedStarterItem.of(render_with_samples(slug, values, caller.account, utc_now()))


# The first template also makes what all of them need.
load(lambda it: (it.caller_authentication, template_of_codes()))
lambda_handler = entrypoint(app)
