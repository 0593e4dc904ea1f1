"""`python -m front`: the server for large requests, until SIGTERM."""

import os
import signal
import sys


def _stop_at_once(_number: int, _frame: object) -> None:
    """End the process: until the workers run, there is nothing to finish."""
    os._exit(0)


if __name__ == "__main__":
    # Without a handler, a container's first process does not get SIGTERM at all.
    signal.signal(signal.SIGTERM, _stop_at_once)

    from front.program import main

    sys.exit(main())
