"""The tools that change an email that waits."""

import hashlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from pillarbox.domain.errors import Json, ServiceError
from pillarbox.http.mcp.calls import ToolCall, tool_result
from pillarbox.http.mcp.reading import MessageArguments
from pillarbox.http.mcp.sending import Confirmed, confirming, shown_message
from pillarbox.http.messages.replies import message_detail
from pillarbox.http.messages.wire import MOMENT, to_moment
from pillarbox.http.requests import read_uuid
from pillarbox.http.validation import validate
from pillarbox.http.wire import WireModel, required, text

if TYPE_CHECKING:
    from uuid import UUID

    from pillarbox.domain.messages.message import Message


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


def _ids(call: ToolCall, message_id: str) -> "tuple[str, UUID]":
    return call.principal.account.account_id, read_uuid(message_id, "messageId")


def _changed(call: ToolCall, message: "Message") -> dict[str, Json]:
    return tool_result(message_detail(message, call.services.region))


TOOLS: Final[Mapping[str, Callable[[ToolCall], dict[str, Json]]]] = {
    "cancel_email": _cancel_email,
    "reschedule_email": _reschedule_email,
    "release_email": _release_email,
}
