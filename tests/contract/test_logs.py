"""Promise 10: no key, body, variable or full address in the logs."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.contract.bodies import attachment, otp, raw_html
from tests.contract.canaries import CANARY, traces
from tests.contract.client import Api
from tests.contract.service import Service

ROOT = Path(__file__).parents[2]


def written(dns_server: str, *options: str) -> str:
    """All that the program of the canaries writes, on both streams, at the lowest level."""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.contract.log_canaries", dns_server, *options],
        cwd=ROOT,
        env=os.environ | {"POWERTOOLS_LOG_LEVEL": "DEBUG"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-2_000:]
    return ran.stdout


def lines_of(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def test_no_canary_reaches_the_output(dns_server: str) -> None:
    """10: canaries in every field, key, header, event and SMTP command leave no trace."""
    output = written(dns_server)
    lines = lines_of(output)
    said = {line.get("message") for line in lines}
    # What was searched is the output of requests, queues, SMTP and failures, and not nothing.
    assert {"answered", "consumed", "ticked", "unexpected error", "accepted", "refused"} <= said
    assert any("_aws" in line for line in lines)
    failed = {line["service"] for line in lines if line.get("message") == "unexpected error"}
    assert failed == {"pillarbox", "pillarbox-relay"}
    assert not traces(output)


def test_canaries_reach_every_function_and_are_found(dns_server: str) -> None:
    """Were requests or messages logged whole, the search would find each route and the relay."""
    output = written(dns_server, "--leaking")
    found = [line for line in lines_of(output) if CANARY in json.dumps(line)]
    assert {(line.get("method"), line["route"]) for line in found if "route" in line} >= {
        ("POST", "/v1/emails"),
        ("POST", "/v1/emails/batch"),
        ("GET", "/v1/emails"),
        ("GET", "/v1/emails/{message_id}"),
        ("GET", "/v1/emails/analytics"),
        ("POST", "/v1/starter-templates/{slug}/preview"),
        ("GET", "/v1/templates"),
        ("GET", "/v1/templates/{id}"),
        ("DELETE", "/v1/templates/{id}"),
    }
    assert {line["service"] for line in found} == {"pillarbox", "pillarbox-relay"}
    assert {CANARY, "bx_live_", "482913", "customer.example"} <= traces(output)


def test_every_writing_of_a_canary_is_found() -> None:
    """The search knows the word in capitals and in base64, wherever that begins."""
    for before in ("", "x", "xy", "xyz"):
        encoded = base64.b64encode(f"{before}{CANARY} and more".encode()).decode()
        assert traces(f"body={encoded}")
    assert traces(CANARY.upper()) == {CANARY}
    assert not traces("nothing of it")


def test_no_body_is_in_the_history(service: Service) -> None:
    """10: no record holds a body, variable, attachment or key; queue and spool hold none after."""
    account = service.account()
    key = service.key(account)
    api = Api(key)
    files = [attachment(CANARY.encode() * 30_000, filename=f"{CANARY}.pdf")]
    sent = [
        raw_html(html=f"<p>{CANARY}</p>"),
        raw_html(html=f"<p>{CANARY}</p>", attachments=files),  # through the spool
        otp(variables={"otp_code": CANARY, "expiry_minutes": "10"}),
    ]
    for number, body in enumerate(sent):
        assert api.send(body, idempotency_key=f"key-{number}").status == 200
    batch = json.dumps({"messages": sent})
    assert api.raw("POST", "/emails/batch", batch, {"Idempotency-Key": "batch"}).status == 200
    assert len(service.spooled()) == 2
    assert not found_in_table(key)
    assert service.deliver() == []
    assert not found_in_table(key)
    assert (service.jobs(), service.spooled()) == ([], [])
    assert len(service.ses.mails) == 6
    assert found_in_table(account)  # the search sees what is there


def found_in_table(word: str) -> set[str]:
    """Which of the canary's writings and of a word are in the records of the table."""
    items = json.dumps(boto3.client("dynamodb").scan(TableName="pillarbox")["Items"])
    return (traces(items) - {"customer.example"}) | ({word} if word in items else set())


def test_a_mail_is_found_in_the_logs(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    """Accepting, delivering and following a mail each log a line with its account and id."""
    account = service.account()
    api = Api(service.key(account))
    single = api.send(otp()).json["messageId"]
    batch = api.raw("POST", "/emails/batch", json.dumps({"messages": [otp(), {"to": 5}]}), {}).json[
        "results"
    ]
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
    consumed = [line for line in lines if line["msg"] == "consumed"]
    assert [line["message_ids"] for line in answered] == [[single], [batch[0]["messageId"]]]
    assert {line["account_id"] for line in answered + consumed} == {account}
    assert all(line["request_id"] for line in answered)
    outcomes = [line["outcome"] for line in consumed if line["message_id"] == single]
    assert outcomes == ["sent", "changed"]
