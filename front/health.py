"""The container's health check: does the front answer?"""

import http.client
import os
import sys
from typing import Final

from pillarbox.settings import Settings

_PATIENCE: Final = 3.0


def main() -> int:
    """Give 0 when it does; asked from within, where no load balancer speaks for anybody."""
    port = Settings(os.environ).front_port
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)
    try:
        connection.request("GET", "/health")
        return 0 if connection.getresponse().status == http.HTTPStatus.OK else 1
    except (OSError, http.client.HTTPException):
        return 1
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
