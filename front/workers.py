"""Worker processes that run the handlers, each one request at a time, as Lambda does.

Powertools' resolver keeps the current request on its class, so threads would read each other's
requests.
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

from front.turns import Owners, Turns

#: In seconds, for one request. A claim can be taken over after these and CLOCK_MARGIN.
TIME_LIMIT: Final = 30.0
#: Seconds that a worker may take to start; a container busier than that is of no use.
_START_TIMEOUT: Final = 60.0
#: Seconds that a request waits for a free worker. Together with TIME_LIMIT it stays below the 60
#: after which the edge gives up, so that no request is started whose response would come too late.
_WAIT_LIMIT: Final = 25.0

type Event = dict[str, Any]
type LambdaResponse = Mapping[str, Any]


class NoWorkerFree(Exception):
    """All workers were busy for too long. The request was not started."""


class WorkerDied(Exception):
    """The worker died or was killed before it answered. The outcome is unknown."""


@dataclass(slots=True)
class Invocation:
    """The part of Lambda's context that the handlers use; `ends` is a monotonic time."""

    aws_request_id: str
    function_name: str
    ends: float

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self.ends - monotonic()) * 1000))


@dataclass(frozen=True, slots=True)
class _Worker:
    process: BaseProcess
    pipe: Connection

    def run(self, function: str, event: Event, body: bytes, time_limit: float) -> LambdaResponse:
        try:
            self.pipe.send((function, event, time_limit))
            self.pipe.send_bytes(body)
            if not self.pipe.poll(time_limit):
                raise WorkerDied
            response: LambdaResponse = self.pipe.recv()
        except (EOFError, OSError) as error:
            raise WorkerDied from error
        return response

    def kill(self) -> None:
        self.process.kill()
        self.process.join()
        self.process.close()
        self.pipe.close()


class Workers:
    """A pool of workers; addresses and keys take turns.

    A worker that dies or takes too long is replaced. Use the pool with `async with`.
    """

    def __init__(
        self,
        number: int,
        work: Callable[[Connection], None] | None = None,
        *,
        time_limit: float = TIME_LIMIT,
        wait_limit: float = _WAIT_LIMIT,
    ) -> None:
        """Store the configuration.

        Args:
            number: the number of workers.
            work: the function that each worker runs; by default the handlers of the send routes.
            time_limit: the seconds that one request may take.
            wait_limit: the seconds that a request waits for a free worker.
        """
        self._number = number
        self._work = work or serve_handlers
        self._time_limit = time_limit
        self._wait_limit = wait_limit
        self._turns: Turns[_Worker] = Turns()
        self._all: set[_Worker] = set()
        self._replacements: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await asyncio.gather(*(self._add() for _ in range(self._number)))
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._replacements:
            task.cancel()
        await asyncio.gather(*self._replacements, return_exceptions=True)
        for worker in self._all:
            worker.kill()

    async def run(
        self, function: str, event: Event, body: bytes, owners: Owners = ("", "")
    ) -> LambdaResponse:
        """Return a function's response to an event.

        Args:
            function: its name.
            event: the event without its body.
            body: the body, as raw bytes.
            owners: whose turn it takes.
        """
        try:
            async with asyncio.timeout(self._wait_limit):
                worker = await self._turns.get(owners)
        except TimeoutError:
            raise NoWorkerFree from None
        try:
            response = await asyncio.to_thread(worker.run, function, event, body, self._time_limit)
        except WorkerDied:
            self._all.discard(worker)
            worker.kill()
            task = asyncio.create_task(self._replace())
            self._replacements.add(task)
            task.add_done_callback(self._replacements.discard)
            raise
        self._turns.add(worker)
        return response

    async def _replace(self) -> None:
        while True:
            try:
                return await self._add()
            except WorkerDied:
                await asyncio.sleep(1)

    async def _add(self) -> None:
        worker = await asyncio.to_thread(_start, self._work)
        self._all.add(worker)
        self._turns.add(worker)


def _start(work: Callable[[Connection], None]) -> _Worker:
    # Not fork: this process has threads.
    context = multiprocessing.get_context("spawn")
    pipe, worker_pipe = context.Pipe()
    process = context.Process(target=work, args=(worker_pipe,), daemon=True)
    process.start()
    worker_pipe.close()
    worker = _Worker(process, pipe)
    try:
        ready = pipe.poll(_START_TIMEOUT) and pipe.recv()
    except EOFError:
        ready = False
    if not ready:
        worker.kill()
        raise WorkerDied
    return worker


def serve_handlers(pipe: Connection) -> None:
    """Answer the events from the pipe until its other end is closed."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the front finishes the requests in progress
    handlers = {
        name: import_module(f"functions.{name}.app").lambda_handler
        for name in ("send_email", "send_batch")
    }
    pipe.send(True)
    with contextlib.suppress(EOFError):
        while True:
            function, event, time_limit = pipe.recv()
            event["body"] = b64encode(pipe.recv_bytes()).decode()
            context = Invocation(
                event["requestContext"]["requestId"], function, monotonic() + time_limit
            )
            pipe.send(handlers[function](event, context))
            # A failed request leaves a reference cycle that keeps its body: tens of MB in few
            # objects, so Python's own collection would come late.
            del event
            gc.collect()
