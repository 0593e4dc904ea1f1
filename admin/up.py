"""The command `pillarbox up`."""

import os
import sys

from admin.programs import IN_CLONE


def up() -> None:
    """Run the whole service on this machine, without an account at AWS, until Ctrl-C.

    It starts the API, the dashboard, an SMTP relay and an inbox that shows what is sent, and
    prints their addresses and a key.

    Example: `pillarbox up`
    """
    build = ["--build-dashboard"] if IN_CLONE else []
    os.execv(sys.executable, [sys.executable, "-m", "local", *build])  # noqa: S606  our own program
