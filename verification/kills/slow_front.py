"""A program that runs the front with a slow queue and, with `--bug`, "enqueue after commit".

The bug loses mail only if a process dies between the commit and the put. Delays of half a second
before and after each put make that likely.
"""

import sys
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from multiprocessing.connection import Connection
from time import sleep
from typing import Final
from unittest import mock

from front import program
from front.workers import Workers, serve_handlers
from pillarbox.adapters.sqs.jobs import SqsJobs
from pillarbox.domain.messages.mail import Job, Mail
from verification.faults.bug_enqueue_after_commit import enqueue_after_commit

#: Seconds before and after each put.
_DELAY: Final = 0.5


def main(arguments: list[str]) -> int:
    """Serve as the front does."""
    work = partial(serve, bug="--bug" in arguments)
    with mock.patch.object(program, "Workers", partial(Workers, work=work)):
        return program.main()


def serve(pipe: Connection, *, bug: bool) -> None:
    """Run the handlers in one process of the front."""
    with ExitStack() as patches:
        patches.enter_context(_slow_queue())
        if bug:
            patches.enter_context(enqueue_after_commit())
        serve_handlers(pipe)


def _slow_queue() -> AbstractContextManager[object]:
    put = SqsJobs.put

    def put_slowly(self: SqsJobs, job: Job, mail: Mail) -> None:
        sleep(_DELAY)
        put(self, job, mail)
        sleep(_DELAY)

    return mock.patch.object(SqsJobs, "put", put_slowly)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
