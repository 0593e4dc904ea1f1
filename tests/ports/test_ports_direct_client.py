"""The direct client of DynamoDB, Lambda and SQS does what botocore does, over real sockets."""

import random
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any, Final
from unittest import mock

import pytest
from botocore.credentials import ReadOnlyCredentials
from botocore.exceptions import BotoCoreError
from botocore.retries.quota import RetryQuota
from botocore.retries.standard import ThrottledRetryableChecker, TransientRetryableChecker

from pillarbox.adapters import direct
from pillarbox.adapters import direct as sigv4
from pillarbox.adapters.aws import WITH_RETRIES, WITHOUT_RETRIES
from pillarbox.adapters.direct import AccessKey, CallLimits, Signer
from tests.examples import DEEP
from tests.loops import for_each
from tests.ports.direct_oracle import (
    CREDENTIALS,
    GET,
    IMPATIENT,
    REGION,
    Act,
    Pair,
    both_clients,
    model,
    operations,
    pair,
    reply,
    resets,
    run,
    sends,
    signature,
    to_json,
    value,
)

PUT: Final = ("put_item", {"TableName": "t", "Item": {"pk": {"S": "a"}}})
SEND: Final = ("send_message", {"QueueUrl": "q", "MessageBody": "a"})
#: A read, a write and a message to a queue.
CALLS: Final = (("dynamodb", GET), ("dynamodb", PUT), ("sqs", SEND))
#: What a response to them has. Neither client looks into texts.
BODIES: Final = {
    "dynamodb": b'{"ConsumedCapacity": {"TableName": "table"}}',
    "sqs": b'{"MD5OfMessageBody": "1", "MessageId": "2"}',
}
_BODIES_OF_ERRORS: Final = (b"", b'{"message": "m"}', b"<html>", b"text")
GOOD: Final = reply(200, BODIES["dynamodb"], checksum=True)


def slowly(connection: socket.socket) -> bool:
    """Send a response in pieces; each comes in time, and all together do not."""
    for start in range(0, len(GOOD), 25):
        connection.sendall(GOOD[start : start + 25])
        time.sleep(0.35)
    return True


def never(connection: socket.socket) -> bool:
    """Send nothing until the client goes."""
    connection.recv(1)
    return False


def half(connection: socket.socket) -> bool:
    """Send half of the response, and nothing more until the client goes."""
    connection.sendall(GOOD[:-10])
    return never(connection)


def faults(body: bytes) -> dict[str, Act]:
    """Return what a server may do to a request whose response would have a body."""
    good = reply(200, body, checksum=True)
    return {
        "closed": sends(b"", stays=False),
        "reset": resets(),
        "half a status line": sends(b"HTTP/1.1 2", stays=False),
        "half a header": sends(good[:30], stays=False),
        "half a body": sends(good[:-10], stays=False),
        "half a body, then a reset": resets(good[:-10]),
        "wrong checksum": sends(reply(200, body, x_amz_crc32="1")),
        "no HTTP": sends(b"hello\r\n\r\n", stays=False),
        "no length": sends(b"HTTP/1.1 200 OK\r\n\r\n" + body, stays=False),
        "the old HTTP": sends(good.replace(b"HTTP/1.1", b"HTTP/1.0"), stays=False),
        "connection: close": sends(reply(200, body, connection="close"), stays=False),
        "more than a response": sends(good + good),
        "no JSON": sends(reply(200, b"<xml/>")),
        "a null": sends(reply(200, b'{"ConsumedCapacity": null}')),
        "no body": sends(reply(200, b"")),
        "a redirect": sends(reply(307, b"", location="http://127.0.0.1:9/")),
        **{
            f"{status} {text.decode()}": sends(reply(status, text))
            for status, texts in {
                **dict.fromkeys((403, 413, 429, 501, 502, 503, 504, 520), _BODIES_OF_ERRORS[:2]),
                **dict.fromkeys((400, 500), _BODIES_OF_ERRORS),
            }.items()
            for text in texts
        },
    }


#: Those of a table and those of a queue.
FAULTS: Final = {service: faults(body) for service, body in BODIES.items()}


@pytest.fixture(scope="module")
def pairs() -> Iterator[dict[str, Pair]]:
    """Both clients of both services, which several tests share."""
    with pair("dynamodb") as tables, pair("sqs") as queues:
        yield {"dynamodb": tables, "sqs": queues}


