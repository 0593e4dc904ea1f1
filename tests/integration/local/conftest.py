"""Fixtures: an SES stand-in with its inbox for each test, and clients of both."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest
from mypy_boto3_sesv2 import SESV2Client

from tests.integration.local.local_ses import RAW, LocalSes, Send, client
from tests.integration.local.webhook_posts import post_webhook
from tests.stack import PATIENCE

__all__ = ["post_webhook"]


@pytest.fixture
def local_ses() -> Iterator[LocalSes]:
    local_ses = LocalSes()
    try:
        yield local_ses
    finally:
        local_ses.close()


@pytest.fixture
def ses(local_ses: LocalSes) -> Iterator[SESV2Client]:
    """Return a boto3 client; `sender.example` is verified and a configuration set exists."""
    local_ses.mailbox.create_identity("sender.example")
    local_ses.mailbox.create_configuration_set("mails")
    with closing(client(local_ses)) as ses:
        yield ses


@pytest.fixture
def inbox(local_ses: LocalSes) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=local_ses.inbox_url, timeout=PATIENCE) as client:
        yield client


@pytest.fixture
def send(ses: SESV2Client) -> Send:
    """Return a function that sends a small mail and returns its provider message id."""

    def send(*to: str, raw: bytes = RAW, client: SESV2Client = ses, **overrides: Any) -> str:
        request: dict[str, Any] = {
            "FromEmailAddress": "post@sender.example",
            "Destination": {"ToAddresses": list(to or ("ada@example.com",))},
            "Content": {"Raw": {"Data": raw}},
            "ConfigurationSetName": "mails",
            "EmailTags": [
                {"Name": "account", "Value": "a1"},
                {"Name": "message", "Value": "0190f2c1-0000-7000-8000-000000000001"},
                {"Name": "attempt", "Value": "1"},
            ],
        }
        return str(client.send_email(**request | overrides)["MessageId"])

    return send
