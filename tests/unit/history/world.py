"""An account's messages in a metered table, and a model that recounts them from scratch."""

import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from admin.use_cases.audit import Audit
from benchmarks.metered import Metered, metered_table
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.accounts.api_keys import DynamoKeyUses
from pillarbox.adapters.dynamodb.history.ledger import DynamoLedger
from pillarbox.adapters.dynamodb.history.ledger_audit import DynamoLedgerAudit
from pillarbox.adapters.dynamodb.history.message_log import DynamoMessageLog, DynamoSearchIndex
from pillarbox.adapters.dynamodb.history.rebuild_marks import DynamoRebuildMarks
from pillarbox.adapters.dynamodb.records import account_item, message_item
from pillarbox.application.history.aggregate import Aggregation, SearchIndexing
from pillarbox.application.history.pagination import Page, PageRequest, SortBy
from pillarbox.application.history.queries import (
    Analytics,
    Bucket,
    HistoryQueries,
    MessageCounts,
)
from pillarbox.application.history.tuning import STANDARD, Tuning
from pillarbox.domain.messages.message import Event, EventKind, Message, MessageOrigin, Status
from pillarbox.domain.messages.schedule import Schedule
from pillarbox.domain.messages.statistics import Granularity, Subset, SubsetKind, span_number
from pillarbox.domain.templates.shape import OTHER_SHAPE
from pillarbox.domain.timing import milliseconds
from tests.fakes.builders import ACCOUNT, account, message

START = datetime(2026, 1, 30, 22, 57, 13, 250_000, UTC)
#: What an account calls off is no error (notes, "Lists and figures").
NO_ERRORS = ("canceled", "not_released", "key_revoked")
ERROR_CODES = ("mailbox_full", "general", "expired", None, *NO_ERRORS)
#: The events that show that SES had an email.
HANDED_OVER = {"sent", "delivered", "bounced", "bounced_transient", "complained"}
#: When messages are due, in turn: at once, in an hour, or once they are released.
SCHEDULES = (None, None, False, None, True)
#: From where messages come in turn; the last ones have no key and no template.
ORIGINS = (
    MessageOrigin(key_id="key_1", starter_template="otp"),
    MessageOrigin(key_id="key_2", template_id="0198f2a4-5b6c-7d8e-9f01-23456789abcd"),
    MessageOrigin(key_id="key_1"),
    MessageOrigin(),
)
#: The shapes of the variables that messages by a saved template come with.
SHAPES = ("{}", "{name}", "{name,order:{total}}", OTHER_SHAPE, None)


