"""`stats verify` finds wrong statistics and `stats rebuild` repairs them."""

# ruff: noqa: S311  numbers from a seed, no secrets

import random
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest

from admin.aws.live_rows import LiveRows, replacement
from admin.use_cases.audit import Audit
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.history.ledger_audit import DynamoLedgerAudit
from pillarbox.adapters.dynamodb.history.message_log import DynamoMessageLog, DynamoSearchIndex
from pillarbox.adapters.dynamodb.records import account_item, message_item, message_of
from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.application.delivery.sweep import RecordRetention
from pillarbox.application.history.pagination import PageRequest
from pillarbox.application.history.ports import RebuildMark
from pillarbox.application.history.queries import Bucket
from pillarbox.domain.messages.message import Event, EventKind, Status
from pillarbox.domain.messages.statistics import END_OF_TIME, Granularity
from pillarbox.domain.timing import milliseconds
from tests.fakes.builders import account
from tests.refusals import refusal
from tests.unit.history.test_history_check import check_of
from tests.unit.history.test_history_model import simulate
from tests.unit.history.world import World, audit_of


@dataclass
class AuditedWorld:
    world: World
    audit: Audit


@pytest.fixture
def audited() -> AuditedWorld:
    """An account with some history and a ledger that does not lag."""
    world = World()
    world.table.put(account_item(account(world.account_id)))
    simulate(world, random.Random(11), 80, (5, 2000, 400_000))
    world.aggregate()
    world.pass_time(3600)
    audit = audit_of(world)
    return AuditedWorld(world, audit)


def test_a_correct_ledger_is_reported_as_correct(audited: AuditedWorld) -> None:
    report = audited.audit.verify(audited.world.account_id)
    assert (report.is_correct, report.wrong_items, report.lagging_messages) == (True, 0, 0)
    assert report.messages == len(audited.world.messages)
    assert audited.audit.rebuild(audited.world.account_id) == report


@pytest.mark.parametrize("kind", ["C#", "U#", "hour#", "day#", "subsets#"])
def test_a_lost_item_is_reported_and_written_again(audited: AuditedWorld, kind: str) -> None:
    world = audited.world
    world.lose(kind)
    assert not audited.audit.verify(world.account_id).is_correct
    rebuilt = audited.audit.rebuild(world.account_id)
    assert not rebuilt.is_correct
    assert rebuilt.repaired_items
    assert audited.audit.verify(world.account_id).is_correct


def test_entries_of_messages_that_do_not_exist_are_removed(audited: AuditedWorld) -> None:
    world = audited.world
    deleted = world.send()
    world.aggregate()
    world.engine.partition(f"MSG#{world.account_id}").remove(str(deleted.message_id))
    del world.messages[deleted.message_id]
    assert not audited.audit.verify(world.account_id).is_correct
    audited.audit.rebuild(world.account_id)
    assert audited.audit.verify(world.account_id).is_correct
    assert world.page(PageRequest()).total == len(world.messages)


def forget(world: World, moment: datetime) -> None:
    """Delete the records from before a moment, as the sweep does for an account of some days."""
    accounts, log = DynamoAccounts(world.table), DynamoMessageLog(world.table)
    accounts.change(world.account_id, AccountChanges(record_days=90))
    stored = accounts.get(world.account_id)
    assert stored
    retention = RecordRetention(
        records=log,
        copies=DynamoSearchIndex(world.table).copies,
        set_records_from=accounts.set_records_from,
        remove_kept=lambda content: pytest.fail(str(content)),
    )
    cursor = None
    while True:
        cursor = retention.delete_page(stored, moment + timedelta(days=90), cursor)
        if cursor is None:
            return


