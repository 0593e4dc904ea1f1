"""What writes the payloads of each format."""

from collections.abc import Mapping

from pillarbox.application.webhooks.ports import PayloadWriter
from pillarbox.domain.webhooks.endpoint import WebhookFormat
from pillarbox.http.webhooks.payload import WebhookPayloads
from pillarbox.http.webhooks.resend_payload import ResendPayloads


def payload_writers(region: str) -> Mapping[WebhookFormat, PayloadWriter]:
    """Return them for a service in a region of AWS."""
    return {
        WebhookFormat.PILLARBOX: WebhookPayloads(region),
        WebhookFormat.RESEND: ResendPayloads(region),
    }
