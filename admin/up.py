"""The command `pillarbox up`."""

import os
import sys

from admin.programs import ROOT


def up() -> None:
    """Run the whole service on this machine, without an account at AWS, until Ctrl-C.

    It starts the API, the dashboard, an SMTP relay and an inbox that shows what is sent, and
    prints their addresses and a key.

    Example: `pillarbox up`
    """
    # A clone builds the dashboard; the wheel has it.
    build = ["--build-dashboard"] if (ROOT / "Makefile").exists() else []
    os.execv(sys.executable, [sys.executable, "-m", "local", *build])  # noqa: S606  our own program
