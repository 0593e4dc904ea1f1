"""Announcements, the timer of webhooks, and emails to the owner of an endpoint that fails."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum, auto
from typing import Any, cast
from unittest.mock import Mock
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.account_changes import added_events
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.adapters.dynamodb.webhooks.endpoints import DynamoWebhookEndpoints
from pillarbox.application.webhooks.announce import Announcement
from pillarbox.application.webhooks.enqueue_due import DueTasks
from pillarbox.application.webhooks.ports import (
    EndpointChanges,
    PostResult,
    WebhookEndpoints,
    WebhookQueue,
)
from pillarbox.domain.errors import ServiceError, Unavailable
from pillarbox.domain.ids import new_id, shard_count, shard_of
from pillarbox.domain.messages.kept import erase_recipient
from pillarbox.domain.messages.mail import Mail, SavedBody
from pillarbox.domain.messages.message import EventKind, SendRoute
from pillarbox.domain.webhooks.endpoint import (
    EndpointDrain,
    EndpointHealth,
    OwnerNotice,
    WebhookEndpoint,
)
from pillarbox.domain.webhooks.events import AccountEvent, account_paused
from pillarbox.rendering.sandbox import render_saved
from pillarbox.rendering.text import text_from_html
from tests.fakes.builders import (
    ACCOUNT,
    NOW,
    OTHER_ACCOUNT,
    PREVIEW_SENDER,
    account,
    event,
    message,
)
from tests.fakes.memory_tables import MemoryTable
from tests.fakes.webhook_world import WebhookWorld
from tests.fakes.webhooks import FakeDueTimes, FakeWebhookQueue, endpoint
from tests.fakes.world import faults_of


class _Endpoints(DynamoWebhookEndpoints):
    """Counts the reads of each account, and cannot read the endpoints of some."""

    def __init__(self, unreadable: Collection[str] = ()) -> None:
        table = MemoryTable("table")
        super().__init__(MemoryTable("credentials", table), table)
        self.reads = Counter[str]()
        self._unreadable = unreadable

    def of_account(self, account_id: str) -> Sequence[WebhookEndpoint]:
        self.reads[account_id] += 1
        if account_id in self._unreadable:
            raise KeyError("types")
        return super().of_account(account_id)


def _announcement(endpoints: WebhookEndpoints, queue: WebhookQueue) -> Announcement[str]:
    """Return an announcement of records that are the id of an account that was paused."""
    return Announcement(
        account_of=str,
        read=lambda record: [account_paused(record, NOW)],
        written_at=lambda _: NOW,
        endpoints=endpoints,
        queue=queue,
        clock=lambda: NOW,
    )


def test_a_batch_reads_the_endpoints_of_each_account_once() -> None:
    endpoints = _Endpoints()
    announcement = _announcement(endpoints, FakeWebhookQueue())
    announcement.apply([ACCOUNT, OTHER_ACCOUNT, ACCOUNT])
    assert endpoints.reads == {ACCOUNT: 1, OTHER_ACCOUNT: 1}
    announcement.apply([ACCOUNT])
    assert endpoints.reads == {ACCOUNT: 2, OTHER_ACCOUNT: 1}
    without_events = Announcement[str](
        account_of=str,
        read=lambda _: [],
        written_at=lambda _: NOW,
        endpoints=endpoints,
        queue=FakeWebhookQueue(),
        clock=lambda: NOW,
    )
    without_events.apply([ACCOUNT])
    assert endpoints.reads.total() == 3


class _Step(StrEnum):
    CREATE = auto()
    CHANGE = auto()
    DELIVER = auto()


_STEPS = st.tuples(
    st.sampled_from(_Step), st.integers(0, 40_000), st.integers(-30_000, 30_000), st.booleans()
)


@given(st.lists(_STEPS, max_size=40))
def test_an_endpoint_receives_each_event_after_its_creation(
    steps: Sequence[tuple[_Step, int, int, bool]],
) -> None:
    """Two functions take the batches, and clocks of writers are up to 30 seconds wrong."""
    endpoints, queue = _Endpoints(), FakeWebhookQueue()
    functions = [
        Announcement[AccountEvent](
            account_of=lambda event: event.account_id,
            read=lambda event: [event],
            written_at=lambda event: event.at,
            endpoints=endpoints,
            queue=queue,
            clock=lambda: NOW,
        )
        for _ in range(2)
    ]
    now, stream, expected = NOW, list[AccountEvent](), set[UUID]()
    for step, wait, error, is_first in [*steps, (_Step.DELIVER, 0, 0, True)]:
        now += timedelta(milliseconds=wait)
        clock = now + timedelta(milliseconds=error)
        if step is _Step.CREATE:
            endpoints.add(endpoint(created_at=clock), 10)
        elif step is _Step.CHANGE:
            event = account_paused(ACCOUNT, clock)
            stream.append(event)
            existing = endpoints.of_account(ACCOUNT)
            expected |= {event.event_id(each.endpoint_id) for each in existing}
        else:
            functions[is_first].apply(stream)
            stream.clear()
    assert expected <= {event.event_id for event in queue.events}


def test_only_enabled_endpoints_receive_what_they_chose() -> None:
    endpoints, queue = _Endpoints(), FakeWebhookQueue()
    chosen = [endpoint(types=frozenset({one})) for one in ("account.paused", "email.bounced")]
    for each in (*chosen, endpoint(enabled=False)):
        endpoints.add(each, 10)
    _announcement(endpoints, queue).apply([ACCOUNT])
    assert [event.endpoint_id for event in queue.events] == [chosen[0].endpoint_id]


def test_a_batch_that_cannot_be_queued_is_repeated_from_its_start() -> None:
    """An error of the queue is reported after those of records, and the whole batch comes again."""
    endpoints = _Endpoints(unreadable={OTHER_ACCOUNT})
    endpoints.add(endpoint(ACCOUNT), 1)
    queue = Mock(put_all=Mock(side_effect=Unavailable("queue")))
    announcement = _announcement(endpoints, queue)
    result = announcement.apply([OTHER_ACCOUNT, ACCOUNT])
    assert result.retry_from == 0
    assert [type(error) for error in result.errors] == [KeyError, Unavailable]
    assert announcement.apply([OTHER_ACCOUNT]).retry_from is None


def test_endpoints_that_are_out_of_reach_stop_the_batch() -> None:
    """The whole batch comes again, whichever of its records announces something."""
    endpoints, queue = _Endpoints(), FakeWebhookQueue()
    for account_id in (ACCOUNT, OTHER_ACCOUNT):
        endpoints.add(endpoint(account_id), 1)
    for failing in (ACCOUNT, OTHER_ACCOUNT):

        def of_account(account_id: str, *, failing: str = failing) -> Sequence[WebhookEndpoint]:
            if account_id == failing:
                raise Unavailable("data store")
            return endpoints.of_account(account_id)

        announcement = _announcement(Mock(of_account=of_account), queue)
        result = announcement.apply([ACCOUNT, OTHER_ACCOUNT, ACCOUNT])
        assert result.retry_from == 0
        assert [type(error) for error in result.errors] == [Unavailable]
        assert queue.events == []
    assert _announcement(endpoints, queue).apply([ACCOUNT, OTHER_ACCOUNT]).retry_from is None
    assert [event.account_id for event in queue.events] == [ACCOUNT, OTHER_ACCOUNT]


def test_unreadable_endpoints_do_not_stop_other_accounts() -> None:
    """If an account's endpoints cannot be read, the batch goes on, and the error is reported."""
    endpoints = _Endpoints(unreadable={OTHER_ACCOUNT})
    endpoints.add(endpoint(ACCOUNT), 1)
    queue = FakeWebhookQueue()
    announcement = _announcement(endpoints, queue)
    result = announcement.apply([OTHER_ACCOUNT, ACCOUNT])
    assert [event.account_id for event in queue.events] == [ACCOUNT]
    assert result.retry_from is None
    assert [type(error) for error in result.errors] == [KeyError]


