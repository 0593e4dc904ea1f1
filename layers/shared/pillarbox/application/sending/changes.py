"""Cancel, reschedule and release messages that wait (`application/waiting.py`).

What an agent sends for an owner is released in the session of an owner only, as it was accepted: no
key releases it or gives it a time, and an owner reads its content before.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from pillarbox.application.account_lookup import find_message
from pillarbox.application.ports import Clock, Messages, PayloadGone, Quotas
from pillarbox.application.waiting import WaitingMail
from pillarbox.application.waiting_ports import WaitingContents
from pillarbox.domain.accounts.key import owner_required
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.accounts.quota import Amount, window_name
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.domain.messages.mail import Mail
from pillarbox.domain.messages.message import CANCELED, MEANINGS, Event, EventKind, Message
from pillarbox.domain.messages.schedule import MAX_AHEAD, QUEUED_AHEAD, Schedule, check_ahead, whole
from pillarbox.domain.sign_in.session import MemberPrincipal

#: A message that was changed so often gets no other time: each leaves a job in the timer.
MAX_REVISION: Final = 50
#: How long before it is due a message must be in the timer, so that no job need be queued.
TIMER_WAIT: Final = QUEUED_AHEAD + timedelta(minutes=1)
_FOR_OWNER: Final = (
    "An agent sent this email, and only an owner of the account can release it, in the dashboard."
)
#: Who changes a message.
type Caller = Principal | MemberPrincipal


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageChanges:
    """Changes messages that wait, if their records still say so.

    A change that another one overtook is made again from the record as it is then, or refused.
    Each may raise ServiceError `message_not_found`; `not_cancelable` for one that does not wait.
    """

    messages: Messages
    contents: WaitingContents
    #: Returns what arranges jobs. A cancel needs none.
    waiting: Callable[[], WaitingMail]
    quotas: Quotas
    clock: Clock

    def cancel(self, account_id: str, message_id: UUID, by: Caller | None = None) -> Message:
        """Cancel a message: it is never sent. One that is canceled already stays so.

        Its quota is given back in the day and the month that still count it. Without `by` it is the
        operator who cancels it.
        """

        def canceled(message: Message) -> Message:
            event = Event(
                kind=EventKind.FAILED, at=self.clock(), code=CANCELED, reason=MEANINGS[CANCELED]
            )
            return message.with_events([event])

        def is_canceled(message: Message) -> bool:
            return message.canceled_at is not None

        message = find_message(self.messages, account_id, message_id)
        _check_own(message, by)
        before, message = self._change(message, canceled, is_canceled)
        if before is not None:
            self._refund(before)
            self.contents.remove(account_id, message_id, message.origin.template_id)
        return message

    def reschedule(
        self, account_id: str, message_id: UUID, due_at: datetime, by: Caller | None = None
    ) -> Message:
        """Give a scheduled message another time.

        Raises:
            ValidationFailed: on `scheduledAt`.
            ServiceError: `message_not_found`; `not_cancelable`, also for a held message or one that
                an owner releases; `rate_limit_exceeded`.
        """
        message = find_message(self.messages, account_id, message_id)
        _check_own(message, by)
        check_ahead(due_at, self.clock())
        due_at = whole(due_at)
        if due_at > message.created_at + MAX_AHEAD:
            text = "must be at most 30 days after the request that sent the message"
            raise ValidationFailed(FieldError("scheduledAt", text, "out_of_range"))

        def rescheduled(schedule: Schedule) -> Schedule:
            if schedule.held or message.origin.for_owner:
                text = "The message waits for its release, and has no time; nothing was changed."
                raise ServiceError("not_cancelable", text)
            if message.revision >= MAX_REVISION:
                raise ServiceError("rate_limit_exceeded", "The time was changed too often.")
            return replace(schedule, due_at=due_at)

        return self._arrange(message, rescheduled)

    def release(
        self,
        principal: Caller,
        message_id: UUID,
        *,
        over_mcp: bool = False,
        confirmed: bool = False,
        check: Callable[[Mail], None] | None = None,
    ) -> Message:
        """Send a held message now. A released one stays so.

        `over_mcp` and `confirmed` are as for `Principal.check_confirmed`. `check` refuses an email
        that its owner cannot have read.

        Raises:
            ServiceError: `message_not_found`; `not_cancelable`; `recipient_not_allowed` for the
                key of an agent; `confirmation_required` for such a key if a person must confirm
                its emails, and for everybody but an owner if an owner must.
        """
        message = find_message(self.messages, principal.account.account_id, message_id)
        if message.origin.for_owner and not _is_owner(principal):
            raise owner_required(_FOR_OWNER)
        if check and message.awaits_owner:
            check(self.content_for_owner(message.account_id, message_id))
        if isinstance(principal, Principal):
            principal.check_release(message.recipients, over_mcp=over_mcp, confirmed=confirmed)
            _check_own(message, principal)
        return self._release(message, self.clock())

    def release_by_operator(self, account_id: str, message_id: UUID) -> Message:
        """Send a held message when the timer can find it, in `TIMER_WAIT`: no job is queued."""
        message = find_message(self.messages, account_id, message_id)
        if message.origin.for_owner:
            raise owner_required(_FOR_OWNER)
        return self._release(message, self.clock() + TIMER_WAIT)

    def _release(self, message: Message, due_at: datetime) -> Message:
        def is_released(message: Message) -> bool:
            held_now = message.schedule is None or message.schedule.held
            return message.origin.held and not held_now

        def released(schedule: Schedule) -> Schedule:
            if not schedule.held:
                raise _does_not_wait()
            return replace(schedule, due_at=whole(due_at), held=False)

        return self._arrange(message, released, is_released)

    def content_for_owner(self, account_id: str, message_id: UUID) -> Mail:
        """Return the content of a message that waits for an owner. It is what a release sends."""
        message = find_message(self.messages, account_id, message_id)
        if message.awaits_owner:
            try:
                return self.contents.load(message)
            except PayloadGone:
                pass  # it was canceled just now
        raise ServiceError("message_not_found", "No such message waits for an owner.")

    def _arrange(
        self,
        message: Message,
        changed: Callable[[Schedule], Schedule],
        is_done: Callable[[Message], bool] = lambda _: False,
    ) -> Message:
        """Arrange the job for a new schedule, and save it while the job still waits for that."""

        def change(current: Message) -> Message:
            if current.schedule is None:
                raise _does_not_wait()
            message = replace(current, schedule=changed(current.schedule))
            self.waiting().arrange([message])
            return message

        _, message = self._change(message, change, is_done)
        return message

    def _change(
        self,
        message: Message,
        change: Callable[[Message], Message],
        is_done: Callable[[Message], bool],
    ) -> tuple[Message | None, Message]:
        """Save a change of a message that waits; return the message before and after it.

        There is none before if the change is done: by another request, or by a write of this one
        whose response was lost.
        """
        while True:
            if is_done(message):
                return None, message
            if not message.waits:
                raise _does_not_wait()
            changed = change(message)
            if self.messages.save(changed):
                return message, changed
            message = find_message(self.messages, message.account_id, message.message_id)

    def _refund(self, message: Message) -> None:
        now, at = self.clock(), message.created_at
        if window_name("month", now) == window_name("month", at):
            amount = Amount(1, len(message.recipients))
            # Not the minute's: a program that sends and cancels in turns would have no limit.
            self.quotas.refund(message.account_id, amount, at, of_minute=False)


def _check_own(message: Message, by: Caller | None) -> None:
    if isinstance(by, Principal):
        by.check_change(message.origin.key_id)


def _is_owner(caller: Caller) -> bool:
    from pillarbox.domain.sign_in.session import Role  # noqa: PLC0415  few messages wait for one

    return not isinstance(caller, Principal) and caller.role is Role.OWNER


def _does_not_wait() -> ServiceError:
    return ServiceError(
        "not_cancelable", "The message does not wait any more; nothing was changed."
    )
