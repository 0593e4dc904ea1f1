"""The sweep's check of ended and marked hours finds and repairs wrong statistics."""

# ruff: noqa: S311  numbers from a seed, no secrets

import random
from dataclasses import replace
from datetime import timedelta
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.history import cost_of_checking
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.history.ledger_audit import DynamoLedgerAudit
from pillarbox.adapters.dynamodb.history.message_log import DynamoSearchIndex
from pillarbox.adapters.dynamodb.records import account_item
from pillarbox.application.history.aggregate import LedgerCheck
from pillarbox.application.history.pagination import PageRequest
from pillarbox.application.history.ports import CheckResult, RebuildMark
from pillarbox.application.history.tuning import Tuning
from pillarbox.domain.errors import ServiceError, Unavailable
from pillarbox.domain.messages.message import EventKind, Status
from pillarbox.domain.messages.statistics import Granularity, index_entry
from pillarbox.domain.timing import milliseconds
from tests.examples import examples
from tests.unit.history.test_history_aggregation import FaultyEngine, wrong_items
from tests.unit.history.test_history_model import simulate
from tests.unit.history.world import World, audit_of

HOUR = 3600


def check_of(world: World, tuning: Tuning | None = None) -> LedgerCheck:
    return LedgerCheck(
        log=world.log,
        ledger=world.ledger,
        audit=DynamoLedgerAudit(world.table),
        marks=world.marks,
        index=DynamoSearchIndex(world.table),
        accounts=DynamoAccounts(world.table),
        clock=lambda: world.now,
        tuning=tuning or world.tuning,
    )


def check(world: World, tuning: Tuning | None = None) -> int:
    """Check the ended hours to the end, and return how much was repaired."""
    checker, until, repaired = check_of(world, tuning), None, 0
    while True:
        result = checker.check_ended_hours(world.account_id, world.now, until)
        repaired += result.repaired
        if result.rest is None:
            return repaired
        assert until is None or result.rest < until
        until = result.rest


def busy_hour() -> World:
    """Return an account whose last hour has ended, with a later message and a right ledger."""
    world = World()
    for number in range(12):
        sent = world.send()
        world.pass_time(1)
        world.add_event(sent, EventKind.SENT)
        if number % 3:
            world.pass_time(1)
            world.add_event(sent, EventKind.DELIVERED)
    first = next(iter(world.messages.values()))
    world.pass_time(HOUR)
    world.add_event(first, EventKind.BOUNCED)
    world.send()
    world.aggregate()
    world.pass_time(1800)
    return world


def ledger_sort_keys(world: World) -> list[str]:
    return [*world.engine.partition(f"STAT#{world.account_id}").order]


def test_a_right_ledger_is_not_changed() -> None:
    world = busy_hour()
    world.engine.reset()
    assert check(world) == 0
    assert world.engine.write_units == 0


@pytest.mark.parametrize("kind", ["C#", "U#sent#", "U#delivered#", "U#bounced-later#", "hour#"])
def test_a_lost_item_of_an_ended_hour_is_repaired(kind: str) -> None:
    world = busy_hour()
    world.lose(kind)
    assert wrong_items(world) >= 1
    assert check(world) >= 1
    assert wrong_items(world) == 0
    assert check(world) == 0


def test_a_change_that_the_stream_lost_is_applied() -> None:
    world = busy_hour()
    target = [*world.messages.values()][4]
    world.add_event(target, EventKind.COMPLAINED)
    world.stream.clear()
    assert check(world) == 0  # the stream may still deliver it
    world.pass_time(901)
    assert check(world) >= 1
    assert wrong_items(world) == 0
    request = PageRequest(status=Status.COMPLAINED)
    assert world.page(request) == world.expected_page(request)


def test_a_lost_change_with_a_date_to_come_is_applied() -> None:
    """A mailbox provider's wrong clock neither hides what the stream lost nor keeps a mark."""
    world = busy_hour()
    target = [*world.messages.values()][4]
    now, world.now = world.now, world.now + timedelta(days=400)
    world.add_event(target, EventKind.COMPLAINED)
    world.now = now
    world.stream.clear()
    world.table.put(account_item(world.account))
    audit = audit_of(world)
    report = audit.verify(world.account_id)
    assert (report.lagging_messages, report.is_correct) == (0, False)
    hour = Granularity.HOUR.start(index_entry(target).created)
    world.marks.put(mark := RebuildMark(world.account_id, hour, world.now))
    assert check_of(world).rebuild_hour(mark).repaired
    assert [*world.marks.all()] == []
    assert wrong_items(world) == 0


