"""`python -m tests.while_locked FILE MODULE …`: run a module while a file is locked.

It ends when nobody has a shared lock on the file any more. The operating system frees the locks of
a process that is killed or crashes.
"""

import fcntl
import os
import runpy
import signal
import sys
import threading
from pathlib import Path


def _end_without_lock(path: str) -> None:
    """Wait until nobody has a lock, and end this process, which keeps the lock until then."""
    with Path(path).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait()


if __name__ == "__main__":
    threading.Thread(target=_end_without_lock, args=sys.argv[1:2], daemon=True).start()
    module, *arguments = sys.argv[2:]
    sys.argv[1:] = arguments
    runpy.run_module(module, run_name="__main__", alter_sys=True)
