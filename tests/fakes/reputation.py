"""Histories of an account whose emails bounce, and the slow definition of what the breaker does.

The definition counts messages one by one and knows nothing of the ledger.
"""

# ruff: noqa: S311  numbers from a seed, no secrets

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from statistics import NormalDist
from typing import Any, Final
from unittest import mock
from uuid import UUID

from benchmarks.metered import metered_table
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.accounts.api_keys import DynamoKeyUses
from pillarbox.adapters.dynamodb.history.ledger import DynamoLedger
from pillarbox.adapters.dynamodb.history.rebuild_marks import DynamoRebuildMarks
from pillarbox.adapters.dynamodb.records import account_item
from pillarbox.application.history.aggregate import Aggregation
from pillarbox.application.history.breaker import Breaker
from pillarbox.application.pauses import Pauses
from pillarbox.domain.accounts.pause import Pause, PauseCause, PauseLevel, PauseScope
from pillarbox.domain.ids import shard_count
from pillarbox.domain.messages.message import Event, EventKind, Message, MessageOrigin
from pillarbox.domain.timing import milliseconds
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT

START: Final = datetime.fromisoformat("2026-03-14T15:09:26.535+00:00")
_HOUR: Final = 3_600_000
_DAY: Final = 24 * _HOUR
_MONTH: Final = timedelta(days=30)
#: How many standard deviations hold 90 %. A rounded one differs at the very limit: 2 of 1,324.
_DEVIATIONS: Final = NormalDist().inv_cdf(0.95)
#: How many recipients the messages of a history have: so few that no window is full, or many.
_SIZES: Final = ((1, 1, 1, 1, 2, 7, 30), (1, 2), (10, 50))
_SAVED: Final = "0198f2a4-5b6c-7d8e-9f01-23456789abcd"

#: What happens to a recipient: the event, its code, and how it counts.
_FATES: Final = {
    "delivered": (EventKind.DELIVERED, None),
    "bounced": (EventKind.BOUNCED, "general"),
    "complained": (EventKind.COMPLAINED, "abuse"),
    "away": (EventKind.BOUNCED_TRANSIENT, "general"),
    "listed": (EventKind.FAILED, "suppressed_by_ses"),
    "simulated": (EventKind.BOUNCED, "general"),
    "refused": (EventKind.FAILED, "suppressed_by_ses"),
}

type Scope = tuple[PauseScope, str]
#: Recipients, bounces and complaints.
type Counts = tuple[int, int, int]


@dataclass
class Sent:
    """A message, and what the definition knows of it."""

    record: Message
    fates: dict[str, str]
    #: Those whose event is recorded.
    known: set[str]
    is_sent: bool = True

    @property
    def created(self) -> int:
        return milliseconds(self.record.created_at)

    @property
    def counted(self) -> int:
        """When it counts as created: of shards, ten seconds at a time count together."""
        is_sharded = shard_count(self.record.message_id) > 1
        return self.created - self.created % 10_000 if is_sharded else self.created

    @property
    def counts(self) -> Counts:
        if not self.is_sent:
            return 0, 0, 0
        ignored = [
            one
            for one, fate in self.fates.items()
            if fate == "simulated" or (fate in {"listed", "refused"} and one in self.known)
        ]
        known = [self.fates[one] for one in self.known]
        return len(self.fates) - len(ignored), known.count("bounced"), known.count("complained")

    def is_in(self, scope: Scope) -> bool:
        kind, about = scope
        origin = self.record.origin
        if kind is PauseScope.ACCOUNT:
            return True
        return about == (origin.key_id if kind is PauseScope.KEY else origin.template)