@pytest.mark.slow
@given(st.integers(0, 2**32))
@settings(max_examples=examples(8), deadline=None)
def test_lost_items_and_changes_are_all_repaired(seed: int) -> None:
    rng, world = random.Random(seed), World()
    simulate(world, rng, 60, (5, 60, 400))
    world.aggregate()
    start = Granularity.HOUR.start(milliseconds(world.now))
    world.pass_time((start + 3_600_000 - milliseconds(world.now)) / 1000 + rng.randrange(901, 3600))
    world.send()
    world.aggregate()
    ended = Granularity.HOUR.start(milliseconds(world.now - world.tuning.max_stream_lag))
    in_reach = [sk for sk in ledger_sort_keys(world) if _moment(sk) >= ended - 2 * 3_600_000]
    for sort_key in rng.sample(in_reach, min(len(in_reach), 3)):
        if sort_key[:2] in {"C#", "U#"} and _moment(sort_key) < ended:
            world.engine.partition(f"STAT#{world.account_id}").remove(sort_key)
    check(world, Tuning(max_checked_messages=rng.choice((1, 4, 1000))))
    expected = {
        m.message_id
        for m in world.messages.values()
        if ended - 2 * 3_600_000 <= milliseconds(m.created_at) < ended
    }
    entries = {
        entry.message_id: replace(entry, revision=0)
        for entry in DynamoLedgerAudit(world.table).entries(world.account_id)
    }
    for message_id in expected:
        right = replace(index_entry(world.messages[message_id]), revision=0)
        assert entries[message_id] == right
    assert check(world) == 0


def _moment(sort_key: str) -> int:
    return int(sort_key.rpartition("#")[2])


def marked_hour() -> tuple[World, RebuildMark]:
    world = busy_hour()
    first = next(iter(world.messages.values()))
    hour = Granularity.HOUR.start(milliseconds(first.created_at))
    mark = RebuildMark(world.account_id, hour, world.now)
    world.marks.put(mark)
    return world, mark


def test_a_marked_hour_is_rebuilt_and_unmarked() -> None:
    world, _ = marked_hour()
    world.pass_time(40 * 86_400)
    world.lose("U#sent#")
    assert check(world) == 0
    (marked,) = world.marks.all()
    result = check_of(world).rebuild_hour(marked)
    assert result.repaired >= 1
    assert result.rest is None
    assert wrong_items(world) == 0
    assert [*world.marks.all()] == []


def test_a_mark_stays_until_the_last_part_of_its_hour() -> None:
    world, mark = marked_hour()
    check = check_of(world, Tuning(max_checked_messages=5))
    rest, parts = check.rebuild_hour(mark).rest, 1
    while rest is not None:
        assert [*world.marks.all()] == [mark]
        rest, parts = check.rebuild_hour(mark, rest).rest, parts + 1
    assert parts >= 3
    assert [*world.marks.all()] == []


def test_a_mark_stays_while_changes_may_still_come() -> None:
    world, mark = marked_hour()
    world.add_event(next(iter(world.messages.values())), EventKind.COMPLAINED)
    assert check_of(world).rebuild_hour(mark) == CheckResult(0, None)
    assert [*world.marks.all()] == [mark]
    world.pass_time(901)
    assert check_of(world).rebuild_hour(mark).repaired >= 1
    assert [*world.marks.all()] == []


def test_search_finds_messages_before_their_hour_counts_as_right() -> None:
    """A check that dies in between leaves what tells the next one: a wrong entry, or the mark."""
    world, mark = marked_hour()
    for _ in range(2):
        wrong = wrong_items(world)
        fault = Unavailable("data store")
        with (
            mock.patch.object(DynamoSearchIndex, "change", side_effect=fault),
            pytest.raises(Unavailable),
        ):
            check_of(world).rebuild_hour(mark)
        assert ([*world.marks.all()], wrong_items(world)) == ([mark], wrong)
        world.lose("C#")


def test_an_hour_that_is_marked_again_meanwhile_stays_marked() -> None:
    world, old = marked_hour()
    new = replace(old, marked_at=world.now + timedelta(seconds=1))
    world.marks.put(new)
    check_of(world).rebuild_hour(old)
    assert [*world.marks.all()] == [new]


@pytest.mark.parametrize("write", range(1, 5))
def test_a_failed_repair_is_completed_by_the_next(write: int) -> None:
    world = busy_hour()
    for sort_key in ledger_sort_keys(world):
        if sort_key.startswith(("U#", "C#")):
            world.engine.partition(f"STAT#{world.account_id}").remove(sort_key)
    world.send()  # so that the hour stays ended
    world.aggregate()
    vars(world.table)["client"] = FaultyEngine(world, write, "failure before")
    with pytest.raises(ServiceError):
        check(world)
    vars(world.table)["client"] = world.engine
    assert check(world) >= 1
    ended = Granularity.HOUR.start(milliseconds(world.now - world.tuning.max_stream_lag))
    in_reach = [m for m in world.messages.values() if milliseconds(m.created_at) < ended]
    entries = {
        entry.message_id for entry in DynamoLedgerAudit(world.table).entries(world.account_id)
    }
    assert {m.message_id for m in in_reach} <= entries
    assert check(world) == 0


def test_an_idle_account_costs_three_units() -> None:
    world = World()
    world.send(world.now - timedelta(days=3))
    world.aggregate()
    world.engine.reset()
    assert check(world) == 0
    assert (world.engine.read_units, world.engine.write_units) == (3, 0)


@pytest.mark.slow
def test_a_message_costs_about_a_third_of_a_read_unit() -> None:
    """Checking the hours twice costs at most 0.44 read units for a message, 0.34 for its record."""
    statistics, in_two_hours = cost_of_checking(0.5)
    assert statistics <= 0.44 / 2 * in_two_hours
