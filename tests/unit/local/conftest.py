"""A stand-in for SES with its inbox for each test, and the real client of it."""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest
from mypy_boto3_sesv2 import SESV2Client

from tests.unit.local.served import RAW, Served, client


@pytest.fixture
def served() -> Iterator[Served]:
    served = Served()
    try:
        yield served
    finally:
        served.close()


@pytest.fixture
def ses(served: Served) -> Iterator[SESV2Client]:
    """A client of an account with the verified `sender.example` and one configuration set."""
    served.mailbox.create_identity("sender.example")
    served.mailbox.create_configuration_set("mails")
    with closing(client(served)) as ses:
        yield ses


@pytest.fixture
def inbox(served: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served.inbox_url, timeout=20) as client:
        yield client


@pytest.fixture
def send(ses: SESV2Client) -> Callable[..., str]:
    """Sends a small mail and returns the provider's id; keywords override the request's."""

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