class Reputation:
    """An account whose messages change, and whose stream is applied to the real ledger."""

    def __init__(self, *, may_pause: bool = True, **account: Any) -> None:
        self.now = START
        self.sent: dict[UUID, Sent] = {}
        self.raise_alert = mock.Mock()
        self.table, self.engine = metered_table()
        self.accounts = DynamoAccounts(self.table)
        self.table.put(account_item(builders.account(**account)))
        self.ledger = DynamoLedger(self.table)
        self.breaker = Breaker(
            ledger=self.ledger,
            pauses=Pauses(self.accounts),
            may_pause=may_pause,
            raise_alert=self.raise_alert,
            clock=lambda: self.now,
        )
        self.aggregation = Aggregation[Message](
            read=lambda message: message,
            written_at=lambda _: None,
            ledger=self.ledger,
            marks=DynamoRebuildMarks(self.table),
            key_uses=DynamoKeyUses(self.table),
            clock=lambda: self.now,
            judge=self.breaker.judge,
        )

    @property
    def pauses(self) -> tuple[Pause, ...]:
        account = self.accounts.get(ACCOUNT)
        assert account is not None
        return account.pauses

    def send(
        self, *fates: str, key: str | None = "key_1", template: str | None = None, shards: int = 1
    ) -> Sent:
        """Accept and hand over a message, with a fate for each recipient."""
        version = 0x7000 if shards == 1 else 0x8000 | (shards.bit_length() - 1) << 8
        bits = (version | random.getrandbits(8)) << 64 | 0b10 << 62 | random.getrandbits(62)
        identifier = UUID(int=milliseconds(self.now) << 80 | bits)
        to = tuple(
            f"r{n}@{'simulator.amazonses.com' if fate == 'simulated' else 'example.com'}"
            for n, fate in enumerate(fates)
        )
        starter = template if template != _SAVED else None
        saved = template if template == _SAVED else None
        origin = MessageOrigin(key_id=key, starter_template=starter, template_id=saved)
        record = builders.message(message_id=identifier, to=to, origin=origin)
        sent = Sent(record, dict(zip(to, fates, strict=True)), set())
        self.sent[identifier] = sent
        self._add(sent, Event(kind=EventKind.SENT, at=self.now))
        return sent

    def fail(self, code: str | None, *, after_hand_over: bool = False, **origin: Any) -> Sent:
        """Accept a message that nobody gets; without a code it only waits."""
        sent = self.send("delivered", **origin)
        sent.is_sent = False
        if not after_hand_over:
            sent.record = replace(sent.record, events=())
        if code is not None:
            self._add(sent, Event(kind=EventKind.FAILED, at=self.now, code=code))
        return sent

    def report(self, sent: Sent) -> None:
        """Record what happened to each recipient, if the message was handed over."""
        if not sent.is_sent:
            return
        for address, fate in sent.fates.items():
            kind, code = _FATES[fate]
            self._add(sent, Event(kind=kind, at=self.now, recipient=address, code=code))
        sent.known = {*sent.fates}

    def apply(self, *changed: Sent) -> None:
        """Apply the changes of some messages in one batch."""
        result = self.aggregation.apply([sent.record for sent in changed])
        assert (result.retry_from, result.errors) == (None, [])

    def bounce(self, count: int = 1, fate: str = "bounced", **origin: Any) -> None:
        """Send and report messages one by one, each in a batch of its own."""
        for _ in range(count):
            sent = self.send(fate, **origin)
            self.report(sent)
            self.apply(sent)
            self.now += timedelta(milliseconds=1)

    def resume(self, pause: Pause) -> None:
        """End a pause as an owner does."""
        ended = replace(pause, until=self.now, counts_from=self.now, owner_resumed=self.now)
        self.breaker.pauses.put(ACCOUNT, ended)

    def _add(self, sent: Sent, event: Event) -> None:
        changed = sent.record.with_events([event])
        if changed is not sent.record:
            sent.record = replace(changed, revision=sent.record.revision + 1)


def expected(world: Reputation, before: Sequence[Pause], changed: Iterable[Sent]) -> set[Pause]:
    """Return the pauses that the definition demands after a batch."""
    bad = [sent for sent in changed if sent.counts[1] or sent.counts[2]]
    pauses = {pause.key: pause for pause in before}
    if not bad:
        return {*pauses.values()}
    now = world.now
    templates = sorted({sent.record.origin.template for sent in bad} - {None})  # type: ignore[type-var]
    keys = sorted({sent.record.origin.key_id for sent in bad} - {None})  # type: ignore[type-var]
    scopes: list[Scope] = [(PauseScope.TEMPLATE, str(one)) for one in templates]
    scopes += [(PauseScope.KEY, str(one)) for one in keys]
    scopes.append((PauseScope.ACCOUNT, ""))
    small: list[Scope] = []
    for scope in scopes:
        stored = pauses.get((*scope, False))
        since = _since(stored, now)
        stops = {
            (one.scope, one.id): stop
            for one in pauses.values()
            if _is_narrower(one, scope) and (stop := _last_stop(one)) and now - stop < _MONTH
        }
        if sum(now - stop < timedelta(hours=24) for stop in stops.values()) > 2:
            stops = {}
        narrower = [one for one in small if one[0] is not scope[0]]
        if len(narrower) <= 2:
            stops |= dict.fromkeys(narrower, datetime.max.replace(tzinfo=UTC))
        is_small, new = False, None
        for start in _starts(now, bad):
            counts = _window(world, scope, since, stops, start)
            verdict = _verdict(counts)
            is_small = verdict is None and counts[0] < 20
            level_now = stored.level.rank if stored and stored.is_current(now) else -1
            if verdict and verdict[0].rank > level_now:
                new = verdict
                break
        if is_small:
            small.append(scope)
        if new is None:
            continue
        level, cause = new
        stopped_before, until, resumed = None, now + timedelta(hours=24), None
        if stored:
            stopped_before = _last_stop(stored)
            resumed = stored.owner_resumed
        again = stopped_before is not None and now - stopped_before < _MONTH
        pauses[*scope, False] = Pause(
            scope=scope[0],
            id=scope[1],
            level=level,
            cause=cause,
            since=now,
            until=None if level is PauseLevel.STOP and again else until,
            counts_from=_moment(stored, now),
            stopped_before=stopped_before,
            owner_resumed=resumed,
        )
    return {*pauses.values()}


