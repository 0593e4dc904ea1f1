"""The bug "enqueue after commit": a mail is accepted before its job is in the queue.

A process that dies between the two steps loses the mail.
"""

import json
from contextlib import AbstractContextManager
from unittest import mock

from pillarbox.application.ports import Answer, Claim
from pillarbox.application.submission import Draft, Submission


def enqueue_after_commit() -> AbstractContextManager[object]:
    """Put the bug into this process for the time of a block."""

    def accept(self: Submission, draft: Draft, claim: Claim | None) -> Answer:
        answer = Answer(json.dumps(draft.result(), separators=(",", ":")))
        try:
            self.messages.commit(draft.message, claim, answer)
            self.jobs.put(draft.job(), draft.mail)
        except Exception:
            if self._was_committed(draft.message, claim):
                return answer
            raise
        return answer

    return mock.patch.object(Submission, "_accept", accept)
