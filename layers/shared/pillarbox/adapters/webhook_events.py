"""What queue and tables store of an event for a webhook endpoint, beside its ids and times."""

from typing import Final

from pillarbox.adapters.rows import MILLISECONDS, UUID_TEXT, Row, one_of
from pillarbox.domain.webhooks.endpoint import WebhookEvent, WebhookType

EVENT: Final = Row(
    WebhookEvent,
    *("address?", "domain?", "pause?"),
    type=("type", one_of(WebhookType)),
    message_id=("message?", UUID_TEXT),
    replayed_at=("replayed?", MILLISECONDS),
)
