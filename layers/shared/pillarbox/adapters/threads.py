"""Calls at the same time, in threads."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from datetime import timedelta


def in_threads[R](
    calls: Sequence[Callable[[], R]],
    patience: timedelta | None = None,
    while_running: Callable[[Sequence[int]], None] = lambda _: None,
) -> Sequence[R | Exception]:
    """Implements `webhooks.ports.Parallel`, with a thread for each call."""
    if not calls:
        return []
    with ThreadPoolExecutor(len(calls)) as pool:
        futures = [pool.submit(call) for call in calls]
        running = set(futures)
        while patience is not None and running:
            _, running = wait(futures, patience.total_seconds())
            if running:
                positions = [position for position, f in enumerate(futures) if f in running]
                with suppress(Exception):  # the results of the calls matter more
                    while_running(positions)
    results: list[R | Exception] = []
    for future in futures:
        error = future.exception()
        if error is not None and not isinstance(error, Exception):
            raise error
        results.append(future.result() if error is None else error)
    return results
