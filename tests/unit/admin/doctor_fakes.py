"""Fakes of the doctor's ports. Everything is fine until a test breaks it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from admin.use_cases.ports import TableProtectionState
from admin.use_cases.queue_policies import QUEUES, QueuePolicy, required_policy
from pillarbox.application.operator.checks import Finding, Verdict
from pillarbox.application.operator.ports import ConfigurationSet, QueueStatus, SendingStatus
from pillarbox.domain.errors import Json
from tests.fakes.builders import NOW


def verdicts(findings: list[Finding]) -> list[str]:
    """Return the verdicts; assert that a problem has a remedy, and other findings have none."""
    for finding in findings:
        assert bool(finding.remedy) == (finding.verdict in {Verdict.WARN, Verdict.FAIL})
    return [finding.verdict.value for finding in findings]


def sending_status(**changes: Any) -> SendingStatus:
    healthy: dict[str, Any] = {
        "sandbox": False,
        "sending": True,
        "enforcement": "HEALTHY",
        "daily_quota": 50_000.0,
        "sent_last_24_hours": 100.0,
        "max_rate": 14.0,
        "provider_time": NOW,
        "local_time": NOW,
        "suppresses": frozenset({"BOUNCE", "COMPLAINT"}),
    }
    return SendingStatus(**healthy | changes)


ALL_EVENTS = frozenset({"SEND", "DELIVERY", "BOUNCE", "COMPLAINT", "REJECT", "DELIVERY_DELAY"})


def configuration_set(**changes: Any) -> ConfigurationSet:
    reasons = frozenset({"BOUNCE", "COMPLAINT"})
    healthy: dict[str, Any] = {"sending": True, "published": ALL_EVENTS, "suppresses": reasons}
    return ConfigurationSet(**healthy | changes)


class FakeProvider:
    """Implements `ProviderAccount`."""

    def sending_status(self) -> SendingStatus:
        return sending_status()

    def configuration_set(self, name: str) -> ConfigurationSet | None:
        return configuration_set() if name == "set" else None


@dataclass
class Reads[T]:
    """What the doctor reads; a test changes the state."""

    state: T

    def __call__(self) -> T:
        return self.state


PROTECTED: Final = TableProtectionState(
    point_in_time_recovery=True, deletion_protection=True, expiry_attribute="expires_at"
)


def queue_policies(found: str | None = None) -> dict[str, QueuePolicy]:
    """The policies of the queues of events: as they must be, or all the same text."""
    policies = {}
    for name in QUEUES:
        required = required_policy(f"arn:aws:sqs:eu-west-1:123456789012:{name}", "rule")
        text = json.dumps(required) if found is None else found
        policies[name] = QueuePolicy(queue=name, found=text, required=required)
    return policies


@dataclass
class FakeMonitoring:
    """Implements `StackMonitoring`."""

    ages: dict[str, float] = field(default_factory=dict)

    def firing_alarms(self) -> Sequence[str]:
        return ()

    def silent_alarms(self) -> Mapping[str, datetime]:
        return {}

    def alarm_subscribers(self) -> int:
        return 1

    def function_concurrency(self) -> int:
        return 1000

    def oldest_message_age(self, queue_url: str) -> float | None:
        return self.ages.get(queue_url)


class FakeQueues:
    """Implements the part of `Queues` that counts: they are empty."""

    def status(self, queue_url: str) -> QueueStatus:
        dead_letters_url = f"{queue_url}-dead"
        return QueueStatus(waiting=0, in_flight=0, delayed=0, dead_letters_url=dead_letters_url)

    def move(self, source_url: str, target_url: str, at_most: int) -> int:
        raise NotImplementedError


@dataclass
class FakeApi:
    """Implements `ApiProbe`. Each GET returns the next of `statuses`, and then the last one."""

    statuses: list[str] = field(default_factory=lambda: ["pending", "sent", "delivered"])
    reply_without_key: tuple[int, Json] = (401, {"error": {"code": "missing_api_key"}})
    reply_to_send: tuple[int, Json] = (200, {"messageId": "m1", "status": "queued"})
    requests: list[tuple[str, str, str | None, Json]] = field(default_factory=list)

    def request(
        self,
        method: str,
        path: str,
        *,
        key: str | None = None,
        body: Json = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, Json]:
        assert headers is None
        self.requests.append((method, path, key, body))
        if key is None:
            return self.reply_without_key
        if method == "POST":
            return self.reply_to_send
        return 200, {"status": self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]}
