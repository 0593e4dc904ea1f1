"""Fakes of the ports for webhooks over plain dicts. They pass the tests in tests/ports."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

from pillarbox.application.message_log import ScanPage
from pillarbox.application.webhooks.ports import EndpointChanges, PostResult
from pillarbox.domain.accounts.suppression import Suppression
from pillarbox.domain.ids import new_id
from pillarbox.domain.webhooks.endpoint import (
    ALL_TYPES,
    DeliveryState,
    DueTask,
    EndpointDrain,
    EndpointHealth,
    OwnerNotice,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
    WebhookSecret,
    WebhookTask,
)
from pillarbox.domain.webhooks.url import WebhookUrlError, parse_webhook_url
from tests.fakes.builders import ACCOUNT, NOW

type EndpointKey = tuple[str, str]
_MINUTE = timedelta(minutes=1)
_WAITING_KEPT = timedelta(days=7)
_NEVER = datetime.min.replace(tzinfo=UTC)


def endpoint(account_id: str = ACCOUNT, **changes: Any) -> WebhookEndpoint:
    """Return an enabled endpoint for all types."""
    created = changes.get("created_at", NOW)
    default = WebhookEndpoint(
        account_id=account_id,
        endpoint_id=str(new_id(created)),
        url="https://shop.example/hooks",
        types=frozenset({ALL_TYPES}),
        secrets=(WebhookSecret(text="whsec_c2VjcmV0", created_at=created),),
        enabled=True,
        created_at=created,
    )
    return replace(default, **changes)


@dataclass
class FakeWebhookEndpoints:
    """Implements `webhooks.ports.WebhookEndpoints`; `marked` has the accounts with a mark."""

    endpoints: dict[tuple[str, str], WebhookEndpoint] = field(default_factory=dict)
    replayed: dict[tuple[str, str], datetime] = field(default_factory=dict)
    marked: set[str] = field(default_factory=set)
    requests: dict[str, tuple[datetime, int]] = field(default_factory=dict)

    def add(self, endpoint: WebhookEndpoint, most: int) -> bool:
        if len(self.of_account(endpoint.account_id)) >= most:
            return False
        self.endpoints[endpoint.account_id, endpoint.endpoint_id] = endpoint
        self.marked.add(endpoint.account_id)
        return True

    def get(self, account_id: str, endpoint_id: str) -> WebhookEndpoint | None:
        return self.endpoints.get((account_id, endpoint_id))

    def of_account(self, account_id: str) -> Sequence[WebhookEndpoint]:
        return [self.endpoints[key] for key in sorted(self.endpoints) if key[0] == account_id]

    def change(
        self, account_id: str, endpoint_id: str, changes: EndpointChanges
    ) -> WebhookEndpoint | None:
        old = self.get(account_id, endpoint_id)
        if old is None:
            return None
        new = replace(
            old,
            url=old.url if changes.url is None else changes.url,
            types=old.types if changes.types is None else changes.types,
            enabled=old.enabled if changes.enabled is None else changes.enabled,
            format=old.format if changes.format is None else changes.format,
            role_arn=old.role_arn if changes.role_arn is None else changes.role_arn,
        )
        self.endpoints[account_id, endpoint_id] = new
        return new

    def replace_secrets(
        self,
        account_id: str,
        endpoint_id: str,
        old: tuple[WebhookSecret, ...],
        new: tuple[WebhookSecret, ...],
    ) -> bool:
        current = self.get(account_id, endpoint_id)
        if current is None or current.secrets != old:
            return False
        self.endpoints[account_id, endpoint_id] = replace(current, secrets=new)
        return True

    def begin_replay(
        self, account_id: str, endpoint_id: str, now: datetime, pause: timedelta
    ) -> bool:
        key = account_id, endpoint_id
        if key not in self.endpoints or self.replayed.get(key, now - pause) > now - pause:
            return False
        self.replayed[key] = now
        return True

    def count_request(self, account_id: str, now: datetime, most: int) -> bool:
        now = now.replace(second=0, microsecond=0)
        minute, count = self.requests.get(account_id, (now, 0))
        if minute < now:
            minute, count = now, 0
        if count >= most:
            return False
        self.requests[account_id] = minute, count + 1
        return True

    def remove(self, account_id: str, endpoint_id: str) -> bool:
        removed = self.endpoints.pop((account_id, endpoint_id), None)
        if removed and not self.of_account(account_id):
            self.marked.discard(account_id)
        return removed is not None


@dataclass
class FakeEndpointHealths:
    """Implements `webhooks.ports.EndpointHealths`."""

    healths: dict[tuple[str, str], EndpointHealth] = field(default_factory=dict)

    def get(self, account_id: str, endpoint_id: str) -> EndpointHealth:
        return self.healths.get((account_id, endpoint_id), EndpointHealth())

    def replace(
        self, account_id: str, endpoint_id: str, old: EndpointHealth, new: EndpointHealth
    ) -> bool:
        if self.get(account_id, endpoint_id) != old:
            return False
        self.healths[account_id, endpoint_id] = new
        return True

    def remove(self, account_id: str, endpoint_id: str) -> None:
        self.healths.pop((account_id, endpoint_id), None)


@dataclass
class FakeWebhookDeliveries:
    """Implements `webhooks.ports.WebhookDeliveries`."""

    deliveries: dict[tuple[EndpointKey, str], WebhookDelivery] = field(default_factory=dict)

    def put(self, delivery: WebhookDelivery) -> None:
        event = delivery.event
        key = (event.account_id, event.endpoint_id), event.delivery_id
        old = self.deliveries.get(key)
        if (
            old is None
            or DeliveryState.WAITING is old.state
            or DeliveryState.DELIVERED is delivery.state
            or (event.replayed_at or _NEVER) > (old.event.replayed_at or _NEVER)
        ):
            self.deliveries[key] = delivery

    def get(self, account_id: str, endpoint_id: str, delivery_id: str) -> WebhookDelivery | None:
        return self.deliveries.get(((account_id, endpoint_id), delivery_id))

    peek = get

    def newest_first(
        self, account_id: str, endpoint_id: str, limit: int, cursor: str | None
    ) -> ScanPage[WebhookDelivery]:
        ids = sorted(
            (
                delivery_id
                for key, delivery_id in self.deliveries
                if key == (account_id, endpoint_id) and (cursor is None or delivery_id < cursor)
            ),
            reverse=True,
        )[:limit]
        items = [self.deliveries[(account_id, endpoint_id), each] for each in ids]
        return ScanPage(items, ids[-1] if len(ids) == limit else None)


@dataclass
class FakeWaitingEvents:
    """Implements `webhooks.ports.WaitingEvents`; `waiting` has events and until when each waits."""

    clock: Callable[[], datetime]
    waiting: dict[tuple[EndpointKey, str], tuple[WebhookEvent, datetime]] = field(
        default_factory=dict
    )
    tokens: Iterator[int] = field(default_factory=count)

    def put(self, event: WebhookEvent) -> None:
        key = (event.account_id, event.endpoint_id)
        put = replace(event, token=str(next(self.tokens)))
        self.waiting[key, event.delivery_id] = put, self.clock() + _WAITING_KEPT

    def oldest(self, account_id: str, endpoint_id: str, limit: int) -> Sequence[WebhookEvent]:
        found = sorted(
            (delivery_id, event)
            for (key, delivery_id), (event, until) in self.waiting.items()
            if key == (account_id, endpoint_id) and until > self.clock()
        )
        return [event for _, event in found[:limit]]

    def remove(self, event: WebhookEvent) -> None:
        key = (event.account_id, event.endpoint_id), event.delivery_id
        if key in self.waiting and self.waiting[key][0].token == event.token:
            del self.waiting[key]


@dataclass
class FakeWebhookQueue:
    """Implements `webhooks.ports.WebhookQueue`; `tasks` has tasks and for how long each hides."""

    tasks: list[tuple[WebhookTask, timedelta]] = field(default_factory=list)

    @property
    def events(self) -> list[WebhookEvent]:
        """The queued events, without the drains."""
        return [task for task, _ in self.tasks if isinstance(task, WebhookEvent)]

    def put_all(self, tasks: Iterable[WebhookTask], delay: timedelta = timedelta(0)) -> None:
        assert timedelta(0) <= delay <= timedelta(minutes=15), "SQS hides no message so long"
        self.tasks += [(task, delay) for task in tasks]


@dataclass
class FakeDueTimes:
    """Implements `webhooks.ports.DueTimes`; `minutes` has the tasks of each minute."""

    minutes: dict[datetime, dict[object, DueTask]] = field(default_factory=dict)

    def put(self, task: DueTask, due: datetime) -> None:
        minute = due.replace(second=0, microsecond=0)
        if minute < due:
            minute += _MINUTE
        self.minutes.setdefault(minute, {})[_name(task)] = _without_lease(task)

    def due(self, now: datetime) -> Iterator[tuple[datetime, Sequence[DueTask]]]:
        for minute in sorted(self.minutes):
            if minute <= now and self.minutes[minute]:
                yield minute, [*self.minutes[minute].values()]

    def remove(self, minute: datetime, tasks: Sequence[DueTask]) -> None:
        for task in tasks:
            self.minutes[minute].pop(_name(task), None)


@dataclass(frozen=True)
class Post:
    """A POST that an endpoint received."""

    url: str
    event_id: UUID
    headers: Mapping[str, str]
    body: bytes


@dataclass
class FakeSuppressionLookup:
    """Implements `webhooks.ports.SuppressionLookup`."""

    suppressions: dict[tuple[str, str], Suppression] = field(default_factory=dict)

    def get(self, account_id: str, address: str) -> Suppression | None:
        return self.suppressions.get((account_id, address))


class FakeWebhookPoster:
    """Implements `webhooks.ports.WebhookPoster`; `answer` decides how endpoints answer."""

    def __init__(self) -> None:
        self.posts: list[Post] = []
        self.answer: Callable[[Post], PostResult] = lambda _: PostResult(status_code=200)

    def check(self, url: str) -> str | None:
        try:
            parse_webhook_url(url)
        except WebhookUrlError as error:
            return str(error)
        return None

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> PostResult:
        event_id = UUID(headers["webhook-id"]) if headers else UUID(int=0)  # none: a chat
        post = Post(url, event_id, headers, body)
        self.posts.append(post)
        return self.answer(post)


class FakeAwsPoster:
    """Implements `webhooks.ports.AwsPoster`; `trusts` has the external id that each role wants."""

    def __init__(self) -> None:
        self.trusts: dict[str, str] = {}
        #: The payloads by the address of the bus or the bucket and the id of the event.
        self.events: dict[tuple[str, UUID], list[bytes]] = {}

    def put(self, endpoint: WebhookEndpoint, event: WebhookEvent, body: bytes) -> PostResult:
        if self.trusts.get(endpoint.role_arn or "") != endpoint.endpoint_id:
            return PostResult(status_code=403, error="AWS refused AssumeRole")
        self.events.setdefault((endpoint.url, event.event_id), []).append(body)
        return PostResult(status_code=200)


def _name(task: DueTask) -> tuple[str, str, str]:
    match task:
        case WebhookEvent():
            end = task.delivery_id
        case OwnerNotice():
            end = f"notice {task.at}"
        case EndpointDrain():
            end = "drain"
    return task.account_id, task.endpoint_id, end


def _without_lease(task: DueTask) -> DueTask:
    if isinstance(task, EndpointDrain):
        return EndpointDrain(task.account_id, task.endpoint_id)
    return task
