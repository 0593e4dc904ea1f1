"""The use cases over the stores in this process, with a clock and faults that a test controls.

Every call of a port passes through `World.gate`. There a test can list the calls, make one
fail before or after it takes effect, kill the process, or run another request first.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any, Literal

from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.messages.claims import DynamoClaims
from pillarbox.adapters.dynamodb.messages.heartbeat import DynamoHeartbeat, DynamoSeenEvents
from pillarbox.adapters.dynamodb.messages.quota_refusals import DynamoRefusals
from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoStrangerMail
from pillarbox.application.authentication import SeenKeys
from pillarbox.application.delivery.build_message import keeping
from pillarbox.application.delivery.deliver import Delivery
from pillarbox.application.delivery.deliver_due import DueDelivery
from pillarbox.application.delivery.feedback import Feedback, FeedbackResult
from pillarbox.application.delivery.holds import Holds
from pillarbox.application.delivery.ports import EventRecord, ProviderEvent, TaggedMessage
from pillarbox.application.ports import StoredResponse
from pillarbox.application.sending.batch import BatchSend
from pillarbox.application.sending.changes import MessageChanges
from pillarbox.application.sending.ports import SendingPorts
from pillarbox.application.sending.single import SingleSend
from pillarbox.application.sending.smtp import SmtpSubmission
from pillarbox.application.waiting import DueMail, WaitingMail
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.key import KeyType, digest_of_key
from pillarbox.domain.accounts.key_policy import PreviewSettings, Principal
from pillarbox.domain.accounts.quota import WINDOWS, Limits, window_name
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.batch import BatchRequest
from pillarbox.domain.messages.mail import Job, Mail, SendRequest
from pillarbox.domain.messages.message import Event, EventKind, Message
from pillarbox.http.messages.replies import batch_result, send_result
from tests.fakes import builders, stores

#: The queue delivers the job of a failed worker again after this time.
VISIBILITY = timedelta(seconds=90)
PREVIEW = PreviewSettings(sender=builders.PREVIEW_SENDER, upgrade_url=builders.UPGRADE_URL)


class Killed(BaseException):
    """The process died: nothing of it runs any more, not even its clean-up."""


@dataclass(frozen=True)
class Fault:
    """The failure of one call of a run; its position counts from 0."""

    position: int
    when: Literal["before", "after"]
    error: BaseException = field(
        default_factory=lambda: ServiceError("service_unavailable", "planted")
    )


def faults_of(calls: Sequence[str], most: int = 10**6) -> Iterator[Fault]:
    """Yield a kill or an error, before or after it, at each call of a run.

    The four take turns, and each kind of call gets all of them, also one that is made once.
    Of one that is made more often than `most`, so many calls get one, from the first to the last.
    """
    positions: defaultdict[str, list[int]] = defaultdict(list)
    for position, call in enumerate(calls):
        positions[call].append(position)
    error = ServiceError("service_unavailable", "planted")
    for made in positions.values():
        count = min(len(made), most)
        for number in range(max(count, 4)):
            when: Literal["before", "after"] = "before" if number % 4 in {0, 3} else "after"
            yield Fault(
                made[number % count * len(made) // count], when, error if number % 2 else Killed()
            )


class Gate:
    """The point that every call of a port passes. It records the calls in their order."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.fault: Fault | None = None
        #: It is called with the name of each call before that call.
        self.watch: Callable[[str], None] = lambda _: None

    def refuse(self, *calls: str, error: BaseException | None = None) -> None:
        """Let each of these calls fail before it takes effect."""

        def watch(call: str) -> None:
            if call in calls:
                raise error or ServiceError("service_unavailable", "planted")

        self.watch = watch

    def before(self, *calls: str, do: Callable[[], object]) -> None:
        """Do something once before any of these calls; the gate watches nothing meanwhile."""

        def watch(call: str) -> None:
            if call in calls:
                self.watch = lambda _: None
                do()

        self.watch = watch

    def pass_through(self, name: str, call: Callable[[], Any]) -> Any:
        position = len(self.calls)
        self.calls.append(name)
        self.watch(name)
        fault = self.fault if self.fault and self.fault.position == position else None
        if fault and fault.when == "before":
            raise fault.error
        result = call()
        if fault:
            raise fault.error
        return result


