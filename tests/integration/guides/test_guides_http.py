"""The code of docs/guides sends, tries again when that helps, and stops when it does not."""

import os
import subprocess

import pytest

from tests.integration.guides.programs import OVER_HTTP, Command, each_of
from tests.integration.guides.scripted_api import Answer, failure, scripted_api
from tests.needs import need_program
from tests.stack import PATIENCE

every_language = pytest.mark.parametrize("command", each_of(OVER_HTTP))
SENT = Answer(200, body={"messageId": "019b-id", "status": "queued", "from": "a@shop.example"})


def send(command: Command, url: str) -> subprocess.CompletedProcess[str]:
    need_program(command[0])
    return subprocess.run(
        [*command, "ada@example.com", "INV-1001"],
        env=os.environ | {"PILLARBOX_URL": url, "PILLARBOX_KEY": "bx_live_key"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


@every_language
def test_a_retry_repeats_the_request(command: Command) -> None:
    """After a lost answer and each passing failure the same request follows, with the same key."""
    with scripted_api(
        Answer(0),
        Answer(503, {"Retry-After": "0"}, "<html>"),
        failure(429, "rate_limit_exceeded", RateLimit_Reset="0"),
        failure(409, "idempotency_in_flight", Retry_After="0"),
        SENT,
    ) as api:
        done = send(command, api.url)
    assert (done.returncode, done.stdout) == (0, "019b-id\n"), done.stderr
    assert len(api.calls) == 5
    for call in api.calls:
        assert call.path == "/api/v1/emails"
        assert call.headers["x-api-key"] == "bx_live_key"
        assert call.headers["idempotency-key"] == "receipt-INV-1001"
        assert call.headers["user-agent"] == "shop/1.0"
        assert call.headers["content-type"] == "application/json"
        assert call.body["to"] == "ada@example.com"
        assert call.body == api.calls[0].body


@every_language
@pytest.mark.parametrize(
    "answer",
    [
        failure(400, "recipient_suppressed"),
        failure(409, "idempotency_key_mismatch"),
        failure(429, "daily_limit_exceeded", RateLimit_Reset="3600"),
    ],
    ids=lambda answer: answer.body["error"]["code"],
)
def test_a_refusal_is_not_repeated(command: Command, answer: Answer) -> None:
    """What cannot succeed soon is asked once, and the program fails with the code."""
    with scripted_api(answer, SENT) as api:
        done = send(command, api.url)
    assert done.returncode != 0
    assert answer.body["error"]["code"] in done.stdout + done.stderr
    assert len(api.calls) == 1


@every_language
def test_the_last_failure_is_reported(command: Command) -> None:
    broken = Answer(503, {"Retry-After": "0"}, "<html>broken</html>")
    with scripted_api(*[broken] * 5) as api:
        done = send(command, api.url)
    assert done.returncode != 0
    assert "503" in done.stdout + done.stderr
    assert len(api.calls) == 5
