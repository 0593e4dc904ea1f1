"""The command `pillarbox --local ready`."""

import time
from http.client import HTTPException
from typing import TYPE_CHECKING, Annotated, Final
from urllib.request import urlopen

import typer

from admin.local_stack import read_local_stack
from pillarbox.domain.errors import FieldError, Json, ServiceError, ValidationFailed

if TYPE_CHECKING:
    from admin.connection import StackConnection

#: Seconds between two looks.
_INTERVAL: Final = 0.2


def ready(
    ctx: typer.Context,
    timeout: Annotated[float, typer.Option(min=0, help="Seconds to wait at most.")] = 60,
) -> None:
    """Wait until the local stack is ready, and show its addresses.

    Example: `make up & pillarbox --local ready --timeout 60 && pytest`
    """
    connection: StackConnection = ctx.obj
    if not connection.local:
        message = "waits only for the local stack: add --local before the command"
        raise ValidationFailed(FieldError("ready", message, "not_allowed"))
    deadline = time.monotonic() + timeout
    while (addresses := _look()) is None:
        if time.monotonic() >= deadline:
            message = f"The local stack was not ready within {timeout:g} seconds."
            raise ServiceError("service_unavailable", message)
        time.sleep(_INTERVAL)
    connection.show(addresses)


def _look() -> dict[str, Json] | None:
    """Return the addresses of the stack if it answers."""
    try:
        stack = read_local_stack()
        # The stack's own address, which is http.
        with urlopen(f"{stack['base_url']}/healthz", timeout=5):  # noqa: S310
            return {"url": stack["base_url"], "inboxUrl": stack["inbox_url"]}
    except (ServiceError, HTTPException, OSError):  # OSError includes URLError and HTTPError
        return None
