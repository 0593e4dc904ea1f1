"""PATCH /v1/emails/{message_id}, and cancel, release, content, resend and kept below."""

from typing import Any
from uuid import UUID

from pillarbox.domain.accounts.key import ACCOUNT_WRITE, EMAILS_CONTENT, EMAILS_SEND
from pillarbox.domain.messages.mail import Mail
from pillarbox.domain.messages.message import Message
from pillarbox.http.app import build_app, entrypoint, log_accepted, request_id, routes
from pillarbox.http.callers import KnownCaller, MemberCaller, known, members
from pillarbox.http.messages.changes import (
    AnswerRequest,
    MessageContent,
    RescheduleRequest,
    ResendRequest,
    read_answer,
    read_resend,
)
from pillarbox.http.messages.replies import Reply, SendResult, reply_stored, send_result
from pillarbox.http.messages.views import HeldContent, MessageDetail, check_shown, message_detail
from pillarbox.http.messages.wire import to_moment
from pillarbox.wiring import load, services, utc_now

app = build_app()
route = routes(app, services)


@route(
    "PATCH /v1/emails/{message_id}",
    known(EMAILS_SEND),
    body=RescheduleRequest,
    response=MessageDetail,
)
def reschedule_message(
    caller: KnownCaller, message_id: UUID, body: RescheduleRequest
) -> dict[str, Any]:
    """Reschedule a message.

    Gives a message another time: at least a minute and at most 30 days ahead, and at most 30 days
    after the request that sent it. A held message has no time. The time can be changed 50 times.

    Errors: `not_cancelable`, `rate_limit_exceeded`.
    """
    account_id, due_at = caller.account.account_id, to_moment(body.scheduled_at)
    return _changed(services().changes.reschedule(account_id, message_id, due_at, caller))


@route("POST /v1/emails/{message_id}/cancel", known(EMAILS_SEND), response=MessageDetail)
def cancel_message(caller: KnownCaller, message_id: UUID) -> dict[str, Any]:
    """Cancel a message.

    A scheduled or held message that no worker has taken is never sent after this. Its status is
    `failed`, with the code `canceled`. It counts no more in the quota of the day and month. A
    repetition changes nothing.

    Errors: `not_cancelable`.
    """
    return _changed(services().changes.cancel(caller.account.account_id, message_id, caller))


@route("POST /v1/emails/{message_id}/release", known(EMAILS_SEND), response=MessageDetail)
def release_message(caller: KnownCaller, message_id: UUID) -> dict[str, Any]:
    """Release a held message.

    Sends a held message now. A repetition changes nothing. One with `awaitsOwner` is released in
    the session of an owner only.

    Errors: `not_cancelable`, `confirmation_required`, `recipient_not_allowed`.
    """
    return _changed(services().changes.release(caller, message_id, check=_check_shown))


def _check_shown(mail: Mail) -> None:
    from pillarbox.application.sending.rehearsal import (  # noqa: PLC0415  loads the engine
        rehearsal_of,
    )

    check_shown(rehearsal_of(mail, utc_now()))


@route("GET /v1/emails/{message_id}/content", members(ACCOUNT_WRITE), response=HeldContent)
def get_held_content(owner: MemberCaller, message_id: UUID) -> dict[str, Any]:
    """Read an agent's email.

    What an email with `awaitsOwner` is, for the owner who may release it. No other content can be
    read.

    Errors: `message_not_found`.
    """
    from pillarbox.application.sending.rehearsal import (  # noqa: PLC0415  loads the engine
        rehearsal_of,
    )

    services().slow_requests.take(owner.account.account_id)
    mail = services().changes.content_for_owner(owner.account.account_id, message_id)
    return HeldContent.of(rehearsal_of(mail, utc_now()))


@route(
    "POST /v1/emails/{message_id}/resend",
    known(EMAILS_SEND),
    body=ResendRequest,
    body_required=False,
    response=SendResult,
    idempotent=True,
)
def resend_message(caller: KnownCaller, message_id: UUID) -> Reply:
    """Send a message again.

    Sends the kept content of a message again, as a new message with `resendOf`: to the same
    recipients, or to one other address, for which the caller needs `emails:content` too. Quota,
    suppressions and sender are checked as they are now. The log of the account has an entry. Not
    for codes and links by which people sign in, which are never kept.

    Errors: `not_resendable`, `content_not_found`, `invalid_recipient`, `recipient_suppressed`,
    `no_verified_sender`, `upgrade_required`, `recipient_not_allowed`, `confirmation_required`,
    `sending_paused`, `rate_limit_exceeded`, `daily_limit_exceeded`, `monthly_limit_exceeded`.
    """
    request = read_resend(app.current_event)
    response = services().send_again.submit(
        caller,
        message_id,
        request.to,
        request.idempotency_digest,
        request_id=request_id(app.current_event.raw_event),
        write_response=send_result,
    )
    log_accepted(app.current_event.raw_event, caller.account.account_id, response)
    return reply_stored(response)


@route("GET /v1/emails/{message_id}/kept", known(EMAILS_CONTENT), response=MessageContent)
def get_kept_content(caller: KnownCaller, message_id: UUID) -> dict[str, Any]:
    """Read the content of a message.

    What was handed over, if the account keeps it: the HTML, the text, the names of the files, and a
    link to the whole message. The log of the account has an entry for each reading. The answer for
    another account's message, and for content whose days are over, is that for an unknown id.

    Errors: `content_not_found`.
    """
    return MessageContent.of(services().content_reading.read(caller, message_id))


@route(
    "POST /v1/received/{received_id}/reply",
    known(EMAILS_SEND),
    body=AnswerRequest,
    response=SendResult,
    status=200,
    idempotent=True,
)
def answer_received(caller: KnownCaller, received_id: UUID) -> Reply:
    """Answer a received mail.

    Sends an email to the writer of a received mail, with the subject and the fields by which mail
    programs show it below. The caller needs `received:read` too. Answers to it come back as well.
    Mail that a program wrote is not answered.

    Errors: `received_not_found`, `invalid_recipient`, `recipient_suppressed`,
    `no_verified_sender`, `upgrade_required`, `recipient_not_allowed`, `confirmation_required`,
    `sending_paused`, `rate_limit_exceeded`, `daily_limit_exceeded`, `monthly_limit_exceeded`.
    """
    response = services().answering.submit(
        caller,
        received_id,
        read_answer(app.current_event),
        request_id=request_id(app.current_event.raw_event),
        write_response=send_result,
    )
    log_accepted(app.current_event.raw_event, caller.account.account_id, response)
    return reply_stored(response)


def _changed(message: Message) -> dict[str, Any]:
    return message_detail(message, services().region)


load(lambda it: (it.caller_authentication, it.changes))
lambda_handler = entrypoint(app)
