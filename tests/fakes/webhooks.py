"""What webhooks meet outside the tables: the queue, a quick timer, and the endpoints."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from pillarbox.application.webhooks.ports import PostResult
from pillarbox.domain.ids import new_id
from pillarbox.domain.webhooks.endpoint import (
    ALL_TYPES,
    DueTask,
    EndpointDrain,
    OwnerNotice,
    WebhookEndpoint,
    WebhookEvent,
    WebhookSecret,
    WebhookTask,
)
from pillarbox.domain.webhooks.url import WebhookUrlError, parse_webhook_url
from tests.fakes.builders import ACCOUNT, NOW

_MINUTE = timedelta(minutes=1)


def endpoint(account_id: str = ACCOUNT, **changes: Any) -> WebhookEndpoint:
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
