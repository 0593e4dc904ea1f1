"""Promise 10: no key, body, variable or full address in the logs."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.bodies import otp
from tests.contract.client import Api
from tests.contract.log_canaries import CANARY
from tests.contract.service import Service

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("level", ["INFO", "DEBUG"])
def test_no_canary_reaches_the_output(level: str, dns_server: str) -> None:
    """10: canaries in every field, key, header and event leave no trace in stdout or stderr."""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.contract.log_canaries", dns_server],
        cwd=ROOT,
        env=os.environ | {"POWERTOOLS_LOG_LEVEL": level},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    said = {line.get("message") for line in lines}
    # What was searched is the output of requests, queues and failures, and not nothing.
    assert {"answered", "consumed", "ticked", "unexpected error"} <= said
    assert len(lines) > 50
    output = (ran.stdout + ran.stderr).lower()
    encoded = base64.b64encode(CANARY.encode()).decode().rstrip("=")[:-1]
    for trace in (CANARY, encoded.lower(), "bx_live_", "482913", "customer.example"):
        assert trace not in output


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
