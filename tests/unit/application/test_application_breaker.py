"""The breaker and the watch over volumes: what is paused or told, and what does not count."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pillarbox.application.accounts.resuming import Resuming
from pillarbox.application.history import breaker
from pillarbox.application.history.breaker import VolumeWatch
from pillarbox.domain.accounts.account import QueuedMail, Suspension
from pillarbox.domain.accounts.pause import Pause, PauseLevel, PauseScope
from pillarbox.domain.accounts.reputation import verdict_on
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.messages.message import EventKind, MessageOrigin, SendRoute, Status
from pillarbox.domain.messages.statistics import IndexEntry, RecipientCounts, index_entry
from tests.examples import examples
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT
from tests.fakes.reputation import Reputation, check_history
from tests.fakes.world import World
from tests.refusals import refusal

HOLD_TIME = timedelta(hours=4)
LEAST_COMPLAINTS = 3
LEAST_FOR_COMPLAINTS = 1_000
LEAST_RECIPIENTS = 20

STOP, BRAKE, WARN = PauseLevel.STOP, PauseLevel.BRAKE, PauseLevel.WARN
DAY = timedelta(days=1)


@pytest.fixture
def world() -> Reputation:
    return Reputation()


def found(world: Reputation) -> dict[tuple[str, str], str]:
    """Return the level of each scope that has a pause now."""
    return {
        (one.scope.value, one.id): one.level.value
        for one in world.pauses
        if one.is_current(world.now)
    }


def bounce_together(world: Reputation, count: int, **origin: Any) -> None:
    """Let messages bounce in one batch."""
    sent = [world.send("bounced", **origin) for _ in range(count)]
    for one in sent:
        world.report(one)
    world.apply(*sent)
    world.now += timedelta(milliseconds=1)


def the_pause(world: Reputation, scope: PauseScope) -> Pause:
    (pause,) = (one for one in world.pauses if one.scope is scope)
    return pause


@pytest.mark.slow
@settings(max_examples=examples(3), deadline=None)
@given(seed=st.integers(0, 100_000))
def test_random_histories_equal_the_slow_definition(seed: int) -> None:
    check_history(seed)


def test_all_bounces_stop_a_key_at_the_twentieth(world: Reputation) -> None:
    """Of emails that all bounce, 19 change nothing, and the 20th stops the key."""
    world.bounce(19)
    assert found(world) == {}
    world.bounce()
    assert found(world) == {("key", "key_1"): "stop"}
    pause = the_pause(world, PauseScope.KEY)
    assert pause.until == pause.since + DAY


def test_no_verdict_on_few_recipients() -> None:
    """However many bounce: below 20 recipients, and below three complaints of 1,000, none."""
    for sent in range(LEAST_RECIPIENTS):
        for bad in range(sent + 1):
            counts = RecipientCounts(sent, bad, min(bad, LEAST_COMPLAINTS - 1))
            assert verdict_on(counts) is None
    for sent in range(1, LEAST_FOR_COMPLAINTS, 7):
        assert verdict_on(RecipientCounts(sent, 0, LEAST_COMPLAINTS - 1)) is None
    assert verdict_on(RecipientCounts(20, 20, 0)) is not None
    assert verdict_on(RecipientCounts(100, 0, 3)) is not None


@pytest.mark.parametrize("fate", ["away", "listed", "simulated", "delivered", "refused"])
def test_what_does_not_count(world: Reputation, fate: str) -> None:
    """Out-of-office replies, SES's own list and its simulator pause nothing."""
    world.bounce(40, fate)
    assert world.pauses == ()


@pytest.mark.parametrize(
    ("code", "after_hand_over"), [(None, False), ("canceled", False), ("rejected", True)]
)
def test_what_nobody_gets_dilutes_no_rate(
    world: Reputation, code: str | None, *, after_hand_over: bool
) -> None:
    """Two bounces of twenty warn, also beside 200 emails that wait, are canceled or had a virus."""
    world.apply(*[world.fail(code, after_hand_over=after_hand_over) for _ in range(200)])
    world.apply(world.send(*["delivered"] * 18))
    world.bounce(2)
    assert {pause.level for pause in world.pauses} == {PauseLevel.WARN}


def test_a_bounce_counts_though_the_email_had_expired() -> None:
    """If the hand-over comes to light after an email was given up, who bounced or got it counts."""
    fates = {"bob@example.com": EventKind.BOUNCED, "cleo@example.com": EventKind.DELIVERED}
    message = builders.message(
        to=("ann@example.com", *fates),
        events=(
            builders.event(EventKind.FAILED, 1),
            builders.event(EventKind.SENT, 2),
            *(builders.event(kind, 3, address) for address, kind in fates.items()),
        ),
    )
    assert index_entry(message).recipients == RecipientCounts(2, 1, 0)


def test_notices_of_the_service_do_not_count() -> None:
    """An owner's mailbox that bounces a notice is not held against the account."""
    bounced = builders.event(EventKind.BOUNCED, 1, "ann@example.com")
    message = builders.message(events=(bounced,), origin=MessageOrigin(route=SendRoute.NOTICE))
    assert index_entry(message).recipients == RecipientCounts()


