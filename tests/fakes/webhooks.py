"""Fakes of the ports for webhooks over plain dicts. They pass the tests in tests/ports."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from pillarbox.application.ports import ScanPage
from pillarbox.application.webhooks.ports import EndpointChanges
from pillarbox.domain.ids import new_id
from pillarbox.domain.webhook import (
    ALL_TYPES,
    EndpointHealth,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
    WebhookSecret,
)
from tests.fakes.builders import ACCOUNT, NOW


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
    """Implements `webhooks.ports.WebhookEndpoints`."""

    endpoints: dict[tuple[str, str], WebhookEndpoint] = field(default_factory=dict)
    replayed: dict[tuple[str, str], datetime] = field(default_factory=dict)

    def add(self, endpoint: WebhookEndpoint, most: int) -> bool:
        if len(self.of_account(endpoint.account_id)) >= most:
            return False
        self.endpoints[endpoint.account_id, endpoint.endpoint_id] = endpoint
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

    def remove(self, account_id: str, endpoint_id: str) -> bool:
        return self.endpoints.pop((account_id, endpoint_id), None) is not None


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


@dataclass
class FakeWebhookDeliveries:
    """Implements `webhooks.ports.WebhookDeliveries`. A cursor is a number of deliveries."""

    deliveries: dict[tuple[str, str, UUID], WebhookDelivery] = field(default_factory=dict)

    def put(self, delivery: WebhookDelivery) -> None:
        event = delivery.event
        self.deliveries[event.account_id, event.endpoint_id, event.event_id] = delivery

    def get(self, account_id: str, endpoint_id: str, event_id: UUID) -> WebhookDelivery | None:
        return self.deliveries.get((account_id, endpoint_id, event_id))

    def newest_first(
        self, account_id: str, endpoint_id: str, limit: int, cursor: str | None
    ) -> ScanPage[WebhookDelivery]:
        skip = int(cursor or 0)
        found = sorted(
            (
                delivery
                for key, delivery in self.deliveries.items()
                if key[:2] == (account_id, endpoint_id)
            ),
            key=lambda delivery: delivery.event.at,
            reverse=True,
        )
        more = len(found) > skip + limit
        return ScanPage(found[skip : skip + limit], str(skip + limit) if more else None)


@dataclass
class FakeWebhookQueue:
    """Implements `webhooks.ports.WebhookQueue`."""

    events: list[WebhookEvent] = field(default_factory=list)

    def put_all(self, events: Iterable[WebhookEvent], delay: timedelta = timedelta(0)) -> None:
        assert delay <= timedelta(minutes=15)
        self.events += events
