"""The cost of lists, analytics and the ledger in DynamoDB's read and write units.

    .venv/bin/python -m benchmarks.history
    .venv/bin/python -m benchmarks.history --shards 8 1000 100000

The service's own code uses an engine in memory that counts units as DynamoDB
bills them (benchmarks/metered.py). All reads are consistent. The accounts have
messages of 31 days, three in four of them sent in ten hours of the day. Most are
delivered in seconds, a few of them hours later; some bounce; a few get a complaint
after days. Their ledger is written as `pillarbox stats rebuild` writes it. The part
about writing applies batches as the stream delivers them.
"""

# ruff: noqa: S311  numbers from a seed, no secrets

import random
import sys
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from itertools import product
from typing import Any, NamedTuple
from uuid import UUID

from benchmarks.metered import Metered, metered_table
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.accounts.api_keys import DynamoKeyUses
from pillarbox.adapters.dynamodb.history.ledger import DynamoLedger
from pillarbox.adapters.dynamodb.history.ledger_audit import DynamoLedgerAudit, items_of
from pillarbox.adapters.dynamodb.history.message_log import DynamoMessageLog, DynamoSearchIndex
from pillarbox.adapters.dynamodb.history.rebuild_marks import DynamoRebuildMarks
from pillarbox.adapters.dynamodb.records import message_item, message_of
from pillarbox.adapters.dynamodb.table import Table, from_item
from pillarbox.application.delivery.sweep import HOPELESS, OVERDUE, TIME_RANGE
from pillarbox.application.history.aggregate import Aggregation, LedgerCheck
from pillarbox.application.history.pagination import PageRequest, SortBy
from pillarbox.application.history.queries import Bucket, HistoryQueries
from pillarbox.domain.messages.message import (
    Event,
    EventKind,
    Message,
    MessageOrigin,
    SendRoute,
    Status,
)
from pillarbox.domain.messages.statistics import IndexEntry, Subset, SubsetKind, index_entry
from pillarbox.domain.timing import milliseconds

ACCOUNT = "benchmark001"
_MILLISECOND = timedelta(milliseconds=1)
NOW = datetime(2026, 3, 20, 17, 42, 31, tzinfo=UTC)
DAYS = 31
SIZES = (1_000, 100_000, 1_000_000)
#: The batch size and window of aggregate_stats in template.yaml.
BATCH, WINDOW = 2000, timedelta(seconds=10)
#: Three keys send seven templates: each message comes from one of 21 pairs.
KEYS = tuple(f"key_{ACCOUNT}{number:08d}" for number in range(3))
TEMPLATES = ("otp", "magic_link", *(str(UUID(int=(7 << 76 | 2 << 62) + n)) for n in range(5)))
ORIGINS = tuple(
    MessageOrigin(
        route=SendRoute.HTTP,
        key_id=key,
        starter_template=None if "-" in template else template,
        template_id=template if "-" in template else None,
        request_id="5f0c2c9e-8f0f-4a3c-9d57-0f5d0b6b7c1e",
    )
    for key, template in product(KEYS, TEMPLATES)
)
SUBSETS = (Subset(SubsetKind.KEY, KEYS[0]), Subset(SubsetKind.TEMPLATE, TEMPLATES[-1]))
#: One message in this many comes from a template of its own.
RARE = 97
RARE_ORIGIN = replace(ORIGINS[0], starter_template="security_alert")
#: The share of messages that are sent in ten hours of each day; the others at any hour.
BY_DAY = 0.75
#: Upper bounds on a scale of 0 to 1 of the messages with each outcome; the rest is delivered.
REJECTED, BOUNCED, DELIVERED_LATE, COMPLAINED = 0.005, 0.025, 0.031, 0.032


def creation_times(count: int) -> Iterator[int]:
    """Return random times of the last month."""
    start = milliseconds(NOW) - DAYS * 86_400_000
    for number in range(count):
        rng = random.Random(number)
        day = rng.randrange(DAYS)
        hour = 8 + rng.random() * 10 if rng.random() < BY_DAY else rng.random() * 24
        moment = start + int((day + hour / 24) * 86_400_000)
        yield min(moment, milliseconds(NOW) - rng.randrange(1, 600_000))