@dataclass
class World:
    """Messages are sent and change at `now`; `stream` holds the changes not yet applied."""

    now: datetime = START
    account_id: str = ACCOUNT
    #: The number of shards from the beginning; see `shard`.
    shards: int = 1
    tuning: Tuning = STANDARD
    messages: dict[UUID, Message] = field(default_factory=dict)
    stream: list[Message] = field(default_factory=list)
    engine: Metered = field(init=False)
    #: When the changes of the stream were written, if it says so.
    written_at: datetime | None = None

    def __post_init__(self) -> None:
        self.table, self.engine = metered_table()
        self.ledger = DynamoLedger(self.table)
        self.log = DynamoMessageLog(self.table)
        self.marks = DynamoRebuildMarks(self.table)
        self.key_uses = DynamoKeyUses(self.table)
        self.aggregation = self.make_aggregation()
        self.queries = HistoryQueries(
            log=self.log,
            ledger=self.ledger,
            index=DynamoSearchIndex(self.table),
            clock=lambda: self.now,
            tuning=self.tuning,
        )
        self.account = account(self.account_id)
        if self.shards > 1:
            self.shard(self.shards, START - timedelta(hours=1))

    @property
    def indexing(self) -> SearchIndexing[Any] | None:
        """What applies the changes to the search index, if anything does."""
        return None

    def shard(self, shards: int, since: datetime) -> None:
        """Raise the account's number of shards; the first time it takes effect at `since`."""
        since = self.account.sharded_from or since
        self.account = replace(self.account, shards=shards, sharded_from=since)
        self.table.put(account_item(self.account))

    def make_aggregation(
        self, read: Callable[[Any], Message | None] = lambda message: message
    ) -> Aggregation[Any]:
        """Return the use case, as another invocation has it too."""
        return Aggregation[Any](
            read=read,
            written_at=lambda _: self.written_at,
            ledger=self.ledger,
            marks=self.marks,
            key_uses=self.key_uses,
            clock=lambda: self.now,
            search=self.indexing,
        )

    def send(self, created: datetime | None = None) -> Message:
        """Accept a message; its id may be some seconds older than its record."""
        at = created or self.now
        # Not from `new_id`, whose randomness has no seed.
        shards = self.account.shards_at(at)
        version_and_shard = 0x7000 if shards == 1 else 0x8000 | (shards.bit_length() - 1) << 8
        bits = (version_and_shard | random.getrandbits(8)) << 64 | random.getrandbits(62)
        message_id = UUID(int=milliseconds(at) << 80 | 0b10 << 62 | bits)
        origin = ORIGINS[len(self.messages) % len(ORIGINS)]
        if origin.template_id:
            origin = replace(origin, shape=SHAPES[bits % len(SHAPES)])
        held, schedule = SCHEDULES[len(self.messages) % len(SCHEDULES)], None
        if held is not None:
            due, life = at + timedelta(hours=1), timedelta(hours=24)
            schedule = Schedule(due_at=due, life=life, held=held)
        sent = message(self.account_id, message_id, origin=origin, schedule=schedule)
        self._put(sent)
        return sent

    def add_event(self, target: Message, kind: EventKind, code: str | None = None) -> None:
        """Add an event to a message at `now`."""
        event = Event(kind=kind, at=self.now, code=code)
        current = self.messages[target.message_id]
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
        """Apply the next changes of the stream, or all of them."""
        count = len(self.stream) if count is None else count
        batch, self.stream = self.stream[:count], self.stream[count:]
        assert self.aggregation.apply(batch).retry_from is None

    def lose(self, start: str) -> None:
        """Lose the first item of the ledger whose sort key starts like this."""
        ledger = self.engine.partition(f"STAT#{self.account_id}")
        ledger.remove(next(sort_key for sort_key in ledger.order if sort_key.startswith(start)))

    def page(self, request: PageRequest) -> Page:
        return self.queries.page(self.account_id, request)

    def analytics(
        self, since: int, until: int, bucket: Bucket, subset: Subset | None = None
    ) -> Analytics:
        return self.queries.analytics(self.account_id, since, until, bucket, subset=subset)

    def expected_page(self, request: PageRequest) -> Page:
        """Return the page that contract 4.3 defines, recounted."""
        matching = [
            m
            for m in self.messages.values()
            if (request.status in (None, m.status))
            and (request.error in (None, error_of(m)))
            and _within(m, request.since, request.until)
            and subsets_of(m).issuperset(request.subsets)
        ]
        matching.sort(key=lambda m: _sort_key(m, request.sort_by), reverse=True)
        return Page(matching[request.skip : request.skip + request.limit], len(matching))

    def shapes_are_right(self, since: int, until: int) -> bool:
        """Return whether the shapes of each saved template are those of a recount."""
        templates = {m.origin.template_id for m in self.messages.values()} - {None}
        return all(
            self.queries.shapes(self.account_id, template, since, until)
            == Counter(
                m.origin.shape
                for m in self.messages.values()
                if m.origin.template_id == template and m.origin.shape and _within(m, since, until)
            )
            for template in filter(None, templates)
        )

    def expected_analytics(
        self, since: int, until: int, bucket: Bucket, subset: Subset | None = None
    ) -> Analytics:
        """Return the analytics that contract 4.5 defines, recounted."""
        matching = sorted(
            (
                m
                for m in self.messages.values()
                if _within(m, since, until) and (subset is None or subset in subsets_of(m))
            ),
            key=lambda m: m.created_at,
        )
        times = [milliseconds(m.created_at) for m in matching]
        volume: dict[int, MessageCounts] = {}
        granularity = Granularity(bucket)
        start = granularity.start(since)
        while start < until:
            end = granularity.end(start)
            volume[start] = _count(matching[bisect_left(times, start) : bisect_left(times, end)])
            start = end
        errors = Counter(
            error for m in matching if (error := error_of(m)) and error not in NO_ERRORS
        )
        ranked = sorted(errors.items(), key=lambda error: (-error[1], error[0]))
        sent = [(m, e) for m in matching for e in m.events if e.kind is EventKind.SENT]
        waits = Counter(
            span_number(
                (e.at - (m.schedule.due_at if m.schedule else m.created_at))
                // timedelta(milliseconds=1)
            )
            for m, e in sent
        )
        return Analytics(volume, _count(matching), ranked[:10], waits)

    def expected_rates(
        self, since: int, until: int, subset: Subset | None = None
    ) -> tuple[float, float, float]:
        """Return the rates of deliveries, bounces and complaints, over what was handed to SES."""
        kinds = [
            {event.kind.value for event in m.events}
            for m in self.messages.values()
            if _within(m, since, until) and (subset is None or subset in subsets_of(m))
        ]
        handed_over = [one for one in kinds if one & HANDED_OVER]
        delivered, bounced, complained = (
            sum(bool(one & shown) for one in handed_over) / max(len(handed_over), 1)
            for shown in ({"delivered", "complained"}, {"bounced"}, {"complained"})
        )
        return round(delivered, 4), round(bounced, 4), round(complained, 4)


