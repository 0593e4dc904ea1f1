"""`make up`: the whole service on this machine, in the foreground."""

import os
import signal
import sys
from typing import Final

#: A shell reports this plus the signal's number for a program that a signal ended.
_SIGNALLED: Final = 128


def _stop_at_once(number: int, _frame: object) -> None:
    """End the process: while its modules are imported, nothing runs that must be stopped."""
    os.write(sys.stderr.fileno(), b"Stopped before the start.\n")
    os._exit(_SIGNALLED + number)


if __name__ == "__main__":
    # Under tools/foreground it is ignored, and SIGTERM comes instead.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _stop_at_once)
    signal.signal(signal.SIGTERM, _stop_at_once)  # without it a container's first process gets none

    from local.start import main  # the imports take a second, in which both must work

    sys.exit(main())
