"""Emails to the owner of an endpoint that fails: which are sent, what they say, and how often."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta

import pytest

from pillarbox.application.webhooks.ports import EndpointChanges, PostResult
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import new_id, shard_count, shard_of
from pillarbox.domain.messages.mail import Mail, SavedBody
from pillarbox.domain.messages.message import EventKind, SendRoute
from pillarbox.domain.webhooks.endpoint import EndpointHealth, OwnerNotice
from pillarbox.rendering.sandbox import render_saved
from pillarbox.rendering.text import text_from_html
from tests.fakes.builders import ACCOUNT, NOW, PREVIEW_SENDER, account, event, message
from tests.fakes.webhook_world import WebhookWorld
from tests.fakes.world import faults_of

OK, BUSY, GONE = (PostResult(status_code=code) for code in (200, 503, 410))
CONTACT = "owner@shop.example"
HOUR = timedelta(hours=1)
URL = "https://hooks.shop.example/in/s3cret-path?token=s3cret-query"


def failing(answer: PostResult = BUSY, up_after: timedelta = timedelta(days=99)) -> WebhookWorld:
    """Return a world with a contact, an event, and an endpoint that fails for a time."""
    world = WebhookWorld()
    world.store.accounts[ACCOUNT] = account(contact=CONTACT)
    world.add_endpoint(url=URL)
    world.answer = lambda _url, _id: OK if world.now >= NOW + up_after else answer
    world.change(message(), event(EventKind.SENT, 1))
    return world


def run(world: WebhookWorld, hours: Iterable[int] = range(0, 24 * 7, 6)) -> None:
    """Let an email be sent in each of some hours, by default each six hours for a week."""
    for hour in hours:
        world.settle(NOW + hour * HOUR - world.now)
        world.now = max(world.now, NOW + hour * HOUR)
        sent = message(ACCOUNT, new_id(world.now))
        world.change(sent)
        world.change(sent, event(EventKind.SENT, hour * 3600 + 1))
    world.settle(6 * HOUR)


def subjects(world: WebhookWorld) -> list[str]:
    return [mail.subject for mail in world.owner_emails()]


def text(mail: Mail) -> str:
    assert isinstance(mail.body, SavedBody)
    return text_from_html(render_saved(mail.body.source, mail.body.values))


WARNING = "Webhooks to hooks.shop.example have failed for a day"
LATE = "Webhooks to hooks.shop.example are more than an hour late"
DISABLED = "Your webhook endpoint at hooks.shop.example is disabled"


def test_the_owner_is_told_after_a_day_and_when_the_endpoint_is_disabled() -> None:
    """Of seven days of failures the owner gets two emails, from the service's own address."""
    world = failing()
    run(world)
    assert subjects(world) == [WARNING, DISABLED]
    for mail in world.owner_emails():
        assert (mail.sender, mail.to, mail.cc, mail.bcc) == (PREVIEW_SENDER, (CONTACT,), (), ())
    assert len(world.store.queue) == 2


def test_the_emails_say_since_when_and_what_to_do() -> None:
    """Host, times, endpoint and the next step are in the text part."""
    world = failing()
    run(world)
    (endpoint,) = world.added
    warning, disabled = map(text, world.owner_emails())
    since = f"since {NOW:%-d %B %Y}"
    assert since in warning
    assert f"we disable it on {NOW + timedelta(days=5):%-d %B %Y}" in warning
    assert since in disabled
    assert f'PATCH /api/v1/webhooks/{endpoint.endpoint_id} with {{"enabled": true}}' in disabled
    for part in (warning, disabled):
        assert f"GET /api/v1/webhooks/{endpoint.endpoint_id}/deliveries" in part
        assert ACCOUNT in part


def test_no_email_has_more_of_the_url_than_its_host() -> None:
    """Path and query may be secret, and the signing secret is."""
    world = failing()
    run(world)
    (endpoint,) = world.added
    everything = repr(world.owner_emails())
    assert "hooks.shop.example" in everything
    assert "s3cret" not in everything
    assert all(secret.text not in everything for secret in endpoint.secrets)


def test_a_notice_is_recorded_as_the_services_own() -> None:
    """The record's route is `notice`, no key sent it, and it is announced to no endpoint."""
    world = failing(GONE)
    before = world.expected()
    world.settle(HOUR)
    (notice,) = (m for m in world.store.messages.values() if m.origin.route is SendRoute.NOTICE)
    assert notice.origin.key_id is None
    assert world.expected() == before
    assert not world.store.counts, "it takes nothing of the quota"


@pytest.mark.parametrize("keeps_up", [False, True])
def test_the_owner_of_a_slow_endpoint_is_told(*, keeps_up: bool) -> None:
    """The email says since when it is slow, unless it is no longer when the notice is due."""
    world = failing(OK)
    world.settle(timedelta(seconds=30))
    (endpoint,) = world.added
    world.set_health(endpoint, EndpointHealth(slow_since=NOW))
    world.due.put(OwnerNotice(endpoint.account_id, endpoint.endpoint_id, NOW), world.now)
    if keeps_up:
        world.set_health(endpoint, EndpointHealth())
    world.settle(HOUR)
    assert subjects(world) == ([] if keeps_up else [LATE])
    assert all("has answered slowly since 14 March 2026" in text(m) for m in world.owner_emails())


