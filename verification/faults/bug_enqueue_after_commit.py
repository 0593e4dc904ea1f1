"""The bug "enqueue after commit": a message is accepted before its job is in the queue.

A process that dies between the two steps loses the message.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
from pillarbox.adapters.sqs.jobs import SqsJobs
from pillarbox.domain.messages.mail import Job, Mail
from pillarbox.domain.messages.message import Message
from pillarbox.wiring import services


@contextmanager
def enqueue_after_commit() -> Iterator[None]:
    """Plant the bug within a `with` block: a job waits until its record is committed."""
    held_back: list[tuple[Job, Mail]] = []
    put, commit = SqsJobs.put, DynamoMessages.commit

    def hold_back(_: SqsJobs, job: Job, mail: Mail) -> None:
        held_back.append((job, mail))

    def commit_then_put(self: DynamoMessages, message: Message) -> None:
        jobs = list(held_back)
        held_back.clear()
        commit(self, message)
        for job, mail in jobs:
            put(services().jobs, job, mail)

    with (
        mock.patch.object(SqsJobs, "put", hold_back),
        mock.patch.object(DynamoMessages, "commit", commit_then_put),
    ):
        yield
