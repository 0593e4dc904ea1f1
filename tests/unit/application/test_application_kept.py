"""What a delivery keeps of its content, and what it does after a recipient was erased."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from pillarbox.application.delivery.deliver import Delivery
from pillarbox.application.delivery.feedback import FeedbackOutcome
from pillarbox.application.delivery.ports import (
    ProviderEvent,
    SendRejected,
    SendThrottled,
    SendUncertain,
)
from pillarbox.application.delivery.result import DeliveryResult, Outcome
from pillarbox.application.ports import LeaseRefusal
from pillarbox.domain.accounts.suppression import hashed_mailbox
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.messages.kept import erase_recipient, kept_until
from pillarbox.domain.messages.mail import Job
from pillarbox.domain.messages.message import ERASED_ADDRESS, Event, EventKind, Message, Status
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, at, event
from tests.fakes.stores import Messages
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


ANN, BOB = "ann@example.com", "bob@example.com"
HASHED_ANN = (ACCOUNT, hashed_mailbox(ACCOUNT, ANN))


def erase(world: World, mailbox: str = ANN) -> Message:
    message = world.message()
    erased = replace(erase_recipient(message, mailbox), revision=message.revision + 1)
    world.store.messages[ACCOUNT, message.message_id] = erased
    return erased


def bounce_of(message: Message, *addresses: str) -> ProviderEvent:
    return ProviderEvent(
        account_id=ACCOUNT,
        message_id=message.message_id,
        at=at(5),
        events=tuple(event(EventKind.BOUNCED, 5, address) for address in addresses),
        suppress=tuple((address, "bounced") for address in addresses),
        provider_message_id="ses-1",
    )


def test_queued_mail_is_not_sent_to_an_erased_recipient(world: World) -> None:
    """Mail that waits fails with a reason, and nothing reaches the provider."""
    job = world.accept(builders.message())
    erase(world)
    assert world.delivery.deliver(job).outcome is Outcome.FAILED
    assert not world.mailer.taken
    error = world.message().error
    assert error is not None
    assert (error.code, world.message().to) == ("recipient_erased", (ERASED_ADDRESS,))
    assert error.reason == "The recipient was erased while the email was queued."


def test_mail_to_others_than_the_erased_one_is_sent_and_not_kept(world: World) -> None:
    job = world.accept(builders.message(to=(ANN, BOB), keep=7))
    erase(world)
    assert world.delivery.deliver(job).outcome is Outcome.SENT
    assert [recipients for _, recipients, _ in world.mailer.taken] == [(BOB,)]
    assert world.kept == []


@pytest.mark.parametrize("erased", [ANN, "zoe@example.com"])
def test_a_recipient_who_is_erased_before_the_lease_gets_nothing(world: World, erased: str) -> None:
    """The worker compares the leased record with what it prepared, and starts again."""
    job = world.accept(builders.message(to=(erased, BOB)))

    class ErasedAtLease(Messages):
        def lease(self, *arguments: Any, **keywords: Any) -> Message | LeaseRefusal:
            if not world.message().is_erased:
                erase(world, erased)
            return super().lease(*arguments, **keywords)

    delivery = replace(world.delivery, messages=ErasedAtLease(world.store))
    assert deliver_until_sent(delivery, job) == [Outcome.WAITING, Outcome.SENT]
    assert [recipients for _, recipients, _ in world.mailer.taken] == [(BOB,)]


def deliver_until_sent(delivery: Delivery, job: Job) -> list[Outcome]:
    outcomes: list[Outcome] = []
    while not outcomes or outcomes[-1] is Outcome.WAITING:
        assert len(outcomes) < 5
        result = delivery.deliver(job)
        assert result.retry_after in {None, timedelta(0)}, "a retry at once"
        outcomes.append(result.outcome)
    return outcomes


@pytest.mark.parametrize("times", [1, 2])
def test_a_late_bounce_brings_no_address_back(world: World, times: int) -> None:
    """The bounce counts; of the erased address only a hash is suppressed, of others the address."""
    world.accept(builders.message(to=(ANN, BOB)))
    erased = erase(world)
    world.now = at(60)
    for _ in range(times):
        world.record(bounce_of(erased, "Ann@Example.com", BOB))
    message = world.message()
    assert (message.status, message.to) == ("bounced", (ERASED_ADDRESS, BOB))
    assert {e.recipient for e in message.events} == {ERASED_ADDRESS, BOB}
    assert world.store.suppressed == {HASHED_ANN: "bounced", (ACCOUNT, BOB): "bounced"}


def test_a_repeated_event_of_an_erased_recipient_is_known(world: World) -> None:
    """Erasing what an event says keeps it the same event, so that a repeat changes nothing."""
    world.accept(builders.message())
    world.now = at(60)
    bounce = bounce_of(world.message(), ANN)
    world.record(bounce)
    world.store.suppressed.clear()
    erase(world)
    assert world.record(bounce)[0].outcome is FeedbackOutcome.KNOWN
    assert world.store.suppressed == {HASHED_ANN: "bounced"}


@pytest.mark.parametrize(("hashed", "outcome"), [(True, Outcome.FAILED), (False, Outcome.SENT)])
def test_a_worker_finds_a_hash_only_if_the_account_had_one(
    world: World, *, hashed: bool, outcome: Outcome
) -> None:
    """A message says whether its account had hashes; other accounts pay for no look-up."""
    world.store.suppressed[HASHED_ANN] = "manual"
    job = world.accept(builders.message(hashed_suppressions=hashed))
    assert world.delivery.deliver(job).outcome is outcome
