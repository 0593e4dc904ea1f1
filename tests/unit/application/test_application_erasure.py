"""Delivery, feedback and acceptance after a recipient was erased."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from pillarbox.application.delivery.deliver import Delivery
from pillarbox.application.delivery.feedback import FeedbackOutcome
from pillarbox.application.delivery.ports import ProviderEvent
from pillarbox.application.delivery.result import Outcome
from pillarbox.application.ports import LeaseRefusal
from pillarbox.domain.accounts.suppression import hashed_mailbox
from pillarbox.domain.messages.kept import erase_recipient
from pillarbox.domain.messages.mail import Job
from pillarbox.domain.messages.message import ERASED_ADDRESS, EventKind, Message
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, at, event
from tests.fakes.stores import Messages
from tests.fakes.world import World

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


def test_the_others_still_get_their_mail(world: World) -> None:
    """Only the erased recipient is left out, with an event that says so."""
    job = world.accept(builders.message(to=(ANN, BOB)))
    erase(world)
    assert world.delivery.deliver(job).outcome is Outcome.SENT
    ((_, recipients, _),) = world.mailer.taken
    assert recipients == (BOB,)
    failed = [e for e in world.message().events if e.kind is EventKind.FAILED]
    assert [(e.recipient, e.code) for e in failed] == [(ERASED_ADDRESS, "recipient_erased")]


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
