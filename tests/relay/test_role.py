"""The relay's role allows exactly the AWS calls that it makes, recorded inside botocore."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient

from pillarbox import wiring
from pillarbox.domain.ids import new_id
from relay import certificates
from relay.service import ThreadedService
from relay.tls import make_context
from tests import iam
from tests.contract.aws_calls import Calls, rights_granted, rights_used
from tests.contract.bodies import otp
from tests.contract.client import Api
from tests.contract.conftest import dns_server, service
from tests.contract.operations import in_an_hour
from tests.contract.service import SENDER, Service
from tests.contract.test_backend_down import no_answer
from tests.iam import AwsRequest
from tests.relay.running_relay import (
    AUTHENTICATED,
    PATIENCE,
    RunningRelay,
    certificate,
    plain,
    serve,
)

__all__ = ["dns_server", "service"]

START = f"From: {SENDER}\r\nSubject: x\r\n".encode()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> set[AwsRequest]:
    recorded = Calls()
    recorded.running = "relay"
    call = BaseClient._make_api_call  # type: ignore[attr-defined]

    def record_call(client: BaseClient, operation: str, parameters: Mapping[str, Any]) -> Any:
        recorded.record(client.meta.service_model.service_name, operation, parameters)
        return call(client, operation, parameters)

    monkeypatch.setattr(BaseClient, "_make_api_call", record_call)
    recorded.made["relay"] = made = set[AwsRequest]()
    return made


def send(relay: RunningRelay, key: str, *messages: bytes) -> set[bytes]:
    """Send messages in one session and return the codes of their replies."""
    with relay.connect_tls() as client:
        client.sock.settimeout(6 * PATIENCE)
        assert client.command(f"AUTH PLAIN {plain(key)}") == AUTHENTICATED
        codes = set()
        for message in messages:
            client.command(f"MAIL FROM:<{SENDER}>")
            client.command("RCPT TO:<ann@example.com>")
            client.command("DATA")
            client.send(message + b".\r\n")
            codes.add(client.reply()[:3])
        return codes


def test_the_role_allows_what_the_relay_calls(service: Service, calls: set[AwsRequest]) -> None:
    account = service.account()
    key = service.key(account)
    saved = {"to": "ann@example.com", "templateId": service.template(account, "<p>x</p>")}
    small, large = (
        START + b"\r\nHello\r\n",
        START + b"\r\n" + b"x" * 98 + b"\r\n" + b"y\r\n" * 70_000,
    )
    keyed = b"Idempotency-Key: k\r\n" + small
    secret = json.dumps({name: value.decode() for name, value in PEM.items()})
    boto3.client("secretsmanager").create_secret(Name="smtp", SecretString=secret)
    calls.clear()
    make_context(certificates.from_secret(lambda: wiring.read_secret("smtp"))())
    # The front runs the same handlers with the same role; only it accepts urgent mail, and mail
    # by saved templates.
    for body in (otp(), saved, otp(scheduledAt=in_an_hour())):
        assert Api(key).send(body).status == 200
    absent = {"attachments": [{"attachmentId": str(new_id(wiring.utc_now()))}]}
    assert Api(key).send(otp() | absent).code == "attachment_not_found"
    batch = json.dumps({"messages": [otp(), saved]})
    keyed_batch = {"Idempotency-Key": "k"}
    for headers in ({}, keyed_batch, keyed_batch):
        assert Api(key).raw("POST", "/emails/batch", batch, headers).status == 200
    submission = wiring.services().smtp_submission
    with serve(service=ThreadedService(lambda: submission)) as relay:
        assert send(relay, key, small, large, keyed, keyed) == {b"250"}
        with ThreadPoolExecutor(8) as clients:
            for codes in clients.map(lambda _: send(relay, key, *[small] * 5), range(8)):
                assert codes == {b"250"}
        events = wiring.services().table.client.meta.events
        for operation in ("PutItem", "BatchExecuteStatement", "UpdateItem"):
            name = f"before-call.dynamodb.{operation}"
            events.register(name, no_answer)
            assert send(
                relay, key, small, b"Idempotency-Key: %s\r\n" % operation.encode() + small
            ) <= {b"451", b"250"}
            assert Api(key).raw("POST", "/emails/batch", batch).status in {200, 503}
            events.unregister(name, no_answer)
    policy = iam.statements("RelayRole")
    granted, used = set().union(*map(rights_granted, policy)), rights_used(calls)
    assert (used - granted, granted - used) == (set(), set())
    assert [request for request in calls if not iam.is_allowed(policy, request)] == []


PEM = {"certificate": certificate().chain, "key": certificate().key}
