"""A delivery and the content that it keeps."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from pillarbox.application.delivery.ports import SendRejected, SendThrottled, SendUncertain
from pillarbox.application.delivery.result import DeliveryResult, Outcome
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.messages.kept import kept_until
from pillarbox.domain.messages.message import Event, EventKind, Message, Status
from tests.fakes import builders
from tests.fakes.world import World


def deliver(
    world: World, days: int, watch: Callable[[str], None] = lambda _: None
) -> DeliveryResult:
    """Send an email of an account that keeps content for some days, and deliver it."""
    world.set_account(replace(builders.account(), keep=days))
    world.send()
    (job,) = world.store.queue
    world.gate.calls.clear()
    world.gate.watch = watch
    return world.delivery.deliver(job)


def only_message(world: World) -> Message:
    """Return the one message of a world, which its record does not say to be kept falsely."""
    (message,) = world.store.messages.values()
    if kept_until(message) is not None:
        assert [kept.message_id for kept, _ in world.kept][-1:] == [message.message_id]
    return message


def test_an_account_that_keeps_nothing_pays_nothing() -> None:
    world = World()
    assert not deliver(world, 0).unkept
    assert world.kept == []
    assert not [call for call in world.gate.calls if call.startswith("kept")]


def test_what_is_handed_over_is_kept_before_the_lease() -> None:
    """The octets are those that the provider got, and one write is the only call more."""
    calls = []
    for days in (0, 7):
        world = World()
        deliver(world, days)
        calls.append(world.gate.calls)
    ((message, raw),) = world.kept
    assert message.keep == 7
    assert raw == world.mailer.taken[0][2]
    without = [call for call in calls[1] if call != "kept.append"]
    assert without == calls[0]
    assert calls[1].index("kept.append") < calls[1].index("messages.lease")


def test_a_worker_whose_time_ends_while_it_keeps_takes_no_lease(world: World) -> None:
    world.set_account(replace(builders.account(), keep=7))
    world.send()
    (job,) = world.store.queue
    result = world.delivery.within(lambda: not world.kept).deliver(job)
    assert result == DeliveryResult(Outcome.WAITING, timedelta(0))
    assert "messages.lease" not in world.gate.calls


@pytest.mark.parametrize("error", [Unavailable("kept content"), OSError(), MemoryError()])
def test_a_failed_write_changes_nothing_else(error: Exception) -> None:
    """The email is sent once, its job ends, and its record does not say that it is kept."""
    world = World()

    def fail(call: str) -> None:
        if call == "kept.append":
            raise error

    result = deliver(world, 7, fail)
    assert (result.outcome, result.retry_after) == (Outcome.SENT, None)
    assert result.unkept == type(error).__name__  # for the log
    message = only_message(world)
    assert message.status is Status.SENT
    assert message.keep == 7  # for an erasure: a part may be there
    assert kept_until(message) is None
    assert len(world.mailer.taken) == 1


@pytest.mark.parametrize("written", [True, False])
def test_an_email_that_only_its_event_settles_is_kept_if_it_was_written(*, written: bool) -> None:
    """SES gave no answer, and the Send event shows later that it took the email."""
    world = World()
    world.mailer.answers = [SendUncertain("a timeout")]

    def fail(call: str) -> None:
        if call == "kept.append" and not written:
            raise OSError

    assert deliver(world, 7, fail).outcome is Outcome.UNCERTAIN
    unsettled = only_message(world)
    assert kept_until(unsettled) is None  # not yet
    sent = Event(kind=EventKind.SENT, at=world.now + timedelta(minutes=1))
    assert world.delivery.messages.save(unsettled.with_events([sent], "ses-1"))
    until = kept_until(only_message(world))
    assert until == (sent.at + timedelta(days=7) if written else None)


def test_an_email_that_was_refused_is_kept() -> None:
    """It can be sent again, once what was wrong is mended. Its days begin when it was due."""
    world = World()
    world.mailer.answers = [SendRejected("not_verified", "The sender is not verified.")]
    assert deliver(world, 7).outcome is Outcome.FAILED
    message = only_message(world)
    assert kept_until(message) == message.created_at + timedelta(days=7)


def test_an_email_that_was_never_handed_over_is_not_kept() -> None:
    """A worker may have written its content, and did not get the lease."""
    world = World()
    world.set_account(replace(builders.account(), keep=7))
    world.send()
    (job,) = world.store.queue
    world.now = job.deadline
    assert world.delivery.deliver(job).outcome is Outcome.FAILED
    assert kept_until(only_message(world)) is None


def test_a_later_try_does_not_write_what_the_record_does_not_name() -> None:
    """After one failed write an email stays unkept, so its record says the same for ever."""
    world = World()
    world.mailer.answers = [SendThrottled("Throttling", too_fast=True), None]
    fails = [OSError()]

    def fail(call: str) -> None:
        if call == "kept.append" and fails:
            raise fails.pop()

    assert deliver(world, 7, fail).outcome is Outcome.THROTTLED
    (job,) = world.store.queue
    assert world.delivery.deliver(job, first_receipt=False).outcome is Outcome.SENT
    assert world.kept == []
    assert kept_until(only_message(world)) is None
