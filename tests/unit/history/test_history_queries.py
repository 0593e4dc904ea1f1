"""What lists and analytics read and show, beside what the model recounts."""

from collections import Counter
from collections.abc import Iterable
from uuid import UUID

import pytest

from pillarbox.adapters.dynamodb.history.message_log import DynamoMessageLog
from pillarbox.adapters.dynamodb.history.search_index import DynamoSearchIndex
from pillarbox.application.history.pagination import PageRequest, SortBy
from pillarbox.application.history.queries import Bucket, HistoryQueries, MessageCounts
from pillarbox.domain.messages.message import EventKind, Message, Status
from pillarbox.domain.timing import milliseconds
from tests.unit.history.world import START, World

DAY = 86_400_000


class RecordedLog(DynamoMessageLog):
    """The log of messages, with what was read from it."""

    def __init__(self, world: World) -> None:
        super().__init__(world.table)
        self.ranges: list[tuple[int, int]] = []
        self.ids: list[UUID] = []

    def newest_first(
        self, account_id: str, since: int, until: int, shards: int | None = None
    ) -> Iterable[Message]:
        self.ranges.append((since, until))
        return super().newest_first(account_id, since, until, shards)

    def get_all(self, account_id: str, message_ids: Iterable[UUID]) -> Iterable[Message]:
        ids = [*message_ids]
        self.ids += ids
        return super().get_all(account_id, ids)


@pytest.fixture
def world() -> World:
    """Return a world with ten messages, too old for a list to read their records anyway."""
    world = World()
    for _ in range(10):
        world.send()
        world.pass_time(60)
    world.aggregate()
    world.pass_time(7200)
    return world


def read_for(world: World, request: PageRequest) -> RecordedLog:
    log = RecordedLog(world)
    index = DynamoSearchIndex(world.table)
    queries = HistoryQueries(log=log, ledger=world.ledger, index=index, clock=lambda: world.now)
    assert queries.page(world.account_id, request) == world.expected_page(request)
    return log


def test_a_page_by_creation_is_one_range_of_records(world: World) -> None:
    log = read_for(world, PageRequest(skip=3, limit=4))
    created = sorted(milliseconds(sent.created_at) for sent in world.messages.values())
    assert log.ranges[-1] == (created[3], created[6] + 1)
    assert log.ids == []


@pytest.mark.parametrize(
    "request_",
    [
        PageRequest(skip=3, limit=4, sort_by=SortBy.UPDATED_AT),
        PageRequest(skip=3, limit=4, sort_by=SortBy.STATUS),
        PageRequest(skip=3, limit=4, status=Status.PENDING),
    ],
)
def test_other_pages_are_read_by_their_ids(world: World, request_: PageRequest) -> None:
    log = read_for(world, request_)
    assert len(log.ids) == 4
    without_records = read_for(world, PageRequest(limit=4, skip=10, sort_by=request_.sort_by))
    assert log.ranges == without_records.ranges


def test_analytics_have_the_ten_most_frequent_errors() -> None:
    world = World()
    for number in range(11):
        for _ in range(1 if number == 4 else 2):
            world.add_event(world.send(), EventKind.FAILED, f"code_{number:02}")
    world.aggregate()
    start = milliseconds(START)
    analytics = world.analytics(start - DAY, start + DAY, Bucket.DAY)
    codes = [number for number in range(11) if number != 4]
    assert analytics.errors == [(f"code_{number:02}", 2) for number in codes]


@pytest.mark.parametrize(
    ("sent", "delivered", "rate"), [(0, 0, 0), (3, 1, 0.3333), (3, 2, 0.6667), (4, 4, 1)]
)
def test_a_rate_is_a_fraction_to_four_places(sent: int, delivered: int, rate: float) -> None:
    reached = Counter({Status.SENT: sent, Status.DELIVERED: delivered})
    assert MessageCounts(10, reached).rate(Status.DELIVERED) == rate


def test_what_waits_or_was_called_off_is_neither_an_error_nor_undelivered() -> None:
    world = World()
    for _ in range(2):
        sent = world.send()
        for kind in (EventKind.SENT, EventKind.DELIVERED):
            world.add_event(sent, kind)
    for _ in range(4):
        world.send()
    for code in (*["canceled"] * 3, "not_released", "key_revoked", "expired"):
        world.add_event(world.send(), EventKind.FAILED, code)
    world.aggregate()
    start = milliseconds(START)
    figures = world.analytics(start - DAY, start + DAY, Bucket.DAY)
    assert (figures.total.count, figures.total.rate(Status.DELIVERED)) == (12, 1)
    assert figures.total.by_status == {"delivered": 2, "pending": 4, "failed": 6}
    assert figures.errors == [("expired", 1)]


def test_a_filter_holds_in_the_hour_in_which_a_range_begins() -> None:
    """Its entries are read one by one, those of the hours after it by their rollups."""
    world = World()
    for number in range(40):
        sent = world.send()
        world.add_event(sent, EventKind.DELIVERED if number % 2 else EventKind.BOUNCED)
        world.pass_time(600)
    world.aggregate()
    world.pass_time(7200)
    (_, _, third, *_) = world.messages.values()
    wanted = PageRequest(status=Status.DELIVERED, since=milliseconds(third.created_at))
    page = world.page(wanted)
    assert (page, page.total) == (world.expected_page(wanted), 19)
