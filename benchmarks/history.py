"""What listing, analytics and statistics cost, in DynamoDB's read and write units.

    .venv/bin/python -m benchmarks.history

The service's own code runs over an engine in memory that counts units as
DynamoDB bills them (benchmarks/metered.py); all reads are consistent ones. The
accounts have mail of 31 days, most of it by day, and what becomes of it:
delivered in seconds, a little of it hours later, bounces, complaints after
days. Their ledger is written as `pillarbox stats rebuild` writes it; the part
on keeping it up uses the stream's batches.
"""

# ruff: noqa: S311  chance from a seed, and no secret

import random
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from benchmarks.metered import Metered, Partition, metered_table
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.ledger import DynamoLedger
from pillarbox.adapters.dynamodb.ledger_audit import items_of
from pillarbox.adapters.dynamodb.message_log import DynamoMessageLog
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.application.history.aggregate import Aggregation
from pillarbox.application.history.queries import Bucket, HistoryQueries, PageRequest, SortBy
from pillarbox.domain.message import Event, EventKind, Message, Status
from pillarbox.domain.statistics import IndexEntry, index_entry, milliseconds

ACCOUNT = "benchmark001"
NOW = datetime(2026, 3, 20, 17, 42, 31, tzinfo=UTC)
DAYS = 31
SIZES = (1_000, 100_000, 1_000_000)
#: As template.yaml has it for aggregate_stats.
BATCH, WINDOW = 2000, timedelta(seconds=10)
#: Of all messages: by day, and what becomes of them, one share after the other.
BY_DAY = 0.75
REFUSED, BOUNCED, DELIVERED_LATE, COMPLAINED = 0.005, 0.025, 0.031, 0.032


def created(count: int) -> Iterator[int]:
    """So many moments of the last month, three in four of them by day."""
    start = milliseconds(NOW) - DAYS * 86_400_000
    for number in range(count):
        chance = random.Random(number)
        day = chance.randrange(DAYS)
        hour = 8 + chance.random() * 10 if chance.random() < BY_DAY else chance.random() * 24
        moment = start + int((day + hour / 24) * 86_400_000)
        yield min(moment, milliseconds(NOW) - chance.randrange(1, 600_000))


def message_at(moment: int) -> Message:
    """The message of a moment, and what became of it: always the same."""
    chance = random.Random(moment)
    at = datetime.fromtimestamp(moment / 1000, UTC)
    identifier = UUID(int=moment << 80 | 7 << 76 | 2 << 62 | chance.getrandbits(62))
    message = Message(
        account_id=ACCOUNT,
        message_id=identifier,
        created_at=at,
        body_hash=f"{chance.getrandbits(256):064x}",
        subject="Your receipt from the Shop of Many Things, no. 48213",
        sender="receipts@mail.shop.example",
        from_name="The Shop of Many Things",
        to=(f"customer-{chance.randrange(10**6)}@mailbox.example",),
        cc=(),
        bcc=(),
        provider_message_id="0100019cfa1b2c3d-00000000-1111-2222-3333-444444444444-000000",
        attempt=1,
        revision=3,
    )
    return message.with_events(event for event in fate(at, chance) if event.at < NOW)


def fate(at: datetime, chance: random.Random) -> Iterator[Event]:
    """What happens to a message."""
    where = "customer@mailbox.example"
    sent = at + timedelta(seconds=chance.uniform(0.3, 3))
    kind = chance.random()
    if kind < REFUSED:
        yield Event(kind=EventKind.FAILED, at=sent, code="message_rejected", reason="No.")
        return
    yield Event(kind=EventKind.SENT, at=sent)
    if kind < BOUNCED:
        bounced = sent + timedelta(seconds=chance.uniform(1, 90))
        reason = "smtp; 550 5.1.1 no such user"
        yield Event(
            kind=EventKind.BOUNCED, at=bounced, recipient=where, code="general", reason=reason
        )
        return
    after = timedelta(seconds=chance.uniform(1, 9))
    if kind < DELIVERED_LATE:
        after = timedelta(hours=chance.uniform(1, 12))
    yield Event(kind=EventKind.DELIVERED, at=sent + after, recipient=where)
    if kind < COMPLAINED:
        later = sent + timedelta(hours=chance.uniform(2, 72))
        yield Event(kind=EventKind.COMPLAINED, at=later, recipient=where, code="abuse")


def seeded(count: int) -> tuple[HistoryQueries, Metered]:
    """An account with so many messages."""
    table, engine = metered_table()
    entries: dict[str, IndexEntry] = {}
    rows: dict[str, Callable[[], Any]] = {}
    for moment in created(count):
        entry = index_entry(message_at(moment))
        entries[str(entry.message_id)] = entry
        rows[str(entry.message_id)] = lambda moment=moment: message_item(message_at(moment))  # type: ignore[misc]
    engine.partitions[f"MSG#{ACCOUNT}"] = messages = Partition()
    messages.fill(rows)
    statistics = engine.partition(keys.entries(ACCOUNT, 0)["pk"]["S"])
    made = items_of(ACCOUNT, entries.values())
    statistics.fill({sort_key: right.item(1) for sort_key, right in made.items()})
    overview = HistoryQueries(
        log=DynamoMessageLog(table), ledger=DynamoLedger(table), clock=lambda: NOW
    )
    return overview, engine