def test_a_template_stops_before_its_key_and_account(world: Reputation) -> None:
    """What one template causes stops it alone; with a third one the key stops too."""
    world.apply(*(world.send("delivered") for _ in range(100)))
    bounce_together(world, 20, template="welcome")
    assert found(world) == {("template", "welcome"): "stop"}
    bounce_together(world, 20, template="trial_ending")
    assert found(world).keys() == {("template", "welcome"), ("template", "trial_ending")}
    bounce_together(world, 20, template="team_invite")
    assert found(world)["key", "key_1"] == "stop"


def test_codes_that_go_on_are_held_against_their_key(world: Reputation) -> None:
    """A stopped template of codes goes on slowly, so what it sends then stops key and account."""
    bounce_together(world, 20, template="otp")
    assert found(world) == {("template", "otp"): "stop"}
    bounce_together(world, 20, template="otp")
    assert found(world)["key", "key_1"] == "stop"
    bounce_together(world, 20, template="otp")
    assert found(world)["account", ""] == "stop"


def test_a_mode_that_warns_stops_nothing() -> None:
    """With `warn` the owners are told once a day, and nothing is refused."""
    world = Reputation(may_pause=False)
    world.bounce(60)
    assert set(found(world).values()) == {"warn"}
    told = world.raise_alert.call_count
    world.now += DAY
    world.bounce()
    assert world.raise_alert.call_count == told + 1


def test_a_second_stop_ends_by_a_person_only(world: Reputation) -> None:
    """The first stop ends after a day and its window starts again; the next one does not end."""
    world.bounce(20)
    world.now += DAY
    assert found(world) == {}
    world.bounce(19)
    assert found(world) == {}
    world.bounce()
    stop = the_pause(world, PauseScope.KEY)
    assert (stop.level, stop.until) == (STOP, None)


def resuming(world: Reputation) -> Resuming:
    return Resuming(world.breaker.pauses, mock.Mock(), lambda: world.now)


def test_an_owner_resumes_once_then_an_operator(world: Reputation) -> None:
    """A second stop within a month is the operator's to end, who gives the owner another chance."""
    use_case = resuming(world)
    key = (PauseScope.KEY, "key_1", False)
    end = partial(use_case.by_owner, ACCOUNT, key, "a bot", "ada@shop.example")
    assert refusal(end).code == "sending_paused"
    world.bounce(20)
    end()
    assert found(world) == {}
    world.bounce(19)
    assert found(world) == {}
    world.bounce()
    assert refusal(end).code == "sending_paused"
    use_case.by_operator(ACCOUNT, "operator")
    assert found(world) == {}
    world.bounce(20)
    end()
    assert found(world) == {}
    noted = [call.kwargs["by"] for call in use_case.log.note.call_args_list]  # type: ignore[attr-defined]
    assert noted == ["ada@shop.example", "operator", "ada@shop.example"]
    assert refusal(use_case.by_operator, "acct00000009", "operator").code == "account_not_found"


def test_a_repeated_judgement_raises_the_same_alert(world: Reputation) -> None:
    """If the pause cannot be stored, the alert is there, and the next try raises no other."""
    bad = [world.send("bounced") for _ in range(20)]
    for sent in bad:
        world.report(sent)
    entries = [index_entry(sent.record) for sent in bad]
    world.ledger.put_entries(ACCOUNT, entries)
    with mock.patch.object(type(world.accounts), "set_pauses", side_effect=OSError("table")):
        assert "table" in str(_error(world.breaker.judge, ACCOUNT, entries))
    world.now += timedelta(seconds=1)
    world.breaker.judge(ACCOUNT, entries)
    first, second = (call.args[1] for call in world.raise_alert.call_args_list)
    assert first.alert_id == second.alert_id
    assert "Key key_1: too many of its emails bounced" in first.paragraphs[0]


def _error(call: Any, *arguments: object) -> Exception | None:
    try:
        call(*arguments)
    except OSError as error:
        return error
    return None


def test_a_healthy_account_costs_few_reads(world: Reputation) -> None:
    """Of a busy hour only the bounces are read while the rate is low, in a dozen units."""
    world.apply(*(world.send("delivered", template="welcome") for _ in range(600)))
    world.now += timedelta(hours=1)
    world.apply(*(world.send("delivered", template="welcome") for _ in range(400)))
    bounce = world.send("bounced", template="welcome")
    world.report(bounce)
    world.apply(bounce)
    entry = index_entry(bounce.record)
    entries_created = mock.Mock(wraps=world.ledger.entries_created)
    world.engine.reset()
    with mock.patch.object(type(world.ledger), "entries_created", entries_created):
        assert world.breaker.judge(ACCOUNT, [entry]) == 0
    entries_created.assert_not_called()
    assert world.engine.read_units <= 12


def held_world(pause: Pause | None = None, suspension: Suspension | None = None) -> World:
    """Return a world whose account was paused after it accepted an email ten seconds ago."""
    return World(builders.account(pauses=(pause,) if pause else (), suspension=suspension))


