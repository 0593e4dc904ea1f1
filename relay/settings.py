"""How the relay runs, from its settings."""

from dataclasses import dataclass
from typing import Final

from pillarbox.settings import SettingError, Settings
from relay import container_memory
from relay.limits import CONNECTIONS, MESSAGES_MIB, MIB, ServerLimits
from relay.proxy import Networks

_MOST_PROCESSES: Final = MESSAGES_MIB * MIB // ServerLimits().largest_message


@dataclass(frozen=True, slots=True, kw_only=True)
class RelaySettings:
    """How one process of the relay runs.

    `name` is the name by which it introduces itself. `certificate` is a PEM file. Without one,
    `secret` is the name of the secret with certificate and key. The limits apply to each of the
    processes.
    """

    name: str
    host: str
    port: int
    certificate: str
    secret: str
    processes: int
    proxies: Networks
    limits: ServerLimits


def read(settings: Settings) -> RelaySettings:
    """Read the relay's own settings, and check those of the service behind it."""
    settings.check("relay")
    processes = settings.processes
    if processes > _MOST_PROCESSES:
        raise SettingError(
            f"{Settings.processes.variable} must be {_MOST_PROCESSES} or less: with more the"
            " largest message never fits"
        )
    container_memory.check(processes, container_memory.limit_in_mib())
    return RelaySettings(
        name=settings.smtp_name,
        host=settings.host,
        port=settings.smtp_port,
        certificate=settings.smtp_certificate,
        secret=f"{settings.stack}/smtp",
        processes=processes,
        proxies=settings.smtp_proxies,
        limits=ServerLimits(
            memory=MESSAGES_MIB * MIB // processes,
            connections=-(-CONNECTIONS // processes),
        ),
    )