@pytest.mark.parametrize(
    ("age", "retry_from"),
    [
        (timedelta(minutes=15) - timedelta(milliseconds=1), 1),
        (timedelta(minutes=15), None),
        (None, None),
    ],
)
def test_a_recent_record_that_cannot_be_read_comes_again(
    age: timedelta | None, retry_from: int | None
) -> None:
    """A newer version may read it meanwhile. It holds no other up for longer than 15 minutes."""
    endpoints, queue = _Endpoints(), FakeWebhookQueue()
    endpoints.add(endpoint(ACCOUNT), 1)

    def read(record: str) -> Sequence[AccountEvent]:
        if record != ACCOUNT:
            raise ValueError("the kind is not one of this version")
        return [account_paused(record, NOW)]

    result = Announcement(
        account_of=str,
        read=read,
        written_at=lambda _: None if age is None else NOW - age,
        endpoints=endpoints,
        queue=queue,
        clock=lambda: NOW,
    ).apply([ACCOUNT, "newer", "newer", ACCOUNT])
    assert result.retry_from == retry_from
    assert [type(error) for error in result.errors] == [ValueError] * 2
    assert [event.account_id for event in queue.events] == [ACCOUNT] * 2


def test_the_stream_of_an_erasure_announces_nothing() -> None:
    """The change as DynamoDB reports it adds only that an email which waited has failed."""
    sent = [
        event(EventKind.SENT, 1),
        event(EventKind.DELAYED, 2, "ann@example.com"),
        event(EventKind.BOUNCED, 3, "ann@example.com"),
        event(EventKind.DELIVERED, 4, "bob@example.com"),
    ]
    old = message(to=("Ann@example.com", "bob@example.com"), announced=True).with_events(sent)
    erased = replace(erase_recipient(old, "ann@example.com"), revision=old.revision + 1)
    failed = erased.with_events([event(EventKind.FAILED, 9)])
    images = {
        "Keys": keys.message(old.account_id, old.message_id),
        "OldImage": message_item(old),
    }
    for new, kinds in ((erased, []), (failed, [EventKind.FAILED])):
        record = {"eventName": "MODIFY", "dynamodb": images | {"NewImage": message_item(new)}}
        assert [each.kind for each in added_events(record)] == kinds


