"""`make up`: the whole service on this machine, in the foreground."""

import os
import signal
import sys
from typing import Final

#: What a shell reports for a program that Ctrl-C ended.
_INTERRUPTED: Final = 128 + signal.SIGINT


def _stop_at_once(_number: int, _frame: object) -> None:
    """End the process: while its modules are imported, nothing runs that must be stopped."""
    os.write(sys.stderr.fileno(), b"Stopped before the start.\n")
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, _stop_at_once)

    from local.start import main  # the imports take a second, in which Ctrl-C must work

    sys.exit(main())
