"""GET /v1/emails/{message_id}: show one message and its events (contract 4.4)."""

from pillarbox.domain.accounts.key import EMAILS_READ
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import known
from pillarbox.http.messages.replies import Reply, reply
from pillarbox.http.messages.views import MessageDetail, message_detail
from pillarbox.http.requests import read_credential, read_uuid, request_origin
from pillarbox.wiring import load, services

app = build_app()
route = routes(app)


@route("GET /v1/emails/{message_id}", known(EMAILS_READ), response=MessageDetail)
def get_message(message_id: str) -> Reply:
    """Get a message.

    A message with its status and its events.
    """
    event = app.current_event
    principal = services().caller_authentication.authenticate(
        read_credential(event), EMAILS_READ, origin=request_origin(event)
    )
    message = services().message_lookup.get(principal, read_uuid(message_id, "message_id"))
    return reply(message_detail(message, services().region))


load(lambda it: (it.caller_authentication, it.message_lookup))
lambda_handler = entrypoint(app)
