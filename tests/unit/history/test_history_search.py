"""Searches by recipient and tag find what a recount finds, and the index converges."""

# ruff: noqa: S311  numbers from a seed, no secrets

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock, call

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pillarbox.application.history.aggregate import index_again
from pillarbox.application.history.pagination import PageRequest, SortBy
from pillarbox.application.history.queries import RecordSearch
from pillarbox.application.history.tuning import STANDARD, Tuning
from pillarbox.domain.messages.message import ERASED_ADDRESS, EventKind, Status
from pillarbox.domain.messages.statistics import RecipientTerm, SearchTerm, TagTerm
from pillarbox.domain.timing import milliseconds
from tests.examples import examples
from tests.refusals import faults
from tests.unit.history.search_world import PEOPLE, TAGS, SearchWorld, send_some
from tests.unit.history.test_history_aggregation import server_error
from tests.unit.history.test_history_check import check_of
from tests.unit.history.world import START

ANN, BOB = RecipientTerm("ann@example.com"), RecipientTerm("bob@example.com")
ORDER = TagTerm("order", "1")
SMALL = Tuning(max_found=5, max_filtered=3)


class FailingIndexWrites:
    """The engine, whose writes of the search index fail, before or after they are made."""

    def __init__(self, world: SearchWorld, *, after: bool = False, every: int = 1) -> None:
        self._engine = world.engine
        self._after = after
        self._every = every
        self._writes = 0

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._engine, name)
        if name != "batch_write_item":
            return call

        def write(**request: Any) -> Any:
            self._writes += 1
            if self._writes % self._every:
                return call(**request)
            if self._after:
                call(**request)
            raise server_error()

        return write


def requests(rng: random.Random) -> PageRequest:
    absent, prefix = RecipientTerm("x@y.example"), RecipientTerm("ann", is_prefix=True)
    recipients = [None, ANN, BOB, prefix, absent]
    tags = [TagTerm(name, value) for tag in TAGS for name, value in tag.items()]
    recipient = rng.choice(recipients)
    tag = rng.choice(tags) if recipient is None or rng.random() < 0.3 else None
    since = rng.choice([None, milliseconds(START) + rng.randrange(10**7)])
    return PageRequest(
        recipient=recipient,
        tag=tag,
        since=since,
        until=rng.choice([None, (since or milliseconds(START)) + rng.randrange(1, 10**7)]),
        status=rng.choice([None, None, Status.SENT]),
        skip=rng.choice([0, 0, 3]),
        limit=rng.choice([1, 5, 100]),
        sort_by=rng.choice([*SortBy]),
    )


@pytest.mark.slow
@pytest.mark.parametrize("shards", [1, 4])
@given(st.integers(0, 2**32))
@settings(max_examples=examples(10), deadline=None)
def test_a_search_equals_a_recount(shards: int, seed: int) -> None:
    rng, world = random.Random(seed), SearchWorld(shards=shards)
    for _ in range(3):
        send_some(world, rng, 12)
        for target in rng.sample([*world.messages.values()], 4):
            world.add_event(target, EventKind.SENT)
        if rng.random() < 0.5:
            world.erase(rng.choice([*world.messages.values()]), "ann@example.com")
            world.aggregate()
            send_some(world, rng, 3)
        world.aggregate(rng.randrange(len(world.stream) + 1))
        for _ in range(5):
            request = requests(rng)
            assert world.search(request) == world.expected_page(request)


@pytest.mark.parametrize("people", [("ann@example.com",), ("Ann@example.com", "bob@example.com")])
def test_a_new_message_is_found_before_the_stream_delivers_it(people: tuple[str, ...]) -> None:
    world = SearchWorld()
    send_some(world, random.Random(1), 5)
    world.aggregate()
    sent = world.send_to(*people)
    assert sent.message_id in world.found("ann@example.com")


