"""The events that the service sends: the section `webhooks` of the document."""

from collections.abc import Mapping
from typing import Any, Final, Literal, TypedDict

from openapi.examples import RECEIVED_CONTENT
from openapi.schemas import Schemas
from pillarbox.domain.webhooks.endpoint import WebhookType
from pillarbox.http.json_types import Timestamp, Uuid
from pillarbox.http.received import ReceivedDetail
from pillarbox.http.webhooks.payload import (
    DomainData,
    EmailEventData,
    PausedData,
    SuppressionData,
)

type EmailType = Literal[
    "email.accepted",
    "email.sent",
    "email.delivered",
    "email.delayed",
    "email.bounced",
    "email.complained",
    "email.failed",
]


class EmailEvent(TypedDict):
    """Something happened to an email, or to one of its recipients."""

    type: EmailType
    timestamp: Timestamp
    data: EmailEventData


class ReceivedEvent(TypedDict):
    """The account received a mail; the data are those of `GET /api/v1/received/{received_id}`."""

    type: Literal["email.received"]
    timestamp: Timestamp
    data: ReceivedDetail


class SuppressionEvent(TypedDict):
    """The account no longer sends to an address."""

    type: Literal["suppression.added"]
    timestamp: Timestamp
    data: SuppressionData


class DomainEvent(TypedDict):
    """The provider verified a sender domain of the account, or no longer does."""

    type: Literal["domain.verified", "domain.failed"]
    timestamp: Timestamp
    data: DomainData


class EndpointData(TypedDict):
    """The endpoint that got the event."""

    endpointId: Uuid


class PausedEvent(TypedDict):
    """The account, a key or a template sends less or nothing, or may soon."""

    type: Literal["account.paused"]
    timestamp: Timestamp
    data: PausedData


class TestEvent(TypedDict):
    """A user tests the endpoint."""

    type: Literal["webhook.test"]
    timestamp: Timestamp
    data: EndpointData


#: Type -> when it is sent, and the shape of its payload.
_EVENTS: Final[Mapping[WebhookType, tuple[str, type]]] = {
    WebhookType.EMAIL_ACCEPTED: (
        'An email was accepted. `["*"]` does not include this type.',
        EmailEvent,
    ),
    WebhookType.EMAIL_SENT: ("The provider took an email.", EmailEvent),
    WebhookType.EMAIL_DELIVERED: ("A recipient's server took an email.", EmailEvent),
    WebhookType.EMAIL_DELAYED: ("A recipient's server asked to try again later.", EmailEvent),
    WebhookType.EMAIL_BOUNCED: (
        "An email did not arrive. `data.error.permanent` says whether a later one may.",
        EmailEvent,
    ),
    WebhookType.EMAIL_COMPLAINED: ("A recipient reported an email as spam.", EmailEvent),
    WebhookType.EMAIL_FAILED: ("An email was not sent, or it is uncertain.", EmailEvent),
    WebhookType.EMAIL_RECEIVED: (
        "The account received a mail, such as an answer to one of its emails.",
        ReceivedEvent,
    ),
    WebhookType.SUPPRESSION_ADDED: (
        "An address bounced permanently or complained, or was added by hand.",
        SuppressionEvent,
    ),
    WebhookType.DOMAIN_VERIFIED: (
        "The provider verified a sender domain of the account. It is noticed within about an hour.",
        DomainEvent,
    ),
    WebhookType.DOMAIN_FAILED: (
        "The provider found no DNS records of a sender domain, or sends for it no longer.",
        DomainEvent,
    ),
    WebhookType.ACCOUNT_PAUSED: (
        "The account, a key or a template sends less or nothing, or may soon: `data` says why.",
        PausedEvent,
    ),
    WebhookType.WEBHOOK_TEST: ("A user tests the endpoint.", TestEvent),
}
PAYLOADS: Final = {payload for _, payload in _EVENTS.values()}

