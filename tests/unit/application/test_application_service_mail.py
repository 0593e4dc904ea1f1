"""Emails that the service writes under ids of their own: each is sent once, also after a crash."""

from datetime import timedelta

import pytest

from pillarbox.application.sending.service_mail import ServiceMail
from pillarbox.domain.ids import named_id
from pillarbox.rendering.notice import sign_up_source
from tests.fakes import builders
from tests.fakes.stores import FakeJobs, Messages
from tests.fakes.world import Fault, GatedPort, Killed, World


def _write(world: World) -> None:
    service_mail = ServiceMail(
        jobs=GatedPort(world.gate, "jobs", FakeJobs(world.store)),
        messages=GatedPort(world.gate, "messages", Messages(world.store)),
        sender=builders.PREVIEW_SENDER,
        clock=lambda: world.now,
    )
    service_mail(
        "ada@shop.example",
        "A title",
        sign_up_source(),
        {"title": "A title", "paragraphs": ["A text."], "url": "", "reason": "you asked"},
        account=builders.account(),
        message_id=named_id("notice", builders.NOW),
    )


@pytest.mark.parametrize("deaths", range(3))
def test_an_email_whose_writer_died_is_sent_once_by_later_tries(deaths: int) -> None:
    """A try that comes after the worker dropped the job of a dead one takes the next id."""
    world = World()
    for death in range(deaths):
        world.gate.calls.clear()
        # Each earlier death costs a try that is refused: a call of the queue and one of the store.
        world.gate.fault = Fault(2 * death + 1, "before", Killed())
        with pytest.raises(Killed):
            _write(world)
        world.gate.fault = None
        world.advance(timedelta(minutes=16))
        world.settle()
        world.store.queue.clear()
    for _ in range(3):
        _write(world)
        world.settle()
    assert [message.subject for message, *_ in world.mailer.taken] == ["A title"]
