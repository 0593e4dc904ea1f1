"""The webhook endpoints of each account, in the table of credentials, and their health.

One more item has the set of their ids. Each addition and removal changes the set and the
endpoint in one transaction, so parallel requests cannot add too many. The same transaction sets
or removes the mark `has_webhooks` of the account, in the first table, so an account with an
endpoint always has the mark. The item of the set also counts the tests and replays of a minute,
so a new endpoint does not start a new count.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.minutes import count_in_minute
from pillarbox.adapters.dynamodb.table import (
    ConditionFailed,
    Item,
    Table,
    TransactionConditionsFailed,
    from_text,
    to_attribute,
    to_item,
    to_text,
)
from pillarbox.application.webhooks.ports import EndpointChanges
from pillarbox.domain.timing import milliseconds
from pillarbox.domain.webhooks.endpoint import (
    EndpointHealth,
    WebhookEndpoint,
    WebhookFormat,
    WebhookSecret,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef, UpdateTypeDef


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
        put: TransactWriteItemTypeDef = {
            "Put": {
                "TableName": self._table.name,
                "Item": _item(endpoint),
                "ConditionExpression": "attribute_not_exists(pk)",
            }
        }
        ids = self._ids_update(
            endpoint.account_id,
            endpoint.endpoint_id,
            "ADD",
            condition="attribute_not_exists(ids) OR size(ids) < :most",
            values={":most": most},
        )
        mark = self._mark_update(endpoint.account_id, "SET has_webhooks = :true")
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
        """Read one endpoint with strong consistency."""
        item = self._table.get(keys.webhook_endpoint(account_id, endpoint_id))
        return _endpoint(account_id, item) if item else None

    def of_account(self, account_id: str) -> Sequence[WebhookEndpoint]:
        """Read the account's endpoints in the order of their ids, which begin with a time."""
        items = self._table.query(*keys.webhook_endpoints(account_id))
        return [_endpoint(account_id, item) for item in items]

    def change(
        self, account_id: str, endpoint_id: str, changes: EndpointChanges
    ) -> WebhookEndpoint | None:
        """Set the attributes that the changes name."""
        values = {
            name: value
            for name, value in {
                "url": changes.url,
                "types": changes.types,
                "enabled": changes.enabled,
                "format": changes.format and changes.format.value,
                "role": changes.role_arn,
            }.items()
            if value is not None
        }
        if not values:
            return self.get(account_id, endpoint_id)
        try:
            item = self._table.update(
                keys.webhook_endpoint(account_id, endpoint_id),
                "SET " + ", ".join(f"#{name} = :{name}" for name in values),
                condition="attribute_exists(pk)",
                names={f"#{name}": name for name in values},
                values={f":{name}": value for name, value in values.items()},
            )
        except ConditionFailed:
            return None
        return _endpoint(account_id, item)

    def replace_secrets(
        self,
        account_id: str,
        endpoint_id: str,
        old: tuple[WebhookSecret, ...],
        new: tuple[WebhookSecret, ...],
    ) -> bool:
        """Set the secrets, unless they have changed since they were read."""
        return self._set(
            account_id,
            endpoint_id,
            "SET secrets = :new",
            condition="secrets = :old",
            values={":new": _secret_maps(new), ":old": _secret_maps(old)},
        )

    def begin_replay(
        self, account_id: str, endpoint_id: str, now: datetime, pause: timedelta
    ) -> bool:
        """Set the time of the last replay, if it is long enough ago."""
        return self._set(
            account_id,
            endpoint_id,
            "SET replayed = :now",
            condition="attribute_exists(pk)"
            " AND (attribute_not_exists(replayed) OR replayed <= :before)",
            values={":now": milliseconds(now), ":before": milliseconds(now - pause)},
        )

    def count_request(self, account_id: str, now: datetime, most: int) -> bool:
        """Add one to the count of the minute, or begin the count of a later minute with one."""
        return count_in_minute(
            self._table, keys.webhook_endpoint_ids(account_id), "post", now, most
        )

    def remove(self, account_id: str, endpoint_id: str) -> bool:
        """Delete an endpoint and remove its id from the set, and the mark with the last id."""
        delete: TransactWriteItemTypeDef = {
            "Delete": {
                "TableName": self._table.name,
                "Key": keys.webhook_endpoint(account_id, endpoint_id),
                "ConditionExpression": "attribute_exists(pk)",
            }
        }
        last = self._ids_update(account_id, endpoint_id, "DELETE", condition="ids = :ids")
        mark = self._mark_update(account_id, "REMOVE has_webhooks")
        try:
            try:
                self._table.transact([last, delete, mark])
            except TransactionConditionsFailed as failure:
                if failure.failed[1]:
                    raise
                # It is not the last one, or there is no account.
                self._table.transact([self._ids_update(account_id, endpoint_id, "DELETE"), delete])
        except TransactionConditionsFailed:
            return False
        return True

    def _ids_update(
        self,
        account_id: str,
        endpoint_id: str,
        action: str,
        *,
        condition: str | None = None,
        values: Mapping[str, object] | None = None,
    ) -> "TransactWriteItemTypeDef":
        """Return the write that adds an id to the set of ids or deletes it."""
        given: dict[str, object] = {":ids": {endpoint_id}, **(values or {})}
        update: UpdateTypeDef = {
            "TableName": self._table.name,
            "Key": keys.webhook_endpoint_ids(account_id),
            "UpdateExpression": f"{action} ids :ids",
            "ExpressionAttributeValues": {
                name: to_attribute(value) for name, value in given.items()
            },
        }
        if condition:
            update["ConditionExpression"] = condition
        return {"Update": update}

    def _mark_update(self, account_id: str, expression: str) -> "TransactWriteItemTypeDef":
        """Return the write that sets or removes the mark of an account, if there is one."""
        update: UpdateTypeDef = {
            "TableName": self._accounts.name,
            "Key": keys.account(account_id),
            "UpdateExpression": expression,
            "ConditionExpression": "attribute_exists(pk)",
        }
        if ":true" in expression:
            update["ExpressionAttributeValues"] = {":true": {"BOOL": True}}
        return {"Update": update}

    def _set(
        self,
        account_id: str,
        endpoint_id: str,
        expression: str,
        *,
        condition: str,
        values: dict[str, object],
    ) -> bool:
        try:
            self._table.update(
                keys.webhook_endpoint(account_id, endpoint_id),
                expression,
                condition=condition,
                values=values,
            )
        except ConditionFailed:
            return False
        return True