_AT: Final = "2026-01-01T12:00:02.317+00:00"
_EMAIL: Final = {
    "messageId": "019b7998-4c00-7000-8000-000000000001",
    "status": "delivered",
    "recipient": "ada@customer.example",
    "recipientStatus": "delivered",
    "messageIdHeader": "<0102019b79984c00-1f0e@eu-west-1.amazonses.com>",
    "to": ["ada@customer.example"],
    "subject": "Your Acme code",
    "templateId": None,
    "starterTemplate": "otp",
    "tags": {"order": "10442"},
    "scheduledAt": None,
    "held": False,
    "error": None,
    "revision": 3,
}
_EXAMPLES: Final[Mapping[type, Mapping[str, Any]]] = {
    EmailEvent: _EMAIL,
    ReceivedEvent: RECEIVED_CONTENT,
    SuppressionEvent: {
        "address": "ada@customer.example",
        "reason": "bounced",
        "messageId": _EMAIL["messageId"],
    },
    DomainEvent: {"domain": "shop.example"},
    PausedEvent: {
        "endpointId": "019b7998-4c00-7000-8000-000000000003",
        "scope": "template",
        "id": "welcome",
        "level": "stop",
        "cause": "bounces",
        "until": "2026-01-02T12:00:02.317+00:00",
    },
    TestEvent: {"endpointId": "019b7998-4c00-7000-8000-000000000003"},
}
#: Changes of the example for some types.
_DATA: Final[Mapping[WebhookType, Mapping[str, Any]]] = {
    WebhookType.EMAIL_ACCEPTED: {
        "status": "pending",
        "recipient": None,
        "recipientStatus": None,
        "messageIdHeader": None,
        "revision": 0,
    },
    WebhookType.EMAIL_SENT: {
        "status": "sent",
        "recipient": None,
        "recipientStatus": None,
        "revision": 2,
    },
    WebhookType.EMAIL_DELAYED: {
        "status": "sent",
        "recipientStatus": "sent",
        "error": {"code": "general", "message": "451 4.7.1 try later", "permanent": False},
    },
    WebhookType.EMAIL_BOUNCED: {
        "status": "bounced",
        "recipientStatus": "bounced",
        "error": {
            "code": "mailbox_unknown",
            "message": "550 5.1.1 no such user",
            "permanent": True,
        },
    },
    WebhookType.EMAIL_COMPLAINED: {
        "status": "complained",
        "recipientStatus": "complained",
        "error": {"code": "abuse", "message": None, "permanent": False},
        "revision": 4,
    },
    WebhookType.EMAIL_FAILED: {
        "status": "failed",
        "recipient": None,
        "recipientStatus": None,
        "messageIdHeader": None,
        "error": {
            "code": "expired",
            "message": "The email could not be sent in time.",
            "permanent": True,
        },
        "revision": 2,
    },
}
_HEADERS: Final = {
    "webhook-id": ({"type": "string", "format": "uuid"}, "The same at each attempt and replay."),
    "webhook-timestamp": (
        {"type": "string", "pattern": "^[0-9]+$"},
        "When this attempt was made, in seconds since 1970.",
    ),
    "webhook-signature": (
        {"type": "string", "pattern": "^v1,[^ ]+( v1,[^ ]+)*$"},
        "For each secret in force `v1,` and the HMAC-SHA256, in base64, of `id.timestamp.body`.",
    ),
}


def webhooks(schemas: Schemas) -> dict[str, Any]:
    """Return the section: for each type the POST that an endpoint receives."""
    return {kind.value: {"post": _post(kind, schemas)} for kind in _EVENTS}


def _post(kind: WebhookType, schemas: Schemas) -> dict[str, Any]:
    text, payload = _EVENTS[kind]
    data = {**_EXAMPLES[payload], **_DATA.get(kind, {})}
    return {
        "operationId": "receive_" + kind.value.replace(".", "_"),
        "tags": ["Webhooks"],
        "summary": kind.value,
        "description": text,
        "security": [],
        "parameters": [
            {"name": name, "in": "header", "required": True, "description": about, "schema": schema}
            for name, (schema, about) in _HEADERS.items()
        ],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": schemas.reference(payload),
                    "example": {"type": kind.value, "timestamp": _AT, "data": data},
                }
            },
        },
        "responses": {
            "2XX": {"description": "The event arrived."},
            "410": {"description": "The endpoint is gone. The service disables it."},
            "default": {"description": "The service tries again later. It follows no redirect."},
        },
    }
