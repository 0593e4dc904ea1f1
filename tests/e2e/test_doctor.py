"""`pillarbox doctor` on a whole stack, with a mail that makes the round trip."""

import json
from typing import Any

import pytest

from tests.stack import alone, run_operator

pytestmark = pytest.mark.stack


def test_the_running_stack_passes_the_doctor(stack: dict[str, Any]) -> None:
    """Every check passes or is skipped on a local stack, and the test mail is delivered."""
    with alone("doctor"):  # the test of tenants makes what the doctor reports
        process = run_operator("doctor", "--send", "--account", stack["accounts"]["live"])
    assert process.returncode == 0, process.stdout + process.stderr
    verdicts: dict[str, str] = {
        item["check"]: item["verdict"] for item in json.loads(process.stdout)["items"]
    }
    # The tests of this stack share an account, and may have used most of its limits.
    assert verdicts.pop("limits") in {"pass", "warn"}
    passed = {name for name, verdict in verdicts.items() if verdict == "pass"}
    assert passed == {
        "address",
        "sending",
        "events",
        "suppression",
        "queues",
        "shards",
        "strangers",
        "relay",
        "mail",
        "tenants",
    }
    assert set(verdicts.values()) == {"pass", "skipped"}