def test_any_request_is_that_of_botocore(pairs: dict[str, Pair]) -> None:
    """Bodies, headers, signatures and results are the same for generated requests and responses."""
    every = operations()
    for seed in range(10_000 if DEEP else 100):
        service, method, operation = every[seed % len(every)]
        rng = random.Random(seed)  # noqa: S311  no secret
        parameters = value(operation.input_shape, rng)
        result = value(operation.output_shape, rng) if operation.output_shape else {}
        response = reply(200, to_json(result), checksum=service == "dynamodb")
        pairs[service].compare([(method, parameters)], [sends(response)])


def test_a_signature_is_that_of_its_day_and_its_key() -> None:
    """A process that signed before midnight UTC, and with an earlier key, signs as botocore now."""
    signer, headers = Signer("dynamodb", REGION), {"host": "dynamodb.eu-west-1.amazonaws.com"}
    for second, secret in (
        ("2026-12-31T23:59:59", "secret/+"),
        ("2027-01-01T00:00:00", "secret/+"),
        ("2027-01-01T00:00:00", "another"),
    ):
        credentials = ReadOnlyCredentials(CREDENTIALS.access_key, secret, "token", None)
        now = time.strptime(second, "%Y-%m-%dT%H:%M:%S")
        with mock.patch.object(sigv4, "gmtime", return_value=now):
            own = AccessKey(str(CREDENTIALS.access_key), secret, "token")
            signed = signer.sign("/", headers, b"{}", own)
        assert signed["authorization"] == signature(signed, b"{}", credentials)


def test_any_error_is_that_of_botocore(pairs: dict[str, Pair]) -> None:
    """Each documented error of each operation is the same, with its fields, tries and waits."""
    for service, method, operation in operations():
        for shape in operation.error_shapes:
            rng = random.Random(shape.name)  # noqa: S311  no secret
            fields = {n: value(member, rng) for n, member in shape.members.items()}
            name = f"com.amazonaws.{service}#{shape.name}"
            older = f"AWS.SimpleQueueService.{shape.name};Sender" if service == "sqs" else ""
            status = 500 if "InternalServerError" in shape.name else 400
            response = reply(status, to_json({"__type": name} | fields), x_amzn_query_error=older)
            call = method, value(operation.input_shape, rng)
            found = pairs[service].compare([call], [sends(response)] * 2)
            assert "ClientError" in found.results[0] or len(found.requests) == 3


def test_an_invocation_is_that_of_botocore() -> None:
    """Path, signature, tries and each documented error are the same."""
    call = (
        "invoke",
        {
            "FunctionName": "arn:aws:lambda:eu-west-1:123456789012:function:a-MailCode-1:live",
            "InvocationType": "Event",
            "Payload": b'{"code": "1"}',
        },
    )
    with pair("lambda") as both:
        accepted = both.compare([call], [sends(reply(202, b""))])
        assert accepted.results[0]["ResponseMetadata"]["HTTPStatusCode"] == 202
        for shape in model("lambda").operation_model("Invoke").error_shapes:
            body = to_json(dict.fromkeys(shape.members.keys() - {"retryAfterSeconds"}, "m"))
            kind = f"{shape.name}:http://internal.amazon.com/coral/com.amazonaws.lambda/"
            refusal = reply(shape.metadata["error"]["httpStatusCode"], body, x_amzn_errortype=kind)
            found = both.compare([call], [sends(refusal)] * 2)
            assert "ClientError" in found.results[0] or len(found.requests) == 3


def test_the_codes_that_are_tried_again_are_those_of_botocore() -> None:
    """The list is that of the standard mode, with what the models of the services add."""
    modelled = {
        shape.name
        for service in ("dynamodb", "lambda", "sqs")
        for shape in model(service).error_shapes
        if shape.metadata.get("retryable")
    }
    transient: Any = TransientRetryableChecker
    throttled: Any = ThrottledRetryableChecker
    codes = {*transient._TRANSIENT_ERROR_CODES, *throttled._THROTTLED_ERROR_CODES}
    assert codes | modelled == {*direct._TEMPORARY_CODES.split()}
    assert set(transient._TRANSIENT_STATUS_CODES) == direct._TEMPORARY_STATUSES


def test_the_token_goes_where_botocore_sends_one() -> None:
    with_token = {op.name for _, _, op in operations() if op.idempotent_members}
    assert with_token == {direct._WITH_TOKEN}


