"""What is in a dead-letter queue, without what its sender wrote, and how a dead letter ends."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from pillarbox.application.delivery.ports import SeenEvents, TaggedMessage
from pillarbox.application.operator.checks import QueueOperations
from pillarbox.application.operator.ports import QueueLog, Redrive
from pillarbox.application.ports import Clock, Messages
from pillarbox.domain.accounts.account_log import COMMAND
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import MEANINGS, Event, EventKind, Message

#: The task of a job that has SES's answer and no email.
RESULT: Final = "result to record"
_CONSEQUENCES: Final = {
    "events": "What it says is never recorded: the status of its email stays, and a bounce or"
    " complaint suppresses no address.",
    "webhooks": "The endpoint does not get it. `webhook replay` posts events again.",
    "received": "The mail is not recorded. Its object in the bucket goes 15 days after it came.",
    "sweep": "Its step is not done now. The next hourly pass does it.",
}
#: What dropping an event means beside that, if it names the message.
_STILL_PROVES: Final = " It still proves that SES took the email."


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
        """Read messages and leave them there. The name of the queue tells their form."""

    def remove(self, url: str, queue_message_id: str) -> bool:
        """Remove a message from a dead-letter queue; return False if it is not there."""


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
    operations: QueueOperations

    def look(self, queue: str, at_most: int) -> list[ExaminedLetter]:
        """Read dead letters of a queue, with the records of their messages, the oldest first."""
        letters = self.queues.look(queue, self.operations.dead_letters_of(queue), at_most)
        return [*map(self._examine, sorted(letters, key=lambda one: one.sent_at))]

    def find(self, queue: str, queue_message_id: str) -> ExaminedLetter:
        for letter in self.queues.look(queue, self.operations.dead_letters_of(queue), sys.maxsize):
            if letter.queue_message_id == queue_message_id:
                return self._examine(letter)
        raise _no_letter()

    def _examine(self, letter: DeadLetter) -> ExaminedLetter:
        message = None
        if letter.account_id and letter.message_id:
            message = self.messages.get(letter.account_id, letter.message_id)
        return ExaminedLetter(letter=letter, message=message)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterDrop:
    """Removes a dead letter, after what it stands for has an end that can be seen."""

    inspection: DeadLetterInspection
    seen_events: SeenEvents
    log: QueueLog
    clock: Clock

    def consequence(self, queue: str, examined: ExaminedLetter) -> str:
        """Say what it means to drop a dead letter, in sentences."""
        message, names_message = examined.message, examined.letter.message_id is not None
        if queue != "jobs":
            proves = queue == "events" and names_message
            return _CONSEQUENCES[queue] + (_STILL_PROVES if proves else "")
        if not names_message:
            return "It cannot be read: an accepted email may need it, which then stays pending."
        if message is None:
            return "No accepted email needs it."
        if message.pending:
            _require_no_hand_over(examined.letter, message)
            return "Its email is not sent and ends as failed, with the code dropped."
        return f"Its email is {message.status} and stays so."

    def drop(self, queue: str, examined: ExaminedLetter) -> None:
        """End what a dead letter stands for, remove it, and note that in the log."""
        letter, now = examined.letter, self.clock()
        entry = Redrive(
            entry_id=str(new_id(now)),
            at=now,
            by=COMMAND,
            queue=queue,
            dropped=letter.queue_message_id,
        )
        if letter.account_id and letter.message_id:
            if queue == "jobs":
                self._end_email(letter, letter.account_id, letter.message_id)
            if queue == "events" and not self.seen_events.find(
                letter.account_id, letter.message_id
            ):
                # An event shows that SES took its email, which must not be handed over again.
                self.seen_events.put_all([TaggedMessage(letter.account_id, letter.message_id)], now)
        self.log.put(entry)
        if not self.inspection.queues.remove(
            self.inspection.operations.dead_letters_of(queue), letter.queue_message_id
        ):
            raise _no_letter()
        self.log.put(replace(entry, moved=0))

    def _end_email(self, letter: DeadLetter, account_id: str, message_id: UUID) -> None:
        """Let the email of a job fail, unless it is final; without a record it gets a tombstone."""
        messages, now = self.inspection.messages, self.clock()
        message = messages.get(account_id, message_id)
        if message is None:
            message = messages.withdraw(account_id, [message_id], now).get(message_id)
        failed = Event(kind=EventKind.FAILED, at=now, code="dropped", reason=MEANINGS["dropped"])
        while message is not None and message.pending:
            _require_no_hand_over(letter, message)
            if messages.save(message.with_events([failed])):
                return
            message = messages.get(account_id, message_id)


def _require_no_hand_over(letter: DeadLetter, message: Message) -> None:
    if letter.task == RESULT or message.lease or message.provider_message_id:
        text = (
            "is of an email that SES may have taken. Run `queue redrive jobs`: a worker finds out"
        )
        raise ValidationFailed(FieldError("id", text, "not_droppable"))


def _no_letter() -> ValidationFailed:
    return ValidationFailed(
        FieldError(
            "id",
            "is not in this dead-letter queue, or not any more. See `queue show`",
            "unknown_id",
        )
    )
