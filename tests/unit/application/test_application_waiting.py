"""Messages that wait: accept, cancel, reschedule, release, and deliver when they are due."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from pillarbox.application.delivery.result import Outcome
from pillarbox.application.delivery.sweep import WaitingSweep
from pillarbox.domain.accounts.account import Suspension
from pillarbox.domain.accounts.key import AgentSettings, Confirmation, digest_of_key
from pillarbox.domain.accounts.pause import Pause, PauseCause, PauseLevel, PauseScope
from pillarbox.domain.accounts.quota import window_name
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.mail import RawBody
from pillarbox.domain.messages.message import EventKind, Message
from pillarbox.domain.messages.schedule import Schedule
from tests.fakes import builders
from tests.fakes.world import World
from tests.loops import for_each

EVENT_WAIT = timedelta(minutes=15)
MAX_AHEAD = timedelta(days=30)
RELEASE_TIME = timedelta(days=7)

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
MILLISECOND = timedelta(milliseconds=1)


@pytest.fixture
def world() -> World:
    return World()


def schedule(world: World, ahead: timedelta, **changes: Any) -> Message:
    """Accept a message that is due some time ahead."""
    world.send(builders.request(scheduled_at=world.now + ahead, **changes))
    return world.message()


def hold(world: World) -> Message:
    world.send(builders.request(hold=True))
    return world.message()


def run_until(world: World, until: timedelta) -> list[Outcome]:
    """Let the minutes pass: the timer runs in each, and workers get what is visible."""
    end, outcomes = world.now + until, []
    while world.now < end:
        world.due_mail.enqueue()
        world.advance(MINUTE / 4)
        outcomes += deliver(world)
    return outcomes


def deliver(world: World) -> list[Outcome]:
    """Deliver what is visible in the queue; return how it ended."""
    outcomes = []
    visible = [entry for entry in world.store.hidden if entry[0] <= world.now]
    for entry in visible:
        world.store.hidden.remove(entry)
        _, sent_at, job = entry
        result = world.due_delivery.deliver(job, sent_at=sent_at)
        outcomes.append(result.outcome)
        if result.retry_after is not None:
            world.store.hidden.append((world.now + result.retry_after, sent_at, job))
    return outcomes


def code(call: Callable[[], object]) -> str:
    with pytest.raises(ServiceError) as error:
        call()
    return error.value.code


def error_of(world: World) -> str | None:
    error = world.message().error
    return error.code if error else None


def sent_at(world: World) -> list[timedelta]:
    """Return how long after the beginning each email was handed over."""
    return (
        [event.at - builders.NOW for event in world.message().events] if world.mailer.taken else []
    )


@for_each("ahead", [MINUTE, 14 * MINUTE, 15 * MINUTE, HOUR, DAY, 30 * DAY])
def test_a_scheduled_message_leaves_when_it_is_due(ahead: timedelta) -> None:
    """It is queued at most two minutes before, never leaves early, and less than a minute late."""
    world = World()
    message = schedule(world, ahead)
    world.now += max(ahead - 20 * MINUTE, timedelta(0))
    world.store.closed_minute = world.now  # minutes without a task are read in any case
    run_until(world, min(ahead, 20 * MINUTE) + MINUTE)
    assert message.schedule is not None
    (late,) = [taken - ahead for taken in sent_at(world)]
    assert timedelta(0) <= late < MINUTE
    assert not world.store.contents
    assert not world.store.wakes


def test_a_worker_whose_job_comes_early_waits(world: World) -> None:
    """The clock of the queue may be ahead: by the worker's own one no email leaves early."""
    schedule(world, MINUTE)
    ((_, sent_at, job),) = world.store.hidden
    world.advance(MINUTE - MILLISECOND)
    early = world.due_delivery.deliver(job, sent_at=sent_at)
    assert (early.outcome, early.retry_after) == (Outcome.WAITING, MILLISECOND)
    world.advance(MILLISECOND)
    assert world.due_delivery.deliver(job, sent_at=sent_at).outcome is Outcome.SENT


@for_each(
    "ahead",
    [timedelta(0), MINUTE - MILLISECOND, MAX_AHEAD + MILLISECOND],
)
def test_a_time_is_a_minute_to_thirty_days_ahead(ahead: timedelta) -> None:
    world = World()
    assert code(lambda: schedule(world, ahead)) == "validation_failed"
    assert world.used() == {0}
    assert not world.store.contents


