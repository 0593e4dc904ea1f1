"""Do what waits for its time: queue the tasks of webhooks, and raise alerts about endpoints."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from pillarbox.application.ports import Clock
from pillarbox.application.webhooks.ports import (
    DueTimes,
    EndpointHealths,
    WebhookEndpoints,
    WebhookQueue,
)
from pillarbox.domain.accounts.alert import Alert, AlertKind
from pillarbox.domain.timing import milliseconds
from pillarbox.domain.webhooks.endpoint import EndpointHealth, OwnerNotice, WebhookEndpoint
from pillarbox.domain.webhooks.retries import DISABLE_AFTER

_WHERE_ERRORS_ARE: Final = "GET /api/v1/webhooks/{id}/deliveries shows the error of each delivery."


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerNotices:
    """Raises alerts about endpoints, once their health says what they are about."""

    endpoints: WebhookEndpoints
    healths: EndpointHealths
    raise_alert: Callable[[str, Alert], None]

    def send(self, notice: OwnerNotice) -> None:
        """Raise the alert of a notice, unless it is out of date.

        It is out of date if the endpoint works, keeps up or was enabled again, was disabled after
        a warning, or was deleted.
        """
        endpoint = self.endpoints.get(notice.account_id, notice.endpoint_id)
        health = self.healths.get(notice.account_id, notice.endpoint_id)
        if endpoint is None or not _is_current(notice, health):
            return
        title, paragraphs = _text(notice, endpoint, health)
        alert = Alert(
            kind=AlertKind.ENDPOINT,
            name=endpoint.endpoint_id,
            at=notice.at,
            title=title,
            paragraphs=paragraphs,
            about=f"Endpoint: {endpoint.endpoint_id}",
        )
        self.raise_alert(notice.account_id, alert)


def _is_current(notice: OwnerNotice, health: EndpointHealth) -> bool:
    """Return whether the health still is what the notice says."""
    if health.disabled_at is not None:
        return _is_same(notice.at, health.disabled_at)
    return _is_same(notice.at, health.warned_at) or _is_same(notice.at, health.slow_since)


def _is_same(at: datetime, other: datetime | None) -> bool:
    return other is not None and milliseconds(other) == milliseconds(at)


def _text(
    notice: OwnerNotice, endpoint: WebhookEndpoint, health: EndpointHealth
) -> tuple[str, list[str]]:
    """Return title and paragraphs. Of the URL they have only the host: the rest may be secret."""
    host = urlsplit(endpoint.url).hostname or "?"
    write = _disabled
    if health.disabled_at is None:
        write = _late if _is_same(notice.at, health.slow_since) else _warning
    title, *paragraphs = write(host, endpoint.endpoint_id, health)
    return title, [*paragraphs]


def _warning(host: str, endpoint_id: str, health: EndpointHealth) -> tuple[str, ...]:
    """Return the title and the paragraphs of the email about an endpoint that fails."""
    since = health.failing_since or health.warned_at
    end = f" on {_day_and_time(since + DISABLE_AFTER)}" if since else ""
    return (
        f"Webhooks to {host} have failed for a day",
        f"Your webhook endpoint at {host} has accepted nothing since {_day_and_time(since)}.",
        f"We keep trying. If it still accepts nothing, we disable it{end}.",
        f"Please repair the endpoint. {_WHERE_ERRORS_ARE.format(id=endpoint_id)}",
        "You need not do more: when it works again, the events that wait are sent to it.",
    )


def _late(host: str, endpoint_id: str, health: EndpointHealth) -> tuple[str, ...]:
    """Return the title and the paragraphs of the email about an endpoint that does not keep up."""
    since = _day_and_time(health.slow_since)
    return (
        f"Webhooks to {host} are more than an hour late",
        f"Your webhook endpoint at {host} has answered slowly since {since}.",
        "We send it a few events at a time. An event that waits for 7 days is not sent any more.",
        "Please let the endpoint answer at once, and do its work later.",
        f"GET /api/v1/webhooks/{endpoint_id}/deliveries shows how long it took for each answer.",
        "You need not do more: the events that wait are sent as fast as it answers.",
    )


def _disabled(host: str, endpoint_id: str, health: EndpointHealth) -> tuple[str, ...]:
    """Return the title and the paragraphs of the email about an endpoint that was disabled."""
    if health.disabled_for == "gone":
        reason = f"It answered 410 Gone on {_day_and_time(health.disabled_at)}."
    else:
        reason = f"It has accepted nothing since {_day_and_time(health.failing_since)}."
    enable = f'PATCH /api/v1/webhooks/{endpoint_id} with {{"enabled": true}}'
    return (
        f"Your webhook endpoint at {host} is disabled",
        f"We disabled your webhook endpoint at {host}. {reason}",
        "We send nothing to it now. Each new event waits for 7 days.",
        f"Please repair the endpoint. {_WHERE_ERRORS_ARE.format(id=endpoint_id)}",
        f"Then enable it again: {enable}. The events that wait are then sent to it.",
        "If you no longer need the endpoint, delete it.",
    )


def _day_and_time(moment: datetime | None) -> str:
    return f"{moment:%-d %B %Y, %H:%M} UTC" if moment else "an unknown time"


#: A notice that fails is tried again after this time …
_NOTICE_PAUSE: Final = timedelta(minutes=5)
#: … but not when it is so old.
_NOTICE_KEPT: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DueTasks:
    """Takes tasks out of the timer when they are due."""

    due: DueTimes
    queue: WebhookQueue
    notices: OwnerNotices
    clock: Clock

    def enqueue(self) -> int:
        """Queue or do each task that is due, then remove it. Return their number.

        A notice that fails stops no other task. Its error is raised after all of them.
        """
        count = 0
        errors: list[Exception] = []
        for minute, due in self.due.due(self.clock()):
            tasks = [task for task in due if not isinstance(task, OwnerNotice)]
            notices = [task for task in due if isinstance(task, OwnerNotice)]
            if tasks:
                self.queue.put_all(tasks)
                self.due.remove(minute, tasks)
            errors += self._send(minute, notices)
            count += len(due)
        if errors:
            raise errors[0]
        return count

    def _send(self, minute: datetime, notices: Sequence[OwnerNotice]) -> list[Exception]:
        """Send notices and return their errors. Put those that failed into a later minute."""
        errors: list[Exception] = []
        for notice in notices:
            try:
                self.notices.send(notice)
            except Exception as error:  # noqa: BLE001  a failed notice must not stop webhooks
                errors.append(error)
                now = self.clock()
                if now - notice.at < _NOTICE_KEPT:
                    self.due.put(notice, now + _NOTICE_PAUSE)
            self.due.remove(minute, [notice])
        return errors