def error_of(message: Message) -> str | None:
    """Return the code of the failure that a message has now."""
    return (message.error.code or message.error.kind.value) if message.error else None


def subsets_of(message: Message) -> set[Subset]:
    origin = message.origin
    template = origin.template_id or origin.starter_template
    subsets = set[Subset]()
    if origin.key_id:
        subsets.add(Subset(SubsetKind.KEY, origin.key_id))
    if template:
        subsets.add(Subset(SubsetKind.TEMPLATE, template))
    return subsets


#: All subsets that messages of `ORIGINS` belong to.
SUBSETS = (
    Subset(SubsetKind.KEY, "key_1"),
    Subset(SubsetKind.KEY, "key_2"),
    Subset(SubsetKind.TEMPLATE, "otp"),
    Subset(SubsetKind.TEMPLATE, "0198f2a4-5b6c-7d8e-9f01-23456789abcd"),
)


def _within(message: Message, since: int | None, until: int | None) -> bool:
    created = milliseconds(message.created_at)
    return (since is None or created >= since) and (until is None or created < until)


def _sort_key(message: Message, sort_by: SortBy) -> tuple[object, ...]:
    match sort_by:
        case SortBy.CREATED_AT:
            return (message.created_at, message.message_id)
        case SortBy.UPDATED_AT:
            return (message.updated_at, message.message_id)
    return (message.status.value, message.updated_at, message.message_id)


def _count(messages: Sequence[Message]) -> MessageCounts:
    if not messages:
        return _NO_MESSAGES
    total, reached, by_status = 0, Counter[Status](), Counter[Status]()
    for counted in messages:
        total += 1
        by_status[counted.status] += 1
        kinds = {event.kind for event in counted.events}
        complained = EventKind.COMPLAINED in kinds
        delivered = complained or EventKind.DELIVERED in kinds
        bounced = EventKind.BOUNCED in kinds
        transient = EventKind.BOUNCED_TRANSIENT in kinds
        sent = delivered or bounced or transient or EventKind.SENT in kinds
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
    return MessageCounts(total, reached, by_status)


_NO_MESSAGES = MessageCounts(0, Counter(), Counter())


def audit_of(world: World) -> Audit:
    return Audit(
        log=world.log,
        ledger=DynamoLedgerAudit(world.table),
        index=DynamoSearchIndex(world.table),
        accounts=DynamoAccounts(world.table),
        clock=lambda: world.now,
    )
