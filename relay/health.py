"""The container's health check: does the server send a greeting?

If several processes share the port, the kernel chooses one for each connection. So the check
connects often enough to meet a process that hangs.
"""

import os
import socket
import sys
from typing import Final

from pillarbox.settings import Settings

_TIMEOUT: Final = 3.0
#: Connections for each of several processes. One check in 400 misses a process that hangs.
_ATTEMPTS: Final = 6
#: A full server (421) is healthy. Stopping it would disconnect all its clients.
_FIRST_OCTETS: Final = (b"220 ", b"421 ")


def main() -> int:
    """Return 0 if the server is healthy, else 1.

    The check runs inside the container, so no load balancer precedes it with a PROXY header.
    """
    settings = Settings(os.environ)
    address, processes = ("127.0.0.1", settings.smtp_port), settings.processes
    try:
        for _ in range(1 if processes == 1 else _ATTEMPTS * processes):
            with socket.create_connection(address, _TIMEOUT) as client:
                if client.recv(4) not in _FIRST_OCTETS:
                    return 1
    except OSError:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
