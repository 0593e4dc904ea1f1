"""The sample events: each drives its function to the kind of result that events/README.md names."""

import json
from functools import partial
from typing import Any

import pytest

from local.samples import sample_event
from openapi.operations import OPERATIONS
from pillarbox.domain.accounts.key import SCOPES, Preset
from tests.contract.client import Invocation, handler
from tests.contract.conftest import dns_server, service
from tests.contract.documented import check_documented
from tests.contract.service import SENDER, Service

__all__ = ["dns_server", "service"]

#: An id that nothing has.
UNKNOWN = "019b7998-4c00-7000-8000-000000000001"


def sample(function: str, key: str = "", token: str = "") -> dict[str, Any]:
    values = {"API_KEY": key, "ACCESS_TOKEN": token, "OPERATOR_TOKEN": token}
    values |= dict.fromkeys(("MESSAGE_ID", "TEMPLATE_ID", "ENDPOINT_ID"), UNKNOWN)
    name = function.title().replace("_", "")
    event: dict[str, Any] = json.loads(
        sample_event(name, {name: partial(str, text) for name, text in values.items()})
    )
    return event


@pytest.mark.parametrize("function", sorted({one.function for one in OPERATIONS}))
def test_a_sample_request_is_answered(service: Service, function: str) -> None:
    """With a key or an access token put in, each route's function answers as documented.

    The answer is a success, or 404 if the sample names something that the service does not have.
    """
    account = service.account(senders={SENDER: True, "hello@shop.example": True})
    key = service.key(account, Preset.CUSTOM, scopes=SCOPES)
    operates = function in {"delete_account", "operate"}
    token = service.operator() if operates else service.session(account)
    event = sample(function, key, token)
    answer = handler(function)(event, Invocation())
    # An id, which nothing has here.
    named = event["path"].count("-") >= 4 or function == "delete_account"
    assert answer["statusCode"] in ({404} if named else {200, 202}), answer["body"]
    headers = {name.lower(): text for name, (text,) in answer["multiValueHeaders"].items()}
    check_documented(
        event["httpMethod"], event["resource"], answer["statusCode"], headers, answer["body"]
    )


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
