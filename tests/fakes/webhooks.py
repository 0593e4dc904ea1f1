"""Fakes of the ports for webhooks over plain dicts. They pass the tests in tests/ports."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from pillarbox.application.ports import ScanPage
from pillarbox.application.webhooks.ports import EndpointChanges, PostResult
from pillarbox.domain.ids import new_id
from pillarbox.domain.webhook import (
    ALL_TYPES,
    EndpointDrain,
    EndpointHealth,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
    WebhookSecret,
    WebhookTask,
)
from tests.fakes.builders import ACCOUNT, NOW

type EndpointKey = tuple[str, str]
_MINUTE = timedelta(minutes=1)
_WAITING_KEPT = timedelta(days=7)
SECRET = "whsec_" + "c2VjcmV0IG9mIHRoaXJ0eS10d28gYnl0ZXMgaGVyZS4="


@dataclass
class WebhookStore:
    """Everything about webhooks that the service stores."""

    endpoints: dict[EndpointKey, WebhookEndpoint] = field(default_factory=dict)
    healths: dict[EndpointKey, EndpointHealth] = field(default_factory=dict)
    deliveries: dict[tuple[EndpointKey, str], WebhookDelivery] = field(default_factory=dict)
    waiting: dict[tuple[EndpointKey, str], tuple[WebhookEvent, datetime]] = field(
        default_factory=dict
    )
    #: Tasks in the queue, each with the time for which it is hidden.
    queue: list[tuple[WebhookTask, timedelta]] = field(default_factory=list)
    #: Tasks of the timer by their minute.
    due: dict[datetime, dict[object, WebhookTask]] = field(default_factory=dict)


def endpoint(endpoint_id: str | None = None, **changes: Any) -> WebhookEndpoint:
    """Return an enabled endpoint for all types."""
    default = WebhookEndpoint(
        account_id=ACCOUNT,
        endpoint_id=endpoint_id or str(new_id(NOW)),
        url="https://shop.example/hooks",
        types=frozenset({ALL_TYPES}),
        secrets=(WebhookSecret(text=SECRET, created_at=NOW),),
        enabled=True,
        created_at=NOW,
    )
    return replace(default, **changes)


class FakeWebhookEndpoints:
    """Implements the part of `webhooks.ports.WebhookEndpoints` that posting uses."""

    def __init__(self, store: WebhookStore) -> None:
        self._endpoints = store.endpoints

    def add(self, endpoint: WebhookEndpoint, most: int) -> bool:
        if len(self.of_account(endpoint.account_id)) >= most:
            return False
        self._endpoints[endpoint.account_id, endpoint.endpoint_id] = endpoint
        return True

    def get(self, account_id: str, endpoint_id: str) -> WebhookEndpoint | None:
        return self._endpoints.get((account_id, endpoint_id))

    def of_account(self, account_id: str) -> Sequence[WebhookEndpoint]:
        found = [each for (account, _), each in self._endpoints.items() if account == account_id]
        return sorted(found, key=lambda each: each.created_at)

    def change(
        self, account_id: str, endpoint_id: str, changes: EndpointChanges
    ) -> WebhookEndpoint | None:
        stored = self.get(account_id, endpoint_id)
        if stored is None:
            return None
        names = ("url", "types", "enabled")
        values = {name: getattr(changes, name) for name in names}
        changed = replace(stored, **{k: v for k, v in values.items() if v is not None})
        self._endpoints[account_id, endpoint_id] = changed
        return changed

    def remove(self, account_id: str, endpoint_id: str) -> bool:
        return self._endpoints.pop((account_id, endpoint_id), None) is not None


class FakeEndpointHealths:
    """Implements `webhooks.ports.EndpointHealths`."""

    def __init__(self, store: WebhookStore) -> None:
        self._healths = store.healths

    def get(self, account_id: str, endpoint_id: str) -> EndpointHealth:
        return self._healths.get((account_id, endpoint_id), EndpointHealth())

    def replace(
        self, account_id: str, endpoint_id: str, old: EndpointHealth, new: EndpointHealth
    ) -> bool:
        if self.get(account_id, endpoint_id) != old:
            return False
        self._healths[account_id, endpoint_id] = new
        return True


class FakeWebhookDeliveries:
    """Implements `webhooks.ports.WebhookDeliveries`."""

    def __init__(self, store: WebhookStore) -> None:
        self._deliveries = store.deliveries

    def put(self, delivery: WebhookDelivery) -> None:
        event = delivery.event
        key = (event.account_id, event.endpoint_id)
        self._deliveries[key, event.delivery_id] = delivery

    def get(self, account_id: str, endpoint_id: str, delivery_id: str) -> WebhookDelivery | None:
        return self._deliveries.get(((account_id, endpoint_id), delivery_id))

    def newest_first(
        self, account_id: str, endpoint_id: str, limit: int, cursor: str | None
    ) -> ScanPage[WebhookDelivery]:
        ids = sorted(
            (
                delivery_id
                for key, delivery_id in self._deliveries
                if key == (account_id, endpoint_id) and (cursor is None or delivery_id < cursor)
            ),
            reverse=True,
        )[:limit]
        items = [self._deliveries[(account_id, endpoint_id), each] for each in ids]
        return ScanPage(items, ids[-1] if len(ids) == limit else None)


class FakeWaitingEvents:
    """Implements `webhooks.ports.WaitingEvents`."""

    def __init__(self, store: WebhookStore, clock: Callable[[], datetime]) -> None:
        self._waiting = store.waiting
        self._clock = clock

    def put(self, event: WebhookEvent) -> None:
        key = (event.account_id, event.endpoint_id)
        self._waiting[key, event.delivery_id] = event, self._clock() + _WAITING_KEPT

    def oldest(self, account_id: str, endpoint_id: str, limit: int) -> Sequence[WebhookEvent]:
        found = sorted(
            (delivery_id, event)
            for (key, delivery_id), (event, until) in self._waiting.items()
            if key == (account_id, endpoint_id) and until > self._clock()
        )
        return [event for _, event in found[:limit]]

    def remove(self, event: WebhookEvent) -> None:
        key = (event.account_id, event.endpoint_id)
        self._waiting.pop((key, event.delivery_id), None)


class FakeWebhookQueue:
    """Implements `webhooks.ports.WebhookQueue`."""

    def __init__(self, store: WebhookStore) -> None:
        self._store = store

    def put_all(self, tasks: Iterable[WebhookTask], delay: timedelta = timedelta(0)) -> None:
        assert delay <= timedelta(minutes=15), "SQS hides a message for at most 15 minutes"
        self._store.queue += [(task, delay) for task in tasks]


class FakeDueTimes:
    """Implements `webhooks.ports.DueTimes`."""

    def __init__(self, store: WebhookStore) -> None:
        self._due = store.due

    def put(self, task: WebhookTask, due: datetime) -> None:
        minute = due.replace(second=0, microsecond=0)
        if minute < due:
            minute += _MINUTE
        self._due.setdefault(minute, {})[_name(task)] = _without_lease(task)

    def due(self, now: datetime) -> Iterator[tuple[datetime, Sequence[WebhookTask]]]:
        for minute in sorted(self._due):
            if minute <= now and self._due[minute]:
                yield minute, [*self._due[minute].values()]

    def remove(self, minute: datetime, tasks: Sequence[WebhookTask]) -> None:
        for task in tasks:
            self._due[minute].pop(_name(task), None)


@dataclass(frozen=True)
class Post:
    """A POST that an endpoint received."""

    url: str
    event_id: UUID
    headers: Mapping[str, str]
    body: bytes


class FakeWebhookPoster:
    """Implements `webhooks.ports.WebhookPoster`; `answer` decides how endpoints answer."""

    def __init__(self) -> None:
        self.posts: list[Post] = []
        self.answer: Callable[[Post], PostResult] = lambda _: PostResult(status_code=200)

    def check(self, url: str) -> str | None:
        return None if url.startswith("https://") else "must begin with https://"

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> PostResult:
        post = Post(url, UUID(headers["webhook-id"]), headers, body)
        self.posts.append(post)
        return self.answer(post)


def _name(task: WebhookTask) -> tuple[str, str, str]:
    end = task.delivery_id if isinstance(task, WebhookEvent) else "drain"
    return task.account_id, task.endpoint_id, end


def _without_lease(task: WebhookTask) -> WebhookTask:
    return replace(task, lease=None) if isinstance(task, EndpointDrain) else task
