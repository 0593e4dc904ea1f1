"""A local stack with a URL and no front takes small bodies, and large files beforehand."""

import base64
import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.stack import AGENT, PATIENCE, inbox, own_stack, raw, wait_for

pytestmark = pytest.mark.stack


def call(stack: dict[str, Any], method: str, path: str, **more: Any) -> httpx.Response:
    headers = AGENT | {"X-API-Key": stack["keys"]["live"]} | more.pop("headers", {})
    url = f"{stack['base_url']}/api/v1{path}"
    return httpx.request(method, url, headers=headers, timeout=PATIENCE, **more)


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[dict[str, Any]]:
    with own_stack(tmp_path, PILLARBOX_GATEWAY="url"):
        yield json.loads((tmp_path / "stack.json").read_text())


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
