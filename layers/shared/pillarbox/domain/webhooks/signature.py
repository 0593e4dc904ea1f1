"""The secrets and signatures of Standard Webhooks 1.0.0.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from pillarbox.domain.webhooks.endpoint import WebhookSecret

SECRET_PREFIX: Final = "whsec_"  # noqa: S105  not a secret
_SECRET_BYTES: Final = 32
#: How long an old secret still signs after a rotation.
ROTATION: Final = timedelta(hours=24)
#: Each rotation adds a signature for a day. More rotations end the oldest secret early.
MAX_SECRETS: Final = 4


def new_secret(now: datetime) -> WebhookSecret:
    """Generate a secret."""
    random = base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()
    return WebhookSecret(text=SECRET_PREFIX + random, created_at=now)


def rotated(
    old: Iterable[WebhookSecret], new: WebhookSecret, now: datetime
) -> tuple[WebhookSecret, ...]:
    """Return the secrets after a rotation, the newest first.

    Those that are in force stay so for 24 hours, or until their earlier end.
    """
    until = now + ROTATION
    kept = (
        replace(secret, expires_at=min(secret.expires_at or until, until))
        for secret in in_force(old, now)
    )
    return (new, *kept)[:MAX_SECRETS]


def in_force(given: Iterable[WebhookSecret], now: datetime) -> tuple[WebhookSecret, ...]:
    """Return the secrets that sign at a time."""
    return tuple(secret for secret in given if secret.expires_at is None or now < secret.expires_at)


def signed_headers(
    event_id: UUID,
    body: bytes,
    given: Iterable[WebhookSecret],
    now: datetime,
    *prefixes: str,
) -> Mapping[str, str]:
    """Return the headers of a POST: one signature for each secret that is in force.

    Their names begin with `webhook`, and once more with each prefix.
    """
    webhook_id, timestamp = str(event_id), str(int(now.timestamp()))
    signatures = " ".join(
        sign(secret.text, webhook_id, timestamp, body) for secret in in_force(given, now)
    )
    parts = {"id": webhook_id, "timestamp": timestamp, "signature": signatures}
    return {
        f"{prefix}-{name}": value
        for prefix in ("webhook", *prefixes)
        for name, value in parts.items()
    }


def sign(secret: str, event_id: str, timestamp: str, body: bytes) -> str:
    """Return one signature: HMAC-SHA256 of the id, the time in seconds and the body."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{event_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
