"""What the doctor looks at, over plain values; everything is well until a test breaks it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from admin.operations.ports import (
    ConfigurationSet,
    QueueStatus,
    SendingStatus,
    TableProtectionState,
)
from pillarbox.domain.errors import Json, ServiceError
from tests.unit.admin.fakes import NOW


def standing(**changes: Any) -> SendingStatus:
    well: dict[str, Any] = {
        "sandbox": False,
        "sending": True,
        "enforcement": "HEALTHY",
        "per_day": 50_000.0,
        "sent_of_day": 100.0,
        "per_second": 14.0,
        "their_time": NOW,
        "our_time": NOW,
    }
    return SendingStatus(**well | changes)


ALL_EVENTS = frozenset({"SEND", "DELIVERY", "BOUNCE", "COMPLAINT", "REJECT", "DELIVERY_DELAY"})


@dataclass
class FakeProvider:
    """Fulfils `ProviderAccount`."""

    now: SendingStatus = field(default_factory=standing)
    sets: dict[str, ConfigurationSet] = field(
        default_factory=lambda: {"set": ConfigurationSet(sending=True, published=ALL_EVENTS)}
    )
    failing: bool = False

    def sending_status(self) -> SendingStatus:
        if self.failing:
            raise ServiceError("service_unavailable", "AWS refused GetAccount: AccessDenied: no")
        return self.now

    def configuration_set(self, name: str) -> ConfigurationSet | None:
        return self.sets.get(name)


@dataclass
class FakeCare:
    """Fulfils `TableProtection`."""

    now: TableProtectionState = field(
        default_factory=lambda: TableProtectionState(
            recovery=True, deletion_protection=True, expiry="expires_at"
        )
    )

    def read(self) -> TableProtectionState:
        return self.now


@dataclass
class FakeWatch:
    """Fulfils `StackMonitoring`."""

    in_alarm: list[str] = field(default_factory=list)
    told: int = 1
    functions: int = 1000
    ages: dict[str, float] = field(default_factory=dict)

    def firing_alarms(self) -> Sequence[str]:
        return self.in_alarm

    def alarm_subscribers(self) -> int:
        return self.told

    def function_concurrency(self) -> int:
        return self.functions

    def oldest_message_age(self, queue_url: str) -> float | None:
        return self.ages.get(queue_url)


@dataclass
class FakeQueues:
    """Fulfils the part of `Queues` that counts."""

    waiting: dict[str, int] = field(default_factory=dict)

    def status(self, queue_url: str) -> QueueStatus:
        return QueueStatus(waiting=self.waiting.get(queue_url, 0), in_flight=0, delayed=0)

    def move(self, source_url: str, target_url: str, at_most: int) -> int:
        raise NotImplementedError


@dataclass
class FakeCertificates:
    """Fulfils `CertificateProbe`."""

    ends: datetime = NOW + timedelta(days=60)

    def certificate_expiry(self) -> datetime:
        return self.ends


@dataclass
class FakeDoor:
    """Fulfils `ApiProbe`; a mail comes to each state of `states` at one look after another."""

    states: list[str] = field(default_factory=lambda: ["pending", "sent", "delivered"])
    keyless: tuple[int, Json] = (401, {"error": {"code": "missing_api_key"}})
    accepted: tuple[int, Json] = (200, {"messageId": "m1", "status": "queued"})
    asked: list[tuple[str, str, str | None, Json]] = field(default_factory=list)

    def request(
        self, method: str, path: str, *, key: str | None = None, body: Json = None
    ) -> tuple[int, Json]:
        self.asked.append((method, path, key, body))
        if key is None:
            return self.keyless
        if method == "POST":
            return self.accepted
        return 200, {"status": self.states.pop(0) if len(self.states) > 1 else self.states[0]}
