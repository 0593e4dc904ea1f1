"""The ports of the use cases for webhooks.

Every method may raise ServiceError `service_unavailable`, as in `application.ports`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from pillarbox.application.ports import ScanPage
from pillarbox.domain.webhook import (
    EndpointHealth,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
    WebhookSecret,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointChanges:
    """Changes to an endpoint; None leaves a field unchanged."""

    url: str | None = None
    types: frozenset[str] | None = None
    enabled: bool | None = None


class WebhookEndpoints(Protocol):
    """The endpoints of each account, with their secrets (table `Identities`)."""

    def add(self, endpoint: WebhookEndpoint, most: int) -> bool:
        """Store a new endpoint; return False if the account has `most` endpoints already."""
        ...

    def get(self, account_id: str, endpoint_id: str) -> WebhookEndpoint | None:
        """Read one endpoint consistently."""
        ...

    def of_account(self, account_id: str) -> Sequence[WebhookEndpoint]:
        """Read an account's endpoints, the oldest first."""
        ...

    def change(
        self, account_id: str, endpoint_id: str, changes: EndpointChanges
    ) -> WebhookEndpoint | None:
        """Change an endpoint and return the new state, or None if there is no such endpoint."""
        ...

    def replace_secrets(
        self,
        account_id: str,
        endpoint_id: str,
        old: tuple[WebhookSecret, ...],
        new: tuple[WebhookSecret, ...],
    ) -> bool:
        """Replace an endpoint's secrets; return False if they are no longer `old`."""
        ...

    def begin_replay(
        self, account_id: str, endpoint_id: str, now: datetime, pause: timedelta
    ) -> bool:
        """Note that a replay by time begins; return False if one began less than `pause` ago."""
        ...

    def remove(self, account_id: str, endpoint_id: str) -> bool:
        """Remove an endpoint; return False if there was none."""
        ...


class EndpointHealths(Protocol):
    """The health of each endpoint (first table)."""

    def get(self, account_id: str, endpoint_id: str) -> EndpointHealth:
        """Read an endpoint's health consistently; without a record it is `EndpointHealth()`."""
        ...

    def replace(
        self, account_id: str, endpoint_id: str, old: EndpointHealth, new: EndpointHealth
    ) -> bool:
        """Write an endpoint's health; return False if it is no longer `old`."""
        ...


class WebhookDeliveries(Protocol):
    """The log of deliveries (first table); records expire 30 days after the event."""

    def put(self, delivery: WebhookDelivery) -> None:
        """Write the record of a delivery."""
        ...

    def get(self, account_id: str, endpoint_id: str, event_id: UUID) -> WebhookDelivery | None:
        """Read one delivery consistently."""
        ...

    def newest_first(
        self, account_id: str, endpoint_id: str, limit: int, cursor: str | None
    ) -> ScanPage[WebhookDelivery]:
        """Read the next deliveries of an endpoint by the time of their events."""
        ...


class WebhookQueue(Protocol):
    """The queue of events to post; the endpoint is the message group."""

    def put_all(self, events: Iterable[WebhookEvent], delay: timedelta = timedelta(0)) -> None:
        """Queue events, each hidden for a time of up to 15 minutes."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PostResult:
    """The result of one POST.

    `status_code` is None without a response, and `error` then says why. `retry_after` is what
    the response asked for. `body` is the start of an error response: printable characters only.
    """

    status_code: int | None
    error: str | None = None
    retry_after: timedelta | None = None
    body: str = ""


class WebhookPoster(Protocol):
    """Sends POST requests to the endpoints' addresses, and only to public hosts."""

    def check(self, url: str) -> str | None:
        """Check an address before it is stored, its DNS records too; return what is wrong."""
        ...

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> PostResult:
        """POST a body; return within 8 seconds. Every failure is a result, not an exception."""
        ...


class DueTimes(Protocol):
    """Events that wait for longer than a queue can hide them, in buckets of one minute."""

    def put(self, event: WebhookEvent, due: datetime) -> None:
        """Store an event until a moment; the same event and minute are stored once."""
        ...

    def due(self, now: datetime) -> Iterable[tuple[datetime, Sequence[WebhookEvent]]]:
        """Return the events that are due, in parts, with the minute of each."""
        ...

    def remove(self, minute: datetime, events: Sequence[WebhookEvent]) -> None:
        """Remove events that were queued."""
        ...