class GatedPort:
    """A port whose calls pass through a gate."""

    def __init__(self, gate: Gate, name: str, port: object) -> None:
        self._gate, self._name, self._port = gate, name, port

    def __getattr__(self, method: str) -> Any:
        target = getattr(self._port, method)

        def call(*arguments: object, **keywords: object) -> Any:
            return self._gate.pass_through(
                f"{self._name}.{method}", lambda: target(*arguments, **keywords)
            )

        return call


class World:
    """One service with one account, which has a live and a preview key."""

    def __init__(self, account: Account | None = None) -> None:
        self.now = builders.NOW
        self.gate = Gate()
        self.store = stores.Store()
        self.domains = stores.FakeDomains()
        self.mailer = stores.FakeMailer()
        self.rate = stores.FakeSendingRate()
        self.pauses: list[float] = []
        self.strangers = DynamoStrangerMail(self.store.table)
        self.provider_suppressions = stores.FakeProviderSuppressions()
        #: The tenants of accounts at the provider.
        self.tenants: dict[str, str] = {}
        #: What the provider counts of all mail.
        self.sent_in_a_day = 100_000.0
        #: The accounts whose mail a recipient complained about.
        self.complaints: list[str] = []
        #: The messages that are kept, with their octets.
        self.kept: list[tuple[Message, bytes]] = []
        #: It is called at each pause of a worker that waits for a record.
        self.while_paused: Callable[[], None] = lambda: None
        self.live = builders.key_text()
        self.preview = builders.key_text(key_type=KeyType.PREVIEW)
        keys = (builders.api_key(self.live), builders.preview_key(self.preview))
        for key in keys:
            self.store.keys[key.digest] = key
        #: The process has served both keys before.
        self.seen = SeenKeys()
        for digest in self.store.keys:
            self.seen.valid.add(digest)
        self.set_account(account or builders.account())
        self._owners = count()
        self.holds = Holds(
            GatedPort(self.gate, "directory", stores.Directory(self.store)),
            lambda: self.now,
        )

    def set_account(self, account: Account) -> None:
        self.store.accounts[account.account_id] = account

    def advance(self, wait: timedelta) -> None:
        self.now += wait

    @property
    def ports(self) -> SendingPorts:
        return SendingPorts(
            directory=self._port("directory", stores.Directory(self.store)),
            claims=self._port("claims", DynamoClaims(self.store.table)),
            quotas=self._port("quotas", stores.Quotas(self.store)),
            refusals=self._port("refusals", DynamoRefusals(self.store.table)),
            jobs=self._port("jobs", stores.FakeJobs(self.store)),
            messages=self._port("messages", stores.Messages(self.store)),
            domains=self._port("domains", self.domains),
            find_uploads=self.store.find_uploads,
            waiting=lambda: self.waiting_mail,
            clock=lambda: self.now,
            preview=PREVIEW,
            is_of_edge=lambda _: False,
        )

    @property
    def single_send(self) -> SingleSend:
        return SingleSend(self.ports, self.seen)

    @property
    def batch_send(self) -> BatchSend:
        return BatchSend(self.ports, self.seen)

    def send(
        self,
        send_request: SendRequest | ServiceError | None = None,
        key: str | None = None,
        digest: str | None = None,
    ) -> StoredResponse:
        """Submit one email over HTTP, by default an ordinary one with the live key."""
        what = send_request or builders.request()
        return self.single_send.submit(key or self.live, what, digest, send_result)

    def send_batch(
        self, *items: SendRequest | ServiceError, key: str | None = None, digest: str | None = None
    ) -> StoredResponse:
        """Submit a batch, with the live key by default."""
        batch = BatchRequest(body_hash=builders.HASH, count=len(items), items=items)
        return self.batch_send.submit(key or self.live, batch, digest, batch_result)

    def limit(self, per_minute: int) -> None:
        """Set the messages that the account may send in a minute."""
        limits = Limits(per_minute=per_minute, per_day=None, per_month=None)
        account = self.store.accounts[builders.ACCOUNT]
        self.set_account(replace(account, overrides=limits))

    @property
    def smtp_submission(self) -> SmtpSubmission:
        return SmtpSubmission(self.ports, self.seen)

    def send_smtp(self, *fields: str, to: str = "ann@example.com", grouped: bool = False) -> str:
        """Submit a message over SMTP, by itself or in a group; raise its error."""
        head = (f"From: {builders.SENDER}", "Subject: x", *fields, "", "Hello", "")
        octets = bytearray("\r\n".join(head).encode())
        message = self.smtp_submission.prepare(self.live, (to,), octets)
        if not grouped:
            return self.smtp_submission.submit(self.live, message)
        (outcome,) = self.smtp_submission.submit_all(self.live, [message])
        if isinstance(outcome, ServiceError):
            raise outcome
        return outcome

    @property
    def waiting_mail(self) -> WaitingMail:
        return WaitingMail(
            contents=self._port("contents", stores.WaitingContents(self.store)),
            times=self._port("times", stores.FakeWakeTimes(self.store)),
            queue=self._port("jobs", stores.FakeJobs(self.store)),
            clock=lambda: self.now,
            monotonic=self._monotonic,
        )

    @property
    def due_mail(self) -> DueMail:
        waiting = self.waiting_mail
        return DueMail(times=waiting.times, queue=waiting.queue, clock=waiting.clock)

    @property
    def changes(self) -> MessageChanges:
        return MessageChanges(
            messages=self._port("messages", stores.Messages(self.store)),
            contents=self._port("contents", stores.WaitingContents(self.store)),
            waiting=lambda: self.waiting_mail,
            quotas=self._port("quotas", stores.Quotas(self.store)),
            clock=lambda: self.now,
        )

    @property
    def principal(self) -> Principal:
        """Return the caller with the live key."""
        key = self.store.keys[digest_of_key(self.live)]
        return Principal(key, self.store.accounts[key.account_id])

    @property
    def due_delivery(self) -> DueDelivery:
        delivery = self.delivery
        same: Any = {one.name: getattr(delivery, one.name) for one in fields(Delivery)}
        contents = self._port("contents", stores.WaitingContents(self.store))
        return DueDelivery(**same, contents=contents, key_works=self._key_works)

    def _key_works(self, account_id: str, key_id: str) -> bool:
        keys = [key for key in self.store.keys.values() if key.key_id == key_id]
        return any(key.account_id == account_id and key.works(lambda: self.now) for key in keys)

    @property
    def delivery(self) -> Delivery:
        return Delivery(
            messages=self._port("messages", stores.Messages(self.store)),
            directory=self._port("directory", stores.Directory(self.store)),
            suppressions=self._port("suppressions", DynamoSuppressions(self.store.table)),
            jobs=self._port("jobs", stores.FakeJobs(self.store)),
            mailer=self._port("mailer", self.mailer),
            rate=self._port("rate", self.rate),
            seen_events=self._port("seen_events", DynamoSeenEvents(self.store.table)),
            event_queue=self._port("event_queue", stores.FakeEventQueue(self.store)),
            heartbeat=self._port("heartbeat", DynamoHeartbeat(self.store.table)),
            holds=self.holds,
            build=_build,
            keep=keeping(lambda message, raw: self._port("kept", self.kept).append((message, raw))),
            clock=lambda: self.now,
            pause=self._pause,
            new_owner=lambda: f"worker-{next(self._owners)}",
        )

    def feedback(self, read: Callable[[str], ProviderEvent | None]) -> Feedback:
        return Feedback(
            read=read,
            find_message=lambda text: _message_of(read(text)),
            messages=self._port("messages", stores.Messages(self.store)),
            suppressions=self._port("suppressions", DynamoSuppressions(self.store.table)),
            provider_suppressions=self._port("provider_suppressions", self.provider_suppressions),
            tenant_of=self.tenants.get,
            suspend_preview=lambda account_id, _: self.complaints.append(account_id),
            strangers=self.strangers,
            sent_in_a_day=lambda: self.sent_in_a_day,
            apply_tenant_change=lambda _: False,
            seen_events=self._port("seen_events", DynamoSeenEvents(self.store.table)),
            heartbeat=self._port("heartbeat", DynamoHeartbeat(self.store.table)),
            clock=lambda: self.now,
            pause=self._pause,
        )

    def record(
        self, *provider_events: ProviderEvent | None, receives: int = 1
    ) -> list[FeedbackResult]:
        """Record provider events that arrive together; raise the first error."""
        feedback = self.feedback(lambda text: provider_events[int(text)])
        results = []
        records = [EventRecord(str(n), receives) for n in range(len(provider_events))]
        for result in feedback.record(records):
            if isinstance(result, Exception):
                raise result
            results.append(result)
        return results

    def report(self, message: Message, *events: Event, receives: int = 1) -> None:
        """Report events of a message as the provider does."""
        provider_event = ProviderEvent(
            account_id=message.account_id,
            message_id=message.message_id,
            at=max(event.at for event in events),
            events=events,
            provider_message_id="ses-1",
        )
        self.record(provider_event, receives=receives)

    def used(self) -> set[int]:
        """Return the set of the counts of the current minute, day and month: {1} if all are 1."""
        return {
            self.store.counts.get((builders.ACCOUNT, window_name(window, self.now)), 0)
            for window in WINDOWS
        }

    def message(self) -> Message:
        """Return the only stored message."""
        (message,) = self.store.messages.values()
        return message

    def accept(self, message: Message, **changes: Any) -> Job:
        """Store a message as an acceptance does, and return its job."""
        self.store.messages[message.account_id, message.message_id] = message
        return builders.job(message, **changes)

    def settle(self, at_most: int = 200) -> None:
        """Deliver the queued jobs until the queue is empty.

        The provider reports a Send event for each email that it took, and the heartbeat moves.
        """
        queue: list[tuple[datetime, Job]] = []
        received = reported = 0
        for _ in range(at_most):
            queue += [(self.now, job) for job in self.store.queue[received:]]
            received = len(self.store.queue)
            if not queue:
                return
            queue.sort(key=lambda entry: entry[0])
            due, job = queue.pop(0)
            self.now = max(self.now, due)
            retry_after = self.run(job)
            if retry_after is not None:
                queue.append((self.now + retry_after + timedelta(milliseconds=1), job))
            for message, _, _ in self.mailer.taken[reported:]:
                sent = Event(kind=EventKind.SENT, at=self.now)
                try:
                    self.report(message, sent)
                except (ServiceError, Killed):  # the queue delivers the event again
                    self.report(message, sent)
            reported = len(self.mailer.taken)
            DynamoHeartbeat(self.store.table).record(self.now)
        raise AssertionError("the queue never becomes empty")

    def run(self, job: Job) -> timedelta | None:
        """Deliver a job as a worker does; return the time to its retry, or None."""
        try:
            return self.delivery.deliver(job).retry_after
        except (ServiceError, Killed):
            return VISIBILITY

    def _port(self, name: str, port: object) -> Any:
        return GatedPort(self.gate, name, port)

    def _monotonic(self) -> float:
        return (self.now - builders.NOW).total_seconds()

    def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.while_paused()


def _message_of(event: ProviderEvent | None) -> TaggedMessage | None:
    if event is None:
        return None
    return TaggedMessage(event.account_id, event.message_id, event.provider_message_id)


def _build(mail: Mail, message: Message) -> bytes:
    return f"{message.message_id} {mail.subject}".encode()
