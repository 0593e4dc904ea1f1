"""Write and read units of each partition key in each second, while accounts send at a high rate.

    .venv/bin/python -m benchmarks.scale

The service's own adapters use an engine in memory that counts units as DynamoDB bills them
(benchmarks/metered.py), by partition key and second of a simulated clock. A partition of DynamoDB
takes 1,000 write units and 3,000 read units a second, and one partition key may need a partition
to itself; more is throttled. Bursts, which DynamoDB allows for some seconds, are not counted on.

Each message lives its whole life: the look-up of key, account and suppressions, the commit with or
without a claim, the second look at suppressions, the lease, the outcome, SES's two events, the
statistics, and the posts to a webhook endpoint, which accepts each at once. The run crosses the
end of an hour. Some messages of the hours before, which are made when they are read, get their
last event only now, if the account has several shards. The changes of each shard are applied in
batches as its stream delivers them, one call after another. Containers that accept count the quota,
and workers take the tokens of each email alone from a rate of SES that is a tenth above the load.
"""

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import count
from math import ceil
from typing import Any, Final
from uuid import UUID

from benchmarks.history import BATCH, WINDOW, message_at
from benchmarks.metered import Partitions, busiest, largest_item, throttled
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.directory import DynamoDirectory
from pillarbox.adapters.dynamodb.accounts.key_uses import DynamoKeyUses
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.history.ledger import DynamoLedger, copy_place, place
from pillarbox.adapters.dynamodb.history.ledger_format import pack, rollup_attributes
from pillarbox.adapters.dynamodb.history.rebuild_marks import DynamoRebuildMarks
from pillarbox.adapters.dynamodb.history.search_index import DynamoSearchIndex
from pillarbox.adapters.dynamodb.messages.claims import DynamoClaims
from pillarbox.adapters.dynamodb.messages.heartbeat import DynamoHeartbeat
from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
from pillarbox.adapters.dynamodb.messages.quotas import DynamoQuotas
from pillarbox.adapters.dynamodb.messages.sending_rate import DynamoSendingRate
from pillarbox.adapters.dynamodb.records import account_item, key_item, message_item
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.dynamodb.webhooks.deliveries import DynamoWebhookDeliveries
from pillarbox.adapters.dynamodb.webhooks.endpoints import (
    DynamoEndpointHealths,
    DynamoWebhookEndpoints,
)
from pillarbox.application.history.aggregate import Aggregation, SearchIndexing
from pillarbox.application.ports import Claim
from pillarbox.domain.accounts.account import Account, Plan
from pillarbox.domain.accounts.key import ApiKey, KeyType
from pillarbox.domain.accounts.quota import Amount
from pillarbox.domain.ids import created_at, new_id
from pillarbox.domain.messages.message import Event, EventKind, Message, Status
from pillarbox.domain.messages.statistics import Granularity, IndexEntry, Rollup
from pillarbox.domain.timing import milliseconds
from pillarbox.domain.webhooks.endpoint import DeliveryAttempt, DeliveryState, WebhookDelivery
from pillarbox.domain.webhooks.events import new_events

MAX_WRITES, MAX_READS = 1000, 3000
START: Final = datetime(2026, 3, 20, 16, 59, 40, tzinfo=UTC)
#: Containers of `record_feedback`, each of which moves the heartbeat about once a minute.
PROCESSES: Final = 200
#: Containers that accept, for each email of a second, and workers that deliver.
ACCEPTORS: Final = 0.06
WORKERS: Final = 0.05
#: SES's rate, for each email of a second.
_SES_RATE: Final = 1.1
#: The share of messages that get a complaint hours later: at more, the breaker stops the sender
#: (domain/accounts/reputation.py).
LATE: Final = 0.003
HOURS_BEFORE: Final = 3
_DELIVERED: Final = frozenset({Status.SENT, Status.DELIVERED})
#: What a call takes at least, in milliseconds. The calls of a batch follow each other.
_CALL: Final = 4
#: The milliseconds of an item of one shard's entries (adapters/dynamodb/history/ledger.py).
_SPAN: Final = 1_000
_SECOND: Final = timedelta(seconds=1)
_ENDPOINT: Final = str(new_id(START))


@dataclass
class Sender:
    """An account that sends at a rate, with or without idempotency keys."""

    number: int
    rate: float
    shards: int
    keyed: bool
    account: Account = field(init=False)
    key: ApiKey = field(init=False)

    def __post_init__(self) -> None:
        self.account = Account(
            account_id=f"benchmark{self.number:03}",
            name="Shop of Many Things",
            plan=Plan.ENTERPRISE,
            created_at=START,
            senders={"receipts@mail.shop.example": True},
            default_sender="receipts@mail.shop.example",
            shards=self.shards,
            sharded_from=START - timedelta(days=1),
        )
        self.key = ApiKey(
            key_id=str(new_id(START)),
            account_id=self.account.account_id,
            name="production",
            type=KeyType.LIVE,
            preset=None,
            scopes=frozenset({"emails:send"}),
            digest=f"{self.number:064x}",
            created_at=START,
        )