def _starts(now: datetime, bad: Iterable[Sent]) -> list[int]:
    """Return when the windows begin: some of the messages may have been accepted long ago."""
    day = milliseconds(now) - _DAY
    oldest = max(min(one.created for one in bad), milliseconds(now - _MONTH))
    return [day, oldest] if _hour(oldest) < _hour(day) else [day]


def _moment(stored: Pause | None, now: datetime) -> datetime | None:
    """Return when the window of a scope started again."""
    if stored is None:
        return None
    moments = [stored.counts_from] if stored.counts_from else []
    if stored.level is PauseLevel.STOP and stored.until and stored.until <= now:
        moments.append(stored.until)
    return max(moments, default=None)


def _since(stored: Pause | None, now: datetime) -> int:
    moment = _moment(stored, now)
    return milliseconds(moment) if moment else 0


def _last_stop(pause: Pause) -> datetime | None:
    return pause.since if pause.level is PauseLevel.STOP else pause.stopped_before


def _is_narrower(pause: Pause, scope: Scope) -> bool:
    order = [PauseScope.TEMPLATE, PauseScope.KEY, PauseScope.ACCOUNT]
    return order.index(pause.scope) < order.index(scope[0])


def _hour(moment: int) -> int:
    return moment - moment % _HOUR


def _messages(world: Reputation, scope: Scope, since: int) -> list[Sent]:
    return [one for one in world.sent.values() if one.is_in(scope) and one.counted >= since]


def _hours(
    world: Reputation, scope: Scope, since: int, stops: Mapping[Scope, datetime]
) -> dict[int, Counts]:
    of_scope: dict[int, list[Sent]] = {}
    for one in _messages(world, scope, since):
        of_scope.setdefault(_hour(one.created), []).append(one)
    hours = {}
    for hour, messages in of_scope.items():
        left_out: dict[PauseScope, Counts] = {PauseScope.KEY: (0, 0, 0)}
        for narrow, stop in stops.items():  # a template's, whatever key sent them
            for one in _messages(world, narrow, since):
                if _hour(one.created) == hour and one.counted <= milliseconds(stop):
                    so_far = left_out.get(narrow[0], (0, 0, 0))
                    left_out[narrow[0]] = _plus(so_far, one.counts)
        total = (0, 0, 0)
        for one in messages:
            total = _plus(total, one.counts)
        less = [max(column) for column in zip(*left_out.values(), strict=True)]
        sent, bounced, complained = (max(n - left, 0) for n, left in zip(total, less, strict=True))
        hours[hour] = (sent, bounced, complained)
    return hours


def _window(
    world: Reputation, scope: Scope, since: int, stops: Mapping[Scope, datetime], start: int
) -> Counts:
    newest = _hour(max(one.created for one in world.sent.values()))
    day = _hour(start)
    hours = _hours(world, scope, since, stops)
    counts = (0, 0, 0)
    for hour, of_hour in hours.items():
        if hour >= newest or (hour >= day and hour + _HOUR > since):
            counts = _plus(counts, of_hour)
    until = min(newest, day)
    for hour in sorted(hours, reverse=True):
        if not (until - 29 * _DAY <= hour < until and hour >= since):
            continue
        missing = 500 - counts[0]
        sent, bounced, complained = hours[hour]
        if missing <= 0:
            break
        if sent > missing:
            bounced, complained = bounced * missing // sent, complained * missing // sent
            sent = missing
        counts = _plus(counts, (sent, bounced, complained))
    return counts