def stopped(**changes: Any) -> Pause:
    world = Reputation()
    world.bounce(20)
    return replace(the_pause(world, PauseScope.KEY), since=builders.NOW, **changes)


def deliver(world: World, message: Any) -> Any:
    job = builders.job(message)
    world.store.messages[message.account_id, message.message_id] = message
    return world.delivery.deliver(job)


def test_queued_mail_of_a_stopped_key_waits_and_then_fails() -> None:
    """It is received again until four hours are over, and then fails with `sending_paused`."""
    message = builders.message()
    key = message.origin.key_id or ""
    world = held_world(stopped(id=key, until=None))
    world.advance(timedelta(seconds=10))
    result = deliver(world, message)
    assert (result.outcome.value, result.retry_after) == ("held", timedelta(minutes=10))
    assert "rate.acquire" not in world.gate.calls
    world.advance(HOLD_TIME - timedelta(minutes=1))
    assert deliver(world, message).retry_after == timedelta(seconds=50)
    world.advance(timedelta(minutes=1))
    assert deliver(world, message).outcome.value == "failed"
    failed = world.message()
    assert (failed.status, failed.error and failed.error.code) == (Status.FAILED, "sending_paused")


def test_queued_mail_goes_on_when_the_pause_ends() -> None:
    message, until = builders.message(), builders.at(300)
    world = held_world(stopped(id=message.origin.key_id or "", until=until))
    world.advance(timedelta(seconds=10))
    assert deliver(world, message).retry_after == timedelta(seconds=290)
    world.now = until
    assert deliver(world, message).outcome.value == "sent"


@pytest.mark.parametrize(
    "origin",
    [
        MessageOrigin(route=SendRoute.HTTP, key_id="key-1", starter_template="otp"),
        MessageOrigin(route=SendRoute.NOTICE, key_id="key-1"),
        MessageOrigin(route=SendRoute.HTTP, key_id="key-2"),
    ],
)
def test_codes_notices_and_others_are_not_held(origin: MessageOrigin) -> None:
    """A stopped key holds neither its codes nor notices of the service nor mail of other keys."""
    world = held_world(stopped(id="key-1"))
    world.advance(timedelta(seconds=10))
    assert deliver(world, builders.message(origin=origin)).outcome.value == "sent"


def test_delivery_at_its_usual_speed_reads_no_account() -> None:
    """An email that was queued less than ten seconds ago is sent without another read."""
    world = held_world(stopped(id="key-1"))
    world.advance(timedelta(seconds=9))
    assert deliver(world, builders.message()).outcome.value == "sent"
    assert "directory.look_up" not in world.gate.calls


@pytest.mark.parametrize(
    ("queued", "outcome"),
    [(QueuedMail.SEND, "sent"), (QueuedMail.HOLD, "held"), (QueuedMail.DROP, "failed")],
)
def test_an_operator_holds_or_drops_queued_mail(queued: QueuedMail, outcome: str) -> None:
    """`account suspend` sends what is queued, or holds it, or drops it."""
    world = held_world(suspension=Suspension(builders.NOW, None, queued))
    world.advance(timedelta(seconds=10))
    assert deliver(world, builders.message()).outcome.value == outcome


def watch(world: Reputation) -> VolumeWatch:
    return VolumeWatch(ledger=world.ledger, raise_alert=world.raise_alert, clock=lambda: world.now)


def sent(world: Reputation, count: int) -> list[IndexEntry]:
    """Return the first entries of emails that a key sends now."""
    return [replace(index_entry(world.send("delivered").record), revision=0) for _ in range(count)]


def test_unusual_volume_of_a_key_warns(world: Reputation) -> None:
    """A hundred emails of a new key within an hour warn; ten times as many as ever do, too."""
    entries = sent(world, 100)
    watched = watch(world)
    watched.watch(ACCOUNT, entries[:99])
    world.raise_alert.assert_not_called()
    watched.watch(ACCOUNT, entries[99:])
    assert world.raise_alert.call_args.args[1].about == "API key: key_1"


def test_a_repeated_batch_counts_once(world: Reputation) -> None:
    """Another account's failure repeats a batch, and the sixty emails of a key stay sixty."""
    entries = sent(world, 99)
    watched = watch(world)
    for batch in (entries[:60], entries[:60], entries, entries[30:]):
        watched.watch(ACCOUNT, batch)
    world.raise_alert.assert_not_called()
    watched.watch(ACCOUNT, [*entries, *sent(world, 1)])
    assert "at least 100 emails" in world.raise_alert.call_args.args[1].paragraphs[0]


def test_a_warning_that_failed_is_raised_again(world: Reputation) -> None:
    """The batch is repeated, and its emails count only once the alert is stored."""
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


def test_usual_volume_does_not_warn(world: Reputation) -> None:
    """A key that sent half as many in an hour of the last week is not unusual."""
    world.apply(*(world.send("delivered") for _ in range(50)))
    world.now += timedelta(hours=2)
    later = [world.send("delivered") for _ in range(100)]
    world.apply(*later)
    watch(world).watch(ACCOUNT, [replace(index_entry(one.record), revision=0) for one in later])
    world.raise_alert.assert_not_called()
