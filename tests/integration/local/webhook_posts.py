"""Posts webhooks to the receivers of an inbox as the service does."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

import httpx
import pytest

from pillarbox.domain.webhooks.endpoint import WebhookSecret, new_secret, signed_headers
from tests.integration.local.local_ses import LocalSes

SECRET: Final = new_secret(datetime.now(UTC))
MESSAGE: Final = "019a0000-0000-7000-8000-000000000001"

type PostWebhook = Callable[..., httpx.Response]


@pytest.fixture
def post_webhook(local_ses: LocalSes) -> PostWebhook:
    """Return a function that posts a signed webhook; an endpoint points at `shop`."""
    local_ses.secrets["shop"] = [SECRET.text]

    def post(  # the parts of a webhook
        kind: str = "email.delivered",
        *,
        receiver: str = "shop",
        event: UUID | None = None,
        body: bytes | None = None,
        secret: WebhookSecret = SECRET,
        age: timedelta = timedelta(0),
        headers: dict[str, str] | None = None,
        timeout: float = 20,
        **data: Any,
    ) -> httpx.Response:
        if body is None:
            data = {"messageId": MESSAGE, "recipient": "ada@example.com"} | data
            body = json.dumps({"type": kind, "data": data}).encode()
        now = datetime.now(UTC) - age
        signed = dict(signed_headers(event or uuid4(), body, [secret], now))
        return httpx.post(
            f"{local_ses.inbox_url}/hooks/{receiver}",
            content=body,
            headers={"content-type": "application/json"} | signed | (headers or {}),
            timeout=timeout,
        )

    return post
