"""How the front runs, from its settings."""

from dataclasses import dataclass
from typing import Final

from pillarbox.settings import Settings

#: For the large bodies of all requests. A key and an address have a quarter each.
MEMORY_MIB: Final = 128
#: How long a shutdown waits for requests.
DRAIN_SECONDS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontSettings:
    """How the front runs. `memory` is the limit for the bodies of all requests, in bytes."""

    host: str
    port: int
    workers: int
    memory: int
    edge_secret: str


def read(settings: Settings) -> FrontSettings:
    """Read the front's own settings, and check those that its handlers read later."""
    settings.check("front")
    return FrontSettings(
        host=settings.host,
        port=settings.port,
        workers=settings.processes,
        memory=MEMORY_MIB * 1024 * 1024,
        edge_secret=settings.edge_secret,
    )
