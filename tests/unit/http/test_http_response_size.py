"""A response does not grow with the request: 1 MB at most, and at most 100 faults."""

import json
from dataclasses import replace
from typing import Any

import pytest
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed, cut
from pillarbox.http.accept import read_send
from pillarbox.http.batch_body import read_batch
from pillarbox.http.messages.replies import batch_result, reply_error, send_result
from tests.examples import examples
from tests.fakes import builders
from tests.fakes.world import World

MAX_FAULTS = 100

LIMIT = 1_000_000

text = st.builds(
    str.__mul__,
    st.sampled_from(["a", "\x01", "é", "\U0001f600", '"', "\\", "to"]) | st.text(max_size=3),
    st.integers(0, 700),
)
value = st.none() | st.booleans() | st.integers() | text
unknown = st.builds(
    lambda name, count: {f"{n}{name}": n for n in range(count)}, text, st.integers(0, 99)
)
address = text | text.map(lambda local: f"{local}@gone.example")
addresses = st.builds(lambda item, count: [item] * count, address | value, st.integers(0, 60))
file = unknown | st.fixed_dictionaries(
    {"filename": text, "contentType": text | st.just("image/png"), "content": st.just("TVo=")}
)
message = unknown | st.fixed_dictionaries(
    {},
    optional={
        "to": address | addresses | value,
        "cc": addresses,
        "bcc": addresses,
        "html": text,
        "subject": text,
        "from": address,
        "starterTemplate": text | st.sampled_from(["otp", "invite"]),
        "templateId": text,
        "variables": unknown,
        "attachments": st.builds(lambda item, count: [item] * count, file, st.integers(0, 120)),
    },
)
messages = st.builds(
    lambda some, times: (some * times)[:101],
    st.lists(message | value, max_size=4),
    st.integers(0, 100),
)


def answer(body: Any, *, batch: bool) -> tuple[int, str]:
    """Return the status and the body of a response, as the handlers write it."""
    world = World(replace(builders.account(), overrides=builders.UNLIMITED))
    event = APIGatewayProxyEvent({"body": json.dumps(body), "headers": {}})
    try:
        if batch:
            parsed = read_batch(event, "POST /v1/emails/batch")
            response = world.batch_send.submit(
                world.live, parsed.request, parsed.idempotency_digest, batch_result
            )
        else:
            single = read_send(event, "POST /v1/emails")
            response = world.single_send.submit(
                world.live, single.request, single.idempotency_digest, send_result
            )
    except ServiceError as error:
        return error.status, str(reply_error(error).body)
    return 200, response.body


def faults_in(response: str) -> int:
    """Count the errors of fields and the refused recipients that a response lists."""
    decoded = json.loads(response)
    errors = [result["error"] for result in decoded.get("results", [decoded])]
    details = [(error or {}).get("details", {}) for error in errors]
    listed = [item for each in details for item in each.get("errors", [])]
    recipients = [item for each in details for item in each.get("recipients", [])]
    return len(recipients) + len([item for item in listed if item["code"] != "more_errors"])


def check_bounds(status: int, response: str) -> None:
    assert status < 500
    assert len(response.encode()) <= LIMIT
    assert faults_in(response) <= MAX_FAULTS


@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(messages=messages)
@pytest.mark.slow
def test_any_batch_gets_a_bounded_response(messages: list[Any]) -> None:
    """Whatever a batch contains, the response has at most 1 MB and lists at most 100 faults."""
    check_bounds(*answer({"messages": messages}, batch=True))


@pytest.mark.slow
@settings(max_examples=examples(10), deadline=None, suppress_health_check=list(HealthCheck))
@given(body=message | value)
def test_any_send_gets_a_bounded_response(body: Any) -> None:
    """Whatever a send contains, the response has at most 1 MB and lists at most 100 faults."""
    check_bounds(*answer(body, batch=False))


@pytest.mark.slow
@pytest.mark.parametrize(("count", "listed"), [(1, 100), (3, 33), (100, 1)])
def test_the_messages_of_a_batch_share_the_faults(count: int, listed: int) -> None:
    """The faults are shared evenly, and each error says how many more there are."""
    wrong = {f"{'x' * 300}{n}": n for n in range(100)}
    _, response = answer({"messages": [wrong] * count}, batch=True)
    for result in json.loads(response)["results"]:
        *errors, more = result["error"]["details"]["errors"]
        assert len(errors) == listed
        # The hundred fields, and the missing `to`.
        assert more == {
            "field": "",
            "message": f"{101 - listed} more errors are not listed",
            "code": "more_errors",
        }
        assert result["error"]["message"].endswith("(and 100 more)")


@pytest.mark.parametrize("character", ["\x01", "\U0001f600"])
def test_a_batch_of_refused_files_gets_a_bounded_response(character: str) -> None:
    """Long names and types of files in every message make at most 1 MB."""
    file = {"filename": "\U0001f600" * 255, "contentType": character * 9999, "content": ""}
    wrong = {"to": "a@example.com", "subject": "s", "html": "h", "attachments": [file]}
    _, response = answer({"messages": [wrong] * 100}, batch=True)
    assert response.count("attachment_type_not_allowed") == 100
    assert len(response.encode()) <= LIMIT * 3 / 4


def test_a_batch_of_refused_recipients_lists_some_of_each_message() -> None:
    """Refused recipients count as faults; the message of the error says how many there are."""
    wrong = {"to": ["\x01" * 400] * 2 + ["b" * 400] * 8, "subject": "s", "html": "h"}
    _, response = answer({"messages": [wrong] * 100}, batch=True)
    assert len(response.encode()) <= LIMIT
    for result in json.loads(response)["results"]:
        assert len(result["error"]["details"]["recipients"]) == 1
        assert result["error"]["message"].startswith("2 recipients")


def test_a_name_is_cut_between_characters() -> None:
    """A long name is cut to 64 bytes, never within a character."""
    body = json.dumps({"ü" + "\U0001f600" * 100: 1, "to": "a"})
    event = APIGatewayProxyEvent({"body": body, "headers": {}})
    request = read_send(event, "POST /v1/emails").request
    assert isinstance(request, ValidationFailed)
    assert {error.field for error in request.errors} == {"ü" + "\U0001f600" * 15}


@given(st.text(max_size=40), st.integers(0, 60))
def test_a_cut_text_is_a_start_of_it(whole: str, most: int) -> None:
    shown = cut(whole, most)
    assert whole.startswith(shown)
    size = len(shown.encode())
    assert size <= most
    assert shown == whole or size > most - 4


def test_a_long_path_is_cut() -> None:
    """The path of a value that a template needs may be long; the error shows its start."""
    error = ValidationFailed(FieldError("variables." + "x" * 10_000, "is needed", "missing"))
    assert len(json.dumps(error.envelope())) < 1000