@pytest.mark.parametrize("shards", [1, 4])
@pytest.mark.parametrize("term", [ANN, ORDER])
def test_the_newest_of_many_messages_are_found(shards: int, term: SearchTerm) -> None:
    world = SearchWorld(shards=shards, tuning=SMALL)
    sent = []
    for _ in range(8):
        sent.append(world.send_to("ann@example.com", tags={"order": "1"}).message_id)
        world.pass_time(1000)
    world.aggregate()
    request = PageRequest(recipient=ANN) if term is ANN else PageRequest(tag=ORDER)
    page = world.search(request)
    assert ([m.message_id for m in page.items], page.total) == (sent[:2:-1], 5)
    older = world.search(replace(request, until=milliseconds(page.items[-1].created_at)))
    assert ([m.message_id for m in older.items], older.total) == (sent[2::-1], 3)
    assert world.search(replace(request, skip=5)).items == []


@pytest.mark.parametrize(
    ("request_", "most", "field"),
    [
        (PageRequest(recipient=RecipientTerm("a", is_prefix=True)), SMALL.max_found, "recipient"),
        (PageRequest(recipient=ANN, sort_by=SortBy.STATUS), SMALL.max_filtered, "recipient"),
        (PageRequest(recipient=ANN, status=Status.PENDING), SMALL.max_filtered, "recipient"),
        (PageRequest(recipient=ANN, tag=ORDER), SMALL.max_filtered, "recipient"),
        (PageRequest(tag=ORDER, sort_by=SortBy.UPDATED_AT), SMALL.max_filtered, "tag"),
    ],
)
def test_a_search_that_would_read_too_much_is_refused(
    request_: PageRequest, most: int, field: str
) -> None:
    """For the start of an address, a filter or another order one message over the bound is 422."""
    world = SearchWorld(tuning=SMALL)
    for number in range(1, most + 1):
        world.send_to("ann@example.com", tags={"order": "1"})
        world.pass_time(100)
        world.aggregate()
        assert world.search(request_).total == number
    world.send_to("ann@example.com", tags={"order": "1"})
    world.pass_time(100)
    world.aggregate()
    assert faults(world.search, request_) == [(field, "too_many_matches")]


def test_from_when_on_records_are_read_too() -> None:
    """A record may be written 40 seconds late, and a shard may lag for 15 minutes."""
    ledger = Mock(newest_entry=Mock(side_effect=[SimpleNamespace(created=10**12), None]))
    search = RecordSearch(Mock(), ledger, Mock(), STANDARD)
    assert search.indexed_until("account") == 10**12 - 40_000
    assert search.indexed_until("account") == 0
    assert ledger.newest_entry.mock_calls == [call("account", 900_000)] * 2


@pytest.mark.parametrize("shards", [1, 2])
def test_a_repeated_batch_does_not_bring_an_erased_recipient_back(shards: int) -> None:
    world = SearchWorld(shards=shards)
    sent = world.send_to("Ann@example.com", "bob@example.com", tags={"order": "1"})
    world.add_event(sent, EventKind.SENT)
    world.erase(sent, "ann@example.com")
    stream = [*world.stream]
    for first in range(1, len(stream) + 1):
        world.stream = stream[:first] + stream
        world.aggregate()
        assert world.entries() == [f"bob@example.com#{sent.message_id}"]
        assert (world.found("ann@example.com"), world.found(ERASED_ADDRESS)) == ([], [])
        assert world.found("bob@example.com") == [sent.message_id]


def test_a_deleted_message_leaves_the_index() -> None:
    world = SearchWorld()
    sent = world.send_to("ann@example.com", "bob@example.com", tags={"order": "1"})
    world.aggregate()
    assert len(world.entries()) == 3
    world.delete(sent)
    world.aggregate()
    assert world.entries() == []


def test_only_a_new_message_costs_writes_of_the_index() -> None:
    world = SearchWorld()
    sent = world.send_to("ann@example.com", "bob@example.com", tags={"order": "1"})
    index = FailingIndexWrites(world, every=10**6)
    vars(world.table)["client"] = index
    world.aggregate()
    assert index._writes == 1
    world.add_event(sent, EventKind.SENT)
    world.add_event(sent, EventKind.DELIVERED)
    world.aggregate()
    assert index._writes == 1
    assert len(world.entries()) == 3


