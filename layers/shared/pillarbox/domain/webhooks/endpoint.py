"""Webhooks: endpoints with their secrets, the events that they receive, and the deliveries.

Ours, with the format and the signatures of Standard Webhooks 1.0.0
(https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md); the
contract announces webhooks (section 6).
"""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from uuid import UUID

from pillarbox.domain.timing import milliseconds

if TYPE_CHECKING:
    from pillarbox.domain.accounts.alert import AlertPost

#: In the list of an endpoint's types: all types except `email.accepted`.
ALL_TYPES: Final = "*"


class WebhookType(StrEnum):
    """The types of events that an endpoint can receive."""

    EMAIL_ACCEPTED = "email.accepted"
    EMAIL_SENT = "email.sent"
    EMAIL_DELIVERED = "email.delivered"
    EMAIL_DELAYED = "email.delayed"
    EMAIL_BOUNCED = "email.bounced"
    EMAIL_COMPLAINED = "email.complained"
    EMAIL_FAILED = "email.failed"
    EMAIL_RECEIVED = "email.received"
    SUPPRESSION_ADDED = "suppression.added"
    DOMAIN_VERIFIED = "domain.verified"
    DOMAIN_FAILED = "domain.failed"
    ACCOUNT_PAUSED = "account.paused"
    WEBHOOK_TEST = "webhook.test"


class WebhookFormat(StrEnum):
    """The shapes that payloads have. The signature is the same for all."""

    PILLARBOX = "pillarbox"
    #: That of Resend's webhooks, also with its names of the signature's headers.
    RESEND = "resend"
    #: That of Postmark's inbound webhook, for `email.received`; all others are as ours.
    POSTMARK = "postmark"


#: The types of events that the records of emails keep, which can be sent again by time.
TYPES_OF_EMAILS: Final = frozenset(
    one for one in WebhookType if one.startswith("email.") and one != WebhookType.EMAIL_RECEIVED
)
#: The types that an endpoint can choose. A test is sent even if the endpoint did not choose it.
SELECTABLE_TYPES: Final = frozenset(WebhookType) - {WebhookType.WEBHOOK_TEST}


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSecret:
    """A signing secret `whsec_…`, and until when it signs after a rotation (None: no end)."""

    text: str = field(repr=False)  # so that it cannot get into a log
    created_at: datetime
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookEndpoint:
    """Where an account receives events: an address, or a bus or a bucket in its AWS account.

    Those in AWS have a role that the service assumes, and no secrets. `types` are values of
    `WebhookType`, or `ALL_TYPES` alone. `enabled` is the tenant's own switch; the service disables
    an endpoint in its `EndpointHealth`.
    """

    account_id: str
    endpoint_id: str
    url: str
    types: frozenset[str]
    secrets: tuple[WebhookSecret, ...]
    enabled: bool
    created_at: datetime
    format: WebhookFormat = WebhookFormat.PILLARBOX
    role_arn: str | None = None

    @property
    def is_bus(self) -> bool:
        return self.url.startswith("arn:")

    @property
    def title(self) -> str:
        """The host, the bucket or the bus with the id. The rest of a URL may be a secret."""
        return f"{urlsplit(self.url).hostname or self.url} ({self.endpoint_id})"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointHealth:
    """What the worker knows about an endpoint's recent deliveries.

    `failing_since` is the time of the first failure after the last success. While the circuit
    is open (`open_since`), events wait, except one probe at `probe_at`. While the endpoint is
    slow (`slow_since`), events wait too, and are posted a few at a time.
    """

    failing_since: datetime | None = None
    #: Failures of different events in a row.
    failures: int = 0
    open_since: datetime | None = None
    probe_at: datetime | None = None
    #: How many probes failed since the circuit opened.
    probes: int = 0
    slow_since: datetime | None = None
    #: Until when one worker alone drains the events that wait.
    drain_until: datetime | None = None
    #: When it had failed for so long that its owner gets an email (`OwnerNotice`).
    warned_at: datetime | None = None
    disabled_at: datetime | None = None
    #: Why the service disabled the endpoint: `failing` or `gone`.
    disabled_for: str | None = None

    def enabled_again(self, now: datetime) -> "EndpointHealth":
        """Return the health after the tenant enabled the endpoint again.

        The circuit stays open until a probe succeeds, so that events wait and are drained in
        order. The time of failures starts anew.
        """
        if self.disabled_at is None:
            return self
        return EndpointHealth(open_since=self.open_since or now, probe_at=now)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRequest:
    """Which events to send again: those of the messages created in a time range.

    `types` are as those of an endpoint; None means those that the endpoint receives.
    """

    since: datetime
    until: datetime
    types: frozenset[str] | None = None


