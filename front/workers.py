"""Processes that run the handlers, one request each at a time, as Lambda does.

Powertools' resolver keeps the current request on its class: threads would read each other's.
"""

import asyncio
import contextlib
import gc
import multiprocessing
import signal
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import Any, Final, Self

#: In seconds, for one request: the claim of an idempotency key is leased for 35.
TIME_LIMIT: Final = 30.0
#: In seconds; a container that is so busy at its start is not worth waiting for.
_STARTS_WITHIN: Final = 60.0
#: In seconds, for a free process: with TIME_LIMIT less than the 60 after which the edge gives up,
#: so that nothing is begun whose answer would reach nobody.
_FREE_WITHIN: Final = 25.0

type Event = dict[str, Any]
type StoredResponse = Mapping[str, Any]


class NoWorkerFree(Exception):
    """All processes were busy for too long; nothing was done."""


class WorkerDied(Exception):
    """The process ended, or had to be ended, before it had answered; the outcome is unknown."""


@dataclass(slots=True)
class Invocation:
    """What a handler may ask of the run that it is in, as of Lambda's context."""

    aws_request_id: str
    function_name: str
    ends: float

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self.ends - monotonic()) * 1000))


@dataclass(frozen=True, slots=True)
class _Worker:
    process: BaseProcess
    pipe: Connection

    def answer(self, function: str, event: Event, body: bytes, time_limit: float) -> StoredResponse:
        try:
            self.pipe.send((function, event, time_limit))
            self.pipe.send_bytes(body)
            if not self.pipe.poll(time_limit):
                raise WorkerDied
            answer: StoredResponse = self.pipe.recv()
        except (EOFError, OSError) as error:
            raise WorkerDied from error
        return answer

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.process.close()
        self.pipe.close()


class Workers:
    """A number of processes; what waits for one is answered in turn.

    One that dies or takes too long is replaced. Use it with `async with`.
    """

    def __init__(
        self,
        number: int,
        work: Callable[[Connection], None] | None = None,
        *,
        time_limit: float = TIME_LIMIT,
        free_within: float = _FREE_WITHIN,
    ) -> None:
        """Prepare them.

        Args:
            number: how many.
            work: what each process runs; the handlers of the send routes unless another is given.
            time_limit: of one request, in seconds.
            free_within: how long a request waits for a process, in seconds.
        """
        self._number = number
        self._work = work or serve_handlers
        self._time_limit = time_limit
        self._free_within = free_within
        self._idle: asyncio.Queue[_Worker] = asyncio.Queue()
        self._all: set[_Worker] = set()
        self._replacing: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await asyncio.gather(*(self._add() for _ in range(self._number)))
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._replacing:
            task.cancel()
        await asyncio.gather(*self._replacing, return_exceptions=True)
        for worker in self._all:
            worker.end()

    async def run(self, function: str, event: Event, body: bytes) -> StoredResponse:
        """Let a function answer an event, whose body is given as it came.

        Raises:
            NoWorkerFree: none was in time.
            WorkerDied: there is no answer, and it is not known what was done.
        """
        try:
            async with asyncio.timeout(self._free_within):
                worker = await self._idle.get()
        except TimeoutError:
            raise NoWorkerFree from None
        try:
            answer = await asyncio.to_thread(worker.answer, function, event, body, self._time_limit)
        except WorkerDied:
            self._all.discard(worker)
            worker.end()
            task = asyncio.create_task(self._replace())
            self._replacing.add(task)
            task.add_done_callback(self._replacing.discard)
            raise
        self._idle.put_nowait(worker)
        return answer

    async def _replace(self) -> None:
        while True:
            try:
                return await self._add()
            except WorkerDied:
                await asyncio.sleep(1)

    async def _add(self) -> None:
        worker = await asyncio.to_thread(_start, self._work)
        self._all.add(worker)
        self._idle.put_nowait(worker)


def _start(work: Callable[[Connection], None]) -> _Worker:
    # Not forked: this process has threads.
    context = multiprocessing.get_context("spawn")
    ours, its = context.Pipe()
    process = context.Process(target=work, args=(its,), daemon=True)
    process.start()
    its.close()
    worker = _Worker(process, ours)
    try:
        ready = ours.poll(_STARTS_WITHIN) and ours.recv()
    except EOFError:
        ready = False
    if not ready:
        worker.end()
        raise WorkerDied
    return worker


def serve_handlers(pipe: Connection) -> None:
    """Answer the events that come through the pipe, until its other end is closed."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the front finishes what is under way
    handlers = {
        name: import_module(f"functions.{name}.app").lambda_handler
        for name in ("send_email", "send_batch")
    }
    pipe.send(True)
    with contextlib.suppress(EOFError):
        while True:
            function, event, time_limit = pipe.recv()
            event["body"] = b64encode(pipe.recv_bytes()).decode()
            run = Invocation(
                event["requestContext"]["requestId"], function, monotonic() + time_limit
            )
            pipe.send(handlers[function](event, run))
            # What failed refers to itself, and with it to its body: tens of MB, in few objects,
            # for which Python would not look for long.
            del event
            gc.collect()
