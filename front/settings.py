"""The front's settings, from the environment; what is not set has its usual value."""

import os
from dataclasses import dataclass

from pillarbox.config import SettingMissing, read

#: What the handlers read later, each when it is needed: a start without one of them would only
#: look well.
_OF_HANDLERS = ("TABLE", "JOBS_QUEUE_URL", "SPOOL_BUCKET", "PREVIEW_SENDER", "UPGRADE_URL")


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontSettings:
    """How the front runs; `memory` is the most that bodies under way may take, in bytes."""

    host: str
    port: int
    workers: int
    drain_seconds: int
    memory: int
    edge_secret: str


def from_environment() -> FrontSettings:
    """Read PILLARBOX_FRONT_* and PILLARBOX_EDGE_SECRET.

    Raises:
        SettingMissing: one that must be there is not, or one makes no sense.
    """
    for name in _OF_HANDLERS:
        read(name)
    return FrontSettings(
        host=_get("HOST", "0.0.0.0"),  # noqa: S104  in a container, behind its load balancer
        port=_number("PORT", 8080),
        workers=_number("WORKERS", 2, least=1),
        drain_seconds=_number("DRAIN_SECONDS", 60),
        memory=_number("MEMORY_MIB", 96, least=16) * 1024 * 1024,
        edge_secret=read("EDGE_SECRET"),
    )


def _get(name: str, usual: str) -> str:
    return os.environ.get(f"PILLARBOX_FRONT_{name}", "").strip() or usual


def _number(name: str, usual: int, *, least: int = 0) -> int:
    text = _get(name, str(usual))
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        raise SettingMissing(
            f"PILLARBOX_FRONT_{name} must be a number from {least} on, not {text!r}"
        )
    return int(text)
