"""Write responses: JSON, and the envelope of every error (contract section 7)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

from aws_lambda_powertools.event_handler.api_gateway import Response

from pillarbox.application.ports import AcceptedMessage
from pillarbox.domain.accounts.key import owner_required
from pillarbox.domain.errors import MAX_FAULTS, ServiceError, ValidationFailed, cut
from pillarbox.domain.messages.message import MEANINGS, EventKind, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pillarbox.application.history.queries import Analytics, Bucket, MessageCounts
    from pillarbox.application.ports import StoredResponse
    from pillarbox.application.sending.rehearsal import Rehearsal
    from pillarbox.application.templates.starters import RenderedStarter
    from pillarbox.domain.accounts.quota import QuotaState
    from pillarbox.domain.messages.message import Event, Message
    from pillarbox.domain.templates.template import SavedTemplate, StarterTemplate
    from pillarbox.http.messages import reply_types

#: What a handler returns.
type Reply = Response[str]

_JSON: Final = "application/json"
#: In bytes. A message may contain a name from the request.
_MAX_MESSAGE: Final = 512
#: In characters, of each part of a content: six bytes of JSON each, and Lambda answers 6 MB.
_MAX_SHOWN: Final = 400_000


def common_headers(request_id: str) -> dict[str, list[str]]:
    """Return the headers of every response.

    Without `no-store` an error could stay in a cache, such as CloudFront's.
    """
    return {"X-Request-Id": [request_id], "Cache-Control": ["no-store"]}


def reply(
    body: Mapping[str, object] | Sequence[Mapping[str, object]],
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """Reply with a JSON value."""
    return Response(status, _JSON, _write(body), headers=dict(headers or {}))


def reply_nothing(headers: Mapping[str, str] | None = None) -> Reply:
    """Reply 204, which has no body."""
    return Response(204, body="", headers=dict(headers or {}))


def reply_page[Item](items: Iterable[Item], total: int, *, skip: int, limit: int) -> Reply:
    """Reply with one page of a list (contract 4.3 and 4.8)."""
    page: reply_types.ItemPage[Item] = {
        "items": list(items),
        "total": total,
        "skip": skip,
        "limit": limit,
    }
    return reply(page)


def reply_stored(response: StoredResponse) -> Reply:
    """Reply with a stored response; a replay repeats it byte for byte (contract 4.11).

    What is left of the quota is that of now.
    """
    headers = {"Idempotent-Replay": "true"} if response.replayed else {}
    headers |= response.quota.header_fields if response.quota else {}
    return Response(200, _JSON, response.body, headers=dict(headers))


def send_result(accepted: AcceptedMessage) -> str:
    """Write the response to a send (contract 2.3)."""
    return _write(_send_result(accepted))


def batch_result(outcomes: Sequence[AcceptedMessage | ServiceError]) -> str:
    """Write the response to a batch (contract 2.4).

    Its messages share the faults that a response lists.
    """
    lists = sum(isinstance(outcome, ServiceError) for outcome in outcomes)
    faults = max(1, MAX_FAULTS // max(1, lists))
    result: reply_types.BatchResult = {
        "results": [
            _batch_item(position, outcome, faults) for position, outcome in enumerate(outcomes)
        ]
    }
    return _write(result)


def _send_result(accepted: AcceptedMessage) -> reply_types.SendResult:
    result: reply_types.SendResult = {
        "messageId": str(accepted.message_id),
        "status": "queued",
        "from": accepted.sender,
    }
    if accepted.scheduled_at is not None:
        result["scheduledAt"] = timestamp(accepted.scheduled_at)
    if accepted.held:
        result["held"] = True
    if accepted.for_owner:
        result["awaitsOwner"] = True
    return result


def _batch_item(
    position: int, outcome: AcceptedMessage | ServiceError, faults: int
) -> reply_types.BatchResultItem:
    if isinstance(outcome, AcceptedMessage):
        return {"idx": position, **_send_result(outcome), "error": None}
    return {
        "idx": position,
        "messageId": None,
        "status": None,
        "from": None,
        "error": error_body(outcome, faults),
    }


def _write(body: Mapping[str, object] | Sequence[Mapping[str, object]]) -> str:
    return json.dumps(body, separators=(",", ":"))


def reply_error(error: ServiceError) -> Reply:
    """Reply with the envelope of an error."""
    return reply({"error": error_body(error, MAX_FAULTS)}, error.status, error.headers)


def error_body(error: ServiceError, faults: int) -> reply_types.ErrorBody:
    """Return the `error` object with at most so many faults: a response has a limited size."""
    if isinstance(error, ValidationFailed):
        error = error.listing(faults)
    body = error.envelope()
    body["message"] = cut(error.message, _MAX_MESSAGE)
    details = error.details or {}
    if isinstance(recipients := details.get("recipients"), list):
        # The message says how many there are.
        body["details"] = {**details, "recipients": recipients[:faults]}
    return cast("reply_types.ErrorBody", body)


def message_list_item(message: Message) -> reply_types.MessageItem:
    """Return a message as listed (contract 2.5), and after `errorMessage` what is ours."""
    origin = message.origin
    return {
        "messageId": str(message.message_id),
        "recipientEmail": message.to[0],
        "subject": message.subject,
        "status": message.status,
        "createdAt": timestamp(message.created_at),
        "updatedAt": timestamp(message.updated_at),
        "errorMessage": _error_message(message),
        "tags": dict(origin.tags),
        "keyId": origin.key_id,
        "starterTemplate": origin.starter_template,
        "templateId": origin.template_id,
        "scheduledAt": scheduled_at(message),
        "held": message.held,
        "awaitsOwner": message.awaits_owner,
        "resendOf": _resend_of(message),
    }


def message_detail(message: Message, region: str) -> reply_types.MessageDetail:
    """Return a message with its events (contract 2.5).

    The contract has the fields up to `updatedAt`. `region` is the one of SES.
    """
    accepted: reply_types.MessageEvent = {
        "type": EventKind.ACCEPTED,
        "at": timestamp(message.created_at),
    }
    origin = message.origin
    return {
        "messageId": str(message.message_id),
        "status": message.status,
        "recipientEmail": message.to[0],
        "subject": message.subject,
        "fromName": message.from_name,
        "providerMessageId": message.provider_message_id or "",
        "errorMessage": _error_message(message),
        "createdAt": timestamp(message.created_at),
        "updatedAt": timestamp(message.updated_at),
        "messageIdHeader": message.message_id_header(region),
        "from": message.sender,
        "to": list(message.to),
        "cc": list(message.cc),
        "bcc": list(message.bcc),
        "route": origin.route,
        "keyId": origin.key_id,
        "starterTemplate": origin.starter_template,
        "templateId": origin.template_id,
        "templateVersion": origin.template_version,
        "requestId": origin.request_id,
        "tags": dict(origin.tags),
        "scheduledAt": scheduled_at(message),
        "held": message.held,
        "awaitsOwner": message.awaits_owner,
        "canceledAt": timestamp(message.canceled_at) if message.canceled_at else None,
        "kept": _kept_until(message) if message.keep else None,
        "resendOf": _resend_of(message),
        "events": [accepted, *map(_message_event, message.events)],
    }


def _resend_of(message: Message) -> str | None:
    return str(message.origin.resend_of) if message.origin.resend_of else None


def _kept_until(message: Message) -> str | None:
    from pillarbox.domain.messages.kept import kept_until  # noqa: PLC0415  few accounts keep any

    until = kept_until(message)
    return timestamp(until) if until else None


def held_content(rehearsal: Rehearsal) -> reply_types.HeldContent:
    """Return what an owner reads before releasing a message."""
    mail, own = rehearsal.mail, rehearsal.own_text
    return {
        "from": mail.sender,
        "fromName": mail.from_name,
        "to": [*mail.named(mail.to)],
        "cc": [*mail.named(mail.cc)],
        "bcc": [*mail.named(mail.bcc)],
        "subject": mail.subject,
        "replyTo": mail.replies_to,
        "headers": dict(mail.headers),
        "html": rehearsal.html if 0 < len(rehearsal.html) <= _MAX_SHOWN else None,
        "text": _cut(rehearsal.text),
        "ownText": _cut(own) if own else None,
        "attachments": [
            {"filename": file.filename, "contentType": file.content_type, "bytes": file.size}
            for file in mail.files
        ],
    }


def check_shown(rehearsal: Rehearsal) -> None:
    """Refuse to release a message of which `held_content` shows a part only.

    Raises:
        ServiceError: `confirmation_required`.
    """
    parts = (rehearsal.html, rehearsal.text, rehearsal.mail.text or "")
    if any(len(part) > _MAX_SHOWN for part in parts):
        raise owner_required(
            "The email is too long to be shown, so it cannot be released. Cancel it."
        )


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def analytics_result(
    analytics: Analytics, since: datetime, until: datetime, bucket: Bucket
) -> reply_types.AnalyticsResult:
    """Return the figures of a time range (contract 2.8).

    The rows of `volume` start at full hours or days of UTC, so the first may start before `since`.
    """
    return {
        "totalMessages": analytics.total.count,
        "deliveryRate": analytics.total.rate(Status.DELIVERED),
        "bounceRate": analytics.total.rate(Status.BOUNCED),
        "complaintRate": analytics.total.rate(Status.COMPLAINED),
        "windowStart": timestamp(since),
        "windowEnd": timestamp(until),
        "bucket": bucket,
        "statuses": _status_counts(analytics.total),
        "secondsToSent": {"p50": _seconds(analytics, 0.5), "p95": _seconds(analytics, 0.95)},
        "volume": [_analytics_row(start, counts) for start, counts in analytics.volume.items()],
        "topErrors": [
            {"code": code, "message": _meaning(code), "count": count}
            for code, count in analytics.errors
        ],
    }


def _seconds(analytics: Analytics, part: float) -> float | None:
    """Return within how long a part of the messages was sent."""
    milliseconds = analytics.sent_within(part)
    return None if milliseconds is None else milliseconds / 1000


def limit_states(quota: QuotaState) -> list[reply_types.LimitState]:
    """Return limits, and what is left of them."""
    return [
        {
            "name": usage.window,
            "limit": usage.limit,
            "used": usage.used,
            "remaining": usage.left,
            "resetsAt": timestamp(usage.ends),
        }
        for usage in quota.windows
    ]


def starter_item(starter: StarterTemplate) -> reply_types.StarterItem:
    """Return a starter template (contract 2.6)."""
    return {
        "slug": starter.slug,
        "name": starter.name,
        "description": starter.description,
        "variables": [variable.name for variable in starter.variables],
    }


def rendered_starter_item(rendered: RenderedStarter) -> reply_types.RenderedStarterItem:
    """Return a rendered starter template (contract 4.7)."""
    return {
        "slug": rendered.slug,
        "subject": rendered.subject,
        "html": rendered.html,
        "sampleVariables": dict(rendered.values),
    }


def template_item(template: SavedTemplate) -> reply_types.TemplateItem:
    """Return a saved template as listed (contract 2.7)."""
    return {
        "id": template.template_id,
        "name": template.name,
        "subject": template.subject,
        "category": template.category,
        "variables": list(template.variables),
        "createdAt": timestamp(template.created_at),
        "updatedAt": timestamp(template.updated_at),
    }


def template_detail(template: SavedTemplate, preview_html: str) -> reply_types.TemplateDetail:
    """Return a saved template with its preview (contract 2.7), and what is ours."""
    return {
        **template_item(template),
        "previewHtml": preview_html,
        "locales": list(template.locales),
        "keepDays": template.keep,
    }


def timestamp(moment: datetime) -> str:
    """Return a time in ISO 8601 with the offset +00:00 (contract 2.5)."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def scheduled_at(message: Message) -> str | None:
    """Return when a message is or was due, or None for one that is held or was sent at once."""
    schedule = message.schedule
    return timestamp(schedule.due_at) if schedule and not schedule.held else None


