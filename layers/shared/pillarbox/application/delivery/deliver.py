"""Deliver a message: from its job in the queue to one hand-over to the provider.

An expired lease is no reason to send again: the worker that held it may have handed the
message over before it died. Only the provider's own events say whether it did. So a worker
leases a message at the last moment, and what it learns about a hand-over is never lost
(docs/architecture.md, "Delivering").
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.delivery.holds import Holds
from pillarbox.application.delivery.ports import (
    EventHeartbeat,
    EventQueue,
    Mailer,
    SeenEvents,
    SendingRate,
    SendRejected,
    SendThrottled,
    SendUncertain,
)
from pillarbox.application.delivery.result import (
    FIRST_BACKOFF,
    FIRST_WAIT,
    DeliveryResult,
    Outcome,
    backoff,
)
from pillarbox.application.ports import (
    BuildDied,
    Clock,
    Directory,
    Jobs,
    Messages,
    PayloadGone,
    Suppressions,
)
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import ServiceError, ValidationFailed
from pillarbox.domain.messages.mail import CHANGE_TIME, HandOverResult, Job, Mail
from pillarbox.domain.messages.message import (
    ERASED_ADDRESS,
    MEANINGS,
    Event,
    EventKind,
    Lease,
    Message,
)
from pillarbox.domain.timing import CLOCK_MARGIN

#: In seconds: the first pauses before a job's record, which is put after it, is read again.
_RECORD_PAUSES: Final = (0.05, 0.2, 1.0)
#: A job that has no record this long after it was queued is not accepted mail.
RECORD_WAIT: Final = CHANGE_TIME + timedelta(minutes=5)
#: How long the provider's Send event may take before its absence means something.
EVENT_WAIT: Final = timedelta(minutes=15)
#: When a waiting job is received again: soon at first, later if the wait is long.
RETRY_SOON: Final = timedelta(minutes=1)
RETRY_LATER: Final = timedelta(minutes=10)

_EXPIRED: Final = MEANINGS["expired"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Hand accepted messages to the provider, each one once."""

    messages: Messages
    directory: Directory
    suppressions: Suppressions
    jobs: Jobs
    mailer: Mailer
    rate: SendingRate
    seen_events: SeenEvents
    event_queue: EventQueue
    heartbeat: EventHeartbeat
    holds: Holds
    build: Callable[[Mail, Message], bytes]
    keep: Callable[[Message, bytes], str | None]
    clock: Clock
    pause: Callable[[float], None]
    #: Names a lease. Each hand-over needs a new name, so that no two share one.
    new_owner: Callable[[], str]
    has_time: Callable[[], bool] = lambda: True

    def within(self, has_time: Callable[[], bool]) -> "Delivery":
        """Return the same for a worker that ends; a hand-over must not be under way by then.

        Args:
            has_time: returns whether a hand-over that starts now will have its answer.
        """
        return replace(self, has_time=has_time)

    def deliver(
        self, job: Job, *, first_receipt: bool = True, sent_at: datetime | None = None
    ) -> DeliveryResult:
        """Do everything for a job that can be done now.

        Args:
            job: the job.
            first_receipt: whether the queue delivers it for the first time. Only then does the
                worker wait for a record that may be on its way.
            sent_at: when the queue got the job, by its own clock; by default as the job says.

        Raises:
            ServiceError: `service_unavailable`; the queue then delivers the job again.
        """
        if job.result is not None:
            return self._record(job, job.result)
        result = self._run(job, sent_at or job.queued_at, first_receipt=first_receipt)
        if result.retry_after is None:
            self.jobs.discard(job)
        return result

    def _run(self, job: Job, sent_at: datetime, *, first_receipt: bool) -> DeliveryResult:
        message = self._find(job, first_receipt=first_receipt)
        if message is None:
            return self._unrecorded(job, sent_at)
        return (
            self._without_hand_over(job, message)
            or self._held(job, message)
            or self._hand_over(job, message, first_receipt=first_receipt)
        )

    def _unrecorded(self, job: Job, sent_at: datetime) -> DeliveryResult:
        """Return the result for a job whose record may still be on its way.

        A tombstone comes before the job is dropped, so that no stalled acceptor commits it later.
        """
        if self.messages.is_withdrawn(job.account_id, job.message_id):
            return DeliveryResult(Outcome.DROPPED)
        result = self._unsaved(sent_at)
        if result.outcome is Outcome.DROPPED and self.messages.withdraw(
            job.account_id, [job.message_id], self.clock()
        ):
            return DeliveryResult(Outcome.WAITING, timedelta(0))
        return result

    def _unsaved(self, sent_at: datetime) -> DeliveryResult:
        """Return the result for a job whose record, or a change of it, is not there yet."""
        waited = self.clock() - sent_at
        if waited >= RECORD_WAIT:
            return DeliveryResult(Outcome.DROPPED)
        # Most records are put at once. The wait doubles for the others.
        wait = min(max(waited, FIRST_WAIT), RETRY_SOON)
        return DeliveryResult(Outcome.WAITING, wait, expected=True)

    def _held(self, job: Job, message: Message) -> DeliveryResult | None:
        """Return the result for a message whose sender was paused meanwhile, else None."""
        wait = self.holds.find(job, message)
        if wait is None:
            return None
        if not wait:
            return self._refuse(message, "sending_paused", MEANINGS["sending_paused"])
        return DeliveryResult(Outcome.HELD, wait)

    def _find(self, job: Job, *, first_receipt: bool) -> Message | None:
        """Read the job's message.

        A stale copy does no harm, because every write is conditional. But it may send the job
        back to the queue, so later receipts read consistently.
        """
        if not first_receipt:
            return self.messages.get(job.account_id, job.message_id)
        message = self.messages.peek(job.account_id, job.message_id)
        for pause in _RECORD_PAUSES:
            if message is not None:
                break
            self.pause(pause)
            message = self.messages.get(job.account_id, job.message_id)
        return message

    def _without_hand_over(self, job: Job, message: Message) -> DeliveryResult | None:
        """Return the result for a message that must not be handed over now, else None."""
        if message.body_hash != job.body_hash or not message.pending:
            return DeliveryResult(Outcome.DROPPED)
        if message.provider_message_id is not None:
            # The Send event may be late or lost, but another event of the mail has arrived.
            sent = Event(kind=EventKind.SENT, at=message.updated_at)
            return self._finish(message, Outcome.SENT, [sent])
        if message.lease is not None:
            return self._wait_for_outcome(job, message, message.lease)
        return None

    def _wait_for_outcome(self, job: Job, message: Message, lease: Lease) -> DeliveryResult:
        """Wait for a hand-over that is under way, whose worker died, or that got no response."""
        now = self.clock()
        if now < lease.expires_at:
            return DeliveryResult(Outcome.WAITING, lease.expires_at - now)
        due = event_due(lease)
        # The queue comes first. An event that leaves it after this check leaves a mark, or
        # changes the message, and then the message cannot be saved below.
        quiet = now >= due and self._is_quiet(due)
        event_may_come = quiet or now < due or self.event_queue.may_hold_older_than(due, message)
        seen = self.seen_events.find(job.account_id, job.message_id)
        if seen is not None:
            sent = Event(kind=EventKind.SENT, at=seen.at)
            return self._finish(message, Outcome.SENT, [sent], seen.provider_message_id)
        if now < due:
            # Most events arrive at once. While the others are late, the wait doubles, so that
            # the job is received only a few times.
            wait = max(now - lease.taken_at, RETRY_SOON)
            return DeliveryResult(Outcome.UNCERTAIN, min(due - now, wait))
        account = self.directory.look_up(job.account_id).account
        if now >= job.deadline or account is None or account.hold_uncertain:
            return self._finish(message, Outcome.FAILED, [uncertain_event(now)])
        if quiet and self.heartbeat.take_probe(now):
            self.mailer.send_probe(message)
            return DeliveryResult(Outcome.UNCERTAIN, RETRY_SOON)
        if event_may_come:
            return DeliveryResult(Outcome.UNCERTAIN, RETRY_LATER)
        if not self.messages.save(replace(message, lease=None)):
            return DeliveryResult(Outcome.WAITING, timedelta(0))
        released = replace(message, lease=None, revision=message.revision + 1)
        return self._held(job, released) or replace(
            self._hand_over(job, released, first_receipt=False), resent=True
        )

    def _is_quiet(self, due: datetime) -> bool:
        """Return whether no event is known to have been recorded from a moment on."""
        latest = self.heartbeat.latest()
        return latest is None or latest < due

    def _hand_over(self, job: Job, message: Message, *, first_receipt: bool) -> DeliveryResult:
        """Prepare everything, and only then lease the message and hand it over.

        Before the lease a failure costs nothing: the next worker starts again. After it, only
        the provider's own answer is awaited.
        """
        now = self.clock()
        if now >= job.deadline:
            return self._refuse(message, "expired", _EXPIRED)
        wait = self.rate.acquire(
            job.account_id,
            len(message.recipients),
            urgent=job.urgent,
            comes_back=not first_receipt,
            since=job.queued_at,
        )
        if wait is not None:
            return DeliveryResult(Outcome.WAITING, min(wait, job.deadline - now))
        refused = self._refused_recipients(message)
        recipients = tuple(r for r in message.recipients if r not in refused)
        if not recipients:
            code = next(iter(refused.values()))
            return self._refuse(message, code, MEANINGS[code])
        raw = self._build(job, message, first_receipt=first_receipt)
        if isinstance(raw, DeliveryResult):
            return raw
        job = self._with_present_tenant(job, message)
        # Before the lease, so that the record says what is kept also if an event settles it.
        unkept = self.keep(message, raw)
        if not self.has_time():  # the preparation may load code for the first time
            return DeliveryResult(Outcome.WAITING, timedelta(0))
        terms = (job.account_id, job.message_id, job.body_hash, self.new_owner(), self.clock())
        leased = self.messages.lease(*terms, schedule=message.schedule, unkept=bool(unkept))
        if isinstance(leased, Message):
            if leased.recipients != message.recipients:  # one was erased just now
                self._settle(job, leased, HandOverResult(attempt=leased.attempt))
                return DeliveryResult(Outcome.WAITING, timedelta(0))
            return replace(self._send(job, leased, recipients, refused, raw), unkept=unkept)
        decided = leased.message and self._without_hand_over(job, leased.message)
        return decided or DeliveryResult(Outcome.WAITING, timedelta(0))

    def _build(self, job: Job, message: Message, *, first_receipt: bool) -> bytes | DeliveryResult:
        """Return the octets of a mail, or the result for one that can never be built."""
        raw = None
        try:
            raw = self.build(self._load(job, message), message)
        except PayloadGone:
            return self._refuse(message, "payload_gone", MEANINGS["payload_gone"])
        except ValidationFailed as error:
            return self._refuse(message, "rendering_failed", error.message)
        except (ServiceError, BuildDied):
            raise
        except Exception:
            if first_receipt:
                raise  # for the log; perhaps a deploy was under way
            return self._refuse(message, "building_failed", MEANINGS["building_failed"])
        finally:
            if raw is None:  # the tokens are everybody's
                self.rate.give_back(len(message.recipients))
        return raw

    def _load(self, job: Job, message: Message) -> Mail:  # noqa: ARG002  due ones are the message's
        return self.jobs.load(job)

    def _with_present_tenant(self, job: Job, message: Message) -> Job:
        """After a try, let the job name the account's present tenant: SES may know no other."""
        if job.tenant is None or message.attempt == 0:
            return job
        account = self.directory.look_up(job.account_id).account
        return replace(job, tenant=account.tenant if account else None)

    def _refused_recipients(self, message: Message) -> dict[str, str]:
        """Return the recipients who get no copy, each with the code of the reason."""
        suppressed = self.suppressions.find_suppressed(
            message.account_id,
            map(mailbox_key, message.recipients),
            hashed=message.hashed_suppressions,
        )
        refused = {
            recipient: "recipient_suppressed"
            for recipient in message.recipients
            if mailbox_key(recipient) in suppressed
        }
        return refused | ({ERASED_ADDRESS: "recipient_erased"} if message.is_erased else {})

    def _send(
        self,
        job: Job,
        message: Message,
        recipients: tuple[str, ...],
        refused: Mapping[str, str],
        raw: bytes,
    ) -> DeliveryResult:
        now = self.clock()  # before the provider's own events
        if now >= job.deadline:  # the preparation took too long
            self._settle(job, message, _result(message, [_failed_event(now, "expired", _EXPIRED)]))
            return DeliveryResult(Outcome.FAILED)
        if message.lease is None or now >= message.lease.expires_at:
            # The worker stalled. Other workers may already wait for the event of a hand-over.
            self._settle(job, message, HandOverResult(attempt=message.attempt))
            return DeliveryResult(Outcome.WAITING, timedelta(0))
        try:
            provider_message_id = self.mailer.send(message, recipients, raw, job.tenant)
        except SendThrottled as throttled:
            self._settle(job, message, HandOverResult(attempt=message.attempt))
            attempt, first = message.attempt, FIRST_BACKOFF
            if throttled.too_fast:
                self.rate.slow_down(job.account_id, len(message.recipients), urgent=job.urgent)
                attempt, first = 1, FIRST_WAIT  # the rate makes all wait, not this one most
            wait = backoff(attempt, job.deadline - self.clock(), first)
            return DeliveryResult(Outcome.THROTTLED, wait, provider_error=throttled.code)
        except SendRejected as rejection:
            events = [_failed_event(self.clock(), rejection.code, rejection.reason)]
            self._settle(job, message, _result(message, events))
            return DeliveryResult(Outcome.FAILED)
        except SendUncertain as lost:
            return DeliveryResult(Outcome.UNCERTAIN, RETRY_SOON, provider_error=lost.error)
        failed = (_failed_event(now, code, MEANINGS[code], to) for to, code in refused.items())
        events = [Event(kind=EventKind.SENT, at=now), *failed]
        self._settle(job, message, _result(message, events, provider_message_id))
        return DeliveryResult(Outcome.SENT, time_to_send=now - job.queued_at)

    def _refuse(self, message: Message, code: str, reason: str) -> DeliveryResult:
        return self._finish(message, Outcome.FAILED, [_failed_event(self.clock(), code, reason)])

    def _finish(
        self,
        message: Message,
        outcome: Outcome,
        events: Sequence[Event],
        provider_message_id: str | None = None,
    ) -> DeliveryResult:
        """Decide a message without a hand-over, unless it has changed since it was read."""
        finished = replace(message.with_events(events, provider_message_id), lease=None)
        if not self.messages.save(finished):
            return DeliveryResult(Outcome.WAITING, timedelta(0))
        return DeliveryResult(outcome)

    def _settle(self, job: Job, message: Message, result: HandOverResult) -> None:
        """Save the provider's answer. If that fails, a job of its own will record it.

        Without it the next worker would have to wait for the provider's events.
        """
        try:
            self._save(message, result)
        except Exception:  # noqa: BLE001  that job meets a mistake again, and the caller logs it
            self.jobs.put_result(job, result)

    def _record(self, job: Job, result: HandOverResult) -> DeliveryResult:
        """Save what another worker could not save."""
        message = self.messages.get(job.account_id, job.message_id)
        if message is not None:
            self._save(message, result)
        if result.events:  # otherwise another job still needs the mail
            self.jobs.discard(job)
        return DeliveryResult(Outcome.RECORDED)

    def _save(self, message: Message, result: HandOverResult) -> None:
        """Write a result; if the provider's event was faster, add it to what that wrote.

        A worker that stalled until another one took over may still write only one
        result: that the message was sent.
        """
        current: Message | None = message
        while current is not None:
            taken_over = current.attempt != result.attempt
            if taken_over and result.provider_message_id is None:
                return
            changed = current.with_events(result.events, result.provider_message_id)
            changed = replace(changed, lease=None)
            if changed == current or self.messages.save(changed):
                return
            current = self.messages.get(message.account_id, message.message_id)


def event_due(lease: Lease) -> datetime:
    """Return from when on the absence of a hand-over's event means something, by any clock."""
    return lease.taken_at + EVENT_WAIT + CLOCK_MARGIN


def uncertain_event(now: datetime) -> Event:
    """Make the event of a hand-over that got no response and will not be repeated."""
    code = "delivery_uncertain"
    return Event(kind=EventKind.UNCERTAIN, at=now, code=code, reason=MEANINGS[code])


def _failed_event(now: datetime, code: str, reason: str, recipient: str | None = None) -> Event:
    return Event(kind=EventKind.FAILED, at=now, recipient=recipient, code=code, reason=reason)


def _result(
    message: Message, events: Sequence[Event], provider_message_id: str | None = None
) -> HandOverResult:
    return HandOverResult(
        attempt=message.attempt, events=tuple(events), provider_message_id=provider_message_id
    )
