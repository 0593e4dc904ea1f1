"""Settings, read from the environment when something is wired, never at import."""

import os


class SettingMissing(RuntimeError):
    """A setting is not there or makes no sense; the message names it."""


def read(name: str) -> str:
    """Read a setting that must be there.

    Raises:
        SettingMissing: it is not set or empty.
    """
    variable = f"PILLARBOX_{name}"
    value = os.environ.get(variable, "").strip()
    if not value:
        raise SettingMissing(f"{variable} is not set")
    return value


def read_servers(name: str) -> tuple[str, ...]:
    """Read a list of `host:port`, separated by commas; empty when not set.

    Raises:
        SettingMissing: an entry is not of that form.
    """
    variable = f"PILLARBOX_{name}"
    servers = tuple(filter(None, os.environ.get(variable, "").replace(" ", "").split(",")))
    for server in servers:
        host, _, port = server.rpartition(":")
        if not host or not port.isdigit():
            raise SettingMissing(f"{variable} must be host:port[,host:port …], not {server!r}")
    return servers