def cost(engine: Metered, call: Callable[[], object]) -> tuple[int, int]:
    """The read units and the calls of one request."""
    engine.reset()
    call()
    return engine.read_units, engine.calls


def pages(count: int) -> Iterator[tuple[str, PageRequest]]:
    """The pages of 50 that are looked at."""
    deep = count * 9 // 10
    for sort_by in SortBy:
        yield f"{sort_by.value}, skip 0", PageRequest(sort_by=sort_by)
        yield f"{sort_by.value}, skip {deep / count:.0%}", PageRequest(sort_by=sort_by, skip=deep)
    for status in (Status.DELIVERED, Status.BOUNCED, Status.COMPLAINED):
        asked = PageRequest(status=status)
        yield f"{status.value}, created_at, skip 0", asked
        yield f"{status.value}, updated_at, skip 0", replace(asked, sort_by=SortBy.UPDATED_AT)
    window = (
        milliseconds(NOW - timedelta(days=9, minutes=17)),
        milliseconds(NOW - timedelta(days=7)),
    )
    asked = PageRequest(since=window[0], until=window[1])
    yield "two days, created_at, skip 0", asked
    yield "two days, updated_at, skip 0", replace(asked, sort_by=SortBy.UPDATED_AT)


def reading(sizes: tuple[int, ...]) -> None:
    """Print the read units of pages and analytics at each size."""
    figures: dict[str, list[tuple[int, int]]] = {}
    until = milliseconds(NOW)
    since = until - DAYS * 86_400_000
    for size in sizes:
        overview, engine = seeded(size)
        asked: dict[str, Callable[[], object]] = {
            name: partial(overview.page, ACCOUNT, request) for name, request in pages(size)
        }
        for bucket in Bucket:
            name = f"analytics, 31 days by {bucket.value}"
            asked[name] = partial(overview.analytics, ACCOUNT, since, until, bucket)
        for name, call in asked.items():
            figures.setdefault(name, []).append(cost(engine, call))
    print("\nRead units (calls)\n")
    print("| messages |" + "".join(f" {size:,} |" for size in sizes) + " largest / smallest |")
    print("|---|" + "---:|" * (len(sizes) + 1))
    for name, row in figures.items():
        cells = "".join(f" {units} ({calls}) |" for units, calls in row)
        print(f"| {name} |{cells} {spread(row):.1f} |")
    plain = [each for name in figures if name.split(",")[0] in {*SortBy} for each in figures[name]]
    print(f"\nAll orders, places and sizes without a filter: {spread(plain):.1f}")


def spread(figures: Iterable[tuple[int, int]]) -> float:
    """The most units over the fewest."""
    units = [each for each, _ in figures]
    return max(units) / min(units)


def changes_of(rate: float, seconds: float) -> list[tuple[datetime, Message]]:
    """What the stream brings while an account sends at a rate, and when."""
    start = NOW - timedelta(hours=8)
    changes: list[tuple[datetime, Message]] = []
    for number in range(round(rate * seconds)):
        message = message_at(milliseconds(start) + round(number / rate * 1000))
        current = replace(message, events=(), revision=0, attempt=0)
        changes.append((message.created_at, current))
        changes.append((message.created_at, replace(current, revision=1, attempt=1)))  # its lease
        for event in message.events:
            current = replace(current.with_events([event]), revision=current.revision + 1)
            changes.append((event.at, current))
    end = start + timedelta(seconds=seconds)
    return sorted((change for change in changes if change[0] < end), key=lambda change: change[0])


def keeping_up(rate: float, seconds: float) -> tuple[float, float]:
    """Follow an account that sends at a rate: messages a batch, write units a message."""
    table, engine = metered_table()
    aggregation = Aggregation[Message](read=lambda changed: changed, ledger=DynamoLedger(table))
    changes, batches, position = changes_of(rate, seconds), 0, 0
    while position < len(changes):
        end = changes[position][0] + WINDOW
        batch = [message for at, message in changes[position : position + BATCH] if at < end]
        aggregation.apply(batch)
        position += len(batch)
        batches += 1
    return rate * seconds / batches, engine.write_units / (rate * seconds)


def late_change() -> int:
    """The write units of one change of a message of the month before, in a batch by itself."""
    table, engine = metered_table()
    aggregation = Aggregation[Message](read=lambda changed: changed, ledger=DynamoLedger(table))
    old, new = (message_at(milliseconds(NOW) - days * 86_400_000) for days in (40, 1))
    aggregation.apply([replace(old, events=old.events[:1])])
    aggregation.apply([new])
    engine.reset()
    aggregation.apply([replace(old, revision=9)])
    return engine.write_units


def main() -> None:
    """Print all figures."""
    print(f"Python {sys.version.split()[0]}")
    reading(tuple(int(size) for size in sys.argv[1:]) or SIZES)
    print("\nStatistics, in batches of 10 s or 2,000 changes\n")
    print("| messages a second | messages a batch | write units a message |")
    print("|---:|---:|---:|")
    for rate, seconds in ((0.02, 20_000), (0.4, 4000), (2, 1000), (10, 300), (50, 120)):
        batch, written = keeping_up(rate, seconds)
        print(f"| {rate:g} | {batch:.1f} | {written:.2f} |")
    print(f"\nA change of a message of the month before, by itself: {late_change()} write units")


if __name__ == "__main__":
    main()
