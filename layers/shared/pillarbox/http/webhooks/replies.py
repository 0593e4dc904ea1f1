"""Write the responses about webhooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pillarbox.http.messages.replies import timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pillarbox.application.message_log import ScanPage
    from pillarbox.application.webhooks.endpoints import EndpointState
    from pillarbox.application.webhooks.replays import ReplayResult
    from pillarbox.domain.webhooks.endpoint import DeliveryAttempt, WebhookDelivery, WebhookEvent
    from pillarbox.http.webhooks import reply_types as webhook_types


def webhook_item(state: EndpointState) -> webhook_types.WebhookItem:
    """Return an endpoint without its secret."""
    endpoint, health = state.endpoint, state.health
    return {
        "id": endpoint.endpoint_id,
        "url": endpoint.url,
        "types": sorted(endpoint.types),
        "enabled": state.enabled,
        "format": endpoint.format,
        "roleArn": endpoint.role_arn,
        "trustPolicy": state.trust_policy,
        "createdAt": timestamp(endpoint.created_at),
        "failingSince": timestamp(health.failing_since) if health.failing_since else None,
        "disabledAt": timestamp(health.disabled_at) if health.disabled_at else None,
        "disabledReason": health.disabled_for,
    }


def webhook_with_secret(state: EndpointState) -> webhook_types.WebhookWithSecret:
    """Return a new endpoint, or one with a new secret. Nothing else shows the secret."""
    secrets = state.endpoint.secrets
    return {**webhook_item(state), "secret": secrets[0].text if secrets else None}


def webhook_list(states: Sequence[EndpointState]) -> webhook_types.WebhookList:
    """Return an account's endpoints."""
    return {"items": [webhook_item(state) for state in states]}


def delivery_page(page: ScanPage[WebhookDelivery]) -> webhook_types.DeliveryPage:
    """Return a page of the deliveries to an endpoint."""
    return {"items": [_delivery_item(delivery) for delivery in page.items], "nextCursor": page.next}


def queued_event(event: WebhookEvent) -> webhook_types.QueuedEvent:
    """Return an event that was queued, for one delivery."""
    return {"id": event.delivery_id, "eventId": str(event.event_id), "type": event.type}


def replay_result(result: ReplayResult) -> webhook_types.ReplayedEvents:
    """Return the result of a replay by time."""
    return {"queued": result.queued, "nextTo": timestamp(result.rest) if result.rest else None}


def _delivery_item(delivery: WebhookDelivery) -> webhook_types.DeliveryItem:
    event = delivery.event
    return {
        "id": event.delivery_id,
        "eventId": str(event.event_id),
        "type": event.type,
        "messageId": str(event.message_id) if event.message_id else None,
        "at": timestamp(event.at),
        "status": delivery.state,
        "attempts": [_attempt_item(attempt) for attempt in delivery.attempts],
        "nextAttemptAt": timestamp(delivery.next_at) if delivery.next_at else None,
    }


def _attempt_item(attempt: DeliveryAttempt) -> webhook_types.AttemptItem:
    return {
        "at": timestamp(attempt.at),
        "statusCode": attempt.status_code,
        "milliseconds": attempt.milliseconds,
        "error": attempt.error,
    }
