"""The official client of MCP, in its modes, sends on the local stack."""

import json
import os
import subprocess
from functools import partial
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.needs import missing
from tests.stack import PATIENCE, ROOT, inbox, operate, wait_for

_PYTHON = ROOT / ".venv-mcp" / "bin" / "python"
_DISCOVERED = ["server/discover", "tools/list", "tools/call", "tools/call"]
_AGREED = ["initialize", "tools/list", "tools/call", "tools/call"]

#: The modes and answers of the cases, with their recipients.
TO = {
    (mode, answer): f"{uuid4()}@example.com"
    for mode, answer in (
        *(("auto", answer) for answer in ("none", "accept", "decline")),
        ("legacy", "none"),
        *(("2026-07-28", answer) for answer in ("none", "accept", "decline")),
    )
}


@pytest.fixture(scope="module")
def key(stack: dict[str, Any]) -> str:
    """Return the key of an agent that asks and may send to one domain."""
    assert stack
    account = operate("account", "create", "--name", "Agents", "--plan", "standard")["id"]
    sender = ("hello@agents.example", "--verified", "--default")
    operate("sender", "add", "--account", account, *sender)
    options = ("--preset", "send", "--agent", "--agent-recipient", "example.com")
    return str(operate("key", "create", "--account", account, "--name", "mcp", *options)["key"])


@pytest.fixture(scope="module")
def seen(stack: dict[str, Any], key: str) -> dict[tuple[str, str], Any]:
    """Send with the official client in each mode; return what it saw, by mode and answer."""
    if not _PYTHON.exists():
        missing("the official client is not installed: make .venv-mcp/made")
    email = {"subject": "From an agent", "html": "<p>Hello</p>"}
    cases = [(*case, email | {"to": to}) for case, to in TO.items()]
    program = ROOT / "tests" / "e2e" / "official_mcp_client.py"
    done = subprocess.run(
        [_PYTHON, program, f"{stack['base_url']}/api/v1/mcp"],
        input=json.dumps(cases),
        env=os.environ | {"PILLARBOX_API_KEY": key},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(TO, json.loads(done.stdout), strict=True))


@pytest.mark.stack
def test_the_local_stack_refuses_browsers_as_aws_does(stack: dict[str, Any], key: str) -> None:
    url, headers = f"{stack['base_url']}/api/v1/mcp", {"X-API-Key": key, "User-Agent": "test/1.0"}
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    for more, status in (({"Origin": "https://evil.example"}, 403), ({}, 200)):
        answer = httpx.post(url, json=ping, headers=headers | more, timeout=PATIENCE)
        assert answer.status_code == status, answer.text
        assert ("client_blocked" in answer.text) is (status == 403)


@pytest.mark.stack
def test_the_official_client_sends_nothing_if_it_cannot_ask(
    seen: dict[tuple[str, str], Any],
) -> None:
    """In each mode a client without elicitation gets an error; each result is valid."""
    for mode, version, first in (
        ("auto", "2026-07-28", _DISCOVERED),
        ("legacy", "2025-11-25", _AGREED),
        ("2026-07-28", "2026-07-28", _DISCOVERED[1:]),
    ):
        case = seen[mode, "none"]
        assert case["version"] == version
        assert (len(case["tools"]), case["starters"]) == (12, 10)
        assert case["validated"] == first
        assert set(case["statuses"]) <= {200, 202}
        assert case["sent"]["error"]["code"] == "confirmation_required"


@pytest.mark.stack
def test_the_official_client_asks_its_user(
    stack: dict[str, Any], seen: dict[tuple[str, str], Any]
) -> None:
    for mode, first in (("auto", _DISCOVERED), ("2026-07-28", _AGREED[1:])):
        case = seen[mode, "accept"]
        assert case["validated"] == [*first, "tools/call"]
        (question,) = case["asked"]
        shown = f"Send this email?\nTo: {TO[mode, 'accept']}\nSubject: From an agent"
        assert question.startswith(shown)
        sent = case["sent"]
        assert (sent["status"], sent["replayed"]) == ("queued", False)
        wait_for(partial(inbox, stack, sent["messageId"]))
        assert seen[mode, "decline"]["sent"]["status"] == "declined"
