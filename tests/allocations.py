"""How much memory Python allocates, in all threads of a process."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager


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
