"""A delivery and the content that it keeps."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from pillarbox.application.delivery.deliver import DeliveryResult, Outcome
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.messages.message import Status
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


def test_an_account_that_keeps_nothing_pays_nothing() -> None:
    """Its deliveries make no more calls than before, and write nothing."""
    world = World()
    assert not deliver(world, 0).unkept
    assert world.kept == []
    assert not [call for call in world.gate.calls if call.startswith("kept")]


def test_what_was_handed_over_is_kept_after_it_was_saved() -> None:
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
    assert calls[1].index("messages.save") < calls[1].index("kept.append")


@pytest.mark.parametrize("error", [Unavailable("kept content"), OSError(), MemoryError()])
def test_a_failed_write_changes_nothing_else(error: Exception) -> None:
    """The email is sent once, and its job ends."""
    world = World()

    def fail(call: str) -> None:
        if call == "kept.append":
            raise error

    result = deliver(world, 7, fail)
    assert (result.outcome, result.retry_after, result.unkept) == (Outcome.SENT, None, True)
    assert result.provider_error == type(error).__name__  # for the log
    (message,) = world.store.messages.values()
    assert message.status is Status.SENT
    assert len(world.mailer.taken) == 1
