"""With `PILLARBOX_KEEP=1` a local stack has the last run's messages."""

import base64
import datetime as dt
import hashlib
import json
import os
import random
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from admin.wiring import OperatorWiring
from pillarbox.settings import Settings
from tests.aws import forget_sessions
from tests.stack import AGENT, PATIENCE, ROOT, inbox, raw, stack_command, wait_for

pytestmark = pytest.mark.stack

START = dt.datetime.now(dt.UTC)
HOUR = dt.timedelta(hours=1)


@contextmanager
def running(state: Path) -> Iterator[dict[str, Any]]:
    """Run a stack that keeps its messages, with Gateway=url and no front; stop it regularly."""
    ports = dict.fromkeys(("PILLARBOX_PORT", "PILLARBOX_INBOX_PORT", "PILLARBOX_SMTP_PORT"), "0")
    with (
        stack_command(state.with_suffix(".lock")) as command,
        subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ
            | ports
            | {
                "PILLARBOX_STATE_DIR": str(state),
                "PILLARBOX_KEEP": "1",
                "PILLARBOX_GATEWAY": "url",
                "PILLARBOX_LOCAL_FRONT": "off",
            },
            stdout=subprocess.DEVNULL,
        ) as process,
    ):
        try:
            wait_for(lambda: (state / "stack.json").exists() or process.poll() is not None)
            yield json.loads((state / "stack.json").read_text())
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0


def call(stack: dict[str, Any], method: str, path: str, **more: Any) -> httpx.Response:
    headers = AGENT | {"X-API-Key": stack["keys"]["live"]} | more.pop("headers", {})
    url = f"{stack['base_url']}/api/v1{path}"
    return httpx.request(method, url, headers=headers, timeout=PATIENCE, **more)


def shown(stack: dict[str, Any], ids: list[str]) -> dict[str, Any]:
    """Return what API and inbox show."""
    analytics = f"/emails/analytics?from={START - HOUR:%FT%TZ}&to={START + HOUR:%FT%TZ}&bucket=hour"
    paths = ["/emails", analytics, "/templates", *(f"/emails/{id_}" for id_ in ids)]
    answers = {path: call(stack, "GET", path) for path in paths}
    assert {answer.status_code for answer in answers.values()} == {200}, answers[analytics].text
    inbox = httpx.get(f"{stack['inbox_url']}/messages", timeout=PATIENCE).json()
    return {path: answer.json() for path, answer in answers.items()} | {"inbox": inbox}


def webhooks(stack: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the receivers of the inbox got."""
    answer = httpx.get(f"{stack['inbox_url']}/webhooks", timeout=PATIENCE)
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def statistics(stack: dict[str, Any]) -> tuple[int, bool, int]:
    """Return how many messages there are, whether the statistics are right, and how many lag."""
    audit = OperatorWiring(Settings(stack["environment"])).statistics_audit
    report = audit.verify(stack["accounts"]["live"])
    return report.messages, report.is_correct, report.lagging_messages


def test_messages_survive_a_restart(tmp_path: Path) -> None:
    """List, detail, analytics and inbox are as before; an email is neither lost nor sent again.

    The first webhook endpoint keeps its secret, and points at the receiver's new port. What it
    received before is not posted again.
    """
    if (built := ROOT / ".local" / "tests" / "build").is_dir():
        shutil.copytree(built, tmp_path / "build")
    url, body = "/emails", {"to": "ada@example.com", "subject": "Kept", "html": "<p>Grüße</p>"}
    once = {"headers": {"Idempotency-Key": "kept-1"}}
    with running(tmp_path) as stack:
        answers = [
            call(stack, "POST", url, json=body, **once),
            call(stack, "POST", url, json=body | {"to": "bounce@simulator.amazonses.com"}),
        ]
        assert not [answer.text for answer in answers if answer.is_error]
        ids = [answer.json()["messageId"] for answer in answers]
        assert all("x-amzn-trace-id" in answer.headers for answer in answers)  # as a URL answers
        assert call(stack, "DELETE", f"/templates/{stack['template_id']}").status_code == 204
        wait_for(
            lambda: (
                {call(stack, "GET", f"/emails/{id_}").json()["status"] for id_ in ids}
                <= {"delivered", "bounced"}
            )
        )
        wait_for(lambda: len(webhooks(stack)) == 5)
        before, secrets = shown(stack, ids), stack["webhook"]["secrets"]
    assert stat.S_IMODE((tmp_path / "kept.jsonl").stat().st_mode) == 0o600
    with running(tmp_path) as stack:
        assert shown(stack, ids) == before
        assert stack["webhook"]["secrets"] == secrets != []
        assert call(stack, "POST", url, json=body, **once).json()["messageId"] == ids[0]
        with pytest.MonkeyPatch.context() as patch:
            for name, text in stack["environment"].items():
                patch.setenv(name, text)
            forget_sessions()
            wait_for(lambda: statistics(stack) == (2, True, 0))
        forget_sessions()
        assert shown(stack, ids) == before
        (endpoint,) = call(stack, "GET", "/webhooks").json()["items"]
        assert call(stack, "POST", f"/webhooks/{endpoint['id']}/test").status_code == 202
        wait_for(lambda: webhooks(stack))
        assert [each["type"] for each in webhooks(stack)] == ["webhook.test"]
        check_large_file(stack)


def check_large_file(stack: dict[str, Any]) -> None:
    """A file of 5 MB is refused in the body, and arrives whole if it is uploaded before."""
    octets = random.Random(7).randbytes(5 * 1024 * 1024)  # noqa: S311  reproducible test data
    file = {"filename": "Übersicht 1.pdf", "contentType": "application/pdf"}
    email = {"to": "ada@example.com", "subject": "Large", "html": "<p>See attached.</p>"}
    inline = [file | {"content": base64.b64encode(octets).decode()}]
    refused = call(stack, "POST", "/emails", json=email | {"attachments": inline})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "attachment_too_large")

    words = file | {"size": len(octets), "sha256": hashlib.sha256(octets).hexdigest()}
    upload = call(stack, "POST", "/attachments", json=words).json()
    named = email | {"attachments": [{"attachmentId": upload["attachmentId"]}]}
    early = call(stack, "POST", "/emails", json=named)
    assert (early.status_code, early.json()["error"]["code"]) == (404, "attachment_not_found")
    put = httpx.put(upload["url"], content=octets, headers=upload["headers"], timeout=PATIENCE)
    assert put.status_code == 200, put.text
    sent = call(stack, "POST", "/emails", json=named)
    assert sent.status_code == 200, sent.text
    (item,) = wait_for(lambda: inbox(stack, sent.json()["messageId"]))
    (arrived,) = raw(stack, item).iter_attachments()
    assert (arrived.get_filename(), arrived.get_content()) == (file["filename"], octets)
