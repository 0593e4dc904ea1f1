"""What the stand-in for SES remembers, in memory: mails, identities, configuration sets.

All writes happen on the event loop that serves the applications; reads may come
from worker threads and therefore look at copies.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

type Outcome = Literal[
    "delivered",
    "bounced",
    "complained",
    "auto-replied",
    "globally suppressed",
    "suppressed",
    "suppressed after complaint",
    "rejected",
]
type Mode = Literal[
    "accept",
    "throttle",
    "quota",
    "reject",
    "mail-from",
    "pause",
    "suspend",
    "server-error",
    "take-then-error",
    "take-then-timeout",
]

#: Event types that are published here, in the names of the API.
EVENT_TYPES: Final = frozenset({"SEND", "DELIVERY", "BOUNCE", "COMPLAINT", "REJECT"})


@dataclass(frozen=True, slots=True)
class Destination:
    """The envelope's recipients, as SendEmail names them."""

    to: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    bcc: tuple[str, ...] = ()

    @property
    def addresses(self) -> tuple[str, ...]:
        return self.to + self.cc + self.bcc


@dataclass(frozen=True, eq=False)
class CapturedMail:
    """A mail that was taken, with its envelope and what became of it."""

    id: str  # the provider's: what SendEmail answered
    source: str  # FromEmailAddress, or the From header in its absence
    destination: Destination
    configuration_set: str | None
    tags: Mapping[str, str]
    headers: tuple[tuple[str, str], ...]  # as written, unfolded
    from_header: str  # decoded
    subject: str  # decoded
    raw: bytes = field(repr=False)
    outcomes: Mapping[str, Outcome]  # by recipient
    received_at: datetime


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How the next SendEmail calls are to end; for tests of whoever calls.

    Args:
        mode: `accept` as SES does; `throttle`, `quota`, `reject`, `mail-from`,
            `pause` and `suspend` refuse with SES's own errors; `server-error`
            answers 500; the two `take-then-…` keep the mail and do not say so.
        times: so many calls, then `accept` again; None until changed.
        delay_seconds: wait before answering. `take-then-timeout` without it
            waits until the client hangs up.
        events: False keeps a taken mail's events back.
    """

    mode: Mode = "accept"
    times: int | None = None
    delay_seconds: float | None = None
    events: bool = True


@dataclass(frozen=True, slots=True)
class SuppressedDestination:
    """An address on the account's suppression list."""

    address: str
    reason: Literal["BOUNCE", "COMPLAINT"]
    updated_at: datetime


@dataclass(slots=True)
class StoredConfigurationSet:
    """A configuration set with its event destinations, each as the API was given it."""

    name: str
    event_destinations: dict[str, Mapping[str, object]] = field(default_factory=dict)

    def publishes(self, event_type: str) -> bool:
        """True when an enabled destination matches `event_type` (`DELIVERY`, …)."""
        return any(
            destination.get("Enabled") and event_type in matching
            for destination in self.event_destinations.values()
            if isinstance(matching := destination.get("MatchingEventTypes"), (list, tuple))
        )


