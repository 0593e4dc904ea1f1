"""The service's own emails: each is sent once, and the operator removes its suppressions."""

from datetime import timedelta

import pytest

from pillarbox.application.sending.service_mail import ServiceMail
from pillarbox.domain.accounts.suppression import is_hashed
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import named_id
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT_ID
from pillarbox.rendering.notice import sign_up_source
from tests.fakes import builders
from tests.fakes.builders import NOW
from tests.fakes.container import Container
from tests.fakes.stores import FakeJobs, FakeProviderSuppressions, Messages
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


def test_the_operator_removes_a_suppression_of_the_services_mail() -> None:
    """A user whose code bounced, or who used the link to stop mail, gets codes again.

    Another account without a record is refused.
    """
    provider = FakeProviderSuppressions((None, "Ada@shop.example"))
    services = Container(provider_suppressions=provider)
    records, suppressions = services.suppression_store, services.suppression_list
    records.put(SERVICE_ACCOUNT_ID, "ada@shop.example", "bounced", NOW, None)
    (found,) = suppressions.of_account(SERVICE_ACCOUNT_ID)
    assert (found.address, found.reason) == ("ada@shop.example", "bounced")
    assert suppressions.remove(SERVICE_ACCOUNT_ID, "Ada@shop.example") == "ada@shop.example"
    assert records.find_suppressed(SERVICE_ACCOUNT_ID, ["ada@shop.example"]) == frozenset()
    assert not provider.listed
    previews = services.preview_accounts
    previews.stop_mail("ada@shop.example", NOW)
    (found,) = suppressions.of_account(SERVICE_ACCOUNT_ID)
    assert (is_hashed(found.address), found.reason) == (True, "stopped")
    suppressions.remove(SERVICE_ACCOUNT_ID, "ada@shop.example")
    assert not previews.is_stopped("ada@shop.example")
    assert [*suppressions.of_account(SERVICE_ACCOUNT_ID)] == []
    with pytest.raises(ServiceError, match="no such account"):
        suppressions.remove("acct00000009", "ada@shop.example")
