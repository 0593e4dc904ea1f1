"""PATCH /v1/emails/{message_id}, POST …/cancel and …/release: change a message that waits."""

from pillarbox.application.sending.changes import Caller
from pillarbox.domain.accounts.key import EMAILS_SEND
from pillarbox.http.app import build_app, entrypoint
from pillarbox.http.messages.changes import read_time
from pillarbox.http.messages.replies import Reply, message_detail, reply
from pillarbox.http.requests import read_credential, read_uuid, request_origin
from pillarbox.wiring import services

app = build_app()


@app.patch("/v1/emails/<message_id>")
def reschedule_message(message_id: str) -> Reply:
    account_id, identifier = _caller().account.account_id, read_uuid(message_id, "message_id")
    due_at = read_time(app.current_event)
    return reply(message_detail(services().changes.reschedule(account_id, identifier, due_at)))


@app.post("/v1/emails/<message_id>/cancel")
def cancel_message(message_id: str) -> Reply:
    account_id, identifier = _caller().account.account_id, read_uuid(message_id, "message_id")
    return reply(message_detail(services().changes.cancel(account_id, identifier)))


@app.post("/v1/emails/<message_id>/release")
def release_message(message_id: str) -> Reply:
    caller, identifier = _caller(), read_uuid(message_id, "message_id")
    return reply(message_detail(services().changes.release(caller, identifier)))


def _caller() -> Caller:
    event = app.current_event
    return services().caller_authentication.authenticate(
        read_credential(event), EMAILS_SEND, origin=request_origin(event)
    )


lambda_handler = entrypoint(app)
