"""The use cases for webhook endpoints, in AWS too, and replays up to the endpoint."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from unittest import mock
from uuid import UUID

import pytest

from pillarbox.application.message_log import ScanPage
from pillarbox.application.slow_requests import SlowRequests
from pillarbox.application.webhooks.attempts import Attempts, drain_of
from pillarbox.application.webhooks.endpoints import Webhooks
from pillarbox.application.webhooks.ports import EndpointChanges, PostResult
from pillarbox.application.webhooks.post import Drains, WebhookWorker
from pillarbox.application.webhooks.replays import WebhookReplays
from pillarbox.domain.errors import ServiceError, Unavailable
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import EventKind, Message
from pillarbox.domain.webhooks.endpoint import (
    DeliveryState,
    EndpointDrain,
    EndpointHealth,
    ReplayRequest,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
    WebhookType,
)
from pillarbox.domain.webhooks.events import webhook_test
from tests.fakes.builders import ACCOUNT, NOW, OTHER_ACCOUNT, at, event, message
from tests.fakes.container import Container
from tests.fakes.webhook_world import WebhookWorld, one_after_another
from tests.fakes.webhooks import FakeWebhookPoster, FakeWebhookQueue
from tests.fakes.world import Killed
from tests.refusals import faults, refusal

URL = "https://shop.example/hooks"


@dataclass
class FakeLog:
    """Implements `ports.MessageLog` as far as replays use it."""

    messages: list[Message] = field(default_factory=list)
    read: int = 0

    def newest_first(
        self, account_id: str, since: int, until: int, shards: int | None = None
    ) -> Iterable[Message]:
        del shards
        for each in sorted(self.messages, key=lambda one: one.message_id, reverse=True):
            created = each.message_id.int >> 80
            if each.account_id == account_id and since <= created < until:
                self.read += 1
                yield each

    def get_all(self, account_id: str, message_ids: Iterable[UUID]) -> Iterable[Message]:
        raise NotImplementedError

    def pending(
        self, account_id: str, since: int, until: int, cursor: str | None
    ) -> ScanPage[Message]:
        raise NotImplementedError


class UseCasesOfWebhooks(Container):
    """The use cases, and what is behind them."""

    def __init__(self, **settings: str) -> None:
        self.queue, self.sent = FakeWebhookQueue(), FakeLog()
        super().__init__(
            settings,
            message_log=self.sent,
            webhook_poster=FakeWebhookPoster(),
            webhooks_queue=self.queue,
        )

    def create(self, *types: str, account_id: str = ACCOUNT) -> UUID:
        state = self.webhooks.create(account_id, URL, types or ["*"], by="operator")
        return UUID(state.endpoint.endpoint_id)

    @property
    def queued(self) -> list[object]:
        return [task for task, _ in self.queue.tasks]


@pytest.fixture
def of() -> UseCasesOfWebhooks:
    return UseCasesOfWebhooks()


def test_the_health_of_an_endpoint_is_deleted_with_it(of: UseCasesOfWebhooks) -> None:
    """A deletion that failed before it came to the health ends when it is repeated, with a 404."""
    endpoint_id, failing = of.create(), EndpointHealth(failures=1)
    of.endpoint_healths.replace(ACCOUNT, str(endpoint_id), EndpointHealth(), failing)
    with (
        mock.patch.object(of.endpoint_healths, "remove", side_effect=Unavailable("data store")),
        pytest.raises(Unavailable),
    ):
        of.webhooks.delete(ACCOUNT, endpoint_id, by="operator")
    assert of.endpoint_healths.get(ACCOUNT, str(endpoint_id)) == failing
    assert (
        refusal(of.webhooks.delete, ACCOUNT, endpoint_id, by="operator").code == "webhook_not_found"
    )
    assert of.endpoint_healths.get(ACCOUNT, str(endpoint_id)) == EndpointHealth()


def test_a_drain_is_queued_before_an_endpoint_is_enabled(of: UseCasesOfWebhooks) -> None:
    """If the request dies after the change, what waits is posted. No endpoint has no drain."""
    endpoint_id, change = of.create(), of.endpoint_store.change
    enable = EndpointChanges(enabled=True)

    def change_and_die(*arguments: Any) -> None:
        change(*arguments)
        raise Killed

    with mock.patch.object(of.endpoint_store, "change", change_and_die), pytest.raises(Killed):
        of.webhooks.change(ACCOUNT, endpoint_id, enable, by="operator")
    delayed = [(EndpointDrain(ACCOUNT, str(endpoint_id)), timedelta(minutes=1))]
    assert of.queue.tasks == delayed
    with pytest.raises(ServiceError):
        of.webhooks.change(OTHER_ACCOUNT, endpoint_id, enable, by="operator")
    assert of.queue.tasks == delayed


def test_to_enable_a_healthy_endpoint_changes_no_health(of: UseCasesOfWebhooks) -> None:
    """An open circuit stays as it is: only what the service disabled is ended."""
    endpoint_id = of.create()
    key = ACCOUNT, str(endpoint_id)
    failing = EndpointHealth(failing_since=at(0), open_since=at(60))
    of.endpoint_healths.replace(*key, EndpointHealth(), failing)
    state = of.webhooks.change(ACCOUNT, endpoint_id, EndpointChanges(enabled=True), by="operator")
    assert (state.enabled, state.health) == (True, failing)
    assert of.endpoint_healths.get(*key) == failing


def test_rotations_at_the_same_time_are_both_kept(
    of: UseCasesOfWebhooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint_id = of.create()
    replace_secrets = of.endpoint_store.replace_secrets
    others = iter([of.webhooks.rotate])

    def meet(*arguments: object) -> bool:
        for rotate in others:
            monkeypatch.setattr(of.endpoint_store, "replace_secrets", replace_secrets)
            rotate(ACCOUNT, endpoint_id, by="operator")
        return replace_secrets(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(of.endpoint_store, "replace_secrets", meet)
    rotated = of.webhooks.rotate(ACCOUNT, endpoint_id, by="operator")
    assert len(rotated.endpoint.secrets) == 3
    assert of.webhook_queries.get(ACCOUNT, endpoint_id) == rotated


def sent_at(seconds: float, *kinds: EventKind) -> Message:
    """Return a message that was accepted some seconds after NOW, with events."""
    return message(ACCOUNT, new_id(at(seconds)), events=tuple(event(kind) for kind in kinds))


def types_of(tasks: list[object]) -> list[WebhookType]:
    return [task.type for task in tasks if isinstance(task, WebhookEvent)]


@pytest.mark.parametrize(
    ("chosen", "asked", "queued"),
    [
        (("*",), None, ["email.sent"]),
        (("email.accepted",), None, ["email.accepted"]),
        (("email.accepted",), {"email.sent"}, ["email.sent"]),
        (("*",), {"email.accepted", "email.bounced"}, ["email.accepted"]),
    ],
)
def test_the_types_of_a_replay(
    of: UseCasesOfWebhooks, chosen: tuple[str, ...], asked: set[str] | None, queued: list[str]
) -> None:
    of.sent.messages = [sent_at(0, EventKind.SENT)]
    types = None if asked is None else frozenset(asked)
    request = ReplayRequest(since=at(0), until=at(10), types=types)
    of.webhook_replays.replay_all(ACCOUNT, of.create(*chosen), request)
    assert types_of(of.queued) == queued


def test_nothing_is_created_or_posted_while_webhooks_are_off(of: UseCasesOfWebhooks) -> None:
    """The error says that the operator switched them off; a deletion still works."""
    endpoint_id = of.create()
    replays = replace(of.webhook_replays, switched_on=False)
    webhooks = replace(of.webhooks, switched_on=False)
    for call in (
        lambda: webhooks.create(ACCOUNT, URL, ["*"], by="operator"),
        lambda: replays.test(ACCOUNT, endpoint_id),
        lambda: replays.replay(ACCOUNT, endpoint_id, "x"),
        lambda: replays.replay_all(ACCOUNT, endpoint_id, ReplayRequest(since=NOW, until=at(1))),
    ):
        refused = refusal(call)
        assert (refused.status, refused.code) == (404, "route_not_found")
        assert "operator" in refused.message
    assert (of.queued, len(of.endpoint_store.of_account(ACCOUNT))) == ([], 1)
    webhooks.delete(ACCOUNT, endpoint_id, by="operator")
    assert of.endpoint_store.of_account(ACCOUNT) == []


def test_tests_and_replays_of_an_account_have_a_limit(of: UseCasesOfWebhooks) -> None:
    """The 61st of a minute is 429 on any endpoint and queues nothing; another account's is not.

    A request for an endpoint that the account does not have is not counted.
    """
    first, second = of.create(), of.create()
    of.now = at(15)
    delivery = WebhookDelivery(
        event=webhook_test(ACCOUNT, NOW).for_endpoint(str(first)), state=DeliveryState.DELIVERED
    )
    of.delivery_store.put(delivery)
    assert refusal(of.webhook_replays.test, ACCOUNT, new_id(NOW)).code == "webhook_not_found"
    for _ in range(59):
        of.webhook_replays.test(ACCOUNT, first)
    of.webhook_replays.replay(ACCOUNT, first, delivery.event.delivery_id)
    calls: list[Callable[[], object]] = [
        lambda: of.webhook_replays.test(ACCOUNT, second),
        lambda: of.webhook_replays.replay(ACCOUNT, first, delivery.event.delivery_id),
    ]
    for refused_call in calls:
        refused = refusal(refused_call)
        assert refused.code == "rate_limit_exceeded"
        assert refused.headers == {
            "RateLimit-Limit": "60",
            "RateLimit-Remaining": "0",
            "RateLimit-Reset": "19",
        }
    assert len(of.queued) == 60
    neighbour = of.create(account_id=OTHER_ACCOUNT)
    of.webhook_replays.test(OTHER_ACCOUNT, neighbour)
    of.now = at(60)
    of.webhook_replays.test(ACCOUNT, second)
    assert len(of.queued) == 62


def test_a_large_range_is_replayed_in_parts(
    of: UseCasesOfWebhooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pillarbox.application.webhooks.replays.MAX_REPLAYED", 3)
    of.sent.messages = [sent_at(seconds) for seconds in (0, 1, 1, 1, 1, 2, 2, 3)]
    endpoint_id, until, parts = of.create("email.accepted"), at(99), []
    while True:
        request = ReplayRequest(since=NOW, until=until)
        result = of.webhook_replays.replay_all(ACCOUNT, endpoint_id, request)
        parts.append(result.queued)
        if result.rest is None:
            break
        until, of.now = result.rest, of.now + timedelta(minutes=1)
    assert parts == [3, 4, 1]
    ids = [task.message_id for task in of.queue.events]
    assert sorted(map(str, ids)) == sorted(str(each.message_id) for each in of.sent.messages)


def test_a_replay_reads_no_more_than_it_may(of: UseCasesOfWebhooks) -> None:
    """Emails without a requested event count too, so a rare type does not read all emails."""
    of.sent.messages = [sent_at(seconds) for seconds in range(10_010)]
    request = ReplayRequest(since=NOW, until=at(99_999), types=frozenset({"email.bounced"}))
    result = of.webhook_replays.replay_all(ACCOUNT, of.create(), request)
    assert (result.queued, of.sent.read) == (0, 10_001)
    assert result.rest == at(9) + timedelta(milliseconds=1)


def test_only_a_new_url_needs_a_look_up() -> None:
    """An account whose look-ups are used up can still change the rest, and makes no other one."""
    cases = UseCasesOfWebhooks()
    endpoint_id, poster = cases.create("*"), mock.Mock(FakeWebhookPoster)
    used_up = SlowRequests(count=lambda *_: False, clock=lambda: NOW)
    webhooks = replace(cases.webhooks, slow_requests=used_up, poster=lambda: poster)
    moved = EndpointChanges(url="https://other.example/")
    with pytest.raises(ServiceError) as refused:
        webhooks.change(ACCOUNT, endpoint_id, moved, by="operator")
    assert refused.value.code == "rate_limit_exceeded"
    assert not poster.check.called
    assert not webhooks.change(
        ACCOUNT, endpoint_id, EndpointChanges(enabled=False), by="operator"
    ).enabled


CLOCK_MARGIN = timedelta(seconds=30)

BUSY, GONE = PostResult(status_code=503), PostResult(status_code=410)


def begin() -> tuple[WebhookWorld, WebhookEndpoint, WebhookReplays]:
    world = WebhookWorld()
    endpoint = world.add_endpoint()
    world.change(message(ACCOUNT, new_id(at(0))), event(EventKind.SENT, 1))
    replays = WebhookReplays(
        endpoints=world.endpoints,
        deliveries=world.deliveries,
        queue=world.queue,
        log=FakeLog(),
        clock=lambda: world.now,
    )
    return world, endpoint, replays


def only_delivery(world: WebhookWorld) -> WebhookDelivery:
    (delivery,) = world.all_deliveries()
    return delivery


@pytest.mark.parametrize("error", [-CLOCK_MARGIN, CLOCK_MARGIN])
def test_a_replay_does_not_depend_on_clocks(error: timedelta) -> None:
    """An event is posted again just after its first attempt, by a worker with any clock."""
    world, endpoint, replays = begin()
    world.clock_errors = (error,)
    world.settle()
    sent = only_delivery(world).event
    for count in (2, 3):
        world.now += timedelta(seconds=1)
        replays.replay(ACCOUNT, UUID(endpoint.endpoint_id), sent.delivery_id)
        ((task, _),) = world.queue.tasks
        world.deliver_again(task, timedelta(seconds=3))
        world.settle()
        assert world.accepted == {sent.event_id: count}


def test_replays_of_one_event_share_its_attempts() -> None:
    world, endpoint, replays = begin()
    world.answer = lambda _url, _id: BUSY
    world.settle()
    before = len(world.poster.posts)
    for _ in range(3):
        replays.replay(ACCOUNT, UUID(endpoint.endpoint_id), only_delivery(world).event.delivery_id)
        world.settle(timedelta(minutes=1))
    world.settle(timedelta(hours=2))
    assert len(world.poster.posts) - before <= 9
    assert world.health_of(world.added[0]).open_since is None


def test_no_event_of_an_erased_recipient_is_replayed_by_time() -> None:
    """It would come under a second id. The events of the email and of others come again."""
    world, endpoint, replays = begin()
    ann, bob = "ann@example.com", "bob@example.com"
    sent = world.change(message(ACCOUNT, new_id(at(5)), to=(ann, bob)), event(EventKind.SENT, 6))
    world.change(sent, event(EventKind.DELIVERED, 7, ann), event(EventKind.BOUNCED, 8, bob))
    world.settle()
    before = {*world.accepted}
    erased = world.erase(world.store.messages[ACCOUNT, sent.message_id], ann)
    of_erased = replace(replays, log=FakeLog([erased]))
    request = ReplayRequest(since=at(0), until=at(60))
    assert of_erased.replay_all(ACCOUNT, UUID(endpoint.endpoint_id), request).queued == 2
    world.settle()
    assert {*world.accepted} == before


@pytest.mark.parametrize("before", ["deliveries.put", "waiting.put", "healths.get"])
@pytest.mark.parametrize("waited", [True, False])
@pytest.mark.parametrize("answer", [PostResult(status_code=200), BUSY])
def test_a_drain_beside_a_replay_loses_nothing(
    before: str, answer: PostResult, *, waited: bool
) -> None:
    """A drain that runs before any call of the worker which lets the replay wait posts it once.

    With `waited`, an earlier drain posted the event and died before it removed it.
    """
    world, endpoint, replays = begin()
    world.settle()
    delivered = only_delivery(world)
    if waited:
        world.waiting.put(delivered.event)
    world.set_health(endpoint, EndpointHealth(slow_since=world.now))
    replays.replay(ACCOUNT, UUID(endpoint.endpoint_id), delivered.event.delivery_id)
    ((task, _),) = world.queue.tasks
    world.queue.tasks.clear()
    world.answer = lambda _url, _id: answer

    def drain(name: str) -> None:
        if name == before and len(world.gate.calls) > 2:
            world.gate.watch = lambda _: None
            Drains(world.ports, Attempts(world.ports), one_after_another).run(
                drain_of(endpoint), endpoint
            )

    world.gate.calls.clear()
    world.gate.watch = drain
    assert WebhookWorker(world.ports, one_after_another).handle([task]) == ["waiting"]
    world.answer = lambda _url, _id: PostResult(status_code=200)
    world.settle()
    assert world.accepted == {delivered.event.event_id: 2}
    assert only_delivery(world).state is DeliveryState.DELIVERED
    assert not world.all_waiting()


SERVICE, TENANT = "999999999999", "111122223333"
ROLE = f"arn:aws:iam::{TENANT}:role/pillarbox-events"
BUS = f"arn:aws:events:eu-west-1:{TENANT}:event-bus/mail"


@pytest.fixture
def world() -> UseCasesOfWebhooks:
    """Return the use cases of a service whose operator lets events go to AWS."""
    return UseCasesOfWebhooks(aws_webhooks_account=SERVICE)


def create(webhooks: Webhooks, url: str = BUS, role: str | None = ROLE) -> UUID:
    state = webhooks.create(ACCOUNT, url, ["*"], by="operator", role_arn=role)
    return UUID(state.endpoint.endpoint_id)


def test_without_the_operators_consent_no_event_goes_to_aws() -> None:
    """The address is then refused as one that is no https URL; nothing is stored."""
    world = UseCasesOfWebhooks()
    assert faults(create, world.webhooks) == [("url", "invalid_url")]
    assert world.webhook_queries.of_account(ACCOUNT) == []


def test_an_endpoint_stays_of_its_kind(world: UseCasesOfWebhooks) -> None:
    """A bus may become a bucket with another role of its account, but no URL, and no other way."""
    in_aws, https = create(world.webhooks), create(world.webhooks, URL, None)

    def change(found: UUID, url: str | None = None, role_arn: str | None = None) -> None:
        changes = EndpointChanges(url=url, role_arn=role_arn)
        world.webhooks.change(ACCOUNT, found, changes, by="operator")

    change(in_aws, url="s3://shop-events/", role_arn=f"{ROLE}-2")
    endpoint = world.webhook_queries.get(ACCOUNT, in_aws).endpoint
    assert (endpoint.url, endpoint.role_arn) == ("s3://shop-events/", f"{ROLE}-2")
    other = ROLE.replace(TENANT, "444455556666")
    change(in_aws, url=BUS)
    assert faults(change, in_aws, role_arn=other) == [("url", "invalid_url")]
    assert faults(change, in_aws, url=URL) == [("url", "not_allowed")]
    assert faults(change, https, url=BUS) == [("url", "not_allowed")]
    assert faults(change, https, url=BUS, role_arn=ROLE) == [("url", "not_allowed")]
    assert faults(change, https, role_arn=ROLE) == [("roleArn", "not_allowed")]
