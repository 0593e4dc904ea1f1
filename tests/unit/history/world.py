"""An account's messages in a metered table, and a model that recounts them from scratch."""

import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from benchmarks.metered import Metered, metered_table
from pillarbox.adapters.dynamodb.ledger import DynamoLedger
from pillarbox.adapters.dynamodb.message_log import DynamoMessageLog
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.application.history.aggregate import Aggregation
from pillarbox.application.history.queries import (
    Analytics,
    Bucket,
    HistoryQueries,
    MessageCounts,
    Page,
    PageRequest,
    SortBy,
)
from pillarbox.domain.message import Event, EventKind, Message, Status
from pillarbox.domain.statistics import Granularity, index_entry, milliseconds
from tests.fakes.builders import ACCOUNT, message

START = datetime(2026, 1, 30, 22, 57, 13, 250_000, UTC)
CODES = ("mailbox_full", "general", "expired", None)


@dataclass
class World:
    """Messages are sent and change at `now`; the stream is what the aggregation has yet to take."""

    now: datetime = START
    account_id: str = ACCOUNT
    messages: dict[UUID, Message] = field(default_factory=dict)
    stream: list[Message] = field(default_factory=list)
    engine: Metered = field(init=False)

    def __post_init__(self) -> None:
        self.table, self.engine = metered_table()
        self.ledger = DynamoLedger(self.table)
        self.log = DynamoMessageLog(self.table)
        self.aggregation = Aggregation[Message](read=lambda changed: changed, ledger=self.ledger)
        self.overview = HistoryQueries(log=self.log, ledger=self.ledger, clock=lambda: self.now)

    def send(self, created: datetime | None = None) -> Message:
        """Accept a message; its id may be some seconds older than its record."""
        at = milliseconds(created or self.now)
        tail = random.getrandbits(62)
        sent = message(self.account_id, UUID(int=at << 80 | 0x7 << 76 | 0b10 << 62 | tail))
        self._put(sent)
        return sent

    def happen(self, which: Message, kind: EventKind, code: str | None = None) -> None:
        """Let something happen to a message, as of now."""
        event = Event(kind=kind, at=self.now, code=code)
        current = self.messages[which.message_id]
        changed = current.with_events([event])
        if changed is not current:
            self._put(replace(changed, revision=current.revision + 1))

    def _put(self, changed: Message) -> None:
        self.messages[changed.message_id] = changed
        self.table.put(message_item(changed))
        self.stream.append(changed)

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(milliseconds=round(seconds * 1000))

    def aggregate(self, count: int | None = None) -> None:
        """Let the aggregation take the next records of the stream; without a count, all."""
        count = len(self.stream) if count is None else count
        batch, self.stream = self.stream[:count], self.stream[count:]
        assert self.aggregation.apply(batch).again is None

    def page(self, request: PageRequest) -> Page:
        return self.overview.page(self.account_id, request)

    def analytics(self, since: int, until: int, bucket: Bucket) -> Analytics:
        return self.overview.analytics(self.account_id, since, until, bucket)

    def expected_page(self, request: PageRequest) -> Page:
        """What contract 4.3 asks for, recounted."""
        found = [
            m
            for m in self.messages.values()
            if (request.status in (None, m.status)) and _within(m, request.since, request.until)
        ]
        found.sort(key=lambda m: _order(m, request.sort_by), reverse=True)
        return Page(found[request.skip : request.skip + request.limit], len(found))

    def expected_analytics(self, since: int, until: int, bucket: Bucket) -> Analytics:
        """What contract 4.5 asks for, recounted."""
        found = sorted(
            (m for m in self.messages.values() if _within(m, since, until)),
            key=lambda m: m.created_at,
        )
        times = [milliseconds(m.created_at) for m in found]
        volume: dict[int, MessageCounts] = {}
        level = Granularity(bucket)
        start = level.start(since)
        while start < until:
            end = level.end(start)
            volume[start] = _figures(found[bisect_left(times, start) : bisect_left(times, end)])
            start = end
        errors = Counter((m.error.code or m.error.kind.value) for m in found if m.error)
        ranked = sorted(errors.items(), key=lambda error: (-error[1], error[0]))
        return Analytics(volume, _figures(found), ranked[:10])


def _within(message: Message, since: int | None, until: int | None) -> bool:
    created = milliseconds(message.created_at)
    return (since is None or created >= since) and (until is None or created < until)


def _order(message: Message, sort_by: SortBy) -> tuple[object, ...]:
    match sort_by:
        case SortBy.CREATED_AT:
            return (message.created_at, message.message_id)
        case SortBy.UPDATED_AT:
            return (message.updated_at, message.message_id)
    return (message.status.value, message.updated_at, message.message_id)


def _figures(messages: Iterable[Message]) -> MessageCounts:
    counted, reached = 0, Counter[Status]()
    for each in messages:
        counted += 1
        kinds = {event.kind for event in each.events}
        complained = EventKind.COMPLAINED in kinds
        delivered = complained or EventKind.DELIVERED in kinds
        bounced = bool(kinds & {EventKind.BOUNCED, EventKind.BOUNCED_TRANSIENT})
        sent = delivered or bounced or EventKind.SENT in kinds
        failed = bool(kinds & {EventKind.FAILED, EventKind.UNCERTAIN})
        reached += Counter(
            {
                Status.SENT: sent,
                Status.DELIVERED: delivered,
                Status.BOUNCED: bounced,
                Status.COMPLAINED: complained,
                Status.FAILED: failed,
            }
        )
    return MessageCounts(counted, reached)


def entries_of(world: World) -> set[object]:
    """What the ledger has to hold once it has caught up, revisions aside."""
    return {replace(index_entry(m), revision=0) for m in world.messages.values()}
