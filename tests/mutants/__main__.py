# ruff: noqa: T201  a program that is run by hand prints what it found
"""Mutation testing of the conditions, ranks and leases: `make mutants`.

Each module is changed in every way that cosmic-ray knows, one change at a time,
in a copy of the tree, and its tests must fail. Prints the changes that survived.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
COPY: Final = ROOT / ".local" / "mutants"
PACKAGE: Final = "layers/shared/pillarbox"
TOOL: Final = (".uv/bin/uv", "tool", "run", "--quiet", "--from", "cosmic-ray==8.7.0")

#: Each module with the tests that are about it, the quickest first.
MODULES: Final = {
    "domain/message.py": "tests/unit/domain/test_domain_message.py",
    "domain/quota.py": "tests/unit/domain/test_domain_quota.py",
    "application/delivery.py": "tests/unit/application/test_application_delivery.py",
    "application/feedback.py": "tests/unit/application/test_application_feedback.py",
    "application/quarantine.py": "tests/unit/application/test_application_quarantine.py",
    "application/sweeping.py": "tests/unit/application/test_application_sweeping.py",
    "application/submission.py": "tests/unit/application/test_application_submission.py"
    " tests/unit/application/test_application_faults.py",
    "adapters/dynamodb/claims.py": "tests/ports/test_ports_claims.py",
    "adapters/dynamodb/messages.py": "tests/ports/test_ports_messages.py",
    "adapters/dynamodb/quotas.py": "tests/ports/test_ports_quotas.py",
}

#: Only marks and types: they change nothing that runs, or nothing that is a rule here.
_LEFT_OUT: Final = """
[cosmic-ray.filters.operators-filter]
exclude-operators = ["core/RemoveDecorator", "core/ReplaceBinaryOperator_BitOr_.*"]
"""


def main() -> int:
    """Give 1 when a change survived."""
    shutil.rmtree(COPY, ignore_errors=True)
    leave = shutil.ignore_patterns(".*", "__pycache__", "node_modules")
    shutil.copytree(ROOT, COPY, ignore=leave)
    modules = sys.argv[1:] or [*MODULES]
    survived = [module for module in modules if _survivors(module)]
    return 1 if survived else 0


def _survivors(module: str) -> bool:
    config, session = COPY / "mutants.toml", COPY / "mutants.sqlite"
    session.unlink(missing_ok=True)
    python = f"env PYTHONPATH={COPY}:{COPY / 'layers/shared'} {ROOT / '.venv/bin/python'}"
    config.write_text(
        "[cosmic-ray]\n"
        f'module-path = "{PACKAGE}/{module}"\n'
        "timeout = 120.0\nexcluded-modules = []\n"
        f'test-command = "{python} -m pytest -x -q -p no:xdist {MODULES[module]}"\n'
        '[cosmic-ray.distributor]\nname = "local"\n' + _LEFT_OUT
    )
    _run("cosmic-ray", "init", str(config), str(session))
    _run("cr-filter-operators", str(session), str(config))
    _run("cosmic-ray", "exec", str(config), str(session))
    report = _run("cr-report", "--surviving-only", "--show-diff", str(session))
    print(f"== {module}\n{report}", flush=True)
    return "surviving mutants: 0 " not in report


def _run(*command: str) -> str:
    tool = (str(ROOT / TOOL[0]), *TOOL[1:])
    done = subprocess.run([*tool, *command], cwd=COPY, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