class MailStore:
    """The state behind the SES stand-in and its inbox.

    Args:
        region: named in ARNs and refusals.
        account_id: the twelve digits of the sending account.
        keep: the newest so many mails stay.
        keep_bytes: and no more than so many bytes of them, save for the newest.
    """

    def __init__(
        self,
        *,
        region: str = "us-east-1",
        account_id: str = "000000000000",
        keep: int = 2_000,
        keep_bytes: int = 256 * 1024 * 1024,
    ) -> None:
        self.region = region
        self.account_id = account_id
        #: What the empty inbox shows: how to send a first mail. Whoever starts the stack knows it.
        self.hint = ""
        self.closing = asyncio.Event()
        self.suppressions: dict[str, SuppressedDestination] = {}
        self.configuration_sets: dict[str, StoredConfigurationSet] = {}
        #: The MAIL FROM domains of those identities that have one.
        self.mail_from: dict[str, str] = {}
        self._keep = keep
        self._keep_bytes = keep_bytes
        self._mails: OrderedDict[str, CapturedMail] = OrderedDict()
        self._bytes = 0
        self._sent: deque[tuple[datetime, int]] = deque()
        self._identities: dict[str, bool] = {}
        self._behaviours: dict[str | None, Behaviour] = {}
        self._listeners: set[asyncio.Queue[CapturedMail | None]] = set()

    # Mails

    def add(self, mail: CapturedMail) -> None:
        """Keep a mail, drop the oldest beyond the limits, and tell who listens."""
        self._mails[mail.id] = mail
        self._bytes += len(mail.raw)
        while len(self._mails) > self._keep or (
            self._bytes > self._keep_bytes and len(self._mails) > 1
        ):
            _, dropped = self._mails.popitem(last=False)
            self._bytes -= len(dropped.raw)
        self._sent.append((mail.received_at, len(mail.destination.addresses)))
        for listener in self._listeners:
            listener.put_nowait(mail)

    def get(self, mail_id: str) -> CapturedMail | None:
        return self._mails.get(mail_id)

    def newest_first(self) -> list[CapturedMail]:
        """A copy: the mails may change meanwhile."""
        return list(self._mails.values())[::-1]

    def clear(self) -> None:
        """Forget all mails. Who listens is told None."""
        self._mails.clear()
        self._bytes = 0
        for listener in self._listeners:
            listener.put_nowait(None)

    async def arrivals(self) -> AsyncGenerator[CapturedMail | None]:
        """Each mail from now on as it comes; None when the mailbox was emptied."""
        queue: asyncio.Queue[CapturedMail | None] = asyncio.Queue()
        self._listeners.add(queue)
        if self.closing.is_set():
            queue.shutdown()
        try:
            with suppress(asyncio.QueueShutDown):
                while True:
                    yield await queue.get()
        finally:
            self._listeners.discard(queue)

    def close(self) -> None:
        """End live updates and held answers, so that the servers can stop."""
        self.closing.set()
        for listener in self._listeners:
            listener.shutdown()

    def sent_last_24_hours(self) -> int:
        """Recipients of the mails taken within a day."""
        since = datetime.now(UTC) - timedelta(days=1)
        while self._sent and self._sent[0][0] < since:
            self._sent.popleft()
        return sum(recipients for _, recipients in self._sent)

    # Identities

    def create_identity(self, identity: str) -> bool:
        """Remember an address or a domain; True when it is verified.

        Nobody has to click a link here: it is verified at once, save for
        `unverified.example` and what is under it, which stay pending.
        """
        domain = identity.rpartition("@")[2].lower()
        verified = not f".{domain}".endswith(".unverified.example")
        self._identities[_identity(identity)] = verified
        return verified

    def delete_identity(self, identity: str) -> bool:
        """Forget an identity; False when there was none."""
        self.mail_from.pop(identity, None)
        return self._identities.pop(_identity(identity), None) is not None

    def identity_verified(self, identity: str) -> bool | None:
        """None when there is no such identity."""
        return self._identities.get(_identity(identity))

    def identities(self) -> dict[str, bool]:
        """Each identity by name, with whether it is verified."""
        return dict(sorted(self._identities.items()))

    def may_send_from(self, address: str) -> bool:
        """True when the address, its domain or a domain above that is verified."""
        address = _identity(address)
        labels = address.rpartition("@")[2].split(".")
        names = [address, *(".".join(labels[start:]) for start in range(len(labels)))]
        return any(self._identities.get(name) for name in names)

    # Configuration sets

    def create_configuration_set(
        self, name: str, *, publish: frozenset[str] = EVENT_TYPES
    ) -> StoredConfigurationSet:
        """Add a configuration set that publishes these event types to EventBridge."""
        found = StoredConfigurationSet(name)
        if publish:
            bus = f"arn:aws:events:{self.region}:{self.account_id}:event-bus/default"
            found.event_destinations["events"] = {
                "Enabled": True,
                "MatchingEventTypes": sorted(publish),
                "EventBridgeDestination": {"EventBusArn": bus},
            }
        self.configuration_sets[name] = found
        return found

    # Behaviours

    def behave(self, behaviour: Behaviour, recipient: str | None = None) -> None:
        """Set what the next calls meet: all, or those with this recipient."""
        self._behaviours[_key(recipient)] = behaviour

    def behaviour(self, recipient: str | None = None) -> Behaviour:
        return self._behaviours.get(_key(recipient), Behaviour())

    def pop_behaviour(self, recipients: tuple[str, ...]) -> Behaviour:
        """The behaviour for one call; a recipient's own goes before the general one."""
        for key in (*map(_key, recipients), None):
            if (behaviour := self._behaviours.get(key)) is None:
                continue
            if behaviour.times is not None:
                if behaviour.times <= 1:
                    del self._behaviours[key]
                else:
                    self._behaviours[key] = replace(behaviour, times=behaviour.times - 1)
            return behaviour
        return Behaviour()


def _identity(identity: str) -> str:
    """Domains compare without case, local parts as written (RFC 5321 section 2.4)."""
    local, at, domain = identity.rpartition("@")
    return f"{local}{at}{domain.lower()}"


def _key(recipient: str | None) -> str | None:
    return recipient.lower() if recipient else None
