"""The JSON of each response about webhooks, as `replies.py` writes it.

The OpenAPI document is made from these types, and no function loads them.
"""

from typing import Annotated, TypedDict

from pydantic import Field

from pillarbox.domain.webhooks.endpoint import DeliveryState, WebhookFormat, WebhookType
from pillarbox.http.messages.reply_types import Count, NextCursor, Timestamp, Uuid

type DeliveryId = Annotated[
    str, Field(pattern="^[0-9]{13}-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
]
type ChosenTypes = Annotated[
    list[str], Field(description='The types of events that it receives: `["*"]`, or a list.')
]


class WebhookItem(TypedDict):
    """An endpoint: an address of your application, or a bus or a bucket in your AWS account."""

    id: Uuid
    url: str
    types: ChosenTypes
    enabled: Annotated[
        bool, Field(description="Whether events are sent: neither you nor the service disabled it.")
    ]
    format: Annotated[
        WebhookFormat, Field(description="The shape of its payloads: ours, or that of Resend.")
    ]
    roleArn: Annotated[
        str | None,
        Field(description="The role that puts the events into AWS. Null for an https URL."),
    ]
    trustPolicy: Annotated[
        str | None,
        Field(
            description="The trust policy, as JSON, that the role needs. The external id in it is"
            " the endpoint's id. Null for an https URL."
        ),
    ]
    createdAt: Timestamp
    failingSince: Annotated[
        Timestamp | None,
        Field(
            description="The first failure after the last success. Null if the last one succeeded."
        ),
    ]
    disabledAt: Annotated[
        Timestamp | None,
        Field(description="When the service disabled it. Enable it to have events sent again."),
    ]
    disabledReason: Annotated[
        str | None,
        Field(description="`failing`: only failures for 5 days. `gone`: it answered 410."),
    ]


class WebhookWithSecret(WebhookItem):
    """An endpoint with its new secret. No other response shows the secret: save it now."""

    secret: Annotated[
        Annotated[str, Field(pattern="^whsec_[A-Za-z0-9+/]{43}=$")] | None,
        Field(
            description="The secret that signs the events (Standard Webhooks). Null for an endpoint"
            " in AWS, which has none."
        ),
    ]


class WebhookList(TypedDict):
    """All endpoints of the account, the oldest first."""

    items: Annotated[list[WebhookItem], Field(max_length=10)]


class AttemptItem(TypedDict):
    """One POST to the endpoint, or one try to put the event into AWS."""

    at: Timestamp
    statusCode: Annotated[int | None, Field(description="Null if there was no response.")]
    milliseconds: Count
    error: Annotated[
        str | None,
        Field(
            description="Why it failed, or the start of an error response. Null if it succeeded."
        ),
    ]


class DeliveryItem(TypedDict):
    """The delivery of an event to the endpoint."""

    id: Annotated[DeliveryId, Field(description="The delivery's id, for a replay.")]
    eventId: Annotated[Uuid, Field(description="The header `webhook-id` of each attempt.")]
    type: WebhookType
    messageId: Annotated[
        Uuid | None, Field(description="Null if the event is of no single message.")
    ]
    at: Annotated[Timestamp, Field(description="When the event happened.")]
    status: DeliveryState
    attempts: Annotated[list[AttemptItem], Field(description="The oldest first.")]
    nextAttemptAt: Annotated[
        Timestamp | None, Field(description="When the next attempt is, if one follows.")
    ]


class DeliveryPage(TypedDict):
    """Deliveries of the last 30 days, those of the newest events first."""

    items: list[DeliveryItem]
    nextCursor: NextCursor


class QueuedEvent(TypedDict):
    """An event that will be sent to the endpoint."""

    id: Annotated[DeliveryId, Field(description="The id of its delivery.")]
    eventId: Annotated[Uuid, Field(description="The header `webhook-id` of each attempt.")]
    type: WebhookType


class ReplayedEvents(TypedDict):
    """The events that will be sent again."""

    queued: Annotated[Count, Field(description="How many events.")]
    nextTo: Annotated[
        Timestamp | None,
        Field(description="The `to` of the next request, if events of the range are left."),
    ]
