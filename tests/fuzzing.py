"""Runs schemathesis with docs/openapi.json."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from local.template import ROOT
from openapi.operations import OPERATIONS
from pillarbox.domain.accounts.key import MANAGEMENT_SCOPES, OPERATOR_SCOPES
from pillarbox.http.callers import KEY, SESSION

#: Seconds of fuzzing, which `make fuzz` sets. Otherwise a number of examples ends it, so that a
#: busy machine tries as many as a fast one.
SECONDS: Final = os.environ.get("PILLARBOX_FUZZ_SECONDS")
_MANAGING: Final = MANAGEMENT_SCOPES | OPERATOR_SCOPES
#: A key would get the same 403 from each of them, before anything else is checked, or could take
#: from itself what other requests need (tests/contract/test_management_keys.py tries keys there).
OF_SESSIONS: Final = [
    one.id
    for one in OPERATIONS
    if SESSION in one.security and (KEY not in one.security or one.scope in _MANAGING)
]
#: It refuses each page, so its requests have no headers of one.
OF_AGENTS: Final = ["mcp"]
OF_KEYS: Final = [one.id for one in OPERATIONS if one.id not in {*OF_SESSIONS, *OF_AGENTS}]
_LIMIT: Final = ("--max-time", SECONDS) if SECONDS else ("--max-examples", "3", "--seed", "1")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends the requests to some operations.

    Attributes:
        credential: the header of each request, except where a check leaves it out.
        operations: their ids.
        ids: path parameter or field -> a value that exists, which every second valid request gets.
    """

    credential: str
    operations: Sequence[str]
    ids: Mapping[str, str] = field(default_factory=dict)


def assert_as_documented(url: str, callers: Sequence[Caller], folder: Path, *, phases: str) -> None:
    """Send requests to the callers' operations; no check may find a difference.

    Args:
        url: that of the API, without `/api`.
        callers: who asks for what, in one process of schemathesis, whose start takes a second.
        folder: for what schemathesis reads and writes.
        phases: those of schemathesis, separated by commas.
    """
    chosen = [one for caller in callers for one in caller.operations]
    report, settings = folder / "report.json", folder / "schemathesis.toml"
    common = (ROOT / "verification/fuzz/schemathesis.toml").read_text()
    settings.write_text("\n".join([common, *(_headers(one, url) for one in callers)]))
    process = subprocess.run(
        [
            Path(sys.executable).with_name("schemathesis"),
            *("--config-file", str(settings)),
            *("run", str(ROOT / "docs/openapi.json"), "--url", url),
            # Without it schemathesis would try to sign in.
            *("--header", callers[0].credential, "--checks", "all", "--phases", phases),
            *(option for one in chosen for option in ("--include-operation-id", one)),
            *(*_LIMIT, "--no-color"),
            *("--report", "json", "--report-json-path", str(report)),
        ],
        cwd=folder,  # schemathesis writes its cache here
        env=os.environ
        | {
            "PYTHONPATH": str(ROOT),
            "PILLARBOX_FUZZ_IDS": json.dumps(
                {one: dict(caller.ids) for caller in callers for one in caller.operations}
            ),
            "PILLARBOX_FUZZ_CREDENTIAL": callers[0].credential.partition(":")[0],
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=int(SECONDS or 0) + 600,
        check=False,
    )
    assert process.returncode == 0, process.stdout
    results = json.loads(report.read_text())
    assert results["operations"]["tested"] == len(chosen)
    assert results["test_cases"]["generated"] > 0
    assert (results["failures"], results["errors"]) == ([], [])
    print(f"{results['test_cases']['generated']} requests: no 5xx and no difference")  # noqa: T201  the figure


def _headers(caller: Caller, url: str) -> str:
    """Return the part of schemathesis.toml (TOML) with the headers of a caller's operations.

    Origin and Sec-Fetch-Site say that a page of the service asks, since others may not sign in.
    """
    name, _, value = caller.credential.partition(": ")
    page = f'Origin = "{url}"\nSec-Fetch-Site = "same-origin"\n'
    return (
        f"[[operations]]\ninclude-operation-id = {json.dumps(list(caller.operations))}\n"
        f"[operations.headers]\n{name} = {json.dumps(value)}\n"
        f"{'' if caller.operations == OF_AGENTS else page}"
    )
