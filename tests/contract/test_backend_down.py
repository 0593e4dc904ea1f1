"""AWS cannot be reached, at each call of each route (contract 7).

Conflicts and throttled writes, which are repeated, are in test_ports_contention.py.
"""

import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytest
from botocore.exceptions import ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError

from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
from pillarbox.domain.messages.message import Message
from pillarbox.wiring import services
from tests.contract.bodies import attachment, otp
from tests.contract.client import Api, ApiResponse
from tests.contract.service import Service
from tests.contract.ses_domains import aws_response
from tests.contract.test_http import check_envelope
from tests.loops import for_each

URL = "https://aws.invalid"


def no_connection(**_: object) -> None:
    raise EndpointConnectionError(endpoint_url=URL)


def no_answer(**_: object) -> None:
    raise ReadTimeoutError(endpoint_url=URL)


def slow_connection(**_: object) -> None:
    raise ConnectTimeoutError(endpoint_url=URL)


def throttled(**_: object) -> object:
    return aws_response(400, {"Error": {"Code": "ThrottlingException", "Message": "slow down"}})


def broken(**_: object) -> object:
    return aws_response(500, {"Error": {"Code": "InternalServerError", "Message": "oops"}})


FAULTS = [no_connection, no_answer, slow_connection, throttled, broken]
Fault = Callable[..., object]

LARGE = otp(attachments=[attachment(base64.b64decode("A" * 400_000))])
#: The AWS calls of each kind of send.
SENDS: list[tuple[str, dict[str, Any], str | None]] = [
    *(
        (call, otp(), None)
        for call in (
            "dynamodb.BatchGetItem",
            "dynamodb.UpdateItem",
            "sqs.SendMessage",
            "dynamodb.PutItem",
        )
    ),
    *(
        (call, otp(), "key")
        for call in (
            "dynamodb.BatchGetItem",
            "dynamodb.PutItem",
            "dynamodb.UpdateItem",
            "sqs.SendMessage",
        )
    ),
    ("s3.PutObject", LARGE, None),
    ("s3.PutObject", LARGE, "key"),
]


@contextmanager
def failing(call: str, fault: Fault, *, when: str = "before-call") -> Iterator[None]:
    """Let one kind of AWS call fail, before it is executed or after (`after-call`)."""
    clients: dict[str, Any] = {
        "dynamodb": services().table.client,
        "sqs": services().jobs._sqs,
        "s3": services().jobs._s3,
    }
    events = clients[call.partition(".")[0]].meta.events
    events.register_first(f"{when}.{call}", fault)
    try:
        yield
    finally:
        events.unregister(f"{when}.{call}", fault)


def check_unavailable(response: ApiResponse) -> None:
    assert (response.status, response.code) == (503, "service_unavailable")
    assert response.error["type"] == "service_unavailable"
    check_envelope(response)


@for_each("call, body, key", SENDS)
def test_73_a_send_that_cannot_reach_aws_commits_nothing(
    service: Service, call: str, body: dict[str, Any], key: str | None
) -> None:
    """73: the response is 503, and no message, claim or used quota remains."""
    account = service.account()
    api = Api(service.key(account))
    with failing(call, no_connection):
        check_unavailable(api.send(body, idempotency_key=key))
    assert service.messages(account) == []
    assert service.claim_items(account) == []
    assert service.quota_used(account) == 0
    assert api.send(body, idempotency_key=key).status == 200


@for_each("fault", FAULTS)
def test_73_a_lookup_that_cannot_reach_aws(live: Api, fault: Fault) -> None:
    """73: reading a message is 503 too, whatever fails: the look-up of the key or the read."""
    sent = live.send(otp()).json["messageId"]
    for call in ("dynamodb.BatchGetItem", "dynamodb.GetItem"):
        with failing(call, fault):
            check_unavailable(live.get(sent))


@pytest.mark.parametrize(
    ("fault", "aws_error"),
    [
        (no_connection, "EndpointConnectionError"),
        (no_answer, "ReadTimeoutError"),
        (slow_connection, "ConnectTimeoutError"),
        (throttled, "ThrottlingException"),
        (broken, "InternalServerError"),
    ],
)
def test_73_the_log_names_what_could_not_be_reached(
    live: Api, caplog: pytest.LogCaptureFixture, fault: Fault, aws_error: str
) -> None:
    """73: the log line of a 503 names the failed part and AWS's code; the response does not."""
    for call, unavailable in {
        "dynamodb.UpdateItem": "data store",
        "dynamodb.PutItem": "data store",
        "sqs.SendMessage": "queue",
        "s3.PutObject": "spool",
    }.items():
        caplog.clear()
        with failing(call, fault):
            response = live.send(LARGE, idempotency_key="key")
        check_unavailable(response)
        assert aws_error not in response.text
        (line,) = [vars(record) for record in caplog.records if record.msg == "answered"]
        assert (line["status"], line["unavailable"]) == (503, unavailable)
        assert line["aws_error"] == aws_error


@pytest.mark.parametrize("key", [None, "key"])
def test_a_commit_without_a_response_is_settled(service: Service, key: str | None) -> None:
    """Protocol, accepting, step 6: an unknown outcome is settled; the message is accepted."""
    account = service.account()
    api = Api(service.key(account))

    def commit(messages: DynamoMessages, message: Message) -> None:
        with failing("dynamodb.PutItem", no_answer, when="after-call"):
            committed(messages, message)

    committed = DynamoMessages.commit
    with mock.patch.object(DynamoMessages, "commit", commit):
        response = api.send(otp(), idempotency_key=key)
    assert response.status == 200
    assert [row["sk"] for row in service.messages(account)] == [response.json["messageId"]]
    assert service.quota_used(account) == 1
