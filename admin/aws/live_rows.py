"""The rows that the tables have now: find those that are missing, and put former ones back."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from admin.use_cases.restore import REPLACED, RESTORED
from pillarbox.adapters.aws import in_parallel
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.history.ledger import DynamoLedger
from pillarbox.adapters.dynamodb.history.message_log import marked, unmarked
from pillarbox.adapters.dynamodb.records import NO_RECORD, is_tombstone
from pillarbox.adapters.dynamodb.table import ConditionFailed, Item, Table, from_item, to_item
from pillarbox.domain.accounts.suppression import hashed_mailbox
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.domain.ids import created_at, is_uuid
from pillarbox.domain.messages.statistics import TimeRange
from pillarbox.domain.timing import milliseconds


class LiveRows:
    """The tables of a stack. A row that goes back has a mark, so that webhooks pass over it."""

    def __init__(self, table: Table, credentials: Table, at: datetime) -> None:
        self._table = table
        self._ledger = DynamoLedger(table)
        self._credentials = credentials
        self._at = at

    def missing(self, items: Sequence[Item]) -> list[Item]:
        """Return which of up to a hundred rows the tables lack; a tombstone is none."""
        found = self._table.get_all([_key(item) for item in items if not keys.is_credential(item)])
        found += self._credentials.get_all(
            [_key(item) for item in items if keys.is_credential(item)]
        )
        # An erased address has its hash in place of it, so it is not missing.
        found += self._table.get_all([key for item in items for key in _erased(item)])
        have = {(item["pk"], item["sk"]) for item in found if not is_tombstone(item)}
        return [
            item
            for item in items
            if have.isdisjoint(
                (key["pk"]["S"], key["sk"]["S"]) for key in (_key(item), *_erased(item))
            )
        ]

    def put_all(self, items: Sequence[Item]) -> int:
        """Put rows, and return how many; one that a table has by now stays."""
        endpoints = [item for item in items if keys.account_and_endpoint(item)]
        others = [item for item in items if not keys.account_and_endpoint(item)]
        # The set of an account's endpoints comes before them: each adds its id to the set.
        return sum(in_parallel(self._put_missing, others)) + sum(
            in_parallel(self._put_missing, endpoints)
        )

    def get(self, item: Item) -> Item | None:
        """Read the present state of a row, without the mark of an earlier restore."""
        live = self._of(item)
        response: Any = live.client.get_item(
            TableName=live.name, Key=_key(item), ConsistentRead=True
        )
        return unmarked(response["Item"]) if "Item" in response else None

    def replace(self, now: Item, then: Item) -> None:
        """Replace a row that still is as it was read."""
        names = {f"#{number}": name for number, name in enumerate(sorted({*now, *then}))}
        same = [
            f"{place} = :{place[1:]}" if name in now else f"attribute_not_exists({place})"
            for place, name in names.items()
        ]
        values = from_item(now)
        try:
            self._of(then).put(
                marked(self._risen(then), self._at),
                condition=" AND ".join(same),
                names=names,
                values={
                    f":{place[1:]}": values[name] for place, name in names.items() if name in now
                },
            )
        except ConditionFailed as error:
            message = "The row has changed since it was shown. Nothing was replaced. Run again."
            raise ServiceError("service_unavailable", message) from error

    def _put_missing(self, item: Item) -> int:
        if account_and_endpoint := keys.account_and_endpoint(item):
            self._list_endpoint(*account_and_endpoint)
        try:
            self._of(item).put(marked(self._risen(item), self._at), condition=NO_RECORD)
        except ConditionFailed:
            return 0
        return 1

    def _risen(self, item: Item) -> Item:
        """Return the record of a message with a revision above every one that the lists have had.

        Other rows stay as they are.
        """
        if not keys.is_message(item):
            return item
        account_id = keys.kind_and_account(item)[1]
        message_id = UUID(item["sk"]["S"])
        created = milliseconds(created_at(message_id))
        entries = self._ledger.entries_created(account_id, TimeRange(created, created + 1))
        listed = [entry.revision for entry in entries if entry.message_id == message_id]
        return item | to_item({"rev": max(from_item(item).get("rev", 0), *listed, 0) + 1})

    def _list_endpoint(self, account_id: str, endpoint_id: str) -> None:
        """Add an endpoint to the set of its account, which other endpoints may have kept.

        This comes before the endpoint itself, so that a second run repairs an interrupted one.
        """
        self._credentials.update(
            keys.webhook_endpoint_ids(account_id), "ADD ids :ids", values={":ids": {endpoint_id}}
        )
        try:
            self._table.update(
                keys.account(account_id),
                "SET has_webhooks = :true",
                condition="attribute_exists(pk)",
                values={":true": True},
            )
        except ConditionFailed:
            return  # the account goes back with the mark that it had

    def _of(self, item: Item) -> Table:
        return self._credentials if keys.is_credential(item) else self._table


def row_key(kind: str, account_id: str, row_id: str) -> Item:
    """Return the key of the row that `--replace` names."""
    match kind:
        case "accounts" if row_id == account_id:
            return keys.account(account_id)
        case "domains":
            return keys.account_domain(account_id, row_id)
        case "messages" if is_uuid(row_id):
            return keys.message(account_id, UUID(row_id))
        case "suppressions":
            return keys.suppression(account_id, row_id)
        case "webhookEndpoints" if is_uuid(row_id):
            return keys.webhook_endpoint(account_id, row_id)
    reasons = {one.name: one.not_replaced for one in RESTORED.values()}
    message = "is not the kind and the id of a row of this account"
    if kind not in REPLACED:
        message = reasons.get(kind) or message
    raise ValidationFailed(FieldError("--replace", message, "not_allowed"))


def replacement(now: Item, then: Item) -> Item:
    """Return the former state of a row with what it must keep of the present one."""
    kind, _ = keys.kind_and_account(then)
    kept = RESTORED[kind].kept
    former = {name: value for name, value in then.items() if name not in kept}
    return former | {name: value for name, value in now.items() if name in kept}


def decoded(item: Item) -> Mapping[str, Any]:
    """Return the attributes of a row without its key."""
    return {name: value for name, value in from_item(item).items() if name not in {"pk", "sk"}}


def _erased(item: Item) -> list[Item]:
    """Return the key that a suppression has after its person was erased; none for other rows."""
    kind, account_id = keys.kind_and_account(item)
    if kind != "SUP":
        return []
    return [keys.suppression(account_id, hashed_mailbox(account_id, item["sk"]["S"]))]


def _key(item: Item) -> Item:
    return {"pk": item["pk"], "sk": item["sk"]}