@lru_cache(16_384)
def message_at(moment: int, shards: int = 1) -> Message:
    """Return the message created at a time, with its events: always the same for that time."""
    rng = random.Random(moment)
    at = datetime.fromtimestamp(moment / 1000, UTC)
    low_bits = rng.getrandbits(62)
    version = 7 << 12
    if shards > 1:
        version = 8 << 12 | (shards.bit_length() - 1) << 8 | low_bits & (shards - 1)
    identifier = UUID(int=(moment << 16 | version) << 64 | 2 << 62 | low_bits)
    message = Message(
        account_id=ACCOUNT,
        message_id=identifier,
        created_at=at,
        body_hash=f"{rng.getrandbits(256):064x}",
        subject="Your receipt from the Shop of Many Things, no. 48213",
        sender="receipts@mail.shop.example",
        from_name="The Shop of Many Things",
        to=(f"customer-{rng.randrange(10**6)}@mailbox.example",),
        cc=(),
        bcc=(),
        origin=ORIGINS[moment % len(ORIGINS)] if moment % RARE else RARE_ORIGIN,
        provider_message_id="0100019cfa1b2c3d-00000000-1111-2222-3333-444444444444-000000",
        attempt=1,
        revision=3,
    )
    return message.with_events(event for event in events(at, rng) if event.at < NOW)


def events(accepted: datetime, rng: random.Random) -> Iterator[Event]:
    """Return the events of a message."""
    recipient = "customer@mailbox.example"
    sent = accepted + timedelta(seconds=rng.uniform(0.3, 3))
    outcome = rng.random()
    if outcome < REJECTED:
        yield Event(kind=EventKind.FAILED, at=sent, code="message_rejected", reason="No.")
        return
    yield Event(kind=EventKind.SENT, at=sent)
    if outcome < BOUNCED:
        bounced = sent + timedelta(seconds=rng.uniform(1, 90))
        reason = "smtp; 550 5.1.1 no such user"
        yield Event(
            kind=EventKind.BOUNCED, at=bounced, recipient=recipient, code="general", reason=reason
        )
        return
    after = timedelta(seconds=rng.uniform(1, 9))
    if outcome < DELIVERED_LATE:
        after = timedelta(hours=rng.uniform(1, 12))
    yield Event(kind=EventKind.DELIVERED, at=sent + after, recipient=recipient)
    if outcome < COMPLAINED:
        later = sent + timedelta(hours=rng.uniform(2, 72))
        yield Event(kind=EventKind.COMPLAINED, at=later, recipient=recipient, code="abuse")


def account_with(count: int, shards: int = 1) -> tuple[HistoryQueries, Metered]:
    """Return the history of an account with this many messages, and the engine that holds it."""
    table, engine = metered_table()
    entries: dict[str, IndexEntry] = {}
    records: defaultdict[str, dict[str, Callable[[], Any]]] = defaultdict(dict)
    for moment in creation_times(count):
        entry = index_entry(message_at(moment, shards))
        key = keys.message(ACCOUNT, entry.message_id)
        entries[key["sk"]["S"]] = entry
        records[key["pk"]["S"]][key["sk"]["S"]] = lambda moment=moment: message_item(  # type: ignore[misc]
            message_at(moment, shards)
        )
    for pk, in_partition in records.items():
        engine.partition(pk).fill(in_partition)
    fill_ledger(engine, entries.values())
    queries = HistoryQueries(
        log=DynamoMessageLog(table),
        ledger=DynamoLedger(table),
        index=DynamoSearchIndex(table),
        clock=lambda: NOW,
        for_each=engine.in_parallel,
    )
    return queries, engine


def fill_ledger(engine: Metered, entries: Iterable[IndexEntry]) -> None:
    """Put the ledger that these entries make."""
    in_partition: defaultdict[str, dict[str, Callable[[], Any]]] = defaultdict(dict)
    for (pk, sort_key), item in items_of(ACCOUNT, entries).items():
        in_partition[pk][sort_key] = partial(item.item, 1)
    for pk, items in in_partition.items():
        engine.partition(pk).fill(items)


class Cost(NamedTuple):
    """The read units of one request, its AWS calls, and how many of these follow one another."""

    units: int
    calls: int
    rounds: int

    def __str__(self) -> str:
        """Return a cell of a table."""
        return f"{self.units} ({self.calls}, {self.rounds})"


def cost(engine: Metered, call: Callable[[], object]) -> Cost:
    """Return what one request costs."""
    engine.reset()
    call()
    return Cost(round(engine.read_units), engine.calls, engine.rounds)


