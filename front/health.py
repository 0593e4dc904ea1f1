"""The container's health check: does the front answer GET /health?"""

import http.client
import os
import sys
from typing import Final

from pillarbox.settings import Settings

_TIMEOUT: Final = 3.0


def main() -> int:
    """Return 0 if the front answers 200, else 1. The check runs inside the container."""
    port = Settings(os.environ).port
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT)
    try:
        connection.request("GET", "/health")
        return 0 if connection.getresponse().status == http.HTTPStatus.OK else 1
    except (OSError, http.client.HTTPException):
        return 1
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
