"""Send transactional email through Pillarbox, and receive its webhooks."""

from pillarbox_client import types
from pillarbox_client.client import AsyncPillarbox, Pillarbox
from pillarbox_client.errors import InvalidSignature, PillarboxError
from pillarbox_client.webhooks import verify_webhook

__all__ = [
    "AsyncPillarbox",
    "InvalidSignature",
    "Pillarbox",
    "PillarboxError",
    "types",
    "verify_webhook",
]
