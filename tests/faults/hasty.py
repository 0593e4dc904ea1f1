"""A program: the front with handlers whose queue is slow; or that enqueue after the commit.

For `kill.py`: what is wrong with that order shows only in a process that dies between the two
steps, and half a second makes that likely. With `--bug` they are in the wrong order.
"""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from multiprocessing.connection import Connection
from time import sleep
from typing import Final
from unittest import mock

from front import __main__ as program
from front.workers import Workers, serve_handlers
from pillarbox import wiring
from pillarbox.adapters.dynamodb.messages import DynamoMessages
from pillarbox.adapters.sqs.jobs import SqsJobs
from pillarbox.application.ports import Claim, StoredResponse
from pillarbox.domain.mail import Job, Mail
from pillarbox.domain.message import Message

#: Seconds, before and after a job is put.
_SLOW: Final = 0.5


def main(arguments: list[str]) -> int:
    """Serve as the front does."""
    work = partial(serve, bug="--bug" in arguments)
    with mock.patch.object(program, "Workers", partial(Workers, work=work)):
        return program.main()


def serve(pipe: Connection, *, bug: bool) -> None:
    """What each of the handlers' processes runs."""
    with ExitStack() as patches:
        patches.enter_context(_slow_queue())
        if bug:
            patches.enter_context(enqueue_after_commit())
        serve_handlers(pipe)


@contextmanager
def enqueue_after_commit() -> Iterator[None]:
    """Plant the bug: a job waits until the record of its message is committed."""
    waiting: list[tuple[Job, Mail]] = []
    put, commit = SqsJobs.put, DynamoMessages.commit

    def wait(_: SqsJobs, job: Job, mail: Mail) -> None:
        waiting.append((job, mail))

    def commit_then_put(
        self: DynamoMessages, message: Message, claim: Claim | None, response: StoredResponse
    ) -> None:
        jobs = list(waiting)
        waiting.clear()
        commit(self, message, claim, response)
        for job, mail in jobs:
            put(wiring.jobs(), job, mail)

    with (
        mock.patch.object(SqsJobs, "put", wait),
        mock.patch.object(DynamoMessages, "commit", commit_then_put),
    ):
        yield


def _slow_queue() -> AbstractContextManager[object]:
    put = SqsJobs.put

    def slowly(self: SqsJobs, job: Job, mail: Mail) -> None:
        sleep(_SLOW)
        put(self, job, mail)
        sleep(_SLOW)

    return mock.patch.object(SqsJobs, "put", slowly)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
