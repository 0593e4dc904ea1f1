"""How much memory a process has, and how much of it Python allocates."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def forget_peak() -> None:
    """Let `memory("VmHWM")` begin again."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def memory(field: str) -> int:
    """Return what Linux says of this process, in octets: `VmRSS` now, `VmHWM` at most."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024


@contextmanager
def measured() -> Iterator[list[int]]:
    """Measure the octets that Python allocates in a block: at most, then at the end."""
    peak_and_end: list[int] = []
    tracemalloc.start()
    try:
        yield peak_and_end
        peak_and_end += reversed(tracemalloc.get_traced_memory())
    finally:
        tracemalloc.stop()
