"""Webhooks on the running local stack, from the email to a receiver of the inbox."""

import json
import subprocess
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

import httpx
import pytest

from tests.stack import AGENT, PATIENCE, wait_for

pytestmark = pytest.mark.stack


class WebhookApi:
    """The API with the live key, and the receivers of the inbox."""

    def __init__(self, stack: dict[str, Any]) -> None:
        key = {"X-API-Key": stack["keys"]["live"], "Content-Type": "application/json"}
        self.api = httpx.Client(
            base_url=f"{stack['base_url']}/api/v1", headers=AGENT | key, timeout=PATIENCE
        )
        self.inbox = httpx.Client(base_url=stack["inbox_url"], timeout=PATIENCE)

    def create(self, *types: str) -> dict[str, Any]:
        """Create an endpoint with a receiver of its own."""
        self.receiver = f"test-{uuid4().hex}"
        url = f"{self.inbox.base_url}/hooks/{self.receiver}"
        response = self.api.post("/webhooks", json={"url": url, "types": types or ["*"]})
        assert response.status_code == 201, response.text
        created: dict[str, Any] = response.json()
        return created

    def send(self, address: str = "ada@example.com") -> str:
        email = {"to": address, "subject": "Hello", "html": "<p>Hello</p>"}
        response = self.api.post("/emails", json=email)
        assert response.status_code == 202, response.text
        return str(response.json()["messageId"])

    def latest(self, **query: str) -> Any:
        """Return the newest webhook that the receiver got; wait for it."""
        query |= {"receiver": self.receiver, "wait": "10"}
        found = wait_for(lambda: self.inbox.get("/webhooks/latest", params=query), PATIENCE)
        while found.status_code == 404:
            found = self.inbox.get("/webhooks/latest", params=query)
        return found.json()


@pytest.fixture
def webhooks(stack: dict[str, Any]) -> Any:
    webhooks = WebhookApi(stack)
    yield webhooks
    for endpoint in webhooks.api.get("/webhooks").json()["items"]:
        if endpoint["url"].endswith(getattr(webhooks, "receiver", "/")):
            webhooks.api.delete(f"/webhooks/{endpoint['id']}")
    webhooks.api.close()
    webhooks.inbox.close()
