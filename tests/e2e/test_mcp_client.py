"""The official client of MCP, in its modes, sends on the local stack."""

import json
import os
import subprocess
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.needs import missing
from tests.stack import PATIENCE, ROOT, inbox, operate, wait_for

_PYTHON = ROOT / ".venv-mcp" / "bin" / "python"
_DISCOVERED = ["server/discover", "tools/list", "tools/call", "tools/call"]
_AGREED = ["initialize", "tools/list", "tools/call", "tools/call"]


@pytest.fixture(scope="module")
def key(stack: dict[str, Any]) -> str:
    """Return the key of an agent that asks and may send to one domain."""
    assert stack
    account = operate("account", "create", "--name", "Agents", "--plan", "standard")["id"]
    sender = ("hello@agents.example", "--verified", "--default")
    operate("sender", "add", "--account", account, *sender)
    options = ("--preset", "send", "--agent", "--agent-recipient", "example.com")
    return str(operate("key", "create", "--account", account, "--name", "mcp", *options)["key"])


def official(stack: dict[str, Any], key: str, mode: str, answer: str, to: str) -> Any:
    """Send with the official client; return what it saw."""
    if not _PYTHON.exists():
        missing("the official client is not installed: make .venv-mcp/made")
    arguments = {"to": to, "subject": "From an agent", "html": "<p>Hello</p>"}
    program = ROOT / "tests" / "e2e" / "official_mcp_client.py"
    done = subprocess.run(
        [_PYTHON, program, f"{stack['base_url']}/api/v1/mcp", mode, answer],
        input=json.dumps(arguments),
        env=os.environ | {"PILLARBOX_API_KEY": key},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.stack
def test_the_local_stack_refuses_browsers_as_aws_does(stack: dict[str, Any], key: str) -> None:
    """A request to the MCP server with an Origin is 403, and without one it is answered."""
    url, headers = f"{stack['base_url']}/api/v1/mcp", {"X-API-Key": key, "User-Agent": "test/1.0"}
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    for more, status in (({"Origin": "https://evil.example"}, 403), ({}, 200)):
        answer = httpx.post(url, json=ping, headers=headers | more, timeout=PATIENCE)
        assert answer.status_code == status, answer.text
        assert ("client_blocked" in answer.text) is (status == 403)


@pytest.mark.stack
@pytest.mark.parametrize(
    ("mode", "version", "first"),
    [
        ("auto", "2026-07-28", _DISCOVERED),
        ("legacy", "2025-11-25", _AGREED),
        ("2026-07-28", "2026-07-28", _DISCOVERED[1:]),
    ],
)
def test_the_official_client_sends_with_a_token(
    stack: dict[str, Any], key: str, mode: str, version: str, first: list[str]
) -> None:
    """In each mode a client that cannot ask sends by its second call; each result is valid."""
    seen = official(stack, key, mode, "none", f"{uuid4()}@example.com")
    assert seen["version"] == version
    assert (len(seen["tools"]), seen["starters"]) == (9, 10)
    assert seen["validated"] == [*first, "tools/call"]
    assert set(seen["statuses"]) <= {200, 202}
    question, sent = seen["sent"]
    assert (question["status"], sent["status"]) == ("confirmation_required", "queued")
    wait_for(lambda: inbox(stack, sent["messageId"]))


@pytest.mark.stack
@pytest.mark.parametrize(("mode", "first"), [("auto", _DISCOVERED), ("2026-07-28", _AGREED[1:])])
def test_the_official_client_asks_its_user(
    stack: dict[str, Any], key: str, mode: str, first: list[str]
) -> None:
    """A client that can ask shows the question; a yes sends, and a no does not."""
    to = f"{uuid4()}@example.com"
    seen = official(stack, key, mode, "accept", to)
    assert seen["validated"] == [*first, "tools/call"]
    (question,) = seen["asked"]
    assert question.startswith(f"Send this email?\nTo: {to}\nSubject: From an agent")
    (sent,) = seen["sent"]
    assert (sent["status"], sent["replayed"]) == ("queued", False)
    wait_for(lambda: inbox(stack, sent["messageId"]))
    refused = official(stack, key, mode, "decline", f"{uuid4()}@example.com")
    assert [each["status"] for each in refused["sent"]] == ["declined"]