def _plus(one: Counts, other: Counts) -> Counts:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


def _verdict(counts: Counts) -> tuple[PauseLevel, PauseCause] | None:
    sent, bounced, complained = counts
    found = None
    levels = [PauseLevel.WARN, PauseLevel.BRAKE, PauseLevel.STOP]
    for number, level in enumerate(levels):
        if sent >= 20 and lower_root(bounced, sent) >= (0.03, 0.05, 0.08)[number]:
            found = (level, PauseCause.BOUNCES)
        elif (sent >= 1000 or complained >= 3) and lower_root(complained, sent) >= (
            0.0005,
            0.001,
            0.003,
        )[number]:
            found = (level, PauseCause.COMPLAINTS)
    return found


def lower_root(events: int, recipients: int) -> float:
    """Return the lower p of (rate - p)^2 = z^2 p (1 - p) / n, which is Wilson's lower bound."""
    if not recipients:
        return 0.0
    rate, z = min(events / recipients, 1), _DEVIATIONS
    a, b = 1 + z * z / recipients, -(2 * rate + z * z / recipients)
    return (-b - math.sqrt(max(b * b - 4 * a * rate * rate, 0))) / (2 * a)


def check_history(seed: int) -> int:
    """Play one random history, compare each judgement, and return how many there were."""
    random.seed(seed)
    world, judged, waiting = Reputation(), 0, list[Sent]()
    shards = random.choice((1, 1, 1, 4))
    sizes = random.choice(_SIZES)
    rates = {
        key: random.choice((0, 0.01, 0.02, 0.05, 0.1, 1)) for key in ("key_1", "key_2", _SAVED)
    }
    for _ in range(random.choice((0, 0, 12, 25))):  # windows that are full from the beginning
        key, template = random.choice(("key_1", "key_2")), random.choice((None, "otp", "welcome"))
        world.apply(world.send(*["delivered"] * 50, key=key, template=template, shards=shards))
        world.now += timedelta(milliseconds=round(random.random() * 2 * _HOUR))
    for _ in range(random.randint(1, 9)):
        hours = random.choice((0, 0, 0, 0.1, 1, 5, 30, 200))
        world.now += timedelta(milliseconds=round(hours * _HOUR * random.random()) + 1)
        batch = [_sent_at_random(world, rates, sizes, shards) for _ in range(random.randint(0, 16))]
        waiting += batch
        random.shuffle(waiting)
        reported = waiting[: random.randint(0, len(waiting))]
        waiting = waiting[len(reported) :]
        for sent in reported:
            world.report(sent)
        changed = [*{id(one): one for one in (*batch, *reported)}.values()]
        before = world.pauses
        if before and random.random() < 0.1:
            world.resume(random.choice(before))
            before = world.pauses
        if not changed:
            continue
        world.apply(*changed)
        judged += 1
        demanded = expected(world, before, changed)
        assert {*world.pauses} == demanded, f"seed {seed}"
        before, repeated = world.pauses, random.choices(changed, k=3)
        world.apply(*repeated)
        assert {*world.pauses} == expected(world, before, repeated), f"seed {seed}, repeated"
    return judged


def _sent_at_random(
    world: Reputation, rates: dict[str, float], sizes: Sequence[int], shards: int
) -> Sent:
    key = random.choice(("key_1", "key_1", "key_2"))
    template = random.choice((None, None, "otp", "welcome", _SAVED))
    if random.random() < 0.2:
        code = random.choice((None, "canceled", "not_released", "key_revoked", "message_rejected"))
        return world.fail(code, key=key, template=template)
    if random.random() < 0.05:  # a virus
        return world.fail("rejected", after_hand_over=True, key=key, template=template)
    rate = max(rates[key], rates.get(template or "", 0) / 2)
    fates = []
    for _ in range(random.choice(sizes)):
        others = ("delivered", "delivered", "delivered", "away", "listed", "simulated", "refused")
        fate = random.choice(("bounced", "bounced", "complained"))
        fates.append(fate if random.random() < rate else random.choice(others))
    world.now += timedelta(milliseconds=1)
    return world.send(*fates, key=key, template=template, shards=shards)