def page_requests(count: int) -> Iterator[tuple[str, PageRequest]]:
    """Return the pages to measure, each with a name."""
    deep = count * 9 // 10
    for sort_by in SortBy:
        yield f"{sort_by.value}, skip 0", PageRequest(sort_by=sort_by)
        yield f"{sort_by.value}, skip {deep / count:.0%}", PageRequest(sort_by=sort_by, skip=deep)
    for status in (Status.DELIVERED, Status.BOUNCED, Status.COMPLAINED):
        request = PageRequest(status=status)
        yield f"{status.value}, created_at, skip 0", request
        yield f"{status.value}, updated_at, skip 0", replace(request, sort_by=SortBy.UPDATED_AT)
    request = PageRequest(
        since=milliseconds(NOW - timedelta(days=9, minutes=17)),
        until=milliseconds(NOW - timedelta(days=7)),
    )
    yield "two days, created_at, skip 0", request
    yield "two days, updated_at, skip 0", replace(request, sort_by=SortBy.UPDATED_AT)
    for name, request, share in (
        ("key", PageRequest(key_id=KEYS[0]), 1 / len(KEYS)),
        ("template", PageRequest(template=TEMPLATES[-1]), 1 / len(TEMPLATES)),
        ("rare template", PageRequest(template=RARE_ORIGIN.starter_template), 1 / RARE),
    ):
        for sort_by in SortBy:
            ordered = replace(request, sort_by=sort_by)
            yield f"of a {name}, {sort_by.value}, skip 0", ordered
            further = replace(ordered, skip=int(count * share * 0.8))
            yield f"of a {name}, {sort_by.value}, skip 80%", further
        for sort_by in (SortBy.CREATED_AT, SortBy.UPDATED_AT):
            bounced = replace(request, status=Status.BOUNCED, sort_by=sort_by)
            yield f"of a {name}, bounced, {sort_by.value}", bounced
    yield "of a key, complained, created_at", PageRequest(key_id=KEYS[0], status=Status.COMPLAINED)


def cost_of_worked_query() -> Cost:
    """Return the cost of the page that application/history/README.md explains."""
    queries, engine = account_with(100_000)
    request = PageRequest(sort_by=SortBy.UPDATED_AT, skip=40_000, limit=50)
    return cost(engine, partial(queries.page, ACCOUNT, request, 1))


def print_read_units(sizes: tuple[int, ...], shards: int) -> None:
    """Print the read units of pages and analytics for accounts of each size."""
    costs: dict[str, list[Cost]] = {}
    until = milliseconds(NOW)
    since = until - DAYS * 86_400_000
    for size in sizes:
        queries, engine = account_with(size, shards)
        calls: dict[str, Callable[[], object]] = {
            name: partial(queries.page, ACCOUNT, request, shards)
            for name, request in page_requests(size)
        }
        for bucket in Bucket:
            name = f"analytics, 31 days by {bucket.value}"
            analytics = partial(queries.analytics, ACCOUNT, since, until, bucket, shards)
            calls[name] = analytics
            for subset in SUBSETS:
                calls[f"{name}, of a {subset.kind}"] = partial(analytics, subset=subset)
        for name, call in calls.items():
            costs.setdefault(name, []).append(cost(engine, call))
    print_costs(costs, sizes, shards)
    unfiltered = [pair for name in costs if name.split(",")[0] in {*SortBy} for pair in costs[name]]
    print(f"\nAll orders, places and sizes without a filter: {spread(unfiltered):.1f}")


def print_costs(costs: Mapping[str, list[Cost]], sizes: tuple[int, ...], shards: int) -> None:
    """Print a row for each request, with a column for each size."""
    print(f"\nRead units (calls, rounds), {shards} shards\n")
    print("| messages |" + "".join(f" {size:,} |" for size in sizes) + " largest / smallest |")
    print("|---|" + "---:|" * (len(sizes) + 1))
    for name, row in costs.items():
        cells = "".join(f" {each} |" for each in row)
        print(f"| {name} |{cells} {spread(row):.1f} |")


def options() -> tuple[tuple[int, ...], int]:
    """Return the sizes of accounts, and their shards, from the command line."""
    parser = ArgumentParser()
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("sizes", type=int, nargs="*", default=SIZES)
    arguments = parser.parse_args()
    return tuple(arguments.sizes), arguments.shards


def spread(costs: Iterable[Cost]) -> float:
    """Return the highest read units divided by the lowest."""
    read_units = [each.units for each in costs]
    return max(read_units) / min(read_units)


def changes_of(rate: float, seconds: float) -> list[tuple[datetime, Message]]:
    """Return the changes in the stream while an account sends at a rate, each with its time."""
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


def batches_of(rate: float, seconds: float) -> Iterator[list[Message]]:
    """Yield the same changes in batches, as the stream delivers them."""
    changes, position = changes_of(rate, seconds), 0
    while position < len(changes):
        end = changes[position][0] + WINDOW
        batch = [message for at, message in changes[position : position + BATCH] if at < end]
        yield batch
        position += len(batch)