def test_the_second_of_two_cancels_at_once_is_told_that_it_is_canceled(world: World) -> None:
    """Nothing says that it is not: the other cancel, or the lost first try, has taken effect."""
    cancel = partial(world.changes.cancel, builders.ACCOUNT, schedule(world, HOUR).message_id)
    world.gate.before("messages.save", do=cancel)
    cancel()
    assert world.message().canceled_at == builders.NOW
    assert world.store.counts[builders.ACCOUNT, window_name("day", builders.NOW)] == 0
    assert not world.store.contents


def test_the_second_of_two_releases_at_once_is_told_that_it_is_released(world: World) -> None:
    release = partial(world.changes.release, world.principal, hold(world).message_id)
    world.gate.before("messages.save", do=release)
    release()
    assert Outcome.SENT in deliver(world)
    assert len(world.mailer.taken) == 1


def test_what_a_worker_has_is_not_changed(world: World) -> None:
    """A leased message can be neither canceled nor rescheduled nor released."""
    message = schedule(world, MINUTE)
    message_id = message.message_id
    world.due_delivery.messages.lease(
        *(message.account_id, message_id, message.body_hash),
        "worker",
        world.now,
        schedule=message.schedule,
    )
    changes, later = world.changes, world.now + HOUR
    for change in (
        lambda: changes.cancel(builders.ACCOUNT, message_id),
        lambda: changes.reschedule(builders.ACCOUNT, message_id, later),
        lambda: changes.release(world.principal, message_id),
    ):
        assert code(change) == "not_cancelable"


def test_the_new_time_is_within_thirty_days_of_the_request(world: World) -> None:
    message = schedule(world, DAY)
    world.advance(HOUR)

    def move(due: timedelta) -> None:
        world.changes.reschedule(builders.ACCOUNT, message.message_id, builders.NOW + due)

    move(MAX_AHEAD)
    assert code(lambda: move(MAX_AHEAD + MILLISECOND)) == "validation_failed"


def test_a_time_is_changed_fifty_times_at_most(world: World) -> None:
    message = schedule(world, DAY)

    def move(minutes: int) -> None:
        due_at = builders.NOW + DAY + minutes * MINUTE
        world.changes.reschedule(builders.ACCOUNT, message.message_id, due_at)

    for number in range(50):
        move(number)
    assert code(lambda: move(50)) == "rate_limit_exceeded"
    world.changes.cancel(builders.ACCOUNT, message.message_id)


def test_an_agent_releases_to_nobody_to_whom_it_may_not_send(world: World) -> None:
    """Its limits hold on every route, and may be narrower than when it sent."""
    message = hold(world)
    agent = AgentSettings(recipients=("example.net",), confirmation=Confirmation.OFF)
    caller = replace(world.principal, key=replace(world.principal.key, agent=agent))
    refusal = code(lambda: world.changes.release(caller, message.message_id))
    assert refusal == "recipient_not_allowed"
    allowed = replace(agent, recipients=("example.net", "example.com"))
    caller = replace(caller, key=replace(caller.key, agent=allowed))
    world.changes.release(caller, message.message_id)
    assert deliver(world) == [Outcome.SENT]


def test_a_message_that_nobody_releases_fails(world: World) -> None:
    hold(world)
    world.now += RELEASE_TIME - 5 * MINUTE
    world.store.closed_minute = world.now
    run_until(world, 10 * MINUTE)
    assert error_of(world) == "not_released"
    assert not world.mailer.taken
    assert not world.store.contents


def revoke(world: World) -> None:
    digest = digest_of_key(world.live)
    world.store.keys[digest] = replace(world.store.keys[digest], revoked_at=world.now)


def suspend(world: World) -> None:
    account = world.store.accounts[builders.ACCOUNT]
    world.set_account(replace(account, suspension=Suspension(world.now)))


def unverify(world: World) -> None:
    account = world.store.accounts[builders.ACCOUNT]
    world.set_account(replace(account, senders={builders.SENDER: False}))


def suppress(world: World) -> None:
    world.store.suppressed[builders.ACCOUNT, "ann@example.com"] = "bounced"


def lose_content(world: World) -> None:
    world.store.contents.clear()