def test_what_was_deleted_for_its_age_is_no_difference(audited: AuditedWorld) -> None:
    world, accounts = audited.world, DynamoAccounts(audited.world.table)
    moments = sorted(message.created_at for message in world.messages.values())
    cut = moments[len(moments) // 2].replace(hour=0, minute=0, second=0, microsecond=0)
    old = {m.message_id for m in world.messages.values() if m.created_at < cut and not m.pending}
    assert len(old) > 9
    window = (milliseconds(moments[0]), milliseconds(world.now), Bucket.DAY)
    figures = world.queries.analytics(world.account_id, *window)
    forget(world, cut)
    left = {
        m.message_id
        for m in DynamoMessageLog(world.table).newest_first(world.account_id, 0, END_OF_TIME)
    }
    assert left == world.messages.keys() - old
    for _ in range(2):
        report = audited.audit.verify(world.account_id)
        assert (report.is_correct, report.lagging_messages) == (True, 0)
        assert world.queries.analytics(world.account_id, *window) == figures
        audited.audit.rebuild(world.account_id)
    stored = accounts.get(world.account_id)
    assert stored
    assert stored.records_from == cut
    page = world.page(PageRequest(limit=1000).of(stored))
    young = [m for m in world.messages.values() if m.created_at >= cut]
    assert page.total == len(page.items) == len(young)
    mark = RebuildMark(
        world.account_id, Granularity.HOUR.start(milliseconds(moments[0])), world.now
    )
    world.marks.put(mark)
    assert check_of(world).rebuild_hour(mark).repaired == 0
    assert [*world.marks.all()] == []
    assert world.queries.analytics(world.account_id, *window) == figures
    world.lose("C#")
    assert not audited.audit.verify(world.account_id).is_correct


def test_a_change_still_in_the_stream_is_lagging_and_not_wrong(audited: AuditedWorld) -> None:
    """A recent change is lagging; after a quarter of an hour it is lost, and so wrong."""
    world = audited.world
    world.send()
    world.aggregate()
    assert audited.audit.verify(world.account_id).lagging_messages == 0
    world.send()
    pending = next(m for m in world.messages.values() if m.status is Status.PENDING)
    world.add_event(pending, EventKind.SENT)
    report = audited.audit.verify(world.account_id)
    assert (report.lagging_messages, report.wrong_items) == (2, 0)
    world.pass_time(16 * 60)
    assert not audited.audit.verify(world.account_id).is_correct
    audited.audit.rebuild(world.account_id)
    assert audited.audit.verify(world.account_id).is_correct


def test_a_rebuild_keeps_a_change_that_arrives_meanwhile(audited: AuditedWorld) -> None:
    world = audited.world
    message = next(iter(world.messages.values()))
    complaint = Event(kind=EventKind.COMPLAINED, at=world.now)
    later = replace(message.with_events([complaint]), revision=message.revision + 5)
    assert world.aggregation.apply([later]).retry_from is None
    audited.audit.rebuild(world.account_id)
    entries = {e.message_id: e for e in DynamoLedgerAudit(world.table).entries(world.account_id)}
    assert entries[message.message_id].status is Status.COMPLAINED


def test_an_unknown_account_is_an_error(audited: AuditedWorld) -> None:
    for command in (audited.audit.verify, audited.audit.rebuild):
        assert refusal(command, "nobody000000").code == "account_not_found"


@pytest.mark.parametrize("is_lost", [False, True])
def test_lists_follow_a_message_that_an_operator_put_back(
    audited: AuditedWorld, *, is_lost: bool
) -> None:
    """The former record is newer than the entries, so a later event reaches the lists."""
    world = audited.world
    message = world.send()
    world.add_event(message, EventKind.SENT)
    then = world.messages[message.message_id]
    world.add_event(message, EventKind.COMPLAINED)
    world.aggregate()
    live, now = LiveRows(world.table, world.table, world.now), world.messages[message.message_id]
    if is_lost:
        world.engine.partition(f"MSG#{world.account_id}").remove(str(message.message_id))
        assert live.put_all([message_item(then)]) == 1
    else:
        live.replace(message_item(now), replacement(message_item(now), message_item(then)))
    item = world.table.get(keys.message(world.account_id, message.message_id))
    assert item is not None
    back = message_of(item)
    assert (back.status, back.revision) == (Status.SENT, 3)
    world.messages[message.message_id] = back
    world.stream.append(back)
    world.add_event(message, EventKind.BOUNCED)
    world.aggregate()
    world.pass_time(3600)
    assert audited.audit.verify(world.account_id).is_correct
    assert audited.audit.rebuild(world.account_id).repaired_items == 0
    assert world.page(PageRequest(status=Status.BOUNCED)).total == sum(
        one.status is Status.BOUNCED for one in world.messages.values()
    )
