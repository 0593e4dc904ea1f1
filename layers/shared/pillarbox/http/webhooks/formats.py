"""What writes the payloads of each format."""

from collections.abc import Mapping
from typing import Final

from pillarbox.application.webhooks.ports import PayloadWriter
from pillarbox.domain.webhooks.endpoint import WebhookFormat
from pillarbox.http.webhooks.payload import WebhookPayloads
from pillarbox.http.webhooks.resend_payload import ResendPayloads

PAYLOADS: Final[Mapping[WebhookFormat, PayloadWriter]] = {
    WebhookFormat.PILLARBOX: WebhookPayloads(),
    WebhookFormat.RESEND: ResendPayloads(),
}