@for_each(
    "change, expected",
    [
        (revoke, "key_revoked"),
        (suspend, "account_suspended"),
        (unverify, "sender_not_verified"),
        (suppress, "recipient_suppressed"),
        (lose_content, "payload_gone"),
    ],
)
def test_everything_is_checked_again_when_it_is_due(
    change: Callable[[World], None], expected: str
) -> None:
    """What would be refused now is not sent, and says why."""
    world = World()
    schedule(world, HOUR)
    world.advance(HOUR / 2)
    change(world)
    run_until(world, HOUR)
    assert error_of(world) == expected
    assert not world.mailer.taken


def test_a_message_of_a_paused_sender_waits(world: World) -> None:
    """As others in the queue do, although it was queued just now."""
    schedule(world, 5 * MINUTE)
    account = world.store.accounts[builders.ACCOUNT]
    pause = Pause(
        scope=PauseScope.ACCOUNT,
        level=PauseLevel.STOP,
        cause=PauseCause.BOUNCES,
        since=world.now,
    )
    world.set_account(replace(account, pauses=(pause,)))
    outcomes = run_until(world, HOUR)
    assert set(outcomes) == {Outcome.HELD}


def test_a_code_expires_from_its_time_on(world: World) -> None:
    """A one-time code that is sent in a day is valid then; an outage of an hour ends it."""
    world.send(builders.starter_request(scheduled_at=world.now + DAY))
    world.now += DAY + MINUTE
    run_until(world, MINUTE)
    assert len(world.mailer.taken) == 1
    late = World()
    late.send(builders.starter_request(scheduled_at=late.now + DAY))
    late.now += DAY + HOUR
    run_until(late, MINUTE)
    assert error_of(late) == "expired"


def test_an_hour_of_outage_loses_nothing(world: World) -> None:
    """What became due meanwhile is sent by the next pass."""
    for minutes in range(30, 90, 7):
        world.send(builders.request(scheduled_at=world.now + minutes * MINUTE))
    world.advance(90 * MINUTE)
    run_until(world, MINUTE)
    assert len(world.mailer.taken) == 9


def test_the_job_of_a_new_time_comes_before_the_time_is_saved(world: World) -> None:
    """It waits for it, and the email is not as late as the time before."""
    message, outcomes = schedule(world, HOUR), list[Outcome]()
    world.gate.before("messages.save", do=lambda: outcomes.extend(run_until(world, 6 * MINUTE)))
    due_at = builders.NOW + 5 * MINUTE
    world.changes.reschedule(builders.ACCOUNT, message.message_id, due_at)
    assert {*outcomes} == {Outcome.WAITING}
    run_until(world, 2 * MINUTE)
    assert len(world.mailer.taken) == 1


def test_a_job_comes_before_its_record(world: World) -> None:
    """A slow acceptance loses nothing: the job waits until there is a record."""
    message = schedule(world, MINUTE)
    stored = world.store.messages.pop((message.account_id, message.message_id))
    world.advance(MINUTE)
    assert deliver(world) == [Outcome.WAITING]
    world.store.messages[message.account_id, message.message_id] = stored
    world.advance(MINUTE)
    assert deliver(world) == [Outcome.SENT]


def test_a_message_over_smtp_is_scheduled_by_a_field(world: World) -> None:
    """`X-Scheduled-At` says when, and is not delivered."""
    world.send_smtp(f"X-Scheduled-At: {(world.now + HOUR).isoformat()}")
    assert world.message().schedule is not None
    ((mail, _),) = world.store.contents.values()
    assert isinstance(mail.body, RawBody)
    assert b"Scheduled" not in mail.body.octets
    run_until(world, HOUR + MINUTE)
    assert len(world.mailer.taken) == 1


@for_each(
    "value, words",
    [
        ("tomorrow", "must be a time with an offset"),
        ("2026-03-14T16:00:00", "must be a time with an offset"),
        ("2026-03-14T15:09:00Z", "at least one minute"),
        ("9999-12-31T23:59:59-10:00", "must be a time with an offset"),
    ],
)
def test_a_wrong_time_over_smtp_is_refused(value: str, words: str) -> None:
    """The reply says what is wrong with the field, and nothing is accepted."""
    world = World()
    with pytest.raises(ServiceError, match=words):
        world.send_smtp(f"X-Scheduled-At: {value}")
    assert not world.store.messages
    assert world.used() == {0}


