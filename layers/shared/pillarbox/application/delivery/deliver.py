"""Deliver a message: from its job in the queue to one hand-over to the provider.

An expired lease is no reason to send again: the worker that held it may have handed the
message over before it died. Only the provider's own events say whether it did
(docs/architecture.md, "Delivering").
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
    SendingRate,
    SendRejected,
    SendThrottled,
    SendUncertain,
    Suppressions,
)
from pillarbox.domain.address import domain_of, mailbox_key
from pillarbox.domain.errors import ValidationFailed
from pillarbox.domain.mail import Job, Mail
from pillarbox.domain.message import Event, EventKind, Message

#: A job is queued before its record is put. These are the first pauses before reading the
#: record again, in seconds.
_RECORD_PAUSES: Final = (0.05, 0.2, 1.0)
#: A job that has no record this long after it was queued is not accepted mail.
RECORD_WAIT: Final = timedelta(minutes=15)
#: How long the provider's Send event may take before its absence means something.
EVENT_WAIT: Final = timedelta(minutes=15)
#: When a waiting job is received again: soon at first, later if the wait is long.
RETRY_SOON: Final = timedelta(minutes=1)
RETRY_LATER: Final = timedelta(minutes=10)

_SUPPRESSED: Final = "The recipient bounced or complained while the email was queued."
_FIRST_BACKOFF: Final = timedelta(seconds=15)
_LONGEST_BACKOFF: Final = timedelta(minutes=15)


class Outcome(StrEnum):
    """How one run for a job ended."""

    SENT = "sent"
    FAILED = "failed"
    #: Another worker finished the job, or it is not accepted mail.
    DROPPED = "dropped"
    THROTTLED = "throttled"
    UNCERTAIN = "uncertain"
    WAITING = "waiting"
    #: No worker can read the job; it is in the dead-letter queue.
    QUARANTINED = "quarantined"


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """How one run ended, and after which time to receive the job again (None: never)."""

    outcome: Outcome
    retry_after: timedelta | None = None
    #: The message was handed over a second time, because no event showed the first one.
    resent: bool = False
    #: From acceptance to the provider's response, if the message was sent.
    time_to_send: timedelta | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Hand accepted messages to the provider, each one once."""

    messages: Messages
    directory: Directory
    suppressions: Suppressions
    jobs: Jobs
    mailer: Mailer
    rate: SendingRate
    heartbeat: EventHeartbeat
    build: Callable[[Mail, Message], bytes]
    clock: Clock
    pause: Callable[[float], None]
    #: Names a lease. Each hand-over needs a new name, so that no two share one.
    new_owner: Callable[[], str]

    def deliver(self, job: Job) -> DeliveryResult:
        """Do everything for a job that can be done now.

        Raises:
            ServiceError: `service_unavailable`; the queue then delivers the job again.
        """
        result = self._run(job)
        if result.retry_after is None:
            self.jobs.discard(job)
        return result

    def _run(self, job: Job) -> DeliveryResult:
        leased = self._lease(job)
        if isinstance(leased, Message):
            return self._hand_over(job, leased)
        message = leased.message
        if message is None:
            waited = self.clock() - job.queued_at
            return (
                DeliveryResult(Outcome.DROPPED)
                if waited >= RECORD_WAIT
                else DeliveryResult(Outcome.WAITING, RETRY_SOON)
            )
        if message.body_hash != job.body_hash or not message.pending:
            return DeliveryResult(Outcome.DROPPED)
        return self._wait_for_outcome(job, message)

    def _lease(self, job: Job) -> Message | LeaseRefusal:
        owner = self.new_owner()
        pauses = iter(_RECORD_PAUSES)
        while True:
            leased = self.messages.lease(
                job.account_id, job.message_id, job.body_hash, owner, self.clock()
            )
            if isinstance(leased, Message) or leased.message is not None:
                return leased
            pause = next(pauses, None)
            if pause is None:
                return leased
            self.pause(pause)

    def _wait_for_outcome(self, job: Job, message: Message) -> DeliveryResult:
        """Wait for a hand-over that is under way, whose worker died, or that got no response."""
        lease, now = message.lease, self.clock()
        if lease is None:  # released between the two reads
            return DeliveryResult(Outcome.WAITING, timedelta(0))
        if now < lease.expires_at:
            return DeliveryResult(Outcome.WAITING, lease.expires_at - now)
        due = lease.taken_at + EVENT_WAIT
        if now < due:
            # Most events arrive at once. While the others are late, the wait doubles, so that
            # the job is received only a few times.
            wait = max(now - lease.taken_at, RETRY_SOON)
            return DeliveryResult(Outcome.UNCERTAIN, min(due - now, wait))
        account = self.directory.look_up(job.account_id).account
        if now >= job.deadline or account is None or account.hold_uncertain:
            return self._give_up(message)
        latest = self.heartbeat.latest()
        if latest is None or latest < due:
            return DeliveryResult(Outcome.UNCERTAIN, RETRY_LATER)
        if not self.messages.save(replace(message, lease=None)):
            return DeliveryResult(Outcome.WAITING, timedelta(0))
        result = self._run(job)
        return replace(result, resent=result.outcome is Outcome.SENT)

    def _hand_over(self, job: Job, message: Message) -> DeliveryResult:
        if self.clock() >= job.deadline:
            return self._fail(message, "expired", "The email could not be sent in time.")
        try:
            suppressed_keys = self.suppressions.find_suppressed(
                job.account_id, map(mailbox_key, message.recipients)
            )
            raw = self.build(self.jobs.load(job), message)
        except PayloadGone:
            return self._fail(message, "payload_gone", "The content of the email has expired.")
        except ValidationFailed as error:
            return self._fail(message, "rendering_failed", error.message)
        except Exception:
            self._release(message)  # nothing was handed over, so there is no event to wait for
            raise
        suppressed = [r for r in message.recipients if mailbox_key(r) in suppressed_keys]
        recipients = tuple(r for r in message.recipients if r not in suppressed)
        if not recipients:
            return self._fail(message, "recipient_suppressed", _SUPPRESSED)
        wait = self.rate.acquire(len(recipients), urgent=job.urgent)
        if wait is not None:  # nothing was handed over, so this is no attempt
            self.messages.save(replace(message, lease=None, attempt=message.attempt - 1))
            return DeliveryResult(Outcome.WAITING, wait)
        now = self.clock()  # before the provider's own events
        try:
            provider_message_id = self.mailer.send(message, recipients, raw)
        except SendThrottled:
            self.rate.slow_down()
            self._release(message)
            wait = backoff(message.attempt, job.deadline - self.clock())
            return DeliveryResult(Outcome.THROTTLED, wait)
        except SendRejected as rejection:
            return self._fail(message, rejection.code, rejection.reason)
        except SendUncertain:
            return DeliveryResult(Outcome.UNCERTAIN, RETRY_SOON)
        events = [Event(kind=EventKind.SENT, at=now)]
        events += [_suppressed_event(recipient, now) for recipient in suppressed]
        self._save(message, events, provider_message_id)
        return DeliveryResult(Outcome.SENT, time_to_send=now - job.queued_at)

    def _give_up(self, message: Message) -> DeliveryResult:
        self._save(message, [uncertain_event(self.clock())])
        return DeliveryResult(Outcome.FAILED)

    def _release(self, message: Message) -> None:
        self.messages.save(replace(message, lease=None))

    def _fail(self, message: Message, code: str, reason: str) -> DeliveryResult:
        failed = Event(kind=EventKind.FAILED, at=self.clock(), code=code, reason=reason)
        self._save(message, [failed])
        return DeliveryResult(Outcome.FAILED)

    def _save(
        self, message: Message, events: list[Event], provider_message_id: str | None = None
    ) -> None:
        """Write an outcome; if the provider's event was faster, add it to what that wrote.

        A worker that stalled until another one took over may still write only one
        outcome: that the message was sent.
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
    """Return the wait after an attempt: it doubles up to 15 minutes, half of it random."""
    ceiling = min(_FIRST_BACKOFF * 2 ** min(attempt - 1, 10), _LONGEST_BACKOFF)
    wait: timedelta = ceiling / 2 + ceiling / 2 * random.random()  # noqa: S311  spreads load only
    return max(min(wait, at_most), timedelta(seconds=1))


def uncertain_event(now: datetime) -> Event:
    """Make the event of a hand-over that got no response and will not be repeated."""
    return Event(
        kind=EventKind.UNCERTAIN,
        at=now,
        code="delivery_uncertain",
        reason="The provider did not answer. The email may or may not have been sent.",
    )


def _suppressed_event(recipient: str, now: datetime) -> Event:
    return Event(
        kind=EventKind.FAILED,
        at=now,
        recipient=recipient,
        code="recipient_suppressed",
        reason=_SUPPRESSED,
    )


def message_id_header(message: Message) -> str:
    """Return the Message-ID of a message (RFC 5322 section 3.6.4), the same at each build."""
    return f"<{message.message_id}@{domain_of(message.sender)}>"
