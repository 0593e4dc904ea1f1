# ruff: noqa: T201  a program that is run by hand prints its results
"""Run the tests that use the table on DynamoDB Local: `make dynamodb-local`.

Arguments replace the tests.
"""

import os
import signal
import subprocess
import sys
from typing import Final

from tests.aws import DYNAMODB_URL
from verification.dynamodb_local.server import ROOT, EngineMissing, running

#: The adapters, and the whole service over HTTP.
TESTS: Final = (
    "tests/ports",
    "tests/integration/admin/test_admin_account_stores.py",
    "tests/integration/admin/test_admin_template_stores.py",
    "tests/contract",
    "tests/integration/http",
)
#: The fakes need no engine.
_SELECTION: Final = ("-k", "not fakes", "-m", "not stack")


def main() -> int:
    """Return 0 if all tests passed, and 1 if the engine cannot run."""
    # An exit through `SystemExit` also ends the engine.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    tests = sys.argv[1:] or TESTS
    try:
        with running() as url:
            return _pytest(url, *tests)
    except EngineMissing as error:
        print(error, file=sys.stderr)
        return 1


def _pytest(url: str, *arguments: str) -> int:
    command = [sys.executable, "-m", "pytest", *_SELECTION, *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | {DYNAMODB_URL: url}, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
