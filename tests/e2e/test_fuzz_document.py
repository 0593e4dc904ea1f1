"""Promise 9: schemathesis finds no 5xx and no response that differs from the document."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from local.template import ROOT
from openapi.operation import KEY, SESSION
from openapi.operations import OPERATIONS
from pillarbox.domain.key import SCOPES
from tests.stack import operate

#: Seconds of fuzzing, which `make fuzz` sets. Otherwise a number of examples ends it, so that a
#: busy machine tries as many as a fast one.
SECONDS = os.environ.get("PILLARBOX_FUZZ_SECONDS")
LIMIT = ("--max-time", SECONDS) if SECONDS else ("--max-examples", "10")
_TEMPLATES = 4
#: The key of this test would get the same 403 from each of them, before anything else is checked.
_SESSION_ONLY = [
    one.id for one in OPERATIONS if SESSION in one.security and KEY not in one.security
]


@pytest.fixture(scope="module")
def key(stack: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a key with every scope, of an account without limits that has a few templates."""
    assert stack
    account = operate("account", "create", "--name", "Fuzz", "--plan", "enterprise")["accountId"]
    sender = ("hello@fuzz.example", "--verified", "--default")
    operate("sender", "add", "--account", account, *sender)
    html = tmp_path_factory.mktemp("template") / "body.html"
    html.write_text("<p>Hello {{ name }}</p>")
    for number in range(_TEMPLATES):
        about = ("--name", str(number), "--subject", "Hello", "--category", "fuzz")
        operate("template", "create", "--account", account, *about, "--html", str(html))
    made = operate(
        *("key", "create", "--account", account, "--name", "f", "--preset", "custom"),
        *(option for scope in sorted(SCOPES) for option in ("--scope", scope)),
    )
    return str(made["key"])


def warm_up(base_url: str) -> None:
    """Start each function once, because many cold starts are slow on a busy machine."""
    for operation in OPERATIONS:
        path = re.sub(r"\{\w+\}", "x", operation.path)
        answer = httpx.request(operation.method, f"{base_url}/api{path}", timeout=120)
        assert answer.status_code in ({401} if KEY in operation.security else {401, 403, 422})


@pytest.mark.stack
def test_every_answer_is_as_documented(stack: dict[str, Any], key: str, tmp_path: Path) -> None:
    """9: no check finds a 5xx or an undocumented status, header or shape, also along links."""
    warm_up(stack["base_url"])
    report = tmp_path / "report.json"
    process = subprocess.run(
        [
            Path(sys.executable).with_name("schemathesis"),
            *("--config-file", str(ROOT / "verification/fuzz/schemathesis.toml")),
            *("run", str(ROOT / "docs/openapi.json"), "--url", f"{stack['base_url']}/api"),
            *("--header", f"X-API-Key: {key}", "--checks", "all"),
            *(option for one in _SESSION_ONLY for option in ("--exclude-operation-id", one)),
            *(*LIMIT, "--workers", "2", "--no-color"),
            *("--report", "json", "--report-json-path", str(report)),
        ],
        cwd=tmp_path,  # schemathesis writes its cache here
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=int(SECONDS or 0) + 600,
        check=False,
    )
    assert process.returncode == 0, process.stdout
    results = json.loads(report.read_text())
    assert results["operations"]["tested"] == len(OPERATIONS) - len(_SESSION_ONLY)
    assert results["test_cases"]["generated"] > 0
    assert (results["failures"], results["errors"]) == ([], [])
    print(f"{results['test_cases']['generated']} requests: no 5xx and no difference")  # noqa: T201  the figure
