"""Promise 10: no key, body, variable or full address in the logs."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.log_canaries import CANARY

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
    assert {"answered", "consumed", "unexpected error"} <= said
    assert len(lines) > 50
    output = (ran.stdout + ran.stderr).lower()
    encoded = base64.b64encode(CANARY.encode()).decode().rstrip("=")[:-1]
    for trace in (CANARY, encoded.lower(), "bx_live_", "482913", "customer.example"):
        assert trace not in output
