"""Promise 10: the logs have no key, body, variable or full address."""

import base64
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.contract.bodies import attachment, otp, raw_html
from tests.contract.canaries import CANARY, CODE, traces
from tests.contract.client import Api
from tests.contract.operations import ALL_OPERATIONS, OPERATIONS
from tests.contract.service import Service

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Output:
    """What the program with the canaries wrote to both streams, at DEBUG.

    `leaked` has the lines that leak on purpose, `log` all others.
    """

    log: str
    leaked: str
    secrets: list[str]


@pytest.fixture(scope="module")
def output(dns_server: str) -> Output:
    process = subprocess.run(
        [sys.executable, "-m", "tests.contract.log_canaries", dns_server],
        cwd=ROOT,
        env=os.environ | {"POWERTOOLS_LOG_LEVEL": "DEBUG"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert process.returncode == 0, process.stderr[-2_000:]
    written, _, secrets = process.stdout.rpartition("secrets: ")
    lines = written.splitlines(keepends=True)
    leaked = [line for line in lines if '"leaked' in line]
    log = [line for line in lines if '"leaked' not in line]
    return Output("".join(log) + process.stderr, "".join(leaked), secrets.split())


def lines_of(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def test_no_canary_reaches_the_output(output: Output) -> None:
    """10: canaries in every field, key, header, event and SMTP command are not logged."""
    assert len(output.secrets) == 8
    assert not [secret for secret in output.secrets if secret in output.log]
    lines = lines_of(output.log)
    messages = {line.get("message") for line in lines}
    # The output has lines of requests, queues, SMTP and failures, so the search is not empty.
    assert {"answered", "consumed", "ticked", "unexpected error", "accepted", "refused"} <= messages
    assert any("_aws" in line for line in lines)
    failed = {line["service"] for line in lines if line.get("message") == "unexpected error"}
    assert failed == {"pillarbox", "pillarbox-relay"}
    assert not traces(output.log)


def test_canaries_in_the_log_are_found_for_every_function(output: Output) -> None:
    """If whole requests were logged, the search would find them for each route and the relay."""
    leaks = [line for line in lines_of(output.leaked) if CANARY in json.dumps(line)]
    # Others, such as the caller's key, have nothing that a caller sent.
    sent = [one for one in OPERATIONS if {"parameters", "requestBody"} & one.described.keys()]
    visitors = [one for one in ALL_OPERATIONS if one.path.startswith("/v1/preview-keys")]
    routes = {(one.method, one.path) for one in (*sent, *visitors)}
    assert {(line.get("method"), line["route"]) for line in leaks if "route" in line} >= routes
    assert {line["service"] for line in leaks} == {"pillarbox", "pillarbox-relay"}
    assert {CANARY, "bx_live_", CODE, "customer.example"} <= traces(output.leaked)


def test_every_form_of_a_canary_is_found() -> None:
    """The search finds the word in capitals and in base64, at any offset."""
    for before in ("", "x", "xy", "xyz"):
        encoded = base64.b64encode(f"{before}{CANARY} and more".encode()).decode()
        assert traces(f"body={encoded}")
    assert traces(CANARY.upper()) == {CANARY}
    assert not traces("nothing of it")


def test_a_code_is_found_and_a_time_that_has_its_digits_is_not() -> None:
    """1795774829 s and 130 ms has the digits of the code, and is not the code."""
    assert traces(f'"code":"{CODE}", {CODE}-{CODE}') == {CODE}
    assert not traces('{"Timestamp":1795774829130}')


def test_no_body_is_in_the_history(account: str, service: Service) -> None:
    """10: no record has a body, variable, attachment or key; queue and spool are empty."""
    key = service.key(account)
    api = Api(key)
    files = [attachment(CANARY.encode() * 30_000, filename=f"{CANARY}.pdf")]
    sent = [
        raw_html(html=f"<p>{CANARY}</p>"),
        raw_html(html=f"<p>{CANARY}</p>", attachments=files),  # goes to the spool
        otp(variables={"otp_code": CANARY, "expiry_minutes": "10"}),
    ]
    for number, body in enumerate(sent):
        assert api.send(body, idempotency_key=f"key-{number}").status == 200
    batch = {"messages": sent}
    assert api.raw("POST", "/emails/batch", batch, {"Idempotency-Key": "batch"}).status == 200
    assert len(service.spooled()) == 2
    assert not found_in_table(key)
    assert service.deliver() == []
    assert not found_in_table(key)
    assert (service.jobs(), service.spooled()) == ([], [])
    assert len(service.ses.mails) == 6
    assert found_in_table(account)  # the search does find text in the table


def found_in_table(word: str) -> set[str]:
    """Return which forms of the canary, and whether a word, are in the records of the table."""
    items = json.dumps(boto3.client("dynamodb").scan(TableName="pillarbox")["Items"])
    return (traces(items) - {"customer.example"}) | ({word} if word in items else set())


def test_a_message_can_be_found_in_the_logs(
    account: str, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    """Acceptance, delivery and events each log a line with the account and the message id."""
    api = Api(service.key(account))
    single = api.send(otp()).json["messageId"]
    batch = api.raw("POST", "/emails/batch", {"messages": [otp(), {"to": 5}]}, {}).json["results"]
    service.deliver()
    service.report(
        {
            "eventType": "Delivery",
            "mail": {"messageId": "p", "tags": {"account": [account], "message": [single]}},
            "delivery": {"timestamp": "2027-01-01T00:00:00.000Z", "recipients": ["a@b.example"]},
        }
    )
    lines = [vars(record) for record in caplog.records]
    answered = [line for line in lines if line["msg"] == "answered"]
    consumed = [line for line in lines if line["msg"] == "consumed" and "outcome" in line]
    assert [line["message_ids"] for line in answered] == [[single], [batch[0]["messageId"]]]
    assert {line["account_id"] for line in answered + consumed} == {account}
    assert all(line["request_id"] for line in answered)
    outcomes = [line["outcome"] for line in consumed if line["message_id"] == single]
    assert outcomes == ["sent"]
    # Events that a record shows are counted in one line for their batch.
    assert [line["changed"] for line in lines if "changed" in line] == [1]
