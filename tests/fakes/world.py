"""The use-cases over the fakes, with a clock that tests turn and faults that they plant.

Every call of a port goes through `World.gate`, so a test can list the calls,
let one of them fail before or after it took effect, kill the process there, or
let another request go first.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Any, Literal

from pillarbox.application.delivery.deliver import Delivery
from pillarbox.application.delivery.feedback import Feedback
from pillarbox.application.ports import ProviderEvent
from pillarbox.application.sending.acceptance import SendingPorts
from pillarbox.application.sending.prepare import PreviewTerms
from pillarbox.domain.account import Account
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.key import KeyType
from pillarbox.domain.mail import Job, Mail
from pillarbox.domain.message import Event, EventKind, Message
from pillarbox.domain.quota import WINDOWS, window_name
from tests.fakes import builders, stores

#: After this the queue brings a job again whose worker failed.
VISIBILITY = timedelta(minutes=6)


class Killed(BaseException):
    """The process died: nothing of it runs any more, not even its clean-up."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong at the call of this number (0: the first) of a run."""

    position: int
    when: Literal["before", "after"]
    error: BaseException = field(
        default_factory=lambda: ServiceError("service_unavailable", "planted")
    )


class Gate:
    """Lets the calls of the ports through, in the order that they come."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.fault: Fault | None = None
        #: Called with the name of a call before it is let through.
        self.watch: Callable[[str], None] = lambda _: None

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
    """A port whose calls go through a gate."""

    def __init__(self, gate: Gate, name: str, port: object) -> None:
        self._gate, self._name, self._port = gate, name, port

    def __getattr__(self, method: str) -> Any:
        target = getattr(self._port, method)

        def call(*args: object, **named: object) -> Any:
            return self._gate.pass_through(f"{self._name}.{method}", lambda: target(*args, **named))

        return call


class World:
    """One service, one account with a live and a preview key."""

    def __init__(self, account: Account | None = None) -> None:
        self.now = builders.NOW
        self.gate = Gate()
        self.store = stores.Store()
        self.domains = stores.FakeDomains()
        self.mailer = stores.FakeMailer()
        self.pauses: list[float] = []
        #: Called with each pause of a worker that looks for a record.
        self.while_paused: Callable[[], None] = lambda: None
        self.live = builders.key_text()
        self.preview = builders.key_text(key_type=KeyType.PREVIEW)
        keys = (builders.api_key(self.live), builders.preview_key(self.preview))
        self.store.keys = {key.digest: key for key in keys}
        self.set_account(account or builders.account())
        self._owners = count()

    def set_account(self, account: Account) -> None:
        self.store.accounts[account.account_id] = account

    def advance(self, wait: timedelta) -> None:
        self.now += wait

    @property
    def ports(self) -> SendingPorts:
        return SendingPorts(
            directory=self._port("directory", stores.FakeDirectory(self.store)),
            claims=self._port("claims", stores.FakeClaims(self.store)),
            quotas=self._port("quotas", stores.FakeQuotas(self.store)),
            jobs=self._port("jobs", stores.FakeJobs(self.store)),
            messages=self._port("messages", stores.FakeMessages(self.store)),
            domains=self._port("domains", self.domains),
            clock=lambda: self.now,
            preview=PreviewTerms(sender=builders.PREVIEW_SENDER, upgrade_url=builders.UPGRADE_URL),
        )

    @property
    def delivery(self) -> Delivery:
        return Delivery(
            messages=self._port("messages", stores.FakeMessages(self.store)),
            directory=self._port("directory", stores.FakeDirectory(self.store)),
            suppressions=self._port("suppressions", stores.FakeSuppressions(self.store)),
            jobs=self._port("jobs", stores.FakeJobs(self.store)),
            mailer=self._port("mailer", self.mailer),
            heartbeat=self._port("heartbeat", stores.FakeHeartbeat(self.store)),
            build=_build,
            clock=lambda: self.now,
            pause=self._pause,
            new_owner=lambda: f"worker-{next(self._owners)}",
        )

    def feedback(self, provider_event: ProviderEvent | None) -> Feedback:
        """Feedback that reads this notice out of whatever text."""
        return Feedback(
            read=lambda _: provider_event,
            messages=self._port("messages", stores.FakeMessages(self.store)),
            suppressions=self._port("suppressions", stores.FakeSuppressions(self.store)),
            heartbeat=self._port("heartbeat", stores.FakeHeartbeat(self.store)),
        )

    def report(self, message: Message, *events: Event) -> None:
        """Let the provider report events of a message."""
        provider_event = ProviderEvent(
            account_id=message.account_id,
            message_id=message.message_id,
            at=max(event.at for event in events),
            events=events,
            provider_message_id="ses-1",
        )
        self.feedback(provider_event).record("")

    def used(self) -> set[int]:
        """The counts of the current minute, day and month, as a set: {1} when all are 1."""
        return {
            self.store.counts.get((builders.ACCOUNT, window_name(window, self.now)), 0)
            for window in WINDOWS
        }

    def message(self) -> Message:
        """The one message there is."""
        (message,) = self.store.messages.values()
        return message

    def accept(self, message: Message, **changes: Any) -> Job:
        """Put a message and its job there as an acceptance leaves them; give the job."""
        self.store.messages[message.account_id, message.message_id] = message
        return builders.job(message, **changes)

    def settle(self, at_most: int = 200) -> None:
        """Deliver what is queued until nothing comes again.

        The provider reports each mail that it took, and its events go on coming.
        """
        queue: list[tuple[datetime, Job]] = [(self.now, job) for job in self.store.queue]
        reported = 0
        for _ in range(at_most):
            if not queue:
                return
            queue.sort(key=lambda entry: entry[0])
            due, job = queue.pop(0)
            self.now = max(self.now, due)
            again = self.run(job)
            if again is not None:
                queue.append((self.now + again + timedelta(milliseconds=1), job))
            for message, _, _ in self.mailer.taken[reported:]:
                sent = Event(kind=EventKind.SENT, at=self.now)
                try:
                    self.report(message, sent)
                except (ServiceError, Killed):  # the queue brings it again
                    self.report(message, sent)
            reported = len(self.mailer.taken)
            stores.FakeHeartbeat(self.store).record(self.now)
        raise AssertionError("the queue does not come to rest")

    def run(self, job: Job) -> timedelta | None:
        """Let a worker take a job; give when the queue brings it again (None: never)."""
        try:
            return self.delivery.deliver(job).retry_after
        except (ServiceError, Killed):
            return VISIBILITY

    def _port(self, name: str, port: object) -> Any:
        return GatedPort(self.gate, name, port)

    def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.while_paused()


def _build(mail: Mail, message: Message) -> bytes:
    return f"{message.message_id} {mail.subject}".encode()
