"""The webhook endpoints of each account, in the table of credentials, and their health.

One more item has the set of their ids. Each addition and removal changes the set and the
endpoint in one transaction, so parallel requests cannot add too many. The same transaction sets
or removes the mark `has_webhooks` of the account, in the first table, so an account with an
endpoint always has the mark. The item of the set also counts the tests and replays of a minute,
so a new endpoint does not start a new count.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.minutes import count_in_minute
from pillarbox.adapters.dynamodb.table import (
    EXISTS,
    NEW,
    TIME,
    Store,
    Table,
    TransactionConditionsFailed,
    assigning,
    to_item,
)
from pillarbox.adapters.rows import Codec, Column, Row, many, nested, one_of
from pillarbox.application.webhooks.ports import EndpointChanges
from pillarbox.domain.timing import milliseconds
from pillarbox.domain.webhooks.endpoint import (
    EndpointHealth,
    WebhookEndpoint,
    WebhookFormat,
    WebhookSecret,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_SECRET: Final = Row(
    WebhookSecret, "text", created_at=("created", TIME), expires_at=("expires?", TIME)
)
_SECRETS: Final = many(nested(_SECRET))
_ENDPOINT: Final = Row(
    WebhookEndpoint,
    *("url", "enabled"),
    types=("types", Codec(frozenset, frozenset)),
    secrets=("secrets", _SECRETS),
    created_at=("created", TIME),
    format=Column("format", one_of(WebhookFormat), absent=WebhookFormat.PILLARBOX),
    role_arn="role?",
)
_HEALTH: Final = nested(
    Row(
        EndpointHealth,
        *("failures", "probes", "disabled_for?"),
        failing_since=("failing_since?", TIME),
        open_since=("open_since?", TIME),
        probe_at=("probe_at?", TIME),
        slow_since=("slow_since?", TIME),
        drain_until=("drain_until?", TIME),
        warned_at=("warned_at?", TIME),
        disabled_at=("disabled_at?", TIME),
    )
)


class DynamoWebhookEndpoints:
    """Implements `webhooks.ports.WebhookEndpoints`.

    Args:
        table: the table of credentials.
        accounts: the first table, of which only the mark is written.
    """

    def __init__(self, table: Table, accounts: Table) -> None:
        self._table = table
        self._accounts = accounts

    def add(self, endpoint: WebhookEndpoint, most: int) -> bool:
        """Put an endpoint and add its id to the set, which then has at most `most`."""
        account_id, endpoint_id = endpoint.account_id, endpoint.endpoint_id
        item = keys.webhook_endpoint(account_id, endpoint_id) | to_item(_ENDPOINT.write(endpoint))
        put = self._table.to_put(item, condition=NEW)
        ids = self._table.to_update(
            keys.webhook_endpoint_ids(account_id),
            "ADD ids :ids",
            condition="attribute_not_exists(ids) OR size(ids) < :most",
            values={":ids": {endpoint_id}, ":most": most},
        )
        mark = self._accounts.to_update(
            keys.account(account_id),
            "SET has_webhooks = :true",
            condition=EXISTS,
            values={":true": True},
        )
        try:
            try:
                self._table.transact([ids, put, mark])
            except TransactionConditionsFailed as failure:
                if [*failure.failed] != [False, False, True]:
                    raise
                self._table.transact([ids, put])
        except TransactionConditionsFailed as failure:
            return failure.failed[1]  # after a lost response, because ids are random
        return True

    def get(self, account_id: str, endpoint_id: str) -> WebhookEndpoint | None:
        item = self._table.get(keys.webhook_endpoint(account_id, endpoint_id))
        return _endpoint_of(account_id, item) if item else None

    def of_account(self, account_id: str) -> Sequence[WebhookEndpoint]:
        """Read the account's endpoints in the order of their ids, which begin with a time."""
        items = self._table.query(*keys.webhook_endpoints(account_id))
        return [_endpoint_of(account_id, item) for item in items]

    def change(
        self, account_id: str, endpoint_id: str, changes: EndpointChanges
    ) -> WebhookEndpoint | None:
        values = {
            "url": changes.url,
            "types": changes.types,
            "enabled": changes.enabled,
            "format": changes.format and changes.format.value,
            "role": changes.role_arn,
        }
        given = {name: value for name, value in values.items() if value is not None}
        if not given:
            return self.get(account_id, endpoint_id)
        expression, stored = assigning(given)
        key = keys.webhook_endpoint(account_id, endpoint_id)
        item = self._table.try_update(key, expression, values=stored)
        return _endpoint_of(account_id, item) if item else None

    def replace_secrets(
        self,
        account_id: str,
        endpoint_id: str,
        old: tuple[WebhookSecret, ...],
        new: tuple[WebhookSecret, ...],
    ) -> bool:
        replaced = self._table.try_update(
            keys.webhook_endpoint(account_id, endpoint_id),
            "SET secrets = :new",
            condition="secrets = :old",
            values={":new": _SECRETS.write(new), ":old": _SECRETS.write(old)},
        )
        return replaced is not None

    def begin_replay(
        self, account_id: str, endpoint_id: str, now: datetime, pause: timedelta
    ) -> bool:
        """Set the time of the last replay, if it is long enough ago."""
        begun = self._table.try_update(
            keys.webhook_endpoint(account_id, endpoint_id),
            "SET replayed = :now",
            condition=f"{EXISTS} AND (attribute_not_exists(replayed) OR replayed <= :before)",
            values={":now": milliseconds(now), ":before": milliseconds(now - pause)},
        )
        return begun is not None

    def count_request(self, account_id: str, now: datetime, most: int) -> bool:
        """Add one to the count of the minute, or begin the count of a later minute with one."""
        key = keys.webhook_endpoint_ids(account_id)
        return count_in_minute(self._table, key, "post", now, most)

    def remove(self, account_id: str, endpoint_id: str) -> bool:
        """Delete an endpoint and remove its id from the set, and the mark with the last id."""
        key = keys.webhook_endpoint(account_id, endpoint_id)
        delete = self._table.to_delete(key, condition=EXISTS)
        mark = self._accounts.to_update(
            keys.account(account_id), "REMOVE has_webhooks", condition=EXISTS
        )
        try:
            try:
                last = self._id_removal(account_id, endpoint_id, condition="ids = :ids")
                self._table.transact([last, delete, mark])
            except TransactionConditionsFailed as failure:
                if failure.failed[1]:
                    raise
                # It is not the last one, or there is no account.
                self._table.transact([self._id_removal(account_id, endpoint_id), delete])
        except TransactionConditionsFailed:
            return False
        return True

    def _id_removal(
        self, account_id: str, endpoint_id: str, *, condition: str | None = None
    ) -> "TransactWriteItemTypeDef":
        return self._table.to_update(
            keys.webhook_endpoint_ids(account_id),
            "DELETE ids :ids",
            condition=condition,
            values={":ids": {endpoint_id}},
        )


def _endpoint_of(account_id: str, item: Mapping[str, object]) -> WebhookEndpoint:
    return _ENDPOINT.read(item, account_id=account_id, endpoint_id=item["sk"])


class DynamoEndpointHealths(Store):
    """Implements `webhooks.ports.EndpointHealths`."""

    def get(self, account_id: str, endpoint_id: str) -> EndpointHealth:
        item = self._table.get(keys.endpoint_health(account_id, endpoint_id))
        return _HEALTH.read(item["health"]) if item else EndpointHealth()

    def replace(
        self, account_id: str, endpoint_id: str, old: EndpointHealth, new: EndpointHealth
    ) -> bool:
        is_old = "health = :old"
        if old == EndpointHealth():
            is_old += " OR attribute_not_exists(pk)"
        return self._table.replace(
            keys.endpoint_health(account_id, endpoint_id) | to_item({"health": _HEALTH.write(new)}),
            condition=is_old,
            values={":old": _HEALTH.write(old)},
        )

    def remove(self, account_id: str, endpoint_id: str) -> None:
        self._table.delete(keys.endpoint_health(account_id, endpoint_id))
