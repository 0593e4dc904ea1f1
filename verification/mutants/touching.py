"""Which functions of the product the tests of each file enter: a plugin of pytest.

`pytest -p verification.mutants.touching` writes it for the files that it runs, so that a changed
function is tried with those files alone.
"""

import json
import sys
from pathlib import Path
from types import CodeType
from typing import Final

import pytest

from verification.planting import ROOT

#: For each file of tests its seconds and the functions, as `path::qualified name`.
TOUCHED: Final = ROOT / ".local" / "touched.json"
_MONITORING: Final = sys.monitoring
_TOOL: Final = _MONITORING.PROFILER_ID
#: What is changed; tests and rigs are not.
PRODUCT: Final = ("admin", "front", "functions", "layers", "relay")

_prefixes = tuple(f"{ROOT / part}/" for part in PRODUCT)
_entered: dict[str, set[str]] = {}
_seconds: dict[str, float] = {}
_failed: set[str] = set()
_now = [""]


def pytest_sessionstart() -> None:
    """Watch each entry of a function."""
    _MONITORING.use_tool_id(_TOOL, "touching")
    _MONITORING.register_callback(_TOOL, _MONITORING.events.PY_START, _enter)
    _MONITORING.set_events(_TOOL, _MONITORING.events.PY_START)


def pytest_runtest_logstart(nodeid: str) -> None:
    """Begin with a file: its tests enter each function for the first time."""
    file = nodeid.partition("::")[0]
    if file != _now[0]:
        _now[0] = file
        _entered.setdefault(file, set())
        _MONITORING.restart_events()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add what a test took, and leave out a file with one that fails."""
    file = report.nodeid.partition("::")[0]
    if report.failed:
        _failed.add(file)
    _seconds[file] = _seconds.get(file, 0) + report.duration


def pytest_sessionfinish() -> None:
    """Write what was found, beside what is known of files that did not run."""
    _MONITORING.set_events(_TOOL, 0)
    known = json.loads(TOUCHED.read_text()) if TOUCHED.exists() else {}
    for file, functions in _entered.items():
        if file not in _failed:
            known[file] = {"seconds": _seconds.get(file, 0), "functions": sorted(functions)}
    TOUCHED.parent.mkdir(exist_ok=True)
    TOUCHED.write_text(json.dumps(known))


def _enter(code: CodeType, _offset: int) -> object:
    if code.co_filename.startswith(_prefixes) and _now[0]:
        path = Path(code.co_filename).relative_to(ROOT)
        _entered[_now[0]].add(f"{path}::{code.co_qualname}")
    return _MONITORING.DISABLE
