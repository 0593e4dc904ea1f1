"""The relay's settings, from the environment; what is not set has its usual value."""

import os
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Final

from pillarbox.config import SettingMissing, read
from relay.limits import MIB, ServerLimits
from relay.proxy import Networks

#: In MiB: the largest message, counted twice, with what a read may bring beyond its end.
_LEAST_MEMORY: Final = 2 * ServerLimits().message_size // MIB + 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RelaySettings:
    """How the server runs.

    `name` is what it calls itself, `certificate` and `key` are PEM files or,
    with `secret`, the fields of the secret of that name. The limits are those
    of one of `processes`.
    """

    name: str
    host: str
    port: int
    certificate: str
    key: str
    secret: str
    processes: int
    proxies: Networks
    paid_plans_only: bool
    limits: ServerLimits
    log_level: str


def from_environment() -> RelaySettings:
    """Read PILLARBOX_SMTP_*.

    Raises:
        SettingMissing: one that must be there is not, or one makes no sense.
    """
    secret = _get("SECRET", "")
    usual = ServerLimits()
    processes = _number("PROCESSES", 1, least=1)
    memory = _number("MEMORY_MIB", usual.memory // MIB)
    if memory // processes < _LEAST_MEMORY:
        raise SettingMissing(
            f"PILLARBOX_SMTP_MEMORY_MIB must be {_LEAST_MEMORY} or more for each process: "
            "with less the largest message never fits"
        )
    return RelaySettings(
        name=read("SMTP_NAME"),
        host=_get("HOST", "0.0.0.0"),  # noqa: S104  in a container, behind its load balancer
        port=_number("PORT", 587),
        certificate="" if secret else read("SMTP_CERTIFICATE"),
        key="" if secret else read("SMTP_KEY"),
        secret=secret,
        processes=processes,
        proxies=_networks("PROXIES"),
        paid_plans_only=_get("PAID_PLANS_ONLY", "false") == "true",
        limits=ServerLimits(
            memory=memory * MIB // processes,
            connections=-(-_number("CONNECTIONS", usual.connections) // processes),
            connections_of_address=_number("CONNECTIONS_OF_ADDRESS", usual.connections_of_address),
            drain=_number("DRAIN_SECONDS", round(usual.drain)),
        ),
        log_level=os.environ.get("POWERTOOLS_LOG_LEVEL", "INFO"),
    )


def _get(name: str, usual: str) -> str:
    return os.environ.get(f"PILLARBOX_SMTP_{name}", "").strip() or usual


def _number(name: str, usual: int, *, least: int = 0) -> int:
    text = _get(name, str(usual))
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        raise SettingMissing(
            f"PILLARBOX_SMTP_{name} must be a number from {least} on, not {text!r}"
        )
    return int(text)


def _networks(name: str) -> Networks:
    """Addresses of load balancers, such as `10.0.0.0/16,10.1.0.0/16`."""
    try:
        return tuple(ip_network(each) for each in _get(name, "").replace(",", " ").split())
    except ValueError as error:
        raise SettingMissing(f"PILLARBOX_SMTP_{name} must be networks: {error}") from error
