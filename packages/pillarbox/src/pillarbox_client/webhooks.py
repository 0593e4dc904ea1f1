"""Verify a webhook before its content is believed (Standard Webhooks)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import TYPE_CHECKING, Final, cast

from pillarbox_client.errors import InvalidSignature

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pillarbox_client.types import WebhookEvent

_TOLERANCE: Final = 300  # seconds, in both directions


def verify_webhook(body: bytes, headers: Mapping[str, str], secret: str) -> WebhookEvent:
    """Return the event in the body of a webhook, if the secret's holder sent it just now.

    Each attempt of an event has the same header `webhook-id`, by which a receiver knows an event
    that it has had.

    Args:
        body: the octets of the request, as they came.
        headers: its headers, in any letter case.
        secret: the endpoint's, `whsec_…`.

    Raises:
        InvalidSignature: the signature is missing or wrong, or over five minutes old.
        ValueError: the secret is none.
    """
    given = {name.lower(): value for name, value in headers.items()}
    identifier, moment = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    if not moment.isascii() or not moment.isdigit() or not identifier:
        raise InvalidSignature(
            "A header is missing: webhook-id, webhook-timestamp or webhook-signature."
        )
    if abs(time.time() - int(moment)) > _TOLERANCE:
        raise InvalidSignature("The webhook is over five minutes old, or a clock is wrong.")
    signed = b".".join([identifier.encode(), moment.encode(), body])
    right = base64.b64encode(hmac.digest(_octets(secret), signed, hashlib.sha256))
    signatures = [each.partition(",") for each in given.get("webhook-signature", "").split()]
    if not any(
        kind == "v1" and hmac.compare_digest(value.encode(), right) for kind, _, value in signatures
    ):
        raise InvalidSignature("The signature is wrong: the secret or the body is another one.")
    return cast("WebhookEvent", json.loads(body))


def _octets(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error as error:
        raise ValueError("The secret of the endpoint begins with whsec_ and is base64.") from error