def _error_message(message: Message) -> str | None:
    error = message.error
    return (error.reason or error.code) if error else None


def _message_event(event: Event) -> reply_types.MessageEvent:
    body: reply_types.MessageEvent = {"type": event.kind, "at": timestamp(event.at)}
    if event.recipient is not None:
        body["recipient"] = event.recipient
    if event.code is not None:
        body["code"] = event.code
    if event.reason is not None:
        body["reason"] = event.reason
    return body


def _analytics_row(start: int, counts: MessageCounts) -> reply_types.AnalyticsRow:
    return {
        "timestamp": timestamp(datetime.fromtimestamp(start / 1000, UTC)),
        "count": counts.count,
        "sent": counts.reached[Status.SENT],
        "delivered": counts.reached[Status.DELIVERED],
        "bounced": counts.reached[Status.BOUNCED],
        "complained": counts.reached[Status.COMPLAINED],
        "failed": counts.reached[Status.FAILED],
        "statuses": _status_counts(counts),
    }


def _status_counts(counts: MessageCounts) -> reply_types.StatusCounts:
    number = counts.by_status
    return {
        "pending": number[Status.PENDING],
        "sent": number[Status.SENT],
        "delivered": number[Status.DELIVERED],
        "bounced": number[Status.BOUNCED],
        "complained": number[Status.COMPLAINED],
        "failed": number[Status.FAILED],
    }


def _meaning(code: str) -> str:
    return MEANINGS.get(code) or code.replace("_", " ").capitalize() + "."