class Simulation:
    """Accounts that send for some seconds on a simulated clock."""

    def __init__(self, senders: Iterable[Sender], seconds: int) -> None:
        self.senders, self.seconds = list(senders), seconds
        self.table, self.engine = Table("metered"), Partitions()
        vars(self.table)["client"] = self.engine
        # One engine counts both tables.
        self.directory = DynamoDirectory(self.table, Table("identities"))
        self.claims = DynamoClaims(self.table)
        self.messages = DynamoMessages(self.table)
        self.suppressions = DynamoSuppressions(self.table)
        self.deliveries = DynamoWebhookDeliveries(self.table)
        self.heartbeats = [DynamoHeartbeat(self.table) for _ in range(PROCESSES)]
        self.aggregation = Aggregation[Message](
            read=lambda message: message,
            written_at=lambda _: None,
            ledger=DynamoLedger(self.table),
            marks=DynamoRebuildMarks(self.table),
            key_uses=DynamoKeyUses(self.table),
            clock=lambda: START,
            search=SearchIndexing(_search_change, DynamoSearchIndex(self.table)),
        )
        load = sum(sender.rate for sender in self.senders)
        self.quotas = [DynamoQuotas(self.table) for _ in range(ceil(load * ACCEPTORS))]
        self.rates = [
            DynamoSendingRate(self.table, lambda: load * _SES_RATE, self._clock, self._pause)
            for _ in range(ceil(load * WORKERS))
        ]
        for quotas in self.quotas:
            vars(quotas)["_refunds"] = self.table
        random.seed(1)  # of the workers' waits
        self.rng = random.Random(1)  # noqa: S311  numbers from a seed, no secrets
        self.sent = self.waited = 0
        self._streams: defaultdict[str, list[Message]] = defaultdict(list)
        self._queue: list[tuple[datetime, int, Any]] = []
        self._sizes: dict[str, int] = {}
        self._order = count()
        self._end = START + seconds * _SECOND

    def run(self) -> None:
        """Run the whole life of every message that is accepted within the time."""
        for sender in self.senders:
            account_id = sender.account.account_id
            for item in (account_item(sender.account), key_item(sender.key)):
                self.engine.partition(item["pk"]["S"]).put(item["sk"]["S"], item)
            if sender.shards > 1:
                self._fill_past(sender)
            for number in range(round(sender.rate * self.seconds)):
                at = START + number / sender.rate * _SECOND
                self._at(at, lambda at=at, sender=sender: self._accept(sender, at))
                if sender.shards > 1 and self.rng.random() < LATE:
                    self._at(at, lambda at=at, account_id=account_id: self._late(account_id, at))
        while self._queue:
            now, _, step = heappop(self._queue)
            if now >= self._end:
                return
            self.engine.now = _since_start(now)
            step()

    def _at(self, moment: datetime, step: Any) -> None:  # noqa: ANN401  any function
        heappush(self._queue, (moment, next(self._order), step))

    def _clock(self) -> datetime:
        return START + timedelta(milliseconds=self.engine.now)

    def _pause(self, seconds: float) -> None:
        self.engine.now += ceil(seconds * 1000)

    def _accept(self, sender: Sender, now: datetime) -> None:
        account = sender.account
        recipient = f"customer-{self.rng.randrange(10**6)}@mailbox.example"
        self.directory.look_up(
            account.account_id, key_digest=sender.key.digest, addresses=[recipient]
        )
        self.rng.choice(self.quotas).reserve(account.account_id, Amount(1, 1), account.limits, now)
        message_id = new_id(now, account.shards_at(now))
        if sender.keyed:
            digest = f"{self.rng.getrandbits(256):064x}"
            claim = Claim(
                account_id=account.account_id,
                digest=digest,
                body_hash=digest,
                generation=message_id,
            )
            self.claims.put(claim, now)
            message_id = claim.message_ids[0]
        life = message_at(milliseconds(now))
        message = replace(
            life,
            account_id=account.account_id,
            message_id=message_id,
            to=(recipient,),
            created_at=created_at(message_id),
            events=(),
            provider_message_id=None,
            attempt=0,
            revision=0,
        )
        self.messages.commit(message)
        self.sent += 1
        self._changed(message, now)
        self._at(now + 0.2 * _SECOND, lambda: self._deliver(message, now + 0.2 * _SECOND))

    def _deliver(self, message: Message, now: datetime) -> None:
        wait = self.rng.choice(self.rates).acquire(message.account_id, 1, urgent=False)
        self.waited += wait is not None
        # Others go on while it waits for its tokens.
        at, self.engine.now = self._clock() + (wait or timedelta()), _since_start(now)
        step = self._hand_over if wait is None else self._deliver
        self._at(at, lambda: step(message, at))

    def _hand_over(self, message: Message, now: datetime) -> None:
        self.suppressions.find_suppressed(message.account_id, message.to)
        leased = self.messages.lease(
            message.account_id, message.message_id, message.body_hash, "w" * 16, now
        )
        if not isinstance(leased, Message):
            raise TypeError(leased)
        self._changed(leased, now)
        sent = leased.with_events([Event(kind=EventKind.SENT, at=now)], "0100" + "0" * 56)
        self.messages.save(replace(sent, lease=None))
        self._post(leased, sent)
        self._changed(replace(sent, lease=None, revision=leased.revision + 1), now)
        for kind, wait in (
            (EventKind.SENT, 0.3),
            (EventKind.DELIVERED, self.rng.uniform(1, 9)),
        ):
            at = now + wait * _SECOND
            self._at(at, lambda at=at, kind=kind: self._record(message, kind, at))

    def _record(self, message: Message, kind: EventKind, now: datetime) -> None:
        self.rng.choice(self.heartbeats).record(now)
        current = self.messages.peek(message.account_id, message.message_id)
        if current is None:
            raise LookupError(message.message_id)
        recipient = None if kind is EventKind.SENT else message.to[0]
        changed = current.with_events([Event(kind=kind, at=now, recipient=recipient)])
        if changed is not current:
            self._post(current, changed)
            self.messages.save(changed)
            self._changed(replace(changed, revision=current.revision + 1), now)

    def _post(self, old: Message, new: Message) -> None:
        """Post what a change adds, and write the log, as the worker of webhooks does."""
        for event in (each.for_endpoint(_ENDPOINT) for each in new_events(old, new)):
            DynamoWebhookEndpoints(self.table, self.table).get(event.account_id, _ENDPOINT)
            DynamoEndpointHealths(self.table).get(event.account_id, _ENDPOINT)
            self.deliveries.peek(event.account_id, _ENDPOINT, event.delivery_id)
            self.messages.peek(new.account_id, new.message_id)
            attempts = (DeliveryAttempt(at=event.at, status_code=200, milliseconds=80),)
            state = DeliveryState.DELIVERED
            self.deliveries.put(WebhookDelivery(event=event, state=state, attempts=attempts))

    def _changed(self, message: Message, now: datetime) -> None:
        """Put a change into the stream of its partition; a batch is full or waits for others."""
        pk = keys.message(message.account_id, message.message_id)["pk"]["S"]
        stream = self._streams[pk]
        stream.append(message)
        if len(stream) == 1:
            self._at(now + WINDOW, lambda: self._aggregate(pk, stream))
        # Streams are not in step: the first batch of each has another size.
        if len(stream) >= self._sizes.setdefault(pk, self.rng.randrange(200, BATCH)):
            self._sizes[pk] = BATCH
            self._aggregate(pk, stream)

    def _aggregate(self, pk: str, stream: list[Message]) -> None:
        if self._streams[pk] is stream:
            self._streams[pk] = []
            self.engine.milliseconds_per_call = _CALL
            result = self.aggregation.apply(stream)
            self.engine.milliseconds_per_call = 0
            if result.retry_from is not None:
                raise result.errors[0]

    # The hours before

    def _fill_past(self, sender: Sender) -> None:
        """Fill the ledger with the hours before; its items are made when they are read."""
        engine, account_id = self.engine, sender.account.account_id
        partition = engine.partition(keys.entries(account_id, 0)["pk"]["S"])
        now = milliseconds(START)
        first = Granularity.HOUR.start(now) - (HOURS_BEFORE - 1) * 3_600_000
        items: dict[str, Any] = {}
        for start in range(first, now, _SPAN):
            for shard in range(sender.shards):
                sample = next(self._past(sender, start, shard, 1))
                group, moment = copy_place(sample)
                for key in (
                    keys.entries(account_id, place(sample)),
                    keys.updates(account_id, group, moment),
                ):
                    items[key["sk"]["S"]] = lambda key=key, start=start, shard=shard: (
                        key | pack(self._past(sender, start, shard, self._count(sender)))
                    )
        in_ten_seconds = self._count(sender) * sender.shards * 10_000 // _SPAN
        for start in range(first, now, 10_000):
            rollup = Rollup(Granularity.TEN_SECONDS, start)
            rollup.by_status_and_update[Status.DELIVERED, start] = in_ten_seconds
            rollup.reached.update(dict.fromkeys(_DELIVERED, in_ten_seconds))
            key = keys.rollup(account_id, Granularity.TEN_SECONDS, start)
            items[key["sk"]["S"]] = key | rollup_attributes(rollup, 1)
        partition.fill(items)

    @staticmethod
    def _count(sender: Sender) -> int:
        return round(sender.rate * _SPAN / 1000 / sender.shards)

    def _past(self, sender: Sender, start: int, shard: int, number: int) -> Iterator[IndexEntry]:
        """Return messages of one item, delivered at once: the same ones each time."""
        version = 8 << 12 | (sender.shards.bit_length() - 1) << 8 | shard
        for position in range(number):
            moment = start + position * _SPAN // number
            identifier = UUID(int=(moment << 16 | version) << 64 | 2 << 62 | position)
            yield IndexEntry(identifier, 3, Status.DELIVERED, moment, _DELIVERED)

    def _late(self, account_id: str, now: datetime) -> None:
        """Record a complaint about a message of the hours before."""
        sender = next(s for s in self.senders if s.account.account_id == account_id)
        hours = HOURS_BEFORE - 1
        start = milliseconds(START) // _SPAN * _SPAN
        start -= self.rng.randrange(1, hours * 3_600_000 // _SPAN) * _SPAN
        shard = self.rng.randrange(sender.shards)
        entries = [*self._past(sender, start, shard, self._count(sender))]
        entry = self.rng.choice(entries)
        at = created_at(entry.message_id)
        message = replace(message_at(entry.created), account_id=account_id, events=())
        message = replace(message, message_id=entry.message_id, created_at=at).with_events(
            Event(kind=kind, at=at) for kind in (EventKind.SENT, EventKind.DELIVERED)
        )
        item = message_item(message)
        self.engine.partition(item["pk"]["S"]).put(item["sk"]["S"], item)
        self._record(message, EventKind.COMPLAINED, now)


def _since_start(moment: datetime) -> int:
    return (moment - START) // timedelta(milliseconds=1)


def _search_change(message: Message, _: Message | None) -> tuple[None, Message | None]:
    """Return what the search index sees: only the first revision of a message."""
    return None, None if message.revision else message


def scenarios(seconds: int) -> Iterator[tuple[str, Simulation]]:
    """Return what to simulate, each with a name."""
    for shards, keyed in ((1, False), (8, False), (8, True)):
        with_keys = "with keys" if keyed else "without keys"
        name = f"one account, 1,000 a second, {with_keys}, {shards} shards"
        yield name, Simulation([Sender(0, 1000, shards, keyed)], seconds)
    senders = [Sender(number, 1000, 8, keyed=True) for number in range(3)]
    senders += [Sender(number, 100, 1, keyed=True) for number in range(3, 23)]
    name = "5,000 a second: 3 accounts of 1,000 with 8 shards, 20 of 100 with 1"
    yield name, Simulation(senders, seconds)


def main() -> None:
    """Print all figures."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 24
    print(f"Python {sys.version.split()[0]}, {seconds} simulated seconds from {START:%H:%M:%S}")
    for name, simulation in scenarios(seconds):
        simulation.run()
        engine = simulation.engine
        reads = Counter({where: halves // 2 for where, halves in engine.reads.items()})
        print(f"\n{name}: {simulation.sent:,} messages")
        print(f"throttled: {throttled(engine.writes, MAX_WRITES):,} write units,", end=" ")
        print(f"{throttled(reads, MAX_READS):,} read units; came back for tokens:", end=" ")
        print(f"{simulation.waited:,}")
        statistics = sum(n for (pk, _), n in engine.writes.items() if pk.startswith("STAT#"))
        print(f"write units a message: {engine.write_units / simulation.sent:.2f},", end=" ")
        print(f"of them for the statistics {statistics / simulation.sent:.2f};", end=" ")
        print(f"largest item of entries {largest_item(engine) / 1024:.0f} KB")
        print("\n| partition keys | most write units in a second | most read units |")
        print("|---|---:|---:|")
        for prefix in sorted({pk.partition("#")[0] for pk, _ in engine.reads}):
            of_writes, of_reads = busiest(engine.writes, prefix), busiest(reads, prefix)
            print(f"| `{prefix}` | {of_writes:,} | {of_reads:,} |", flush=True)


if __name__ == "__main__":
    main()
