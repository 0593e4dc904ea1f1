"""The container's health check: does the server greet?

Of several processes on the port the kernel chooses one for each connection, so it is asked
as often as it takes to meet one that hangs.
"""

import os
import socket
import sys
from typing import Final

from pillarbox.settings import Settings

_PATIENCE: Final = 3.0
#: Connections for each of several processes: one that hangs is missed once in 400 checks.
_LOOKS: Final = 6
#: A server that is full is well: ending it would send everybody away.
_SAID_FIRST: Final = (b"220 ", b"421 ")


def main() -> int:
    """Give 0 when it does; asked from within, where no load balancer speaks for anybody."""
    settings = Settings(os.environ)
    address, processes = ("127.0.0.1", settings.smtp_port), settings.smtp_processes
    try:
        for _ in range(1 if processes == 1 else _LOOKS * processes):
            with socket.create_connection(address, _PATIENCE) as client:
                if client.recv(4) not in _SAID_FIRST:
                    return 1
    except OSError:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
