"""GET /v1/emails/{message_id}: show one message and its events (contract 4.4)."""

from typing import Any
from uuid import UUID

from pillarbox.domain.accounts.key import EMAILS_READ
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import KnownCaller, known
from pillarbox.http.messages.views import MessageDetail, message_detail
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route("GET /v1/emails/{message_id}", known(EMAILS_READ), response=MessageDetail)
def get_message(caller: KnownCaller, message_id: UUID) -> dict[str, Any]:
    """Get a message.

    A message with its status and its events.
    """
    return message_detail(services().message_lookup.get(caller, message_id), services().region)


load(lambda it: (it.caller_authentication, it.message_lookup))
lambda_handler = entrypoint(app)
