"""The container's health check: does the server greet?"""

import os
import socket
import sys
from typing import Final

_PATIENCE: Final = 3.0


def main() -> int:
    """Give 0 when it does; asked from within, where no load balancer speaks for anybody."""
    address = ("127.0.0.1", int(os.environ.get("PILLARBOX_SMTP_PORT") or 587))
    try:
        with socket.create_connection(address, _PATIENCE) as client:
            return 0 if client.recv(4) == b"220 " else 1
    except OSError:
        return 1


if __name__ == "__main__":
    sys.exit(main())
