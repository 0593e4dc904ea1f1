"""Write the payloads of webhooks as Resend does, for receivers that were written for it.

The names are those of Resend's SDK for Python 2.52 (`resend.webhooks.WebhookEventPayload`). What
it has no name for has ours: receivers ignore types that they do not know.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final
from uuid import uuid5

from pillarbox.domain.accounts.pause import SUSPENSION, PauseSummary
from pillarbox.domain.accounts.suppression import Suppression
from pillarbox.domain.messages.message import MEANINGS, EventKind, Message
from pillarbox.domain.webhooks.endpoint import WebhookEvent, WebhookType
from pillarbox.domain.webhooks.events import AccountEvent
from pillarbox.http.messages.replies import timestamp

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
        if origin.tags:
            data["tags"] = dict(origin.tags)
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
        return _write(event.type, event.at, data)

    def suppression(self, event: WebhookEvent, suppression: Suppression) -> bytes:
        """Write the payload of `suppression.added`."""
        source = suppression.message_id
        data = {
            "id": str(uuid5(event.event_id, suppression.address)),
            "email": suppression.address,
            "origin": ORIGINS.get(suppression.reason, "manual"),
            "source_id": str(source) if source else None,
            "created_at": timestamp(event.at),
        }
        return _write(event.type, event.at, data)

    def plain(self, event: WebhookEvent) -> bytes:
        """Write the payload of a change of a domain, or with our own type of what only we have."""
        data: dict[str, object] = {"endpoint_id": event.endpoint_id}
        if event.domain is not None:
            data = {"name": event.domain, "status": _DOMAIN_STATUSES[event.type]}
        elif event.type is WebhookType.ACCOUNT_PAUSED:
            data |= asdict(PauseSummary.parse(event.pause) if event.pause else SUSPENSION)
        return _write(event.type, event.at, data)


def _write(webhook_type: WebhookType, at: datetime, data: Mapping[str, object]) -> bytes:
    name = TYPES.get(webhook_type, webhook_type.value)
    body = {"type": name, "created_at": timestamp(at), "data": data}
    return json.dumps(body, separators=(",", ":")).encode()
