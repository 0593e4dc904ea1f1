"""Convert webhook endpoints and deliveries to the JSON that the command shows."""

from admin.views import View, time_text
from pillarbox.application.webhooks.endpoints import EndpointState
from pillarbox.domain.webhooks.endpoint import DeliveryAttempt, WebhookDelivery, WebhookEvent


def webhook_view(state: EndpointState) -> View:
    """Return an endpoint without its secret."""
    endpoint, health = state.endpoint, state.health
    return {
        "id": endpoint.endpoint_id,
        "url": endpoint.url,
        "types": [*sorted(endpoint.types)],
        "enabled": state.enabled,
        "createdAt": time_text(endpoint.created_at),
        "failingSince": time_text(health.failing_since) if health.failing_since else None,
        "disabledAt": time_text(health.disabled_at) if health.disabled_at else None,
        "disabledReason": health.disabled_for,
    }


def webhook_secret_view(state: EndpointState) -> View:
    """Return an endpoint with its new secret."""
    return webhook_view(state) | {"secret": state.endpoint.secrets[0].text}


def delivery_view(delivery: WebhookDelivery) -> View:
    """Return the delivery of an event, with the result of its last attempt."""
    event = delivery.event
    last = delivery.attempts[-1] if delivery.attempts else None
    return queued_event_view(event) | {
        "at": time_text(event.at),
        "messageId": str(event.message_id) if event.message_id else None,
        "status": delivery.state.value,
        "tries": len(delivery.attempts),
        "lastStatusCode": last.status_code if last else None,
        "lastError": last.error if last else None,
        "next": time_text(delivery.next_at) if delivery.next_at else None,
    }


def attempt_view(attempt: DeliveryAttempt) -> View:
    """Return one POST to an endpoint."""
    return {
        "at": time_text(attempt.at),
        "statusCode": attempt.status_code,
        "milliseconds": attempt.milliseconds,
        "error": attempt.error,
    }


def queued_event_view(event: WebhookEvent) -> View:
    """Return an event that was queued. `webhookId` is the header that its POST has."""
    return {
        "id": event.delivery_id,
        "webhookId": str(event.event_id),
        "type": event.type.value,
    }
