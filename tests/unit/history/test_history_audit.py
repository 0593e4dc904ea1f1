"""`stats verify` and `stats rebuild`: whether the counters are right, and making them so."""

# ruff: noqa: S311  chance that comes again from its seed, and no secret

import random
from dataclasses import dataclass, replace

import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.ledger_audit import DynamoLedgerAudit
from pillarbox.adapters.dynamodb.records import account_item
from pillarbox.application.history.audit import Audit
from pillarbox.application.history.queries import PageRequest, SortBy
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.message import Event, EventKind, Status
from tests.fakes.builders import account
from tests.unit.history.test_history_model import live
from tests.unit.history.world import World


@dataclass
class Audited:
    world: World
    audit: Audit


@pytest.fixture
def audited() -> Audited:
    """An account with some history that the ledger has caught up with."""
    world = World()
    world.table.put(account_item(account(world.account_id)))
    live(world, random.Random(11), 150, (5, 2000, 80_000))
    world.aggregate()
    world.pass_time(3600)
    audit = Audit(
        log=world.log,
        ledger=DynamoLedgerAudit(world.table),
        accounts=DynamoAccounts(world.table),
        clock=lambda: world.now,
    )
    return Audited(world, audit)


def statistics(world: World) -> list[str]:
    return world.engine.partition(keys.entries(world.account_id, 0)["pk"]["S"]).order


def test_statistics_that_are_right_are_told_so(audited: Audited) -> None:
    """Nothing wrong, nothing behind, nothing to repair."""
    found = audited.audit.verify(audited.world.account_id)
    assert (found.right, found.wrong, found.behind) == (True, 0, 0)
    assert found.messages == len(audited.world.messages)
    assert audited.audit.rebuild(audited.world.account_id) == found


@pytest.mark.parametrize("kind", ["C#", "U#", "hour#", "day#"])
def test_an_item_that_is_lost_is_found_and_made_again(audited: Audited, kind: str) -> None:
    """Whatever item is gone: verify tells, rebuild makes it, verify is content."""
    world = audited.world
    lost = next(sort_key for sort_key in statistics(world) if sort_key.startswith(kind))
    world.engine.partition(f"STAT#{world.account_id}").remove(lost)
    assert not audited.audit.verify(world.account_id).right
    rebuilt = audited.audit.rebuild(world.account_id)
    assert not rebuilt.right
    assert rebuilt.repaired
    assert audited.audit.verify(world.account_id).right


def test_statistics_are_made_from_nothing(audited: Audited) -> None:
    """An account whose mail is older than its statistics gets them by rebuild."""
    world = audited.world
    for sort_key in [*statistics(world)]:
        world.engine.partition(f"STAT#{world.account_id}").remove(sort_key)
    assert audited.audit.rebuild(world.account_id).repaired
    assert audited.audit.verify(world.account_id).right
    for sort_by in SortBy:
        request = PageRequest(sort_by=sort_by, skip=20)
        assert world.page(request) == world.expected_page(request)


def test_entries_of_messages_that_are_not_there_are_removed(audited: Audited) -> None:
    """What counts a message that does not exist is wrong."""
    world = audited.world
    gone = world.send()
    world.aggregate()
    world.engine.partition(f"MSG#{world.account_id}").remove(str(gone.message_id))
    del world.messages[gone.message_id]
    assert not audited.audit.verify(world.account_id).right
    audited.audit.rebuild(world.account_id)
    assert audited.audit.verify(world.account_id).right
    assert world.page(PageRequest()).total == len(world.messages)


def test_what_the_stream_has_yet_to_bring_is_behind_and_not_wrong(audited: Audited) -> None:
    """A change of just now is behind; after a quarter of an hour it is lost, and so wrong."""
    world = audited.world
    world.send()
    pending = next(m for m in world.messages.values() if m.status is Status.PENDING)
    world.happen(pending, EventKind.SENT)
    found = audited.audit.verify(world.account_id)
    assert (found.behind, found.wrong) == (2, 0)
    world.pass_time(16 * 60)
    assert not audited.audit.verify(world.account_id).right
    audited.audit.rebuild(world.account_id)
    assert audited.audit.verify(world.account_id).right


def test_a_rebuild_does_not_undo_what_the_stream_brings_meanwhile(audited: Audited) -> None:
    """An entry of a later revision than the record that was read stays."""
    world = audited.world
    message = next(iter(world.messages.values()))
    complaint = Event(kind=EventKind.COMPLAINED, at=world.now)
    later = replace(message.with_events([complaint]), revision=message.revision + 5)
    assert world.aggregation.apply([later]).again is None
    audited.audit.rebuild(world.account_id)
    entries = {e.message_id: e for e in DynamoLedgerAudit(world.table).entries(world.account_id)}
    assert entries[message.message_id].status is Status.COMPLAINED


def test_an_account_that_is_not_there_is_told(audited: Audited) -> None:
    """account_not_found, rather than statistics of nobody that are right."""
    for look in (audited.audit.verify, audited.audit.rebuild):
        with pytest.raises(ServiceError) as told:
            look("nobody000000")
        assert told.value.code == "account_not_found"
