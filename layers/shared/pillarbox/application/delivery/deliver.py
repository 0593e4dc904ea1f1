"""Delivering: from a job on the queue to one hand-over to the provider.

Never resend because a lease ran out: a worker that died may have handed the
mail over. Only the provider's own events tell (docs/architecture.md, "Delivering").
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from pillarbox.application.ports import (
    Clock,
    Directory,
    EventHeartbeat,
    Jobs,
    LeaseRefusal,
    Mailer,
    Messages,
    PayloadGone,
    SendRejected,
    SendThrottled,
    SendUncertain,
    Suppressions,
)
from pillarbox.domain.address import domain_of, mailbox_key
from pillarbox.domain.errors import ValidationFailed
from pillarbox.domain.mail import Job, Mail
from pillarbox.domain.message import Event, EventKind, Message

#: A job is put before its record; looked for again after these seconds at first.
_RECORD_WAITS: Final = (0.05, 0.2, 1.0)
#: A job without a record this long after it was queued is no accepted mail.
RECORD_WAIT: Final = timedelta(minutes=15)
#: How long the provider's Send event may take before its absence means something.
EVENT_WAIT: Final = timedelta(minutes=15)
#: How soon a held-up job looks again, and how soon when it waits for long.
LOOK_AGAIN: Final = timedelta(minutes=1)
LOOK_AGAIN_LATER: Final = timedelta(minutes=10)

_SUPPRESSED: Final = "The recipient bounced or complained while the mail was queued."
_FIRST_BACKOFF: Final = timedelta(seconds=15)
_LONGEST_BACKOFF: Final = timedelta(minutes=15)


class Outcome(StrEnum):
    """What became of a job in one run."""

    SENT = "sent"
    FAILED = "failed"
    #: Somebody else had finished it, or it never was accepted mail.
    DROPPED = "dropped"
    THROTTLED = "throttled"
    UNCERTAIN = "uncertain"
    WAITING = "waiting"
    #: No worker can read it; it was set aside.
    QUARANTINED = "quarantined"


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """The end of one run: what happened, and when the job is to come again (None: never)."""

    outcome: Outcome
    again: timedelta | None = None
    #: The mail was handed over once more, since nothing showed that it had been.
    resent: bool = False
    #: From the acceptance to the provider's answer, of a mail that was sent.
    waited: timedelta | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Hands accepted mail to the provider, each message once."""

    messages: Messages
    directory: Directory
    suppressions: Suppressions
    jobs: Jobs
    mailer: Mailer
    heartbeat: EventHeartbeat
    build: Callable[[Mail, Message], bytes]
    clock: Clock
    pause: Callable[[float], None]
    #: Names a lease; a new name each time, so that no two hand-overs share one.
    new_owner: Callable[[], str]

    def deliver(self, job: Job) -> DeliveryResult:
        """Do for one job what can be done now.

        Raises:
            ServiceError: `service_unavailable`; the job then comes again by itself.
        """
        result = self._run(job)
        if result.again is None:
            self.jobs.discard(job)
        return result

    def _run(self, job: Job) -> DeliveryResult:
        taken = self._take(job)
        if isinstance(taken, Message):
            return self._hand_over(job, taken)
        message = taken.message
        if message is None:
            waited = self.clock() - job.queued_at
            return (
                DeliveryResult(Outcome.DROPPED)
                if waited >= RECORD_WAIT
                else DeliveryResult(Outcome.WAITING, LOOK_AGAIN)
            )
        if message.body_hash != job.body_hash or not message.pending:
            return DeliveryResult(Outcome.DROPPED)
        return self._wait_for_outcome(job, message)

    def _take(self, job: Job) -> Message | LeaseRefusal:
        owner = self.new_owner()
        waits = iter(_RECORD_WAITS)
        while True:
            taken = self.messages.lease(
                job.account_id, job.message_id, job.body_hash, owner, self.clock()
            )
            if isinstance(taken, Message) or taken.message is not None:
                return taken
            wait = next(waits, None)
            if wait is None:
                return taken
            self.pause(wait)

    def _wait_for_outcome(self, job: Job, message: Message) -> DeliveryResult:
        """Another hand-over is under way, or its worker died, or it ended without an answer."""
        lease, now = message.lease, self.clock()
        if lease is None:  # given back between the two reads
            return DeliveryResult(Outcome.WAITING, timedelta(0))
        if now < lease.expires_at:
            return DeliveryResult(Outcome.WAITING, lease.expires_at - now)
        due = lease.taken_at + EVENT_WAIT
        if now < due:
            # Most events come at once; doubling the wait spends few receipts on the others.
            wait = max(now - lease.taken_at, LOOK_AGAIN)
            return DeliveryResult(Outcome.UNCERTAIN, min(due - now, wait))
        account = self.directory.look_up(job.account_id).account
        if now >= job.deadline or account is None or account.hold_uncertain:
            return self._give_up(message)
        last = self.heartbeat.latest()
        if last is None or last < due:
            return DeliveryResult(Outcome.UNCERTAIN, LOOK_AGAIN_LATER)
        if not self.messages.save(replace(message, lease=None)):
            return DeliveryResult(Outcome.WAITING, timedelta(0))
        again = self._run(job)
        return replace(again, resent=again.outcome is Outcome.SENT)

    def _hand_over(self, job: Job, message: Message) -> DeliveryResult:
        if self.clock() >= job.deadline:
            return self._fail(message, "expired", "The mail could not be sent in time.")
        try:
            suppressed = self.suppressions.find_suppressed(
                job.account_id, map(mailbox_key, message.recipients)
            )
            raw = self.build(self.jobs.load(job), message)
        except PayloadGone:
            return self._fail(message, "payload_gone", "The content of the mail has expired.")
        except ValidationFailed as fault:
            return self._fail(message, "rendering_failed", fault.message)
        except Exception:
            self._give_back(message)  # nothing was handed over, so no need to wait for an event
            raise
        barred = [r for r in message.recipients if mailbox_key(r) in suppressed]
        recipients = tuple(r for r in message.recipients if r not in barred)
        if not recipients:
            return self._fail(message, "recipient_suppressed", _SUPPRESSED)
        now = self.clock()  # before the provider's own events
        try:
            provider_message_id = self.mailer.send(message, recipients, raw)
        except SendThrottled:
            self._give_back(message)
            wait = backoff(message.attempt, job.deadline - self.clock())
            return DeliveryResult(Outcome.THROTTLED, wait)
        except SendRejected as refusal:
            return self._fail(message, refusal.code, refusal.reason)
        except SendUncertain:
            return DeliveryResult(Outcome.UNCERTAIN, LOOK_AGAIN)
        events = [Event(kind=EventKind.SENT, at=now)]
        events += [_barred(recipient, now) for recipient in barred]
        self._save(message, events, provider_message_id)
        return DeliveryResult(Outcome.SENT, waited=now - job.queued_at)

    def _give_up(self, message: Message) -> DeliveryResult:
        unknown = Event(
            kind=EventKind.UNCERTAIN,
            at=self.clock(),
            code="delivery_uncertain",
            reason="The provider gave no answer; the mail may or may not have been sent.",
        )
        self._save(message, [unknown])
        return DeliveryResult(Outcome.FAILED)

    def _give_back(self, message: Message) -> None:
        self.messages.save(replace(message, lease=None))

    def _fail(self, message: Message, code: str, reason: str) -> DeliveryResult:
        failed = Event(kind=EventKind.FAILED, at=self.clock(), code=code, reason=reason)
        self._save(message, [failed])
        return DeliveryResult(Outcome.FAILED)

    def _save(
        self, message: Message, events: list[Event], provider_message_id: str | None = None
    ) -> None:
        """Write an outcome; where the provider's event was faster, over what that made.

        A worker that was away so long that another one took over has only one
        thing to say any more: that the mail was sent.
        """
        current: Message | None = message
        while current is not None and not self.messages.save(
            replace(current.with_events(events, provider_message_id), lease=None)
        ):
            current = self.messages.get(message.account_id, message.message_id)
            taken_over = current is not None and current.attempt != message.attempt
            if taken_over and provider_message_id is None:
                return


def backoff(attempt: int, at_most: timedelta) -> timedelta:
    """How long to wait after the given attempt: doubling, with full jitter, up to 15 minutes."""
    ceiling = min(_FIRST_BACKOFF * 2 ** min(attempt - 1, 10), _LONGEST_BACKOFF)
    wait: timedelta = ceiling / 2 + ceiling / 2 * random.random()  # noqa: S311  spreads load, hides nothing
    return max(min(wait, at_most), timedelta(seconds=1))


def _barred(recipient: str, now: datetime) -> Event:
    return Event(
        kind=EventKind.FAILED,
        at=now,
        recipient=recipient,
        code="recipient_suppressed",
        reason=_SUPPRESSED,
    )


def message_id_header(message: Message) -> str:
    """The Message-ID of a message (RFC 5322 section 3.6.4): the same however often it is built."""
    return f"<{message.message_id}@{domain_of(message.sender)}>"
