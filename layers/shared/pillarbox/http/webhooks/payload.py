"""Write the payloads of webhooks: with our names, or as Resend and Postmark do.

The names are those of Resend's SDK for Python 2.52 (`resend.webhooks.WebhookEventPayload`). What
it has no name for has ours: receivers ignore types that they do not know.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final
from uuid import uuid5

from pillarbox.domain.accounts.pause import PauseSummary
from pillarbox.domain.messages.message import MEANINGS, Event, EventKind, Message, Status
from pillarbox.domain.webhooks.endpoint import WebhookEvent, WebhookFormat, WebhookType
from pillarbox.http.messages.replies import View, scheduled_at, taken_from, timestamp
from pillarbox.http.received import ReceivedDetail, postmark_event, resend_detail

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Literal

    from pillarbox.application.receiving_ports import ReadMail
    from pillarbox.application.webhooks.ports import PayloadWriter
    from pillarbox.domain.accounts.suppression import Suppression
    from pillarbox.domain.webhooks.events import AccountEvent

#: The service or the provider does not try again after these.
_PERMANENT: Final = frozenset({EventKind.FAILED, EventKind.BOUNCED})


class WebhookError(View):
    """Why an email was delayed, bounced or failed."""

    code: str | None
    message: str | None
    permanent: bool


class EmailEventData(View):
    """The `data` of the types `email.*`; `revision` grows with each change of the email."""

    message_id: str
    status: Status
    recipient: str | None
    recipient_status: Status | None
    message_id_header: str | None
    to: list[str]
    subject: str
    template_id: str | None = taken_from("origin.template_id")
    starter_template: str | None = taken_from("origin.starter_template")
    tags: dict[str, str] = taken_from("origin.labels.tags")
    scheduled_at: str | None = taken_from(scheduled_at)
    held: bool
    error: WebhookError | None
    revision: int


class SuppressionData(View):
    """The `data` of `suppression.added`."""

    address: str
    reason: str
    message_id: str | None


class DomainData(View):
    """The `data` of `domain.verified` and `domain.failed`."""

    domain: str


class PausedData(View):
    """The `data` of `account.paused`: what sends less or nothing, and why.

    `id` is that of the key or the template, or the slug of a starter template. With the level
    `warn` everything is sent; with `brake` a tenth of the limit of a minute is left; with `stop`
    nothing is accepted. `until` is null if a person has to end it.
    """

    endpoint_id: str
    scope: Literal["account", "key", "template"]
    id: str | None
    level: Literal["warn", "brake", "stop"]
    cause: Literal["bounces", "complaints", "provider", "operator"]
    until: str | None


@dataclass(frozen=True, slots=True)
class WebhookPayloads:
    """Implements `webhooks.ports.PayloadWriter`, for a service in a region of AWS."""

    region: str

    def email(self, event: AccountEvent, message: Message) -> bytes:
        """Write the payload of an event of a message, as the message is now."""
        record = next(
            (e for e in message.events if (e.kind, e.recipient) == (event.kind, event.recipient)),
            None,
        )
        data = EmailEventData.of(
            message,
            recipient=event.recipient,
            recipient_status=_recipient_status(message, event.recipient),
            message_id_header=message.message_id_header(self.region),
            error=_error(record),
        )
        return _write(event.type, event.at, data)

    def suppression(self, event: WebhookEvent, suppression: Suppression) -> bytes:
        return _write(event.type, event.at, SuppressionData.of(suppression))

    def received(self, event: WebhookEvent, received: ReadMail) -> bytes:
        """Write the payload of `email.received`: what `GET /v1/received/{id}` has."""
        return _write(event.type, event.at, ReceivedDetail.of(received))

    def plain(self, event: WebhookEvent) -> bytes:
        """Write the payload of `account.paused`, `domain.*` and `webhook.test`."""
        if event.pause is not None:
            pause = PauseSummary.parse(event.pause)
            paused = PausedData.of(pause, endpoint_id=event.endpoint_id)
            return _write(event.type, event.at, paused)
        if event.domain is not None:
            return _write(event.type, event.at, DomainData.of(event))
        return _write(event.type, event.at, {"endpointId": event.endpoint_id})


def _recipient_status(message: Message, recipient: str | None) -> Status | None:
    if recipient is None:
        return None
    ranks = [
        event.kind
        for event in message.events
        if event.recipient in {recipient, None} and event.kind is not EventKind.DELAYED
    ]
    return max(ranks, key=lambda kind: kind.rank).status if ranks else Status.PENDING


def _error(event: Event | None) -> dict[str, object] | None:
    if event is None or (event.code is None and event.reason is None):
        return None
    return WebhookError.of(
        event,
        message=event.reason or MEANINGS.get(event.code or ""),
        permanent=event.kind in _PERMANENT,
    )


def _write(webhook_type: str, at: datetime, data: Mapping[str, object]) -> bytes:
    body = {"type": webhook_type, "timestamp": timestamp(at), "data": data}
    return json.dumps(body, separators=(",", ":")).encode()


#: Our types that Resend calls something else.
TYPES: Final[Mapping[WebhookType, str]] = {
    WebhookType.EMAIL_DELAYED: "email.delivery_delayed",
    WebhookType.DOMAIN_VERIFIED: "domain.updated",
    WebhookType.DOMAIN_FAILED: "domain.updated",
}
_DOMAIN_STATUSES: Final = {
    WebhookType.DOMAIN_VERIFIED: "verified",
    WebhookType.DOMAIN_FAILED: "failed",
}
#: Our reason of a suppression -> its origin at Resend; the others are manual.
ORIGINS: Final = {"bounced": "bounce", "complained": "complaint"}


@dataclass(frozen=True, slots=True)
class ResendPayloads:
    """Implements `webhooks.ports.PayloadWriter`, for a service in a region of AWS."""

    region: str

    def email(self, event: AccountEvent, message: Message) -> bytes:
        """Write the payload of an event of a message; `to` has the recipient it is about."""
        record = next(
            (e for e in message.events if (e.kind, e.recipient) == (event.kind, event.recipient)),
            None,
        )
        name, origin = message.from_name, message.origin
        data: dict[str, object] = {
            "created_at": timestamp(message.created_at),
            "email_id": str(message.message_id),
            "message_id": message.message_id_header(self.region) or "",
            "from": f"{name} <{message.sender}>" if name else message.sender,
            "to": [event.recipient] if event.recipient else list(message.to),
            "subject": message.subject,
        }
        if tags := origin.labels.tags:
            data["tags"] = dict(tags)
        if template := origin.template_id or origin.starter_template:
            data["template_id"] = template
        code = record.code if record else None
        reason = (record.reason if record else None) or MEANINGS.get(code or "") or ""
        if event.type is WebhookType.EMAIL_BOUNCED:
            lasting = event.kind is EventKind.BOUNCED
            data["bounce"] = {
                "type": "Permanent" if lasting else "Temporary",
                "subType": code or "General",
                "message": reason,
            }
        elif event.type is WebhookType.EMAIL_FAILED:
            data["failed"] = {"reason": code or reason}
        return _write_resend(event.type, event.at, data)

    def suppression(self, event: WebhookEvent, suppression: Suppression) -> bytes:
        source = suppression.message_id
        data = {
            "id": str(uuid5(event.event_id, suppression.address)),
            "email": suppression.address,
            "origin": ORIGINS.get(suppression.reason, "manual"),
            "source_id": str(source) if source else None,
            "created_at": timestamp(event.at),
        }
        return _write_resend(event.type, event.at, data)

    def received(self, event: WebhookEvent, received: ReadMail) -> bytes:
        """Write the payload of `email.received`: what `GET /emails/receiving/{id}` has too."""
        data = {"email_id": str(received.mail.received_id)} | resend_detail(received)
        return _write_resend(event.type, event.at, data)

    def plain(self, event: WebhookEvent) -> bytes:
        """Write the payload of a change of a domain, or with our own type of what only we have."""
        data: dict[str, object] = {"endpoint_id": event.endpoint_id}
        if event.domain is not None:
            data = {"name": event.domain, "status": _DOMAIN_STATUSES[event.type]}
        elif event.pause is not None:
            data |= asdict(PauseSummary.parse(event.pause))
        return _write_resend(event.type, event.at, data)


def _write_resend(webhook_type: WebhookType, at: datetime, data: Mapping[str, object]) -> bytes:
    name = TYPES.get(webhook_type, webhook_type.value)
    body = {"type": name, "created_at": timestamp(at), "data": data}
    return json.dumps(body, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True)
class PostmarkPayloads(WebhookPayloads):
    """Writes `email.received` as Postmark's inbound webhook has it, and all others as ours."""

    def received(self, event: WebhookEvent, received: ReadMail) -> bytes:  # noqa: ARG002  the mail says all
        """Write the payload of `email.received`, with small files in it."""
        return json.dumps(postmark_event(received), separators=(",", ":")).encode()


def payload_writers(region: str) -> Mapping[WebhookFormat, PayloadWriter]:
    return {
        WebhookFormat.PILLARBOX: WebhookPayloads(region),
        WebhookFormat.RESEND: ResendPayloads(region),
        WebhookFormat.POSTMARK: PostmarkPayloads(region),
    }
