"""PATCH /v1/emails/{message_id}, and cancel, release and content below: messages that wait."""

from pillarbox.application.sending.changes import Caller
from pillarbox.domain.accounts.key import ACCOUNT_WRITE, EMAILS_SEND
from pillarbox.http.app import build_app, entrypoint
from pillarbox.http.messages.changes import read_time
from pillarbox.http.messages.replies import Reply, held_content, message_detail, reply
from pillarbox.http.requests import read_credential, read_uuid, request_origin
from pillarbox.wiring import services

app = build_app()


@app.patch("/v1/emails/<message_id>")
def reschedule_message(message_id: str) -> Reply:
    caller, identifier = _caller(), read_uuid(message_id, "message_id")
    account_id, due_at = caller.account.account_id, read_time(app.current_event)
    changes = services().changes
    return reply(message_detail(changes.reschedule(account_id, identifier, due_at, caller)))


@app.post("/v1/emails/<message_id>/cancel")
def cancel_message(message_id: str) -> Reply:
    caller, identifier = _caller(), read_uuid(message_id, "message_id")
    return reply(
        message_detail(services().changes.cancel(caller.account.account_id, identifier, caller))
    )


@app.post("/v1/emails/<message_id>/release")
def release_message(message_id: str) -> Reply:
    caller, identifier = _caller(), read_uuid(message_id, "message_id")
    return reply(message_detail(services().changes.release(caller, identifier)))


@app.get("/v1/emails/<message_id>/content")
def get_held_content(message_id: str) -> Reply:
    from pillarbox.application.sending.rehearsal import (  # noqa: PLC0415  loads the engine
        rehearsal_of,
    )
    from pillarbox.http.sign_in.wire import read_session  # noqa: PLC0415  keys need none

    session = read_session(app.current_event)
    owner = services().session_authentication.authenticate_member(session, ACCOUNT_WRITE)
    identifier = read_uuid(message_id, "message_id")
    mail = services().changes.content_for_owner(owner.account.account_id, identifier)
    return reply(held_content(rehearsal_of(mail)))


def _caller() -> Caller:
    event = app.current_event
    return services().caller_authentication.authenticate(
        read_credential(event), EMAILS_SEND, origin=request_origin(event)
    )


lambda_handler = entrypoint(app)
