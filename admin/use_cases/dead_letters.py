"""What is in a dead-letter queue, without what its sender wrote."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from pillarbox.application.operator.queues import QueueUrls
from pillarbox.application.ports import Messages
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.messages.message import EventKind, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A message of a dead-letter queue: ids and numbers, no content and no address."""

    #: SQS's id of it.
    queue_message_id: str
    #: What it asks for, such as `email in the queue`, `bounce` or `email.delivered`.
    task: str | None
    account_id: str | None
    message_id: UUID | None
    endpoint_id: str | None = None
    size: int
    receive_count: int
    sent_at: datetime
    #: Why it cannot be read; None if it can.
    problem: str | None = None


class DeadLetterQueues(Protocol):
    """The dead-letter queues, by URL."""

    def look(self, queue: str, url: str, at_most: int) -> Sequence[DeadLetter]:
        """Read messages and leave them there.

        Args:
            queue: the name of the queue, which tells the form of its messages.
            url: its dead-letter queue.
            at_most: the most messages.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedLetter:
    """A dead letter, and the record of its message if there is one."""

    letter: DeadLetter
    message: Message | None

    @property
    def template(self) -> str | None:
        """Return the slug or the id of the template that the message was made of."""
        origin = self.message.origin if self.message else None
        return (origin.starter_template or origin.template_id) if origin else None

    @property
    def reason(self) -> str | None:
        """Return why it is here: why it cannot be read, or the code of the message's failure."""
        if self.letter.problem or self.message is None:
            return self.letter.problem
        failures = [each for each in self.message.events if each.kind is EventKind.FAILED]
        return failures[-1].code if failures else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterInspection:
    """Looks into the dead-letter queues of the service."""

    queues: DeadLetterQueues
    messages: Messages
    urls: Mapping[str, QueueUrls]

    def look(self, queue: str, at_most: int) -> list[ExaminedLetter]:
        """Read dead letters of a queue, with the records of their messages, the oldest first.

        Raises:
            ValidationFailed: on `queue`: it has no dead letters.
            ServiceError: `service_unavailable`.
        """
        urls = self.urls.get(queue)
        if urls is None or urls.dead_letters is None:
            names = " or ".join(name for name, urls in self.urls.items() if urls.dead_letters)
            raise ValidationFailed(FieldError("queue", f"must be {names}", "unknown_queue"))
        letters = self.queues.look(queue, urls.dead_letters, at_most)
        return [
            ExaminedLetter(
                letter=letter,
                message=self.messages.get(letter.account_id, letter.message_id)
                if letter.account_id and letter.message_id
                else None,
            )
            for letter in sorted(letters, key=lambda one: one.sent_at)
        ]
