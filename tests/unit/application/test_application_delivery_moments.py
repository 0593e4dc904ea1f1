"""Delivery at the moment of a limit, one moment later, and at the second run for one answer."""

from datetime import timedelta

import pytest

from pillarbox.application.delivery.ports import SendUncertain
from pillarbox.application.delivery.result import DeliveryResult, Outcome, retry_wait
from pillarbox.domain.messages.mail import HandOverResult
from pillarbox.domain.messages.message import EventKind
from tests.fakes import builders
from tests.fakes.actors import Actor
from tests.fakes.builders import ACCOUNT, at, event
from tests.fakes.world import World

ANN = "ann@example.com"


def test_a_mail_past_its_deadline_costs_only_its_failure(world: World) -> None:
    """A mail that expired long ago takes no token and no lease."""
    job = world.accept(builders.message(), deadline=at(5))
    world.advance(timedelta(hours=1))
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED)
    assert world.gate.calls == ["messages.peek", "messages.save", "jobs.discard"]


def test_a_mail_is_not_sent_long_after_its_deadline(world: World) -> None:
    job = world.accept(builders.message(), deadline=at(5))
    worker = Actor(world, lambda: world.delivery.deliver(job))
    worker.run_to("messages.lease")
    world.gate.watch = lambda _: None
    world.advance(timedelta(seconds=6))
    worker.finish()
    assert worker.result == DeliveryResult(Outcome.FAILED)
    assert not world.mailer.taken


def test_when_its_lease_ends_a_mail_waits_for_its_event(world: World) -> None:
    job = world.accept(builders.message())
    world.mailer.answers = [SendUncertain()]
    world.delivery.deliver(job)
    world.gate.calls.clear()
    world.advance(timedelta(seconds=30))
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.UNCERTAIN, timedelta(minutes=1))
    assert world.gate.calls == ["messages.peek", "seen_events.find"]


@pytest.mark.parametrize("revision", [0, 1])
def test_a_mail_that_is_resent_may_fail_in_the_same_run(world: World, revision: int) -> None:
    job = world.accept(builders.message(revision=revision))
    world.mailer.answers = [SendUncertain()]
    world.delivery.deliver(job)
    world.advance(timedelta(minutes=15, seconds=30))
    world.store.newest_event = world.now
    world.store.suppressed[ACCOUNT, ANN] = "bounced"
    assert world.delivery.deliver(job) == DeliveryResult(Outcome.FAILED, resent=True)
    assert world.message().status == "failed"


def test_an_answer_that_is_known_is_not_saved_again(world: World) -> None:
    """A job that records an answer for the second time reads the message and writes nothing."""
    job = world.accept(builders.message())
    world.delivery.deliver(job)
    world.gate.calls.clear()
    answer = HandOverResult(attempt=1, events=(event(EventKind.SENT),), provider_message_id="ses-1")
    record = builders.job(world.message(), mail=None, result=answer)
    assert world.delivery.deliver(record) == DeliveryResult(Outcome.RECORDED)
    assert world.gate.calls == ["messages.get", "jobs.discard"]


def test_a_job_that_always_fails_is_received_every_90_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The wait after a failed run doubles from two seconds up to the queue's visibility timeout."""
    monkeypatch.setattr("random.random", lambda: 1.0)
    assert [retry_wait(n).total_seconds() for n in (1, 2, 5, 6, 7, 50)] == [2, 4, 32, 64, 90, 90]
