"""The tools that send, after a question to the user, and those that change an email that waits."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

from pillarbox.application.ports import StoredResponse
from pillarbox.application.sending.confirmation import SendConfirmation
from pillarbox.application.sending.prepare import PreparedMessage
from pillarbox.domain.accounts.key import account_of_key
from pillarbox.domain.address import MAX_ADDRESS
from pillarbox.domain.errors import FieldError, Json, ServiceError, ValidationFailed
from pillarbox.domain.messages.batch import BatchRequest
from pillarbox.domain.messages.idempotency import idempotency_digest
from pillarbox.domain.messages.mail import MAX_HEADERS_BYTES, MAX_RECIPIENTS, Mail, SendRequest
from pillarbox.domain.messages.message import Message, SendRoute
from pillarbox.http.accept import parse_send
from pillarbox.http.app import log_accepted, request_id
from pillarbox.http.batch_body import parse_batch
from pillarbox.http.mcp.reading import MessageArguments
from pillarbox.http.mcp.tools import Lines, ToolCall, cleaned, tool_result
from pillarbox.http.messages.replies import batch_result, error_body, scheduled_at, send_result
from pillarbox.http.messages.views import message_detail
from pillarbox.http.messages.wire import MOMENT, to_moment
from pillarbox.http.requests import read_uuid
from pillarbox.http.wire import WireModel, boolean, optional, optional_or, required, text, validate

if TYPE_CHECKING:
    from pillarbox.application.sending.rehearsal import Rehearsal

#: The name of our question, and of its answer, in the messages of MCP.
_QUESTION: Final = "confirm"
#: The lines of a text that a user sees before it is sent.
_LINES: Final = 6
#: Those of the question to the user, and the characters of each and of all names of files.
_READ_LINES: Final = 200
_LINE: Final = 1_000
_FILES: Final = 10_000
#: In characters, of all recipients of an email: none is hidden from the user.
_ALL_RECIPIENTS: Final = MAX_RECIPIENTS * (MAX_ADDRESS + 2)
_DECLINED: Final = "The user declined. Nothing was sent; do not try again without being asked."
_FOR_OWNER: Final = (
    "Not sent yet: it waits until an owner of the account releases it in the dashboard. Owners get"
    " an alert. get_email shows what became of it. Do not send it again."
)
_CANNOT_ASK: Final = (
    "A person must confirm each send of this key, and this client cannot ask its user, which needs"
    " elicitation of MCP 2026-07-28. Nothing was sent. An operator can create a key whose emails an"
    " owner of the account releases instead."
)


class SendControls(WireModel):
    """The arguments of a sending tool that are not part of the email."""

    dry_run = optional_or(boolean(), default=False)
    idempotency_key = optional(text(most=256))


_CONTROLS: Final[tuple[str, ...]] = ("dryRun", "idempotencyKey")


@dataclass(frozen=True, slots=True)
class Confirmed:
    """One call that a person may have to confirm, read and not yet checked.

    `token` is what confirms it.
    """

    call: ToolCall
    body_hash: str
    idempotency_key: str
    token: str | None

    @property
    def confirmation(self) -> SendConfirmation:
        return SendConfirmation(
            key_text=self.call.key_text,
            tool=self.call.tool,
            body_hash=self.body_hash,
            idempotency_key=self.idempotency_key,
        )

    @property
    def confirmed_at(self) -> datetime | None:
        """Return when the question was asked that somebody answered; None without an answer."""
        return self.confirmation.moment(self.token, self.call.now) if self.token else None

    def digest(self, moment: datetime) -> str | None:
        """Return the digest of the idempotency key, or of one made from the body and the hour."""
        hour = moment.astimezone(UTC).isoformat()[: len("2026-11-22T13")]
        key = self.idempotency_key or f"{self.body_hash}:{hour}"
        try:
            return idempotency_digest(f"MCP {self.call.tool}", [key])
        except ValidationFailed as failed:
            error = failed.errors[0]
            raise ValidationFailed(
                FieldError("idempotencyKey", error.message, "invalid_key")
            ) from None


def _send_email(call: ToolCall) -> dict[str, Json]:
    send = call.services.single_send
    send.authenticate(call.key_text, origin=call.origin)
    controls, body = _controls(call)
    request = parse_send(body)
    key, origin = call.key_text, call.origin
    submit = partial(send.submit, key, request, write_response=send_result, origin=origin)
    rehearse = partial(send.rehearse, key, request, origin=origin)
    return _run(call, controls, request, submit, lambda: _shown(rehearse()))


def _send_batch(call: ToolCall) -> dict[str, Json]:
    send = call.services.batch_send
    send.authenticate(call.key_text, origin=call.origin)
    controls, body = _controls(call)
    batch = parse_batch(body)
    key, origin = call.key_text, call.origin
    submit = partial(send.submit, key, batch, write_response=batch_result, origin=origin)
    rehearse = partial(send.rehearse, key, batch, origin=origin)
    return _run(call, controls, batch, submit, lambda: _shown_batch(rehearse()))


@dataclass(frozen=True, slots=True)
class _Shown:
    """A rehearsal: as data, and in words for the user. `sendable` is the number of emails."""

    data: dict[str, object]
    words: str
    sendable: int


def _run(
    call: ToolCall,
    controls: SendControls,
    request: SendRequest | BatchRequest,
    submit: Callable[..., StoredResponse],
    rehearse: Callable[[], _Shown],
) -> dict[str, Json]:
    if controls.dry_run:
        return tool_result({"status": "dry_run"} | rehearse().data)

    def accept(send: Confirmed) -> dict[str, Json]:
        confirmed_at = send.confirmed_at
        response = submit(
            idempotency_digest=send.digest(confirmed_at or call.now),
            request_id=request_id(call.event.raw_event),
            route=SendRoute.MCP,
            confirmed=confirmed_at is not None,
        )
        log_accepted(call.event.raw_event, account_of_key(call.key_text), response)
        waits = {"message": _FOR_OWNER} if call.principal.sends_for_owner else {}
        return tool_result({**json.loads(response.body), "replayed": response.replayed, **waits})

    return confirming(call, request.body_hash, controls.idempotency_key or "", accept, rehearse)


def confirming(
    call: ToolCall,
    body_hash: str,
    idempotency_key: str,
    act: Callable[[Confirmed], dict[str, Json]],
    rehearse: Callable[[], _Shown],
) -> dict[str, Json]:
    """Do what a person may have to confirm, or ask for that.

    The hash identifies what is to be done. `act` does it, and raises `confirmation_required` if
    it is not confirmed; `rehearse` returns what the person sees.
    """
    answered, token = _answer(call)
    if answered and token is None:
        return tool_result({"status": "declined", "message": _DECLINED}) | {"isError": True}
    send = Confirmed(call, body_hash, idempotency_key, token)
    try:
        return act(send)
    except ServiceError as error:
        if error.code != "confirmation_required":
            raise
        if token is not None:
            raise _wrong_token() from error
        if not call.can_ask:
            raise ServiceError("confirmation_required", _CANNOT_ASK) from error
        return _ask(send, rehearse())


def _ask(send: Confirmed, shown: _Shown) -> dict[str, Json]:
    if not shown.sendable:
        return tool_result({"status": "refused"} | shown.data) | {"isError": True}
    return {
        "resultType": "input_required",
        "requestState": send.confirmation.issue(send.call.now),
        "inputRequests": {
            _QUESTION: {
                "method": "elicitation/create",
                "params": {
                    "mode": "form",
                    "message": shown.words,
                    "requestedSchema": {"type": "object", "properties": {}},
                },
            }
        },
    }


def _answer(call: ToolCall) -> tuple[bool, str | None]:
    """Return whether the user answered, and the token if it is a yes."""
    responses = call.params.get("inputResponses")
    answer = responses.get(_QUESTION) if isinstance(responses, dict) else None
    if isinstance(answer, dict):
        state = call.params.get("requestState")
        accepted = answer.get("action") == "accept"
        return True, state if accepted and isinstance(state, str) else None
    return False, None


def _controls(call: ToolCall) -> tuple[SendControls, dict[str, Json]]:
    body = call.arguments
    given: dict[str, Json] = {name: body.pop(name) for name in _CONTROLS if name in body}
    return validate(SendControls, given), body


def _wrong_token() -> ServiceError:
    return ServiceError(
        "confirmation_required",
        "The confirmation is for other arguments, or older than 10 minutes. Nothing was sent. Call"
        " the tool without it to get a new one.",
    )


def _shown(prepared: PreparedMessage) -> _Shown:
    from pillarbox.application.sending.rehearsal import (  # noqa: PLC0415  loads the engine
        rehearsal_of,
    )

    rehearsal = rehearsal_of(prepared.mail, prepared.message.due_at)
    mail = rehearsal.mail
    data: dict[str, object] = {
        "from": mail.sender,
        "fromName": mail.from_name,
        "to": mail.named(mail.to),
        "cc": mail.named(mail.cc),
        "bcc": mail.named(mail.bcc),
        "replyTo": mail.replies_to,
        "subject": mail.subject,
        "headers": mail.headers,
        "ownText": Lines(own, _LINES) if (own := rehearsal.own_text) else None,
        "htmlBytes": len(rehearsal.html.encode()),
        "attachments": [{"filename": file.filename, "bytes": file.size} for file in mail.files],
        "firstLines": Lines(rehearsal.text, _LINES),
        "scheduledAt": scheduled_at(prepared.message),
        "held": prepared.message.held,
        "awaitsOwner": prepared.message.awaits_owner,
    }
    words = "\n".join(["Send this email?", *_heading(prepared), *_texts(rehearsal)])
    return _Shown(data, words, 1)


def shown_message(message: Message) -> _Shown:
    """Return what a person sees of a message whose content is not read again."""
    recipients = cleaned(", ".join(message.recipients), _ALL_RECIPIENTS)
    words = ("Send this email now?", f"To: {recipients}", f"Subject: {cleaned(message.subject)}")
    return _Shown({}, "\n".join(words), 1)


def _shown_batch(outcomes: Mapping[int, PreparedMessage | ServiceError]) -> _Shown:
    from pillarbox.application.sending.rehearsal import (  # noqa: PLC0415  loads the engine
        rehearsal_of,
    )

    emails: list[dict[str, object]] = []
    words: list[str] = []
    sendable = 0
    for position, outcome in sorted(outcomes.items()):
        if isinstance(outcome, ServiceError):
            emails.append({"idx": position, "error": error_body(outcome, 1)})
            continue
        sendable += 1
        mail = outcome.mail
        emails.append(
            {"idx": position, "from": mail.sender, "to": mail.to, "subject": mail.subject}
        )
        rehearsal = rehearsal_of(mail, outcome.message.due_at)
        words += ["", *_heading(outcome), *_texts(rehearsal)]
    refused = len(outcomes) - sendable
    data: dict[str, object] = {"sendable": sendable, "refused": refused, "emails": emails}
    return _Shown(data, "\n".join([f"Send these {sendable} emails?", *words]), sendable)


def _heading(prepared: PreparedMessage) -> list[str]:
    mail = prepared.mail
    lines = [f"{name}: {text}" for name, tell in _TOLD if (text := tell(mail))]
    if at := scheduled_at(prepared.message):
        lines.append(f"When: {at}")
    if prepared.message.held:
        who = "an owner of the account" if prepared.message.awaits_owner else "somebody"
        lines.append(f"When: after {who} has released it")
    return lines


def _texts(rehearsal: "Rehearsal") -> list[str]:
    own = _first(rehearsal.own_text or "", "With a text part of its own")
    return own + _first(rehearsal.text, "It says")


def _first(text: str, name: str) -> list[str]:
    """Return the lines of a text that a person reads, and say how much is left out."""
    lines = [f"> {cleaned(line, _LINE)}" for line in text.splitlines() if line.strip()]
    if not lines:
        return []
    left = len(lines) - _READ_LINES
    return [f"{name}:", *lines[:_READ_LINES], *([f"… and {left} lines more"] if left > 0 else [])]


#: What a person confirms, from all fields of `Mail`: the body and the text come after these.
_TOLD: Final[tuple[tuple[str, Callable[[Mail], str]], ...]] = (
    ("To", lambda mail: _addresses(mail, mail.to + mail.cc + mail.bcc)),
    ("Subject", lambda mail: cleaned(mail.subject)),
    ("From", lambda mail: cleaned(mail.sender)),
    ("From name", lambda mail: cleaned(mail.from_name or "")),
    ("Replies to", lambda mail: cleaned(mail.replies_to or "", 2 * _ALL_RECIPIENTS)),
    ("Attachments", lambda mail: cleaned(", ".join(file.filename for file in mail.files), _FILES)),
    (
        "Header fields",
        lambda mail: cleaned(
            "; ".join(f"{name}: {value}" for name, value in mail.headers.items()),
            MAX_HEADERS_BYTES * 2,
        ),
    ),
)


def _addresses(mail: Mail, addresses: tuple[str, ...]) -> str:
    return cleaned(", ".join(mail.named(addresses)), 2 * _ALL_RECIPIENTS)


class RescheduleArguments(WireModel):
    """Name a message and a new time for it."""

    message_id = required(text())
    scheduled_at = required(MOMENT)


def _cancel_email(call: ToolCall) -> dict[str, Json]:
    arguments = validate(MessageArguments, call.arguments)
    account_id, message_id = _ids(call, arguments.message_id)
    return _changed(call, call.services.changes.cancel(account_id, message_id, call.principal))


def _reschedule_email(call: ToolCall) -> dict[str, Json]:
    arguments = validate(RescheduleArguments, call.arguments)
    account_id, message_id = _ids(call, arguments.message_id)
    due_at = to_moment(arguments.scheduled_at)
    changes = call.services.changes
    return _changed(call, changes.reschedule(account_id, message_id, due_at, call.principal))


def _release_email(call: ToolCall) -> dict[str, Json]:
    arguments = validate(MessageArguments, call.arguments)
    _, message_id = _ids(call, arguments.message_id)
    message = call.services.message_lookup.get(call.principal, message_id)
    if not message.held:
        raise ServiceError("not_cancelable", "The message does not wait for a release.")

    def release(send: Confirmed) -> dict[str, Json]:
        confirmed = send.confirmed_at is not None
        changes = call.services.changes
        return _changed(
            call, changes.release(call.principal, message_id, over_mcp=True, confirmed=confirmed)
        )

    if message.awaits_owner or call.principal.sends_for_owner:
        # No answer of its user would help.
        return _changed(call, call.services.changes.release(call.principal, message_id))
    body_hash = hashlib.sha256(str(message_id).encode()).hexdigest()
    return confirming(call, body_hash, "", release, lambda: shown_message(message))


def _ids(call: ToolCall, message_id: str) -> tuple[str, UUID]:
    return call.principal.account.account_id, read_uuid(message_id, "messageId")


def _changed(call: ToolCall, message: Message) -> dict[str, Json]:
    return tool_result(message_detail(message, call.services.region))


TOOLS: Final[Mapping[str, Callable[[ToolCall], dict[str, Json]]]] = {
    "send_email": _send_email,
    "send_batch": _send_batch,
    "cancel_email": _cancel_email,
    "reschedule_email": _reschedule_email,
    "release_email": _release_email,
}
