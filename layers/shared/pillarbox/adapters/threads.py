"""Calls at the same time, in threads."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
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
        if patience is not None:
            _, running = wait(futures, patience.total_seconds())
            if running:
                positions = [position for position, f in enumerate(futures) if f in running]
                with suppress(Exception):  # the results of the calls matter more
                    while_running(positions)
    return [_result(future) for future in futures]


def _result[R](future: Future[R]) -> R | Exception:
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, Exception):
        return error
    raise error
