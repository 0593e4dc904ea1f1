"""Write responses in Resend's shape: ids, emails, lists and errors."""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from pillarbox.application.ports import AcceptedMessage
from pillarbox.domain.errors import ServiceError, ValidationFailed
from pillarbox.domain.messages.message import EventKind, Message, Status
from pillarbox.http.dialects.replies import describe, reply_in_shape
from pillarbox.http.messages.replies import Reply, scheduled_at, timestamp
from pillarbox.http.resend.requests import RENAMED

#: Our code -> status and name of Resend's error. The names decide which class an SDK raises.
ERRORS: Final[Mapping[str, tuple[int, str]]] = {
    "missing_api_key": (401, "missing_api_key"),
    "invalid_api_key": (403, "invalid_api_key"),
    "session_required": (401, "restricted_api_key"),
    "scope_required": (401, "restricted_api_key"),
    "upgrade_required": (403, "restricted_api_key"),
    "recipient_not_allowed": (403, "restricted_api_key"),
    "confirmation_required": (403, "restricted_api_key"),
    "account_suspended": (403, "restricted_api_key"),
    "sending_paused": (403, "restricted_api_key"),
    "no_verified_sender": (403, "validation_error"),
    "missing_field": (422, "missing_required_field"),
    "multiple_modes": (422, "validation_error"),
    "invalid_recipient": (422, "validation_error"),
    "recipient_suppressed": (422, "validation_error"),
    "recipient_limit_exceeded": (422, "validation_error"),
    "batch_limit_exceeded": (422, "validation_error"),
    "attachment_type_not_allowed": (422, "invalid_attachment"),
    "attachment_too_large": (422, "invalid_attachment"),
    "too_many_attachments": (422, "invalid_attachment"),
    "attachment_not_found": (422, "invalid_attachment"),
    "request_too_large": (422, "invalid_attachment"),
    "validation_failed": (422, "validation_error"),
    "not_cancelable": (422, "validation_error"),
    "idempotency_key_mismatch": (409, "invalid_idempotent_request"),
    "idempotency_in_flight": (409, "concurrent_idempotent_requests"),
    "message_not_found": (404, "not_found"),
    "template_not_found": (404, "not_found"),
    "account_not_found": (404, "not_found"),
    "domain_not_found": (404, "not_found"),
    "key_not_found": (404, "not_found"),
    "suppression_not_found": (404, "not_found"),
    "webhook_not_found": (404, "not_found"),
    "delivery_not_found": (404, "not_found"),
    "domain_in_use": (422, "validation_error"),
    "domain_limit_exceeded": (422, "validation_error"),
    "key_limit_exceeded": (422, "validation_error"),
    "webhook_limit_exceeded": (422, "validation_error"),
    "SCOPE_NOT_ALLOWED_FOR_TIER": (403, "restricted_api_key"),
    "route_not_found": (404, "not_found"),
    "rate_limit_exceeded": (429, "rate_limit_exceeded"),
    "daily_limit_exceeded": (429, "daily_quota_exceeded"),
    "monthly_limit_exceeded": (429, "monthly_quota_exceeded"),
    "internal_error": (500, "application_error"),
    "service_unavailable": (503, "application_error"),
}
_MESSAGES: Final[Mapping[str, str]] = {
    "missing_field": "Give `html`, `text` or `template`.",
    "multiple_modes": "Give only one of `html` and `template`.",
    "missing_api_key": "Send the API key as Authorization: Bearer bx_live_…",
    "invalid_api_key": "The API key is unknown, revoked or incomplete.",
}
_THEIR_NAMES: Final = {ours: theirs for theirs, ours in RENAMED.items()} | {
    "templateId": "template.id",
    "starterTemplate": "template.id",
    "variables": "template.variables",
    # Those of domains, keys, suppressions and webhooks.
    "domain": "name",
    "mailFrom": "custom_return_path",
    "address": "email",
    "addresses": "emails",
    "scopes": "permission",
    "url": "endpoint",
    "types": "events",
    "cursor": "after",
}
_STATUSES: Final[Mapping[Status, str]] = {status: status.value for status in Status} | {
    Status.PENDING: "queued"
}


def reply_resend_error(error: ServiceError) -> Reply:
    """Reply with an error as Resend's SDKs read it: `statusCode`, `name` and `message`."""
    status, name = _error(error)
    body = {"statusCode": status, "name": name, "message": _message(error)}
    return reply_in_shape(error, status, body)


def deleted(kind: str, deleted_id: str) -> dict[str, object]:
    """Return the response to a deletion."""
    return {"object": kind, "id": deleted_id, "deleted": True}


def email_id(accepted: AcceptedMessage) -> str:
    """Write the response to `POST /emails`."""
    return json.dumps({"id": str(accepted.message_id)})


def email_ids(outcomes: Sequence[AcceptedMessage | ServiceError]) -> str:
    """Write the response to `POST /emails/batch`: the ids, and the emails that were refused."""
    ids = [{"id": str(one.message_id)} for one in outcomes if isinstance(one, AcceptedMessage)]
    errors = [
        {"index": position, "message": _message(one)}
        for position, one in enumerate(outcomes)
        if isinstance(one, ServiceError)
    ]
    return json.dumps({"data": ids} | ({"errors": errors} if errors else {}))


def email(message: Message, region: str) -> dict[str, object]:
    """Return an email as Resend shows it. Its content is not shown: `html` and `text` are null."""
    origin = message.origin
    return listed_email(message) | {
        "message_id": message.message_id_header(region) or "",
        "html": None,
        "text": None,
        "tags": [{"name": name, "value": value} for name, value in origin.tags.items()],
    }


def changed_email(message: Message) -> dict[str, object]:
    """Return what a change of an email returns."""
    return {"object": "email", "id": str(message.message_id)}


def listed_email(message: Message) -> dict[str, object]:
    """Return an email as Resend lists it."""
    name, address = message.from_name, message.sender
    return {
        "object": "email",
        "id": str(message.message_id),
        "from": f"{name} <{address}>" if name else address,
        "to": list(message.to),
        "cc": list(message.cc),
        "bcc": list(message.bcc),
        "reply_to": None,
        "subject": message.subject,
        "created_at": timestamp(message.created_at),
        "last_event": _last_event(message),
        "scheduled_at": scheduled_at(message),
    }


def _last_event(message: Message) -> str:
    if message.canceled_at is not None:
        return "canceled"
    if message.waits:
        return "scheduled"
    delayed = any(event.kind is EventKind.DELAYED for event in message.events)
    if delayed and message.status in {Status.PENDING, Status.SENT}:
        return "delivery_delayed"
    return _STATUSES[message.status]


def _error(error: ServiceError) -> tuple[int, str]:
    if isinstance(error, ValidationFailed):
        if all(fault.code == "required" for fault in error.errors):
            return 422, "missing_required_field"
        if any(fault.field == "Idempotency-Key" for fault in error.errors):
            return 400, "invalid_idempotency_key"
    return ERRORS.get(error.code, (error.status, error.code))


def _message(error: ServiceError) -> str:
    return describe(error, _THEIR_NAMES, _MESSAGES)
