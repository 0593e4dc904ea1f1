"""`python -m relay`: the SMTP server, until SIGTERM."""

import os
import signal
import sys


def _stop_at_once(_number: int, _frame: object) -> None:
    """End the process: while its modules are imported, there is nothing to finish."""
    os._exit(0)


if __name__ == "__main__":
    # Without a handler, a container's first process does not get SIGTERM at all.
    signal.signal(signal.SIGTERM, _stop_at_once)

    from relay.program import main

    sys.exit(main())
