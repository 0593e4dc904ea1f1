"""GET /v1/starter-templates: list the built-in templates (contract 4.6)."""

from pillarbox.application.templates.starters import list_starters
from pillarbox.http.app import build_app, entrypoint
from pillarbox.http.messages.replies import Reply, reply
from pillarbox.http.messages.views import StarterItem
from pillarbox.http.requests import read_credential, request_origin
from pillarbox.wiring import load, services

app = build_app()


@app.get("/v1/starter-templates")
def list_starter_templates() -> Reply:
    event = app.current_event
    services().caller_authentication.authenticate(
        read_credential(event), origin=request_origin(event)
    )
    return reply([StarterItem.of(starter) for starter in list_starters()])


load(lambda it: it.caller_authentication)
lambda_handler = entrypoint(app)