def sweep(world: World) -> int:
    """Sweep the contents of the account; return how many messages are overdue."""
    waiting = world.waiting_mail
    messages = world.changes.messages
    found = WaitingSweep(contents=waiting.contents, messages=messages, queue=waiting.queue)
    return found.sweep(builders.ACCOUNT, world.now, None).overdue


@for_each("call", ["contents.put_all", "times.put_all", "messages.commit"])
def test_an_acceptor_that_stalls_loses_nothing_that_it_accepts(call: str) -> None:
    """It stalls for half an hour, while the timer reads the minute of the message."""
    world, stalled = World(), list[str]()

    def stall(name: str) -> None:
        if name == call and not stalled:
            stalled.append(name)
            run_until(world, 30 * MINUTE)

    world.gate.watch = stall
    accepted = 1
    try:
        schedule(world, 20 * MINUTE)
    except ServiceError:
        accepted = 0
    assert stalled
    run_until(world, 30 * MINUTE)
    assert len(world.mailer.taken) == accepted == len(world.store.messages)


@for_each("stall", [10 * MINUTE, 10 * MINUTE + MILLISECOND])
def test_an_acceptor_may_stall_for_ten_minutes_after_it_has_read_the_clock(
    stall: timedelta,
) -> None:
    """It has decided on the timer by then, which reads the minute 14 minutes ahead 2 before it."""
    world = World()
    due_at = world.now + 20 * MINUTE
    message = replace(builders.message(), schedule=Schedule(due_at=due_at, life=DAY))

    def clock() -> datetime:
        read = world.now
        world.advance(stall)
        return read

    refused = pytest.raises(ServiceError, match="stalled")
    with refused if stall > 10 * MINUTE else nullcontext():
        replace(world.waiting_mail, clock=clock).arrange([message])


def test_the_sweep_keeps_the_content_of_an_acceptor_that_stalls(world: World) -> None:
    """It may commit after hours. What has no record after two days is never accepted."""

    def stall() -> None:
        world.advance(47 * HOUR)
        sweep(world)

    world.gate.before("messages.commit", do=stall)
    schedule(world, 3 * DAY)
    run_until(world, 26 * HOUR)
    assert len(world.mailer.taken) == 1
    never_accepted = builders.message(message_id=new_id(world.now - 2 * DAY - MINUTE))
    world.waiting_mail.contents.put_all([(never_accepted, builders.mail())])
    sweep(world)
    assert not world.store.contents


@for_each("taken", [False, True])
def test_the_sweep_queues_again_what_lost_its_job(*, taken: bool) -> None:
    """Also if a worker took the message and died: then the next one says what became of it."""
    world = World()
    message = schedule(world, MINUTE)
    world.store.hidden.clear()
    world.advance(MINUTE)
    if taken:
        name = (message.account_id, message.message_id, message.body_hash)
        world.due_delivery.messages.lease(*name, "dead", world.now, schedule=message.schedule)
    world.advance(EVENT_WAIT)
    assert sweep(world) == 0
    assert not world.store.hidden, "it is not late yet"
    world.advance(DAY)
    assert sweep(world) == 1
    assert deliver(world) == [Outcome.FAILED]
    assert error_of(world) == ("delivery_uncertain" if taken else "expired")
    assert not world.store.contents


@for_each(
    "late, woken, overdue",
    [
        (30 * MINUTE, 0, 0),
        (30 * MINUTE + MILLISECOND, 1, 0),
        (5 * HOUR, 1, 0),
        (5 * HOUR + MILLISECOND, 1, 1),
    ],
)
def test_the_sweep_waits_half_an_hour_for_a_job(late: timedelta, woken: int, overdue: int) -> None:
    """A person should look when a mail is an hour later than one that is held can be."""
    world = World()
    schedule(world, MINUTE)
    world.store.hidden.clear()
    world.advance(MINUTE + late)
    assert sweep(world) == overdue
    assert len(world.store.hidden) == woken


@for_each("age, left", [(HOUR, 1), (HOUR + MILLISECOND, 0)])
def test_the_sweep_removes_the_content_of_a_finished_email_after_an_hour(
    age: timedelta, left: int
) -> None:
    world = World()
    sent = builders.message(message_id=new_id(world.now), events=(builders.event(EventKind.SENT),))
    world.accept(sent)
    world.waiting_mail.contents.put_all([(sent, builders.mail())])
    world.advance(age)
    sweep(world)
    assert len(world.store.contents) == left