@pytest.mark.parametrize("after", [False, True])
def test_a_failed_index_write_is_repaired(*, after: bool) -> None:
    world = SearchWorld()
    world.written_at = world.now
    sent = world.send_to("ann@example.com", tags={"order": "1"})
    vars(world.table)["client"] = FailingIndexWrites(world, after=after)
    assert world.aggregation.apply([*world.stream]).retry_from == 0
    assert world.ledger.newest_entry_time(world.account_id) is None
    assert world.found("ann@example.com") == [sent.message_id]
    world.pass_time(300)
    result = world.aggregation.apply([*world.stream])
    assert (result.retry_from, result.marked_hours) == (None, 1)
    vars(world.table)["client"] = world.engine
    # A later change alone puts the message into the ledger, and not into the index.
    world.stream.clear()
    world.add_event(sent, EventKind.SENT)
    world.aggregate()
    world.pass_time(7200)
    (mark,) = world.marks.all()
    check_of(world).rebuild_hour(mark)
    assert world.entries() == [f"ann@example.com#{sent.message_id}", f"order=1#{sent.message_id}"]
    assert world.found("ann@example.com") == [sent.message_id]


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_removal_from_the_index_is_retried_however_late(*, is_deleted: bool) -> None:
    """No rebuild knows an address that the record has lost, so only the stream can remove it."""
    world = SearchWorld()
    world.written_at = world.now
    sent = world.send_to("ann@example.com", tags={"order": "1"})
    world.aggregate()
    if is_deleted:
        world.delete(sent)
    else:
        world.erase(sent, "ann@example.com")
    world.pass_time(86_400)
    vars(world.table)["client"] = FailingIndexWrites(world)
    assert world.aggregation.apply([*world.stream]).retry_from == 0
    vars(world.table)["client"] = world.engine
    world.aggregate()
    assert world.entries() == []


def test_the_sweep_indexes_a_message_that_the_stream_lost() -> None:
    """A message that the ledger lacks may lack its entries too: both are made again."""
    world = SearchWorld()
    lost = world.send_to("ann@example.com")
    world.stream.clear()
    world.pass_time(3600)
    world.send_to("bob@example.com")
    world.aggregate()
    world.pass_time(3600)
    assert world.found("ann@example.com") == []
    assert check_of(world).check_ended_hours(world.account_id, world.now).repaired
    assert world.found("ann@example.com") == [lost.message_id]


@pytest.mark.parametrize("shards", [1, 4])
def test_messages_without_entries_are_indexed_again(shards: int) -> None:
    world = SearchWorld(shards=shards)
    send_some(world, random.Random(5), 30)
    world.aggregate()
    entries = world.entries()
    for shard in range(shards):
        for name in ("RCPT", "TAG"):
            suffix = f"#{shard}" if shard else ""
            partition = world.engine.partition(f"{name}#{world.account_id}{suffix}")
            for sort_key in [*partition.order]:
                partition.remove(sort_key)
    for _ in range(2):
        messages = [*world.messages.values()]
        assert index_again(world.log, world.index, world.account_id, messages) == 30
        assert world.entries() == entries


def test_indexing_again_does_not_bring_an_erased_recipient_back() -> None:
    world = SearchWorld()
    sent = world.send_to("ann@example.com", "bob@example.com")
    read = world.messages[sent.message_id]
    world.erase(sent, "ann@example.com")
    index_again(world.log, world.index, world.account_id, [read])
    assert world.entries() == [f"bob@example.com#{sent.message_id}"]


@pytest.mark.parametrize("account", ["acct00000002", "acct0000000"])
def test_a_search_finds_only_the_own_messages(account: str) -> None:
    """Another account, even one whose id begins the same, finds nothing."""
    world = SearchWorld()
    world.send_to(PEOPLE[0], tags={"order": "1"})
    world.aggregate()
    for search in (
        PageRequest(recipient=ANN),
        PageRequest(recipient=RecipientTerm("a", is_prefix=True)),
        PageRequest(tag=ORDER),
    ):
        assert world.search(search).total == 1
        assert world.queries.page(account, search).total == 0