def is_enabled(endpoint: WebhookEndpoint, health: EndpointHealth) -> bool:
    """Return whether neither the tenant nor the service disabled an endpoint."""
    return endpoint.enabled and health.disabled_at is None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookEvent:
    """A thing that happened, for one endpoint.

    `event_id` is a UUIDv5 of what happened and of the endpoint, so the same event has the
    same id each time. An event of a message names only the message: the payload is made from
    the message's record when it is posted, and the id says which of its events it is. `at` is
    when it happened.
    """

    event_id: UUID
    type: WebhookType
    account_id: str
    endpoint_id: str
    at: datetime
    #: For `email.received`, of the received mail.
    message_id: UUID | None = None
    #: The suppressed address, for `suppression.added` only.
    address: str | None = None
    #: The sender domain, for `domain.verified` and `domain.failed` only.
    domain: str | None = None
    #: What was paused, for `account.paused` only: `PauseSummary.text`.
    pause: str | None = None
    #: When somebody last asked for the event again, which tells one replay from another.
    replayed_at: datetime | None = None
    #: How many attempts there were when the task was queued.
    attempts: int = 0
    #: Which `put` of `WaitingEvents` it was read from; None if it was not read from there.
    token: str | None = field(default=None, compare=False)

    @property
    def delivery_id(self) -> str:
        """The id of the event's delivery. The ids of an endpoint's deliveries sort by time."""
        return f"{milliseconds(self.at):013d}-{self.event_id}"


@dataclass(frozen=True, slots=True)
class EndpointDrain:
    """The task to post the events of an endpoint that wait, the oldest first.

    `lease` is the `drain_until` under which the task was queued; None for a new task.
    """

    account_id: str
    endpoint_id: str
    lease: datetime | None = None
    #: How many steps just before this one had no failure.
    successes: int = 0
    #: Whether one of them saw that the events are late, and had the owner told.
    late: bool = False


@dataclass(frozen=True, slots=True)
class OwnerNotice:
    """The task to tell an account's owner that an endpoint fails, is disabled or too slow.

    `at` is the `warned_at`, the `disabled_at` or the `slow_since` of the endpoint's health.
    """

    account_id: str
    endpoint_id: str
    at: datetime


type WebhookTask = WebhookEvent | EndpointDrain
#: What the queue holds.
type PostingTask = WebhookTask | AlertPost
#: What the timer holds.
type DueTask = WebhookTask | OwnerNotice

_DELIVERY_ID: Final = r"[0-9]{13}-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"


def is_delivery_id(text: str) -> bool:
    return re.fullmatch(_DELIVERY_ID, text) is not None


class DeliveryState(StrEnum):
    """The states of the delivery of an event to an endpoint."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    #: No more attempts follow, unless it is replayed.
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryAttempt:
    """One POST to an endpoint.

    `status_code` is None if there was no response; `error` is a short text that says why
    the attempt failed.
    """

    at: datetime
    status_code: int | None
    milliseconds: int
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookDelivery:
    """The record of an event's delivery to an endpoint; `next_at` is when the next attempt is."""

    event: WebhookEvent
    state: DeliveryState
    attempts: tuple[DeliveryAttempt, ...] = ()
    next_at: datetime | None = None


SECRET_PREFIX: Final = "whsec_"  # noqa: S105  not a secret
_SECRET_BYTES: Final = 32
#: How long an old secret still signs after a rotation.
ROTATION: Final = timedelta(hours=24)
#: Each rotation adds a signature for a day. More rotations end the oldest secret early.
MAX_SECRETS: Final = 4


def new_secret(now: datetime) -> WebhookSecret:
    random = base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()
    return WebhookSecret(text=SECRET_PREFIX + random, created_at=now)


def rotated(
    old: Iterable[WebhookSecret], new: WebhookSecret, now: datetime
) -> tuple[WebhookSecret, ...]:
    """Return the secrets after a rotation, the newest first.

    Those that are in force stay so for 24 hours, or until their earlier end.
    """
    until = now + ROTATION
    kept = (
        replace(secret, expires_at=min(secret.expires_at or until, until))
        for secret in in_force(old, now)
    )
    return (new, *kept)[:MAX_SECRETS]


def in_force(given: Iterable[WebhookSecret], now: datetime) -> tuple[WebhookSecret, ...]:
    """Return the secrets that sign at a time."""
    return tuple(secret for secret in given if secret.expires_at is None or now < secret.expires_at)


def signed_headers(
    event_id: UUID,
    body: bytes,
    given: Iterable[WebhookSecret],
    now: datetime,
    *prefixes: str,
) -> Mapping[str, str]:
    """Return the headers of a POST: one signature for each secret that is in force.

    Their names begin with `webhook`, and once more with each prefix.
    """
    webhook_id, timestamp = str(event_id), str(int(now.timestamp()))
    signatures = " ".join(
        sign(secret.text, webhook_id, timestamp, body) for secret in in_force(given, now)
    )
    parts = {"id": webhook_id, "timestamp": timestamp, "signature": signatures}
    return {
        f"{prefix}-{name}": value
        for prefix in ("webhook", *prefixes)
        for name, value in parts.items()
    }


def sign(secret: str, event_id: str, timestamp: str, body: bytes) -> str:
    """Return one signature: HMAC-SHA256 of the id, the time in seconds and the body."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{event_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
