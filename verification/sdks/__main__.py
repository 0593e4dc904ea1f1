# ruff: noqa: T201  a program that is run by hand prints its results
"""Use the SDKs of other services, and django-anymail, on a running stack: `make sdks`.

`tests/contract/test_resend.py` uses Resend's SDK for Python.
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
    """Return 1 if a program did not get what the other service would give it."""
    install()
    failed = 0
    with running(ROOT / ".local" / "sdks-stack") as stack:
        base, key = f"{stack['base_url']}/api", stack["keys"]["live"]
        own = {
            "RESEND_API_KEY": key,
            "RESEND_BASE_URL": f"{base}/resend",
            "POSTMARK_KEY": key,
            "POSTMARK_HOST": f"{base}/postmark".partition("://")[2],
        }
        for name in ("resend.mjs", "postmark.mjs", "postmark_send.py", "django_send.py"):
            of_node = name.endswith(".mjs")
            program = shutil.copy(_HERE / name, WORK) if of_node else _HERE / name
            done = subprocess.run(
                ("node" if of_node else sys.executable, program),
                env=os.environ | own,
                cwd=WORK,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                sys.exit(done.stderr)
            for what, worked in json.loads(done.stdout).items():
                print(f"{name}: {what}: {'passed' if worked else 'FAILED'}")
                failed += not worked
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
