"""The sample events: each drives its function to the kind of result that events/README.md names."""

import json
from pathlib import Path
from typing import Any

import pytest

from pillarbox.domain.key import SCOPES, Preset
from tests.contract.client import FUNCTIONS, Invocation, handler
from tests.contract.conftest import dns_server, service
from tests.contract.service import SENDER, Service

__all__ = ["dns_server", "service"]

EVENTS = Path(__file__).parents[2] / "events"


def sample(function: str, key: str = "") -> dict[str, Any]:
    event: dict[str, Any] = json.loads(
        (EVENTS / f"{function}.json").read_text(encoding="utf-8").replace("<API_KEY>", key)
    )
    return event


def test_every_function_has_a_sample() -> None:
    """There is one sample event for each function, named after its folder, and no other."""
    functions = {path.parent.name for path in FUNCTIONS.glob("*/app.py")}
    assert {path.stem for path in EVENTS.glob("*.json")} == functions


@pytest.mark.parametrize(
    ("function", "status", "field"),
    [
        ("send_email", 200, "messageId"),
        ("get_message", 404, "error"),
        ("list_starter_templates", 200, None),
        ("preview_starter_template", 200, "html"),
        ("mcp", 200, "result"),
        ("read_webhooks", 200, "items"),
        ("write_webhooks", 404, "error"),
        ("sign_in", 202, "flow"),
        ("manage_domains", 403, "error"),
        ("manage_account", 403, "error"),
        ("manage_keys", 403, "error"),
        ("create_account", 403, "error"),
        ("issue_preview_key", 200, "challenge"),
        ("manage_members", 403, "error"),
        ("operate", 403, "error"),
        ("edit_templates", 403, "error"),
    ],
)
def test_a_sample_request_is_answered(
    service: Service, function: str, status: int, field: str | None
) -> None:
    """The samples of the HTTP functions are sent with a key, and answered."""
    account = service.account(senders={SENDER: True, "hello@shop.example": True})
    key = service.key(account, Preset.CUSTOM, scopes=SCOPES)
    answer = handler(function)(sample(function, key), Invocation())
    assert answer["statusCode"] == status, answer["body"]
    body = json.loads(answer["body"])
    assert len(body) == 10 if field is None else field in body


@pytest.mark.parametrize("function", ["send_email", "get_message", "list_starter_templates"])
def test_a_sample_request_needs_its_key_put_in(service: Service, function: str) -> None:
    """With the placeholder left in, the answer is 401 invalid_api_key."""
    answer = handler(function)(sample(function, "<API_KEY>"), Invocation())
    assert json.loads(answer["body"])["error"]["code"] == "invalid_api_key"
    assert service


@pytest.mark.parametrize("function", ["deliver_message", "record_feedback"])
def test_a_sample_of_the_queue_is_taken(service: Service, function: str) -> None:
    """The queue's samples name no message that exists: dropped or unknown, never retried."""
    answer = handler(function)(sample(function), Invocation())
    assert answer == {"batchItemFailures": []}
    assert service.ses.mails == []


def test_the_sample_of_a_code_sends_nothing(service: Service) -> None:
    """Its address is nobody's, so the code is dropped and the invocation succeeds."""
    service.jobs()
    assert handler("mail_code")(sample("mail_code"), Invocation()) == {"code_accepted": 0}
    assert service.jobs() == []
