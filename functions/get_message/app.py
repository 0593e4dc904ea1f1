"""GET /v1/emails/{message_id}: show one message and its events (contract 4.4)."""

from pillarbox.domain.accounts.key import EMAILS_READ
from pillarbox.http.app import build_app, entrypoint
from pillarbox.http.messages.replies import Reply, reply
from pillarbox.http.messages.views import message_detail
from pillarbox.http.requests import read_credential, read_uuid, request_origin
from pillarbox.wiring import load, services

app = build_app()


@app.get("/v1/emails/<message_id>")
def get_message(message_id: str) -> Reply:
    event = app.current_event
    principal = services().caller_authentication.authenticate(
        read_credential(event), EMAILS_READ, origin=request_origin(event)
    )
    message = services().message_lookup.get(principal, read_uuid(message_id, "message_id"))
    return reply(message_detail(message, services().region))


load(lambda it: (it.caller_authentication, it.message_lookup))
lambda_handler = entrypoint(app)