O_CLOCK = datetime.fromisoformat("2026-03-14T15:00:00Z")
DAY, MILLISECOND = timedelta(days=1), timedelta(milliseconds=1)


@dataclass
class Notices:
    """Sends notices, and fails for those of some endpoints."""

    failing: frozenset[str] = frozenset()
    sent: list[str] = field(default_factory=list)

    def send(self, notice: OwnerNotice) -> None:
        if notice.endpoint_id in self.failing:
            raise TypeError(notice.endpoint_id)
        self.sent.append(notice.endpoint_id)


def timer(notices: Notices) -> tuple[DueTasks, FakeDueTimes, FakeWebhookQueue]:
    due, queue = FakeDueTimes(), FakeWebhookQueue()
    tasks = DueTasks(due=due, queue=queue, notices=cast("Any", notices), clock=lambda: O_CLOCK)
    return tasks, due, queue


def test_everything_that_is_due_is_done_and_counted() -> None:
    """Tasks of several minutes are queued or sent, removed, and counted together."""
    tasks, due, queue = timer(notices := Notices())
    drains = [EndpointDrain(ACCOUNT, f"endpoint-{number}") for number in range(3)]
    due.put(drains[0], O_CLOCK - timedelta(minutes=1))
    due.put(drains[1], O_CLOCK)
    due.put(OwnerNotice(ACCOUNT, "a", O_CLOCK), O_CLOCK)
    due.put(OwnerNotice(ACCOUNT, "b", O_CLOCK), O_CLOCK)
    due.put(drains[2], O_CLOCK + timedelta(minutes=1))
    assert tasks.enqueue() == 4
    assert [task for task, _ in queue.tasks] == drains[:2]
    assert notices.sent == ["a", "b"]
    assert due.minutes.pop(O_CLOCK + timedelta(minutes=1))
    assert not any(due.minutes.values())
    assert tasks.enqueue() == 0


def test_the_first_error_of_a_notice_is_raised_at_the_end() -> None:
    """A notice that fails stops no later one, and is tried again after five minutes."""
    tasks, due, _ = timer(notices := Notices(frozenset({"a", "b"})))
    for number in ("a", "b", "c"):
        due.put(OwnerNotice(ACCOUNT, number, O_CLOCK), O_CLOCK)
    with pytest.raises(TypeError, match="a"):
        tasks.enqueue()
    assert notices.sent == ["c"]
    again = due.minutes.pop(O_CLOCK + timedelta(minutes=5))
    assert [cast("OwnerNotice", task).endpoint_id for task in again.values()] == ["a", "b"]
    assert not any(due.minutes.values())


@pytest.mark.parametrize(("age", "tries"), [(DAY - MILLISECOND, 1), (DAY, 0), (DAY + DAY, 0)])
def test_a_notice_is_tried_for_less_than_a_day(age: timedelta, tries: int) -> None:
    tasks, due, _ = timer(Notices(frozenset({"a"})))
    due.put(OwnerNotice(ACCOUNT, "a", O_CLOCK - age), O_CLOCK)
    with pytest.raises(TypeError):
        tasks.enqueue()
    assert sum(map(len, due.minutes.values())) == tries


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
    """Of seven days of failures the owner gets two emails, from the service's own address.

    They say since when, and what to do. Of the URL they have the host alone: path and query may
    be secret, and the signing secret is.
    """
    world = failing()
    run(world)
    (endpoint,), emails = world.added, world.owner_emails()
    assert subjects(world) == [WARNING, DISABLED]
    for mail in emails:
        assert (mail.sender, mail.to, mail.cc, mail.bcc) == (PREVIEW_SENDER, (CONTACT,), (), ())
        assert f"GET /api/v1/webhooks/{endpoint.endpoint_id}/deliveries" in text(mail)
        assert ACCOUNT in text(mail)
        assert f"since {NOW:%-d %B %Y}" in text(mail)
    assert len(world.store.queue) == 2
    warning, disabled = map(text, emails)
    assert f"we disable it on {NOW + timedelta(days=5):%-d %B %Y}" in warning
    assert f'PATCH /api/v1/webhooks/{endpoint.endpoint_id} with {{"enabled": true}}' in disabled
    assert "hooks.shop.example" in repr(emails)
    assert "s3cret" not in repr(emails)
    assert all(secret.text not in repr(emails) for secret in endpoint.secrets)


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
