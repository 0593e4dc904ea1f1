"""`stats verify` finds wrong statistics and `stats rebuild` repairs them."""

# ruff: noqa: S311  numbers from a seed, no secrets

import random
from dataclasses import dataclass, replace

import pytest

from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.history.ledger_audit import DynamoLedgerAudit
from pillarbox.adapters.dynamodb.history.search_index import DynamoSearchIndex
from pillarbox.adapters.dynamodb.records import account_item
from pillarbox.application.history.audit import Audit
from pillarbox.application.history.page import PageRequest
from pillarbox.domain.messages.message import Event, EventKind, Status
from tests.fakes.builders import account
from tests.refusals import refusal
from tests.unit.history.test_history_model import simulate
from tests.unit.history.world import World


@dataclass
class AuditedWorld:
    world: World
    audit: Audit


@pytest.fixture
def audited() -> AuditedWorld:
    """An account with some history and a ledger that does not lag."""
    world = World()
    world.table.put(account_item(account(world.account_id)))
    simulate(world, random.Random(11), 150, (5, 2000, 80_000))
    world.aggregate()
    world.pass_time(3600)
    audit = Audit(
        log=world.log,
        ledger=DynamoLedgerAudit(world.table),
        index=DynamoSearchIndex(world.table),
        accounts=DynamoAccounts(world.table),
        clock=lambda: world.now,
    )
    return AuditedWorld(world, audit)


def test_a_correct_ledger_is_reported_as_correct(audited: AuditedWorld) -> None:
    """Nothing is wrong, nothing lags, and nothing is repaired."""
    report = audited.audit.verify(audited.world.account_id)
    assert (report.is_correct, report.wrong_items, report.lagging_messages) == (True, 0, 0)
    assert report.messages == len(audited.world.messages)
    assert audited.audit.rebuild(audited.world.account_id) == report


@pytest.mark.parametrize("kind", ["C#", "U#", "hour#", "day#", "subsets#"])
def test_a_lost_item_is_reported_and_written_again(audited: AuditedWorld, kind: str) -> None:
    """If an item of any kind is lost, verify reports it and rebuild writes it again."""
    world = audited.world
    world.lose(kind)
    assert not audited.audit.verify(world.account_id).is_correct
    rebuilt = audited.audit.rebuild(world.account_id)
    assert not rebuilt.is_correct
    assert rebuilt.repaired_items
    assert audited.audit.verify(world.account_id).is_correct


def test_entries_of_messages_that_do_not_exist_are_removed(audited: AuditedWorld) -> None:
    """An entry of a message that does not exist is wrong, and rebuild removes it."""
    world = audited.world
    deleted = world.send()
    world.aggregate()
    world.engine.partition(f"MSG#{world.account_id}").remove(str(deleted.message_id))
    del world.messages[deleted.message_id]
    assert not audited.audit.verify(world.account_id).is_correct
    audited.audit.rebuild(world.account_id)
    assert audited.audit.verify(world.account_id).is_correct
    assert world.page(PageRequest()).total == len(world.messages)


def test_a_change_still_in_the_stream_is_lagging_and_not_wrong(audited: AuditedWorld) -> None:
    """A recent change is lagging; after a quarter of an hour it is lost, and so wrong."""
    world = audited.world
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
    """Rebuild keeps an entry of a later revision than that of the record it read."""
    world = audited.world
    message = next(iter(world.messages.values()))
    complaint = Event(kind=EventKind.COMPLAINED, at=world.now)
    later = replace(message.with_events([complaint]), revision=message.revision + 5)
    assert world.aggregation.apply([later]).retry_from is None
    audited.audit.rebuild(world.account_id)
    entries = {e.message_id: e for e in DynamoLedgerAudit(world.table).entries(world.account_id)}
    assert entries[message.message_id].status is Status.COMPLAINED


def test_an_unknown_account_is_an_error(audited: AuditedWorld) -> None:
    """Both commands raise account_not_found instead of reporting correct statistics."""
    for command in (audited.audit.verify, audited.audit.rebuild):
        assert refusal(command, "nobody000000").code == "account_not_found"
