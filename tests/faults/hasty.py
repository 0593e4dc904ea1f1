"""A program: the front with handlers whose queue is slow; or that enqueue after the commit.

For `kill.py`: what is wrong with that order shows only in a process that dies between the two
steps, and half a second makes that likely. With `--bug` they are in the wrong order.
"""

import json
import sys
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from multiprocessing.connection import Connection
from time import sleep
from typing import Final
from unittest import mock

from front import __main__ as program
from front.workers import Workers, serve_handlers
from pillarbox.adapters.sqs.jobs import SqsJobs
from pillarbox.application.ports import Claim, StoredResponse
from pillarbox.application.sending.single import PreparedMessage, SingleSend
from pillarbox.domain.mail import Job, Mail

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


def enqueue_after_commit() -> AbstractContextManager[object]:
    """The bug: a mail is accepted, and then its job is put."""

    def accept(self: SingleSend, draft: PreparedMessage, claim: Claim | None) -> StoredResponse:
        answer = StoredResponse(json.dumps(draft.result(), separators=(",", ":")))
        try:
            self.messages.commit(draft.message, claim, answer)
            self.jobs.put(draft.job(), draft.mail)
        except Exception:
            if self._was_committed(draft.message, claim):
                return answer
            raise
        return answer

    return mock.patch.object(SingleSend, "_accept", accept)


def _slow_queue() -> AbstractContextManager[object]:
    put = SqsJobs.put

    def slowly(self: SqsJobs, job: Job, mail: Mail) -> None:
        sleep(_SLOW)
        put(self, job, mail)
        sleep(_SLOW)

    return mock.patch.object(SqsJobs, "put", slowly)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