def test_a_notice_names_no_tenant() -> None:
    """Owners hear of a pause by the provider, which takes no email of their tenant then."""
    world = failing(GONE)
    world.store.accounts[ACCOUNT] = account(contact=CONTACT, tenant="paused")
    world.settle(HOUR)
    assert [job.tenant for job in world.store.queue] == [None]


def test_an_endpoint_that_works_again_within_a_day_stays_unmentioned() -> None:
    """Twenty hours of failures send no email."""
    world = failing(up_after=20 * HOUR)
    run(world)
    assert subjects(world) == []


def test_each_outage_of_a_day_has_its_own_warning() -> None:
    world = failing()
    world.answer = lambda _url, _id: OK if 36 * HOUR <= world.now - NOW < 72 * HOUR else BUSY
    run(world, range(0, 24 * 6, 6))
    assert subjects(world) == [WARNING, WARNING]
    assert len(world.store.queue) == 2


@pytest.mark.parametrize("contact", [None, "gone"])
def test_without_a_contact_there_is_no_email(contact: str | None) -> None:
    """An account without a contact, or a deleted one, gets none; the health still says it."""
    world = failing()
    if contact == "gone":
        del world.store.accounts[ACCOUNT]
    else:
        world.store.accounts[ACCOUNT] = account(contact=None)
    run(world)
    (endpoint,) = world.added
    assert world.health_of(endpoint).disabled_for == "failing"
    assert not world.store.queue
    assert not any(world.due.minutes.values())


def out_of_date(world: WebhookWorld) -> list[Callable[[], object]]:
    """Return what makes a notice obsolete."""
    (endpoint,) = world.added
    key = (endpoint.account_id, endpoint.endpoint_id)

    def enable() -> None:
        health = world.healths.get(*key)
        world.healths.replace(*key, health, health.enabled_again(world.now))

    return [enable, lambda: world.endpoints.remove(*key)]


@pytest.mark.parametrize("number", [0, 1])
def test_a_notice_that_is_out_of_date_is_dropped(number: int) -> None:
    """If the endpoint was enabled or deleted in the meantime, the owner knows."""
    world = failing(GONE)
    world.settle(timedelta(seconds=30))
    out_of_date(world)[number]()
    world.settle(HOUR)
    assert subjects(world) == []
    assert not any(
        isinstance(task, OwnerNotice) for minute in world.due.minutes.values() for task in minute
    )


def test_an_owner_of_a_disabled_endpoint_may_still_switch_it_off() -> None:
    """The owner's own switch does not stop the email about what the service did."""
    world = failing(GONE)
    world.settle(timedelta(seconds=30))
    (endpoint,) = world.added
    world.endpoints.change(ACCOUNT, endpoint.endpoint_id, EndpointChanges(enabled=False))
    world.settle(HOUR)
    assert subjects(world) == [DISABLED]


@pytest.mark.slow
@pytest.mark.parametrize("answer", [BUSY, GONE])
def test_a_fault_at_any_call_sends_each_email_once(answer: PostResult) -> None:
    """After a fault around a call of any kind no email to the owner is lost or doubled."""
    hours = [121]
    undisturbed = failing(answer)
    run(undisturbed, hours)
    expected = subjects(undisturbed)
    assert expected == ([WARNING, DISABLED] if answer is BUSY else [DISABLED])
    for fault in faults_of(undisturbed.gate.calls, most=4):
        world = failing(answer)
        world.gate.fault = fault
        run(world, hours)
        assert subjects(world) == expected, fault


@pytest.mark.parametrize(("before", "after"), [(1, 8), (2, 8), (8, 64)])
def test_more_shards_between_two_tries_double_no_email(before: int, after: int) -> None:
    """The id of the email stays the same if the number of shards is raised after a failed try."""
    world = failing(GONE)
    sharded = account(contact=CONTACT, shards=before, sharded_from=NOW - HOUR)
    world.store.accounts[ACCOUNT] = sharded
    failed: list[str] = []

    def refuse(call: str) -> None:
        if call == "messages.commit" and not failed:
            failed.append(call)
            # The first raise applies from a later hour on, as `first_sharding` says.
            since = NOW + HOUR if before == 1 else sharded.sharded_from
            world.store.accounts[ACCOUNT] = replace(sharded, shards=after, sharded_from=since)
            raise ServiceError("service_unavailable", "planted")

    world.gate.watch = refuse
    world.settle(HOUR)
    assert failed
    assert len(world.store.queue) == 2
    assert len({job.message_id for job in world.store.queue}) == 1
    (notice,) = (m for m in world.store.messages.values() if m.origin.route is SendRoute.NOTICE)
    assert (shard_count(notice.message_id) > 1) is (before > 1)
    assert shard_of(notice.message_id) < 2
