"""Create, show, change and delete the webhook endpoints of an account."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final
from uuid import UUID

from pillarbox.application.change_log import ChangeLog
from pillarbox.application.message_log import ScanPage
from pillarbox.application.ports import Clock
from pillarbox.application.slow_requests import SlowRequests
from pillarbox.application.webhooks.ports import (
    EndpointChanges,
    EndpointHealths,
    WebhookDeliveries,
    WebhookEndpoints,
    WebhookPoster,
    WebhookQueue,
)
from pillarbox.domain.accounts.account import MAX_ENDPOINTS, limit_exceeded
from pillarbox.domain.accounts.account_log import AccountAction
from pillarbox.domain.errors import FieldError, ServiceError, Unavailable, ValidationFailed, cut
from pillarbox.domain.ids import new_id
from pillarbox.domain.webhooks.aws_target import (
    AwsTargetError,
    is_in_aws,
    parse_aws_target,
    trust_policy,
)
from pillarbox.domain.webhooks.endpoint import (
    ALL_TYPES,
    SELECTABLE_TYPES,
    EndpointDrain,
    EndpointHealth,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookFormat,
    is_delivery_id,
    is_enabled,
    new_secret,
    rotated,
)
from pillarbox.domain.webhooks.url import MAX_URL

#: Longer than a request runs.
_AFTER_REQUEST: Final = timedelta(minutes=1)
#: How often a change is tried again that met another one.
_TRIES: Final = 5
#: In bytes, of a wrong type that an error repeats.
_MAX_SHOWN: Final = 64


def webhook_not_found() -> ServiceError:
    return ServiceError("webhook_not_found", "The account has no such webhook endpoint.")


def find_endpoint(
    endpoints: WebhookEndpoints, account_id: str, endpoint_id: UUID
) -> WebhookEndpoint:
    endpoint = endpoints.get(account_id, str(endpoint_id))
    if endpoint is None:
        raise webhook_not_found()
    return endpoint


def webhooks_are_off() -> ServiceError:
    return ServiceError("route_not_found", "The operator of this service switched webhooks off.")


def check_types(field: str, types: Iterable[str]) -> list[FieldError]:
    chosen = set(types)
    valid = f"one of {', '.join(sorted(SELECTABLE_TYPES))}"
    if not chosen:
        return [FieldError(field, f'must be ["{ALL_TYPES}"], or a list of types', "too_short")]
    if ALL_TYPES in chosen and len(chosen) > 1:
        message = f'must not have other types beside "{ALL_TYPES}"'
        return [FieldError(field, message, "not_allowed")]
    if unknown := sorted(chosen - SELECTABLE_TYPES - {ALL_TYPES}):
        message = f"{cut(unknown[0], _MAX_SHOWN)!r} is not {valid}"
        return [FieldError(field, message, "unknown_type")]
    return []


@dataclass(frozen=True, slots=True)
class EndpointState:
    """An endpoint, with what the service knows about its recent deliveries.

    `service_account` is the AWS account of the service, if events may go to AWS.
    """

    endpoint: WebhookEndpoint
    health: EndpointHealth
    service_account: str = ""

    @property
    def enabled(self) -> bool:
        """Whether events are sent: neither the tenant nor the service disabled the endpoint."""
        return is_enabled(self.endpoint, self.health)

    @property
    def trust_policy(self) -> str | None:
        """The trust policy that the role of an endpoint in AWS needs, as JSON."""
        role = self.endpoint.role_arn
        if role is None or not self.service_account:
            return None
        return trust_policy(role.split(":")[1], self.service_account, self.endpoint.endpoint_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookQueries:
    """Read the endpoints of accounts, and the deliveries to them."""

    endpoints: WebhookEndpoints
    healths: EndpointHealths
    deliveries: WebhookDeliveries
    service_account: str = ""

    def of_account(self, account_id: str) -> Sequence[EndpointState]:
        """Read an account's endpoints, the oldest first."""
        return [self._state(endpoint) for endpoint in self.endpoints.of_account(account_id)]

    def get(self, account_id: str, endpoint_id: UUID) -> EndpointState:
        return self._state(find_endpoint(self.endpoints, account_id, endpoint_id))

    def newest_deliveries(
        self, account_id: str, endpoint_id: UUID, limit: int, cursor: str | None
    ) -> ScanPage[WebhookDelivery]:
        """Read a page of the deliveries to an endpoint, those of the newest events first."""
        if cursor is not None and not is_delivery_id(cursor):
            message = "must be the nextCursor of a page"
            raise ValidationFailed(FieldError("cursor", message, "invalid_cursor"))
        find_endpoint(self.endpoints, account_id, endpoint_id)
        return self.deliveries.newest_first(account_id, str(endpoint_id), limit, cursor)

    def _state(self, endpoint: WebhookEndpoint) -> EndpointState:
        health = self.healths.get(endpoint.account_id, endpoint.endpoint_id)
        return EndpointState(endpoint, health, self.service_account)


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhooks:
    """Write the endpoints of accounts. `by` is who does it: see `LogEntry`."""

    endpoints: WebhookEndpoints
    healths: EndpointHealths
    #: Called for new URLs alone, because it takes long to load.
    poster: Callable[[], WebhookPoster]
    slow_requests: SlowRequests
    queue: WebhookQueue
    log: ChangeLog
    clock: Clock
    #: False if the operator switched webhooks off: then nothing would be posted.
    switched_on: bool = True
    #: The AWS account of the service; empty if the operator lets no events go to AWS.
    service_account: str = ""

    def ids_of(self, account_id: str, url: str) -> Iterable[str]:
        found = self.endpoints.of_account(account_id)
        return (endpoint.endpoint_id for endpoint in found if endpoint.url == url)

    def create(  # noqa: PLR0913  what a request has
        self,
        account_id: str,
        url: str,
        types: Sequence[str],
        *,
        by: str,
        shape: WebhookFormat = WebhookFormat.PILLARBOX,
        role_arn: str | None = None,
    ) -> EndpointState:
        """Create an endpoint with a new secret, or one in AWS with a role.

        An acceptance that reads the account from then on announces its messages.
        """
        if not self.switched_on:
            raise webhooks_are_off()
        self._check(account_id, url, types, role_arn)
        now = self.clock()
        endpoint = WebhookEndpoint(
            account_id=account_id,
            endpoint_id=str(new_id(now)),
            url=url,
            types=frozenset(types),
            secrets=() if role_arn else (new_secret(now),),
            enabled=True,
            created_at=now,
            format=shape,
            role_arn=role_arn,
        )
        if not self.endpoints.add(endpoint, MAX_ENDPOINTS):
            raise limit_exceeded("webhook_limit_exceeded", MAX_ENDPOINTS, "webhook endpoints")
        self.log.note(account_id, AccountAction.WEBHOOK_CREATED, endpoint.title, by=by)
        return self._state(endpoint, EndpointHealth())

    def change(
        self, account_id: str, endpoint_id: UUID, changes: EndpointChanges, *, by: str
    ) -> EndpointState:
        """Change an endpoint. To enable it also ends that the service disabled it.

        The events that wait are then posted, if a first one succeeds. Two drains are queued: one
        comes after the request even if that dies after the change, and one comes at once.
        """
        if changes.url is None and changes.role_arn is None:
            self._check(account_id, None, changes.types)
        else:
            old = find_endpoint(self.endpoints, account_id, endpoint_id)
            self._check_kind(old, changes.url)
            role_arn = changes.role_arn or old.role_arn
            self._check(account_id, changes.url or old.url, changes.types, role_arn)
        drain = EndpointDrain(account_id, str(endpoint_id))
        if changes.enabled:
            find_endpoint(self.endpoints, account_id, endpoint_id)
            self.queue.put_all([drain], _AFTER_REQUEST)
        endpoint = self.endpoints.change(account_id, str(endpoint_id), changes)
        if endpoint is None:
            raise webhook_not_found()
        self.log.note(account_id, AccountAction.WEBHOOK_CHANGED, endpoint.title, by=by)
        if changes.enabled:
            health = self._enable_again(endpoint)
            self.queue.put_all([drain])
            return self._state(endpoint, health)
        return self._state(endpoint, self.healths.get(account_id, endpoint.endpoint_id))

    def delete(self, account_id: str, endpoint_id: UUID, *, by: str) -> None:
        """Delete an endpoint for good. No event is sent to it any more."""
        endpoint = self.endpoints.get(account_id, str(endpoint_id))
        existed = self.endpoints.remove(account_id, str(endpoint_id))
        # Also if there was no endpoint: an earlier request may have failed here.
        self.healths.remove(account_id, str(endpoint_id))
        if endpoint is None or not existed:
            raise webhook_not_found()
        self.log.note(account_id, AccountAction.WEBHOOK_DELETED, endpoint.title, by=by)

    def rotate(self, account_id: str, endpoint_id: UUID, *, by: str) -> EndpointState:
        """Give an endpoint a new secret; the old one also signs for 24 hours."""
        for _ in range(_TRIES):
            endpoint = find_endpoint(self.endpoints, account_id, endpoint_id)
            if endpoint.role_arn is not None:
                message = "must be of an endpoint with an https URL: one in AWS has no secret"
                raise ValidationFailed(FieldError("endpoint_id", message, "not_allowed"))
            now = self.clock()
            secrets = rotated(endpoint.secrets, new_secret(now), now)
            if self.endpoints.replace_secrets(
                account_id, endpoint.endpoint_id, endpoint.secrets, secrets
            ):
                self.log.note(account_id, AccountAction.WEBHOOK_CHANGED, endpoint.title, by=by)
                health = self.healths.get(account_id, endpoint.endpoint_id)
                return self._state(replace(endpoint, secrets=secrets), health)
        raise _busy()

    def _state(self, endpoint: WebhookEndpoint, health: EndpointHealth) -> EndpointState:
        return EndpointState(endpoint, health, self.service_account)

    def _check(
        self,
        account_id: str,
        url: str | None,
        types: Iterable[str] | None,
        role_arn: str | None = None,
    ) -> None:
        errors = [] if types is None else check_types("types", types)
        if url is not None and (refused := self._refuse(account_id, url, role_arn)):
            errors.insert(0, refused)
        if errors:
            raise ValidationFailed(*errors)

    def _refuse(self, account_id: str, url: str, role_arn: str | None) -> FieldError | None:
        """Return what is wrong with where events shall go."""
        if len(url) > MAX_URL:
            return FieldError("url", f"must have at most {MAX_URL} characters", "invalid_url")
        if is_in_aws(url):
            if not self.service_account:
                message = "must begin with https://: this service puts no events into AWS accounts"
                return FieldError("url", message, "invalid_url")
            try:
                parse_aws_target(url, role_arn or "", self.service_account)
            except AwsTargetError as error:
                return FieldError(error.field, str(error), error.code)
            return None
        if role_arn is not None:
            message = "must be left out with an https URL"
            return FieldError("roleArn", message, "not_allowed")
        self.slow_requests.take(account_id)
        refused = self.poster().check(url)
        return FieldError("url", refused, "invalid_url") if refused else None

    @staticmethod
    def _check_kind(old: WebhookEndpoint, url: str | None) -> None:
        """Refuse an address of another kind: an endpoint has secrets or a role for good."""
        if url is not None and is_in_aws(url) != (old.role_arn is not None):
            message = "must stay in AWS or stay an https URL: create another endpoint instead"
            raise ValidationFailed(FieldError("url", message, "not_allowed"))

    def _enable_again(self, endpoint: WebhookEndpoint) -> EndpointHealth:
        for _ in range(_TRIES):
            old = self.healths.get(endpoint.account_id, endpoint.endpoint_id)
            new = old.enabled_again(self.clock())
            if new == old or self.healths.replace(
                endpoint.account_id, endpoint.endpoint_id, old, new
            ):
                return new
        raise _busy()


def _busy() -> Unavailable:
    return Unavailable("data store", "The endpoint changes at the same time. Try again.")
