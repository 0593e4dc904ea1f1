"""Writing an answer: JSON, and the envelope of every error (contract section 7)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from aws_lambda_powertools.event_handler import Response

from pillarbox.application.ports import AcceptedMessage, StoredResponse
from pillarbox.application.templates.starters import Preview
from pillarbox.domain.errors import Json, ServiceError
from pillarbox.domain.message import Event, EventKind, Message
from pillarbox.domain.template import SavedTemplate, StarterTemplate

_JSON = "application/json"


def reply(body: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> Response[str]:
    """Answer with a JSON value."""
    return Response(status, _JSON, _write(body), headers=dict(headers or {}))


def reply_nothing() -> Response[str]:
    """Answer that it is done: 204 has no body."""
    return Response(204, body="")


def reply_page(items: Iterable[Json], total: int, *, skip: int, limit: int) -> Response[str]:
    """Answer with a part of a list (contract 4.3 and 4.8)."""
    return reply({"items": list(items), "total": total, "skip": skip, "limit": limit})


def reply_stored(response: StoredResponse) -> Response[str]:
    """Reply with a stored response; a replay repeats it byte for byte (contract 4.11)."""
    headers = {"Idempotent-Replay": "true"} if response.replayed else {}
    return Response(200, _JSON, response.body, headers=dict(headers))


def send_result(accepted: AcceptedMessage) -> str:
    """Write the response to a send (contract 2.3)."""
    return _write(_send_result(accepted))


def batch_result(outcomes: Sequence[AcceptedMessage | ServiceError]) -> str:
    """Write the response to a batch (contract 2.4)."""
    return _write({"results": [_batch_item(at, each) for at, each in enumerate(outcomes)]})


def _send_result(accepted: AcceptedMessage) -> dict[str, Json]:
    return {"messageId": str(accepted.message_id), "status": "queued", "from": accepted.sender}


def _batch_item(position: int, outcome: AcceptedMessage | ServiceError) -> Json:
    if isinstance(outcome, AcceptedMessage):
        return {"idx": position, **_send_result(outcome), "error": None}
    return {
        "idx": position,
        "messageId": None,
        "status": None,
        "from": None,
        "error": outcome.envelope(),
    }


def _write(body: Json) -> str:
    return json.dumps(body, separators=(",", ":"))


def reply_error(error: ServiceError) -> Response[str]:
    """Answer with the envelope."""
    return reply({"error": error.envelope()}, error.status, error.headers)


def message_list_item(message: Message) -> Json:
    """Contract 2.5, list item."""
    return {
        "messageId": str(message.message_id),
        "recipientEmail": message.to[0],
        "subject": message.subject,
        "status": message.status.value,
        "createdAt": timestamp(message.created_at),
        "updatedAt": timestamp(message.updated_at),
        "errorMessage": _error_message(message),
    }


def message_detail(message: Message) -> Json:
    """Contract 2.5, detail; `to`, `cc`, `bcc` and `events` are additions."""
    return {
        "messageId": str(message.message_id),
        "status": message.status.value,
        "recipientEmail": message.to[0],
        "subject": message.subject,
        "fromName": message.from_name,
        "providerMessageId": message.provider_message_id or "",
        "errorMessage": _error_message(message),
        "createdAt": timestamp(message.created_at),
        "updatedAt": timestamp(message.updated_at),
        "from": message.sender,
        "to": list(message.to),
        "cc": list(message.cc),
        "bcc": list(message.bcc),
        "events": [
            _event({"type": EventKind.ACCEPTED.value, "at": timestamp(message.created_at)}),
            *map(_message_event, message.events),
        ],
    }


def starter_item(starter: StarterTemplate) -> Json:
    """Contract 2.6."""
    return {
        "slug": starter.slug,
        "name": starter.name,
        "description": starter.description,
        "variables": [variable.name for variable in starter.variables],
    }


def preview_result(preview: Preview) -> Json:
    """Contract 4.7."""
    return {
        "slug": preview.slug,
        "subject": preview.subject,
        "html": preview.html,
        "sampleVariables": dict(preview.values),
    }


def template_item(template: SavedTemplate) -> dict[str, Json]:
    """Contract 2.7, as listed."""
    return {
        "id": template.template_id,
        "name": template.name,
        "subject": template.subject,
        "category": template.category,
        "variables": list(template.variables),
        "createdAt": timestamp(template.created_at),
        "updatedAt": timestamp(template.updated_at),
    }


def template_detail(template: SavedTemplate, preview_html: str) -> Json:
    """Contract 2.7, the single template."""
    return template_item(template) | {"previewHtml": preview_html}


def timestamp(moment: datetime) -> str:
    """ISO 8601 with a +00:00 offset (contract 2.5)."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def _error_message(message: Message) -> str | None:
    error = message.error
    return (error.reason or error.code) if error else None


def _message_event(event: Event) -> Json:
    return _event(
        {
            "type": event.kind.value,
            "at": timestamp(event.at),
            "recipient": event.recipient,
            "code": event.code,
            "reason": event.reason,
        }
    )


def _event(written: dict[str, Json]) -> Json:
    return {name: value for name, value in written.items() if value is not None}
