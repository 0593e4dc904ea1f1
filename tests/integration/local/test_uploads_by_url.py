"""A local stack with a URL and no front takes small bodies, and large files beforehand."""

import base64
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.stack import AGENT, PATIENCE, ROOT, inbox, raw, stack_command, wait_for

pytestmark = pytest.mark.stack


@contextmanager
def running(state: Path) -> Iterator[dict[str, Any]]:
    """Run a stack with EdgeService=url and no front; stop it regularly."""
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
                "PILLARBOX_GATEWAY": "url",
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


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """Run a stack on what earlier tests have packaged."""
    if (built := ROOT / ".local" / "tests" / "build").is_dir():
        shutil.copytree(built, tmp_path / "build")
    with running(tmp_path) as described:
        yield described


def test_a_large_file_is_uploaded(stack: dict[str, Any]) -> None:
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
    assert "x-amzn-trace-id" in sent.headers  # as a URL answers
    (item,) = wait_for(lambda: inbox(stack, sent.json()["messageId"]))
    (arrived,) = raw(stack, item).iter_attachments()
    assert (arrived.get_filename(), arrived.get_content()) == (file["filename"], octets)