def _item(endpoint: WebhookEndpoint) -> Item:
    return keys.webhook_endpoint(endpoint.account_id, endpoint.endpoint_id) | to_item(
        {
            "url": endpoint.url,
            "types": endpoint.types,
            "secrets": _secret_maps(endpoint.secrets),
            "enabled": endpoint.enabled,
            "created": to_text(endpoint.created_at),
            "format": None if endpoint.format is WebhookFormat.PILLARBOX else endpoint.format.value,
            "role": endpoint.role_arn,
        }
    )


def _endpoint(account_id: str, item: dict[str, Any]) -> WebhookEndpoint:
    return WebhookEndpoint(
        account_id=account_id,
        endpoint_id=item["sk"],
        url=item["url"],
        types=frozenset(item["types"]),
        secrets=tuple(
            WebhookSecret(
                text=secret["text"],
                created_at=from_text(secret["created"]),
                expires_at=from_text(secret["expires"]) if "expires" in secret else None,
            )
            for secret in item["secrets"]
        ),
        enabled=item["enabled"],
        created_at=from_text(item["created"]),
        format=WebhookFormat(item.get("format", WebhookFormat.PILLARBOX)),
        role_arn=item.get("role"),
    )


def _secret_maps(secrets: tuple[WebhookSecret, ...]) -> list[dict[str, str]]:
    return [
        {"text": secret.text, "created": to_text(secret.created_at)}
        | ({"expires": to_text(secret.expires_at)} if secret.expires_at else {})
        for secret in secrets
    ]


_TIMES: Final = frozenset(
    field.name for field in fields(EndpointHealth) if "datetime" in str(field.type)
)


class DynamoEndpointHealths:
    """Implements `webhooks.ports.EndpointHealths`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, account_id: str, endpoint_id: str) -> EndpointHealth:
        """Read the record with strong consistency."""
        item = self._table.get(keys.endpoint_health(account_id, endpoint_id))
        return _health_of(item["health"]) if item else EndpointHealth()

    def replace(
        self, account_id: str, endpoint_id: str, old: EndpointHealth, new: EndpointHealth
    ) -> bool:
        """Put the new health on the condition that the old one is stored."""
        is_old = "health = :old"
        if old == EndpointHealth():
            is_old += " OR attribute_not_exists(pk)"
        try:
            self._table.put(
                keys.endpoint_health(account_id, endpoint_id)
                | to_item({"health": _attribute(new)}),
                condition=is_old,
                values={":old": _attribute(old)},
            )
        except ConditionFailed as failure:
            # The SDK may have repeated our own write, whose response was lost.
            return failure.item is not None and failure.item["health"] == _attribute(new)
        return True

    def remove(self, account_id: str, endpoint_id: str) -> None:
        """Delete the record."""
        self._table.delete(keys.endpoint_health(account_id, endpoint_id))


def _attribute(health: EndpointHealth) -> dict[str, object]:
    values = {field.name: getattr(health, field.name) for field in fields(health)}
    return {
        name: to_text(value) if isinstance(value, datetime) else value
        for name, value in values.items()
        if value is not None
    }


def _health_of(attribute: dict[str, Any]) -> EndpointHealth:
    values: dict[str, Any] = {
        name: from_text(value) if name in _TIMES else value for name, value in attribute.items()
    }
    return EndpointHealth(**values)
