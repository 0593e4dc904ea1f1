"""The shapes of webhook endpoints and of the deliveries to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pillarbox.http.messages.replies import View, taken_from

if TYPE_CHECKING:
    from typing import Annotated

    from pydantic import Field

    from pillarbox.domain.webhooks.endpoint import DeliveryState, WebhookFormat, WebhookType
    from pillarbox.http.json_types import Count, NextCursor, Timestamp, Uuid

    type DeliveryId = Annotated[
        str,
        Field(pattern="^[0-9]{13}-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"),
    ]
    type ChosenTypes = Annotated[
        list[str], Field(description='The types of events that it receives: `["*"]`, or a list.')
    ]
    type Secret = Annotated[str, Field(pattern="^whsec_[A-Za-z0-9+/]{43}=$")]


class WebhookItem(View, name="Webhook"):
    """An endpoint: an address of your application, or a bus or a bucket in your AWS account."""

    id: Uuid = taken_from("endpoint.endpoint_id")
    url: str = taken_from("endpoint.url")
    types: ChosenTypes = taken_from("endpoint.types")
    enabled: bool
    """Whether events are sent: neither you nor the service disabled it."""
    format: WebhookFormat = taken_from("endpoint.format")
    """The shape of its payloads: ours, or that of Resend or Postmark."""
    role_arn: str | None = taken_from("endpoint.role_arn")
    """The role that puts the events into AWS. Null for an https URL."""
    trust_policy: str | None
    """The trust policy, as JSON, that the role needs. The external id in it is the endpoint's id.
    Null for an https URL."""
    created_at: Timestamp = taken_from("endpoint.created_at")
    failing_since: Timestamp | None = taken_from("health.failing_since")
    """The first failure after the last success. Null if the last one succeeded."""
    disabled_at: Timestamp | None = taken_from("health.disabled_at")
    """When the service disabled it. Enable it to have events sent again."""
    disabled_reason: str | None = taken_from("health.disabled_for")
    """`failing`: only failures for 5 days. `gone`: it answered 410."""


class WebhookWithSecret(WebhookItem):
    """An endpoint with its new secret. No other response shows the secret: save it now."""

    secret: Secret | None = taken_from(
        lambda state: next((one.text for one in state.endpoint.secrets), None)
    )
    """The secret that signs the events (Standard Webhooks). Null for an endpoint in AWS, which has
    none."""


class WebhookList(View):
    """All endpoints of the account, the oldest first."""

    items: Annotated[list[WebhookItem], Field(max_length=10)]


class AttemptItem(View, name="WebhookAttempt"):
    """One POST to the endpoint, or one try to put the event into AWS."""

    at: Timestamp
    status_code: int | None
    """Null if there was no response."""
    milliseconds: Count
    error: str | None
    """Why it failed, or the start of an error response. Null if it succeeded."""


class DeliveryItem(View, name="WebhookDelivery"):
    """The delivery of an event to the endpoint."""

    id: DeliveryId = taken_from("event.delivery_id")
    """The delivery's id, for a replay."""
    event_id: Uuid = taken_from("event.event_id")
    """The header `webhook-id` of each attempt."""
    type: WebhookType = taken_from("event.type")
    message_id: Uuid | None = taken_from("event.message_id")
    """Null if the event is of no single message."""
    at: Timestamp = taken_from("event.at")
    """When the event happened."""
    status: DeliveryState = taken_from("state")
    attempts: list[AttemptItem]
    """The oldest first."""
    next_attempt_at: Timestamp | None = taken_from("next_at")
    """When the next attempt is, if one follows."""


class DeliveryPage(View, name="WebhookDeliveryPage"):
    """Deliveries of the last 30 days, those of the newest events first."""

    items: list[DeliveryItem]
    next_cursor: NextCursor = taken_from("next")


class QueuedEvent(View, name="QueuedWebhookEvent"):
    """An event that will be sent to the endpoint."""

    id: DeliveryId = taken_from("delivery_id")
    """The id of its delivery."""
    event_id: Uuid
    """The header `webhook-id` of each attempt."""
    type: WebhookType


class ReplayedEvents(View, name="WebhookReplay"):
    """The events that will be sent again."""

    queued: Count
    """How many events."""
    next_to: Timestamp | None = taken_from("rest")
    """The `to` of the next request, if events of the range are left."""
