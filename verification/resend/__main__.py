# ruff: noqa: T201  a program that is run by hand prints its results
"""Use Resend's SDK for Node and django-anymail on a running stack: `make resend-sdks`.

`tests/contract/test_resend.py` uses the SDK for Python.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from verification.clients.node import ROOT, WORK, install
from verification.stack import running

_HERE: Final = Path(__file__).parent


def main() -> int:
    """Return 1 if a program did not get what Resend's own API would give it."""
    install()
    program = shutil.copy(_HERE / "sdk.mjs", WORK)
    failed = 0
    with running(ROOT / ".local" / "resend-stack") as stack:
        own = {
            "RESEND_API_KEY": stack["keys"]["live"],
            "RESEND_BASE_URL": f"{stack['base_url']}/api/resend",
        }
        for command in (("node", program), (sys.executable, str(_HERE / "anymail_send.py"))):
            done = subprocess.run(
                command, env=os.environ | own, cwd=WORK, capture_output=True, text=True, check=False
            )
            if done.returncode:
                sys.exit(done.stderr)
            for what, worked in json.loads(done.stdout).items():
                print(f"{Path(command[1]).name}: {what}: {'passed' if worked else 'FAILED'}")
                failed += not worked
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
