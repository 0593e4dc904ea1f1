"""How the relay runs, from its settings."""

from dataclasses import dataclass
from typing import Final

from pillarbox.settings import SettingError, Settings
from relay import container_memory
from relay.limits import CONNECTIONS, MIB, ServerLimits
from relay.proxy import Networks

#: In MiB.
_LEAST_MEMORY: Final = ServerLimits().largest_message // MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class RelaySettings:
    """How one process of the relay runs.

    `name` is the name by which it introduces itself. `certificate` and `key` are PEM files.
    Without them, `secret` is the name of a secret that has both. The limits apply to each of the
    processes.
    """

    name: str
    host: str
    port: int
    certificate: str
    key: str
    secret: str
    processes: int
    proxies: Networks
    limits: ServerLimits


def read(settings: Settings) -> RelaySettings:
    """Read the relay's own settings, and check those of the service behind it."""
    settings.check("relay")
    secret, processes = settings.smtp_secret, settings.processes
    memory = settings.smtp_memory_mib
    if memory // processes < _LEAST_MEMORY:
        raise SettingError(
            f"{Settings.smtp_memory_mib.variable} must be {_LEAST_MEMORY} or more for each"
            " process: with less the largest message never fits"
        )
    container_memory.check(memory, processes, container_memory.limit_in_mib())
    return RelaySettings(
        name=settings.smtp_name,
        host=settings.host,
        port=settings.smtp_port,
        certificate="" if secret else settings.smtp_certificate,
        key="" if secret else settings.smtp_key,
        secret=secret,
        processes=processes,
        proxies=settings.smtp_proxies,
        limits=ServerLimits(
            memory=memory * MIB // processes,
            connections=-(-CONNECTIONS // processes),
            drain=settings.drain_seconds,
        ),
    )
