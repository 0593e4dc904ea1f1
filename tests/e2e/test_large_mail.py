"""Mail over Lambda's limit goes through the edge and the front, with the same promises."""

import base64
import json
import random
from typing import Any

import httpx
import pytest

from tests.stack import AGENT, PATIENCE, inbox, raw, wait_for

pytestmark = pytest.mark.stack

#: The contract's limit on one attachment, in bytes (section 2.3).
ATTACHMENT = 5 * 1024 * 1024


def content(size: int, seed: int) -> bytes:
    return random.Random(seed).randbytes(size)  # noqa: S311  reproducible test data


def attachment(name: str, octets: bytes) -> dict[str, Any]:
    encoded = base64.b64encode(octets).decode()
    return {"filename": name, "contentType": "application/pdf", "content": encoded}


def mail(*attachments: dict[str, Any]) -> dict[str, Any]:
    return {
        "to": "large@customer.example",
        "subject": "Two scans",
        "html": "<p>See attached.</p>",
        "attachments": list(attachments),
    }


def send(stack: dict[str, Any], body: dict[str, Any], **headers: str) -> httpx.Response:
    return httpx.post(
        f"{stack['base_url']}/api/v1/emails",
        json=body,
        headers=AGENT | {"X-API-Key": stack["keys"]["live"]} | headers,
        timeout=PATIENCE,
    )


def test_two_attachments_of_the_largest_size_arrive(stack: dict[str, Any]) -> None:
    """A send with two attachments of 5 MB is accepted, replayed, and arrives once."""
    scans = {"one.pdf": content(ATTACHMENT, 1), "two.pdf": content(ATTACHMENT, 2)}
    body = mail(*(attachment(name, octets) for name, octets in scans.items()))
    key = {"Idempotency-Key": "two-scans"}

    answer = send(stack, body, **key)
    assert answer.status_code == 200, answer.text
    again = send(stack, body, **key)
    assert (again.status_code, again.content) == (200, answer.content)
    assert again.headers["Idempotent-Replay"] == "true"

    (item,) = wait_for(lambda: inbox(stack, answer.json()["messageId"]))
    parts = raw(stack, item).iter_attachments()
    arrived = {part.get_filename(): part.get_content() for part in parts}
    assert arrived == scans


def test_both_origins_accept_both_readings_of_a_path(stack: dict[str, Any]) -> None:
    """Contract 9: /api/v1/v1/emails is /api/v1/emails, at the API and, if chunked, at the front.

    Each origin replays what the other one accepted.
    """
    body = json.dumps(mail()).encode()
    headers = AGENT | {"X-API-Key": stack["keys"]["live"], "Idempotency-Key": "both-readings"}
    headers["Content-Type"] = "application/json"
    answers = [
        httpx.post(
            f"{stack['base_url']}/api/{path}/emails",
            content=sent,
            headers=headers,
            timeout=PATIENCE,
        )
        for path in ("v1", "v1/v1")
        for sent in (body, iter([body]))
    ]
    assert [answer.status_code for answer in answers] == [200] * 4
    assert len({answer.content for answer in answers}) == 1
    assert ["Idempotent-Replay" in answer.headers for answer in answers] == [False, *[True] * 3]
    wait_for(lambda: inbox(stack, answers[0].json()["messageId"]))


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_over_every_limit_is_refused(
    stack: dict[str, Any],
    chunked: bool,  # noqa: FBT001  a row of the table
) -> None:
    """Over the edge's limit an announced body has too large attachments; a chunked one gets 413."""
    body = b" " * (16 * 1024 * 1024 + 1)
    answer = httpx.post(
        f"{stack['base_url']}/api/v1/emails",
        content=iter([body]) if chunked else body,
        headers=AGENT | {"X-API-Key": stack["keys"]["live"]},
        timeout=PATIENCE,
    )
    error = answer.json()["error"]
    found = (answer.status_code, error["code"])
    assert found == ((413, "request_too_large") if chunked else (400, "attachment_too_large"))
    assert error["details"]["limit_bytes"] == 16 * 1024 * 1024
    assert answer.headers["X-Request-Id"]
