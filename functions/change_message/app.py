"""PATCH /v1/emails/{message_id}, and cancel, release, content, resend and kept below."""

from pillarbox.application.sending.changes import Caller
from pillarbox.domain.accounts.key import ACCOUNT_WRITE, EMAILS_CONTENT, EMAILS_SEND
from pillarbox.domain.messages.mail import Mail
from pillarbox.domain.messages.message import Message
from pillarbox.http.app import build_app, entrypoint, log_accepted, request_id
from pillarbox.http.messages.changes import MessageContent, read_resend, read_time
from pillarbox.http.messages.replies import Reply, reply, reply_stored, send_result
from pillarbox.http.messages.views import HeldContent, check_shown, message_detail
from pillarbox.http.requests import read_credential, read_uuid, request_origin
from pillarbox.wiring import load, services, utc_now

app = build_app()


@app.patch("/v1/emails/<message_id>")
def reschedule_message(message_id: str) -> Reply:
    caller, identifier = _caller(), read_uuid(message_id, "message_id")
    account_id, due_at = caller.account.account_id, read_time(app.current_event)
    changes = services().changes
    return _changed(changes.reschedule(account_id, identifier, due_at, caller))


@app.post("/v1/emails/<message_id>/cancel")
def cancel_message(message_id: str) -> Reply:
    caller, identifier = _caller(), read_uuid(message_id, "message_id")
    return _changed(services().changes.cancel(caller.account.account_id, identifier, caller))


@app.post("/v1/emails/<message_id>/release")
def release_message(message_id: str) -> Reply:
    caller, identifier = _caller(), read_uuid(message_id, "message_id")
    return _changed(services().changes.release(caller, identifier, check=_check_shown))


def _check_shown(mail: Mail) -> None:
    from pillarbox.application.sending.rehearsal import (  # noqa: PLC0415  loads the engine
        rehearsal_of,
    )

    check_shown(rehearsal_of(mail, utc_now()))


@app.get("/v1/emails/<message_id>/content")
def get_held_content(message_id: str) -> Reply:
    from pillarbox.application.sending.rehearsal import (  # noqa: PLC0415  loads the engine
        rehearsal_of,
    )
    from pillarbox.http.sign_in.wire import read_session  # noqa: PLC0415  keys need none

    session = read_session(app.current_event)
    owner = services().session_authentication.authenticate_member(session, ACCOUNT_WRITE)
    identifier = read_uuid(message_id, "message_id")
    services().slow_requests.take(owner.account.account_id)
    mail = services().changes.content_for_owner(owner.account.account_id, identifier)
    return reply(HeldContent.of(rehearsal_of(mail, utc_now())))


@app.post("/v1/emails/<message_id>/resend")
def resend_message(message_id: str) -> Reply:
    caller, identifier = _caller(), read_uuid(message_id, "message_id")
    request = read_resend(app.current_event)
    response = services().send_again.submit(
        caller,
        identifier,
        request.to,
        request.idempotency_digest,
        request_id=request_id(app.current_event.raw_event),
        write_response=send_result,
    )
    log_accepted(app.current_event.raw_event, caller.account.account_id, response)
    return reply_stored(response)


@app.get("/v1/emails/<message_id>/kept")
def get_kept_content(message_id: str) -> Reply:
    caller, identifier = _caller(EMAILS_CONTENT), read_uuid(message_id, "message_id")
    return reply(MessageContent.of(services().content_reading.read(caller, identifier)))


def _changed(message: Message) -> Reply:
    return reply(message_detail(message, services().region))


def _caller(scope: str = EMAILS_SEND) -> Caller:
    event = app.current_event
    return services().caller_authentication.authenticate(
        read_credential(event), scope, origin=request_origin(event)
    )


load(lambda it: (it.caller_authentication, it.changes))
lambda_handler = entrypoint(app)
