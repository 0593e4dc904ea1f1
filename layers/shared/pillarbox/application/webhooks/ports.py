"""The ports of the use cases for webhooks.

Every method may raise ServiceError `service_unavailable`, as in `application.ports`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from pillarbox.application.message_log import ScanPage
from pillarbox.domain.accounts.suppression import Suppression
from pillarbox.domain.messages.message import Message
from pillarbox.domain.webhooks.endpoint import (
    DueTask,
    EndpointHealth,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
    WebhookFormat,
    WebhookSecret,
    WebhookTask,
)

if TYPE_CHECKING:
    from pillarbox.application.receiving_ports import ReadMail

    # Only named here: those that need them at run time import them, so others start faster.
    from pillarbox.domain.webhooks.events import AccountEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointChanges:
    """Changes to an endpoint; None leaves a field unchanged."""

    url: str | None = None
    types: frozenset[str] | None = None
    enabled: bool | None = None
    format: WebhookFormat | None = None
    role_arn: str | None = None


class WebhookEndpoints(Protocol):
    """The endpoints of each account, with their secrets (table `Credentials`)."""

    def add(self, endpoint: WebhookEndpoint, most: int) -> bool:
        """Store a new endpoint; return False if the account has `most` endpoints already.

        Mark the account (`has_webhooks`) at the same moment, so that its messages are announced.
        """

    def get(self, account_id: str, endpoint_id: str) -> WebhookEndpoint | None:
        """Read one endpoint consistently."""

    def of_account(self, account_id: str) -> Sequence[WebhookEndpoint]:
        """Read an account's endpoints consistently, the oldest first."""

    def change(
        self, account_id: str, endpoint_id: str, changes: EndpointChanges
    ) -> WebhookEndpoint | None:
        """Change an endpoint and return the new state, or None if there is no such endpoint."""

    def replace_secrets(
        self,
        account_id: str,
        endpoint_id: str,
        old: tuple[WebhookSecret, ...],
        new: tuple[WebhookSecret, ...],
    ) -> bool:
        """Replace an endpoint's secrets; return False if they are no longer `old`."""

    def begin_replay(
        self, account_id: str, endpoint_id: str, now: datetime, pause: timedelta
    ) -> bool:
        """Note that a replay by time begins; return False if one began less than `pause` ago."""

    def count_request(self, account_id: str, now: datetime, most: int) -> bool:
        """Count a test or a replay; return False if the account has `most` in this minute.

        Call it only for an account that has an endpoint.
        """

    def remove(self, account_id: str, endpoint_id: str) -> bool:
        """Remove an endpoint; return False if there was none.

        With the last endpoint the account's mark goes at the same moment. It may stay if two
        endpoints are removed at the same time.
        """


class EndpointHealths(Protocol):
    """The health of each endpoint (first table)."""

    def get(self, account_id: str, endpoint_id: str) -> EndpointHealth:
        """Read an endpoint's health consistently; without a record it is `EndpointHealth()`."""

    def replace(
        self, account_id: str, endpoint_id: str, old: EndpointHealth, new: EndpointHealth
    ) -> bool:
        """Write an endpoint's health; return False if it is no longer `old`."""

    def remove(self, account_id: str, endpoint_id: str) -> None:
        """Remove the health of an endpoint, if there is a record."""


class WebhookDeliveries(Protocol):
    """The log of deliveries (first table).

    A record expires 30 days after the latest of its event, the replay and the last attempt.
    """

    def put(self, delivery: WebhookDelivery) -> None:
        """Write the record of a delivery.

        Only a success replaces what has ended, unless somebody asked for the event again.
        """

    def get(self, account_id: str, endpoint_id: str, delivery_id: str) -> WebhookDelivery | None:
        """Read one delivery consistently by `WebhookEvent.delivery_id`."""

    def peek(self, account_id: str, endpoint_id: str, delivery_id: str) -> WebhookDelivery | None:
        """Read one delivery eventually consistently, at half the cost of `get`."""

    def newest_first(
        self, account_id: str, endpoint_id: str, limit: int, cursor: str | None
    ) -> ScanPage[WebhookDelivery]:
        """Read the next deliveries of an endpoint by the time of their events."""


class WaitingEvents(Protocol):
    """The events of each endpoint that wait until it works again; they expire after 7 days."""

    def put(self, event: WebhookEvent) -> None:
        """Let an event wait; the same event waits once, with a new `token`."""

    def oldest(self, account_id: str, endpoint_id: str, limit: int) -> Sequence[WebhookEvent]:
        """Read the oldest events of an endpoint consistently, with their tokens.

        Those that cannot be read are left out, unless there are no others.
        """

    def remove(self, event: WebhookEvent) -> None:
        """Remove what `oldest` returned. If it was put again since then, it stays."""


class WebhookQueue(Protocol):
    """The queue of events to post and of endpoints to drain; the account is the message group."""

    def put_all(self, tasks: Iterable[WebhookTask], delay: timedelta = timedelta(0)) -> None:
        """Queue tasks, each hidden for a time of up to 15 minutes."""


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

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> PostResult:
        """POST a body; return within 8 seconds. Every failure is a result, not an exception."""


class AwsPoster(Protocol):
    """Puts events into the buses and buckets that tenants have in their AWS accounts."""

    def put(self, endpoint: WebhookEndpoint, event: WebhookEvent, body: bytes) -> PostResult:
        """Put an event; return within 20 seconds. Every failure is a result, not an exception.

        A repetition has the same id, which is in the payload.
        """


class SuppressionLookup(Protocol):
    """The suppressed addresses of accounts."""

    def get(self, account_id: str, address: str) -> Suppression | None:
        """Read one suppression consistently, or None if there is none any more."""


class PayloadWriter(Protocol):
    """Writes the payloads of webhooks in a wire format."""

    def email(self, event: "AccountEvent", message: Message) -> bytes:
        """Write the payload of an event of a message, with the message as it is now."""

    def suppression(self, event: WebhookEvent, suppression: Suppression) -> bytes:
        """Write the payload of `suppression.added`."""

    def received(self, event: WebhookEvent, received: "ReadMail") -> bytes:
        """Write the payload of `email.received`, with links that work for an hour."""

    def plain(self, event: WebhookEvent) -> bytes:
        """Write the payload of an event that has no record of its own."""


class Parallel(Protocol):
    """Makes calls at the same time."""

    def __call__[R](
        self,
        calls: Sequence[Callable[[], R]],
        patience: timedelta | None = None,
        while_running: Callable[[Sequence[int]], None] = lambda _: None,
    ) -> Sequence[R | Exception]:
        """Make all calls, and return the result or the error of each.

        Each time the patience is over, call `while_running` with the positions of those that
        still run, if there are any. Its errors are not raised.
        """


class DueTimes(Protocol):
    """Tasks that wait for longer than a queue can hide them, in buckets of one minute."""

    def put(self, task: DueTask, due: datetime) -> None:
        """Store a task until a moment; the same task and minute are stored once."""

    def due(self, now: datetime) -> Iterable[tuple[datetime, Sequence[DueTask]]]:
        """Return the tasks that are due, in parts, with the minute of each.

        When the caller asks for the part after the last one of a minute, the minute is over.
        After all parts, raise the error of a task that cannot be read.
        """

    def remove(self, minute: datetime, tasks: Sequence[DueTask]) -> None:
        """Remove tasks that were handled."""
