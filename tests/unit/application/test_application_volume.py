"""The watch over how much keys send: what is unusual, and that nothing is counted twice."""

from dataclasses import replace
from datetime import timedelta

import pytest

from pillarbox.application.history import breaker
from pillarbox.application.history.breaker import VolumeWatch
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.messages.statistics import IndexEntry, index_entry
from tests.fakes.builders import ACCOUNT
from tests.fakes.reputation import Reputation


def watch(world: Reputation) -> VolumeWatch:
    return VolumeWatch(ledger=world.ledger, raise_alert=world.raise_alert, clock=lambda: world.now)


def sent(world: Reputation, count: int) -> list[IndexEntry]:
    """Return the first entries of emails that a key sends now."""
    return [replace(index_entry(world.send("delivered").record), revision=0) for _ in range(count)]


def test_unusual_volume_of_a_key_warns() -> None:
    """A hundred emails of a new key within an hour warn; ten times as many as ever do, too."""
    world = Reputation()
    entries = sent(world, 100)
    watched = watch(world)
    watched.watch(ACCOUNT, entries[:99])
    world.raise_alert.assert_not_called()
    watched.watch(ACCOUNT, entries[99:])
    assert world.raise_alert.call_args.args[1].about == "API key: key_1"


def test_a_repeated_batch_counts_once() -> None:
    """Another account's failure repeats a batch, and the sixty emails of a key stay sixty."""
    world = Reputation()
    entries = sent(world, 99)
    watched = watch(world)
    for batch in (entries[:60], entries[:60], entries, entries[30:]):
        watched.watch(ACCOUNT, batch)
    world.raise_alert.assert_not_called()
    watched.watch(ACCOUNT, [*entries, *sent(world, 1)])
    assert "at least 100 emails" in world.raise_alert.call_args.args[1].paragraphs[0]


def test_a_warning_that_failed_is_raised_again() -> None:
    """The batch is repeated, and its emails count only once the alert is stored."""
    world = Reputation()
    entries = sent(world, 110)
    watched = watch(world)
    watched.watch(ACCOUNT, entries[:60])
    world.raise_alert.side_effect = [Unavailable("table"), None]
    with pytest.raises(Unavailable):
        watched.watch(ACCOUNT, entries[60:])
    for _ in range(2):
        watched.watch(ACCOUNT, entries[60:])
        assert world.raise_alert.call_count == 2


def test_only_the_newest_messages_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process keeps the ids of some batches, not of a whole hour."""
    monkeypatch.setattr(breaker, "_MAX_MESSAGES", 50)
    world = Reputation()
    entries = sent(world, 90)
    watched = watch(world)
    for start in range(0, 90, 30):
        watched.watch(ACCOUNT, entries[start : start + 30])
    newest = {entry.message_id for entry in entries[60:]}
    assert (len(watched._counted), newest - {*watched._counted}) == (50, set())


def test_usual_volume_does_not_warn() -> None:
    """A key that sent half as many in an hour of the last week is not unusual."""
    world = Reputation()
    world.apply(*(world.send("delivered") for _ in range(50)))
    world.now += timedelta(hours=2)
    later = [world.send("delivered") for _ in range(100)]
    world.apply(*later)
    watch(world).watch(ACCOUNT, [replace(index_entry(one.record), revision=0) for one in later])
    world.raise_alert.assert_not_called()