@for_each("name", FAULTS["sqs"])
def test_a_fault_is_what_it_is_to_botocore(pairs: dict[str, Pair], name: str) -> None:
    with mock.patch.object(RetryQuota, "acquire", return_value=True):
        for service, call in CALLS:
            pairs[service].compare([call, call], [FAULTS[service][name]])
            pairs[service].compare([call], [FAULTS[service][name]] * 3)


@pytest.mark.parametrize("service", ["dynamodb", "sqs"])
def test_a_fault_of_the_only_try_is_what_it_is_to_botocore(service: str) -> None:
    with pair(service, WITHOUT_RETRIES) as of_one_try:
        for act in FAULTS[service].values():
            for of, call in CALLS:
                if of == service:
                    of_one_try.compare([call, call], [act])


@for_each("act", [never, half])
def test_silence_is_what_it_is_to_botocore(act: Act) -> None:
    """A response that does not come, or not wholly, ends a try in the same error."""
    for service, call in CALLS:
        with pair(service, IMPATIENT) as impatient:
            assert impatient.compare([call, call], [act]).waits == [0.5]
            if call is GET:  # each try takes half a second, so that a busy machine does not add one
                assert impatient.compare([call], [act] * 3).results == ["ReadTimeoutError"]


def test_slow_bytes_are_what_they_are_to_botocore() -> None:
    with pair("dynamodb", CallLimits(read_timeout=1, attempts=1)) as patient:
        assert "ConsumedCapacity" in patient.compare([GET], [slowly]).results[0]


def closes_later(connection: socket.socket) -> bool:
    """Respond, and close the connection when the response has arrived."""
    connection.sendall(GOOD)
    return False


@for_each("limits", [WITH_RETRIES, WITHOUT_RETRIES])
def test_a_closed_connection_is_not_used(limits: CallLimits) -> None:
    """A connection that the server closed between two requests costs the second one no try."""
    with pair("dynamodb", limits) as both:
        for client in (both.botocore, both.direct):
            first = run(both.server, client, both.waits, [PUT], [closes_later])
            time.sleep(0.1)  # the end of the connection arrives
            second = run(both.server, client, both.waits, [PUT], [])
            assert (first.connections, second.connections) == (1, 1)
            assert (len(second.requests), second.waits) == (1, [])
            assert isinstance(second.results[0], dict)


@for_each("act", [sends(b"", stays=False), resets()])
def test_a_write_on_a_connection_that_is_closing_is_sent_once(act: Act) -> None:
    """If the server closes while a write is on its way, a write of one try ends in an error."""
    with pair("dynamodb", WITHOUT_RETRIES) as of_one_try:
        found = of_one_try.compare([PUT, PUT], [sends(GOOD), act])
    assert (len(found.requests), found.connections) == (2, 1)
    assert found.results[1] == "ConnectionClosedError"


def test_many_failures_use_up_the_quota_of_tries() -> None:
    """A client whose calls fail makes as many more tries as botocore, and then none."""
    failing = sends(reply(500, b"{}"))
    with pair("dynamodb") as both:
        found = both.compare([GET] * 55, [failing] * 200)
        assert len(found.requests) == 55 + 100
        recovered = [*[sends(GOOD)] * 30, *[failing] * 200]
        both.compare([GET] * 50, recovered)


@pytest.mark.parametrize("error", [TimeoutError, ConnectionRefusedError, socket.gaierror, OSError])
def test_no_connection_is_what_it_is_to_botocore(error: type[OSError]) -> None:
    url = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    found = []
    with both_clients(url, "sqs") as both, mock.patch("socket.socket.connect", side_effect=error):
        for kind in ("botocore", "direct"):
            with pytest.raises(BotoCoreError) as caught:
                both[kind].send_message(**SEND[1])
            found.append((type(caught.value), [*both["waits"]]))
            both["waits"].clear()
    assert found[0] == found[1]


def test_threads_share_a_client() -> None:
    """Calls at the same time use connections of their own, and at most ten stay open."""
    together = threading.Barrier(14)

    def act(connection: socket.socket) -> bool:
        together.wait()
        return sends(GOOD)(connection)

    with pair("dynamodb") as both:
        both.server.script = [act] * 14
        calls = [
            threading.Thread(target=both.direct.get_item, kwargs=dict(GET[1])) for _ in range(14)
        ]
        for call in calls:
            call.start()
        for call in calls:
            call.join()
        assert (both.server.connections, len(both.direct._idle)) == (14, 10)
