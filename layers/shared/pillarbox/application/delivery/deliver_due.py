"""Deliver a message that waited until it was due (`application/waiting.py`).

The record decides: a job for another time than the record's changes nothing. What was checked when
the message was accepted is checked again, because it may be weeks ago.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from pillarbox.application.delivery.deliver import Delivery
from pillarbox.application.delivery.result import DeliveryResult, Outcome
from pillarbox.application.waiting_ports import WaitingContents
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.mail import Job, Mail
from pillarbox.domain.messages.message import MEANINGS, Message


@dataclass(frozen=True, kw_only=True)  # slots would break `super`
class DueDelivery(Delivery):
    """Hands over messages that waited, as `Delivery` does others."""

    contents: WaitingContents
    #: Returns whether a key of an account works now.
    key_works: Callable[[str, str], bool]

    def _run(self, job: Job, sent_at: datetime, *, first_receipt: bool) -> DeliveryResult:
        # A stale copy could have an earlier time, and the job would wait for a minute.
        message = self.messages.get(job.account_id, job.message_id)
        schedule = message.schedule if message else None
        if message is not None and not message.pending:
            return DeliveryResult(Outcome.DROPPED)
        if message is None:
            return self._unrecorded(job, sent_at)
        if schedule is None or schedule.due_at != job.due_at:
            # A new time or a release arranges its job before it saves the record.
            return self._unsaved(sent_at)
        result = self._without_hand_over(job, message)
        if result is None and (now := self.clock()) < schedule.due_at:
            result = DeliveryResult(Outcome.WAITING, schedule.due_at - now)
        if result is None and schedule.held:
            result = self._refuse(message, "not_released", MEANINGS["not_released"])
        result = (
            result
            or self._held(job, message)
            or self._hand_over(job, message, first_receipt=first_receipt)
        )
        if result.outcome in {Outcome.SENT, Outcome.FAILED}:
            template_id = message.origin.template_id
            self.contents.remove(job.account_id, job.message_id, template_id)
        return result

    def _hand_over(self, job: Job, message: Message, *, first_receipt: bool) -> DeliveryResult:
        account = self.directory.look_up(job.account_id).account
        if refusal := self._refusal(account, message):
            return self._refuse(message, refusal, MEANINGS[refusal])
        present = replace(job, tenant=account.tenant if account else None)
        return super()._hand_over(present, message, first_receipt=first_receipt)

    def _refusal(self, account: Account | None, message: Message) -> str | None:
        """Return the code of why a message must not be sent any more, else None."""
        key_id = message.origin.key_id
        if key_id is None or not self.key_works(message.account_id, key_id):
            return "key_revoked"
        if account is None or account.suspension is not None:
            return "account_suspended"
        try:
            is_verified = account.sender(message.sender) == message.sender
        except ServiceError:
            is_verified = False
        return None if is_verified else "sender_not_verified"

    def _load(self, job: Job, message: Message) -> Mail:
        del job
        return self.contents.load(message)