def _aggregation(table: Table) -> Aggregation[Message]:
    return Aggregation[Message](
        read=lambda message: message,
        written_at=lambda _: None,
        ledger=DynamoLedger(table),
        marks=DynamoRebuildMarks(table),
        key_uses=DynamoKeyUses(table),
        clock=lambda: NOW,
    )


def cost_of_searching(rate: float) -> float:
    """Return the read units of a pass's search for stuck mail of an account that sends at a rate.

    Only the hours that the search reads have messages.
    """
    table, engine = metered_table()
    for age in (HOPELESS, OVERDUE):
        _put(engine, messages_of(rate, age, TIME_RANGE))
    log = DynamoMessageLog(table)
    for age in (OVERDUE, HOPELESS):
        since, until = (milliseconds(NOW - age - more) for more in (TIME_RANGE, timedelta(0)))
        page = log.pending(ACCOUNT, since, until, None)
        while page.next is not None:
            page = log.pending(ACCOUNT, since, until, page.next)
    return engine.read_units


def cost_of_checking(rate: float) -> tuple[float, int]:
    """Return the read units of a pass's check of the statistics, and the messages of two hours.

    The ledger is right. Only the last hours have messages, twice as many as the pass reads.
    """
    table, engine = metered_table()
    stored = _put(engine, messages_of(rate, timedelta(0), timedelta(hours=4)))
    fill_ledger(engine, (index_entry(message_of(from_item(item))) for item in stored))
    check = LedgerCheck(
        log=DynamoMessageLog(table),
        ledger=DynamoLedger(table),
        audit=DynamoLedgerAudit(table),
        marks=DynamoRebuildMarks(table),
        index=DynamoSearchIndex(table),
        accounts=DynamoAccounts(table),
        clock=lambda: NOW,
    )
    if check.check_ended_hours(ACCOUNT, NOW).repaired:
        raise AssertionError("the ledger was wrong")
    return engine.read_units, round(7200 * rate)


def messages_of(rate: float, age: timedelta, length: timedelta) -> list[Message]:
    """Return the messages of a time that ended `age` ago, of an account that sends at a rate."""
    end = milliseconds(NOW - age)
    moments = range(end - length // _MILLISECOND, end, round(1000 / rate))
    return [message_at(moment) for moment in moments]


def _put(engine: Metered, messages: list[Message]) -> Iterable[Any]:
    """Put the records of messages, and return them."""
    in_partition = {str(m.message_id): message_item(m) for m in messages}
    engine.partition(keys.message(ACCOUNT, messages[0].message_id)["pk"]["S"]).fill(in_partition)
    return in_partition.values()


def cost_of_writing(rate: float, seconds: float) -> tuple[float, float]:
    """Return messages per batch and write units per message of an account that sends at a rate."""
    table, engine = metered_table()
    aggregation = _aggregation(table)
    applied = [aggregation.apply(batch) for batch in batches_of(rate, seconds)]
    return rate * seconds / len(applied), engine.write_units / (rate * seconds)


def cost_of_late_change() -> int:
    """Return the write units of a batch with one change of a message of the month before."""
    table, engine = metered_table()
    aggregation = _aggregation(table)
    old, new = (message_at(milliseconds(NOW) - days * 86_400_000) for days in (40, 1))
    aggregation.apply([replace(old, events=old.events[:1])])
    aggregation.apply([new])
    engine.reset()
    aggregation.apply([replace(old, revision=9)])
    return engine.write_units


def main() -> None:
    """Print all figures."""
    print(f"Python {sys.version.split()[0]}")
    print_read_units(*options())
    print(f"updated_at, skip 40,000 of 100,000 messages: {cost_of_worked_query()}")
    print("\nWriting the ledger, in batches of 10 s or 2,000 changes\n")
    print("| messages a second | messages a batch | write units a message |")
    print("|---:|---:|---:|")
    for rate, seconds in ((0.02, 20_000), (0.4, 4000), (2, 1000), (10, 300), (50, 120)):
        batch, written = cost_of_writing(rate, seconds)
        print(f"| {rate:g} | {batch:.1f} | {written:.2f} |")
    print("\nSweeping, once an hour, with a ledger that is right\n")
    print("| messages an hour | stuck mail, read units | statistics | a message of the hour |")
    print("|---:|---:|---:|---:|")
    for rate in (1 / 3600, 0.1, 1, 10):
        stuck, (statistics, in_two_hours) = cost_of_searching(rate), cost_of_checking(rate)
        each = (stuck + statistics) / (in_two_hours / 2)
        print(f"| {in_two_hours / 2:g} | {stuck} | {statistics} | {each:.2f} |")
    written = cost_of_late_change()
    print(f"\nOne change of a message of the month before, in its own batch: {written} write units")


if __name__ == "__main__":
    main()
