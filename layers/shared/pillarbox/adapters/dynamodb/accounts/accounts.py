"""Accounts with their senders."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import batched
from typing import Final, Unpack

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.account_log import new_entry
from pillarbox.adapters.dynamodb.accounts.pauses import pause_attributes
from pillarbox.adapters.dynamodb.records import (
    account_item,
    account_of,
    brand_attributes,
    limit_attributes,
)
from pillarbox.adapters.dynamodb.table import (
    EXISTS,
    Parts,
    Store,
    TransactionConditionsFailed,
    assigning,
    put_with_list_entry,
    to_text,
)
from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.domain.accounts.account import Account, Isolation, QueuedMail, Suspension
from pillarbox.domain.accounts.account_log import LogEntry
from pillarbox.domain.accounts.pause import Pause

#: BatchGetItem accepts at most 100 keys.
_BATCH: Final = 100


class DynamoAccounts(Store):
    """Implements `accounts.ports.AccountRecords`."""

    def add(self, account: Account) -> None:
        put_with_list_entry(
            self._table,
            account_item(account),
            keys.account_list(account.account_id),
        )

    def get(self, account_id: str) -> Account | None:
        return self._table.find(keys.account(account_id), account_of)

    def all_ids(self) -> Iterable[str]:
        return (entry["sk"] for entry in self._table.query(keys.account_list()))

    def all(self) -> Iterable[Account]:
        for batch in batched(self.all_ids(), _BATCH, strict=False):
            yield from self._read(batch)

    def page(self, first: str | None, limit: int) -> tuple[Sequence[Account], str | None]:
        listed = self._table.query(*keys.accounts_from(first or ""), limit=limit + 1)
        ids = [entry["sk"] for entry in listed]
        return self._read(ids[:limit]), ids[limit] if len(ids) > limit else None

    def _read(self, ids: Sequence[str]) -> list[Account]:
        accounts = map(account_of, self._table.get_all([*map(keys.account, ids)]))
        return sorted(accounts, key=lambda account: account.account_id)

    def change(
        self, account_id: str, changes: AccountChanges, entry: LogEntry | None = None
    ) -> Account | None:
        fields = {
            "name": changes.name,
            "plan": changes.plan.value if changes.plan else None,
            "hold_uncertain": changes.hold_uncertain,
            "operates": changes.operates,
            "keep": changes.keep,
            "record_days": changes.record_days,
            "replies": changes.replies,
            "received_days": changes.received_days,
        }
        texts = {"contact": changes.contact} | brand_attributes(changes.brand)
        limits = limit_attributes(changes.limits)
        given = {
            name: value for name, value in (fields | limits | texts).items() if value is not None
        }
        given |= {name: None for name in texts if given.get(name) == ""}
        if changes.plan_limits:
            given = dict.fromkeys(limits) | given
        expression, values = assigning(given)
        return self._update(account_id, expression, values=values, entry=entry)

    def raise_shards(
        self, account_id: str, shards: int, sharded_from: datetime, entry: LogEntry | None = None
    ) -> Account | None:
        return self._update(
            account_id,
            "SET shards = :shards, sharded_from = if_not_exists(sharded_from, :from)",
            condition="attribute_exists(pk)"
            " AND (attribute_not_exists(shards) OR shards <= :shards)",
            values={":shards": shards, ":from": to_text(sharded_from)},
            entry=entry,
        )

    def set_hashed_suppressions(self, account_id: str) -> None:
        self._update(
            account_id,
            "SET hashed_suppressions = :true",
            values={":true": True},
        )

    def set_reply_domain(self, account_id: str, domain: str | None) -> None:
        expression, values = assigning({"reply_domain": domain})
        self._update(account_id, expression, values=values)

    def set_records_from(self, account_id: str, moment: datetime) -> None:
        """Set the time, unless a later one is set."""
        self._update(
            account_id,
            "SET records_from = :from",
            condition=f"{EXISTS} AND (attribute_not_exists(records_from) OR records_from < :from)",
            values={":from": to_text(moment)},
        )

    def suspend(
        self, account_id: str, suspension: Suspension, entry: LogEntry | None = None
    ) -> Account | None:
        """Set the time, unless it is set, and what is given. Every authentication reads it."""
        expression = "SET suspended = if_not_exists(suspended, :at)"
        values: dict[str, object] = {":at": to_text(suspension.at)}
        if suspension.reason:
            expression += ", suspended_for = :reason"
            values[":reason"] = suspension.reason
        if suspension.queued is not QueuedMail.SEND:
            expression += ", suspended_queue = :queued"
            values[":queued"] = suspension.queued.value
        return self._update(account_id, expression, values=values, entry=entry)

    def resume(self, account_id: str, entry: LogEntry | None = None) -> Account | None:
        expression = "REMOVE suspended, suspended_for, suspended_queue"
        return self._update(account_id, expression, entry=entry)

    def set_pauses(self, account: Account, pauses: Sequence[Pause]) -> Account | None:
        before = pause_attributes(account.pauses)["paused"]
        expression, values = assigning(pause_attributes(pauses))
        return self._update(
            account.account_id,
            expression,
            condition="#paused = :before"
            if before
            else f"{EXISTS} AND attribute_not_exists(#paused)",
            values=values | ({":before": before} if before else {}),
        )

    def set_isolation(
        self, account_id: str, isolation: Isolation, tenant: str | None
    ) -> Account | None:
        is_none = isolation is Isolation.NONE
        given = {"isolation": None if is_none else isolation.value, "tenant": tenant}
        expression, values = assigning(given)
        return self._update(account_id, expression, values=values)

    def put_sender(
        self, account_id: str, address: str, *, verified: bool, default: bool
    ) -> Account | None:
        expression = "SET senders.#address = :verified"
        values: dict[str, object] = {":verified": verified}
        if verified:
            default_sender = ":address" if default else "if_not_exists(default_sender, :address)"
            expression += f", default_sender = {default_sender}"
            values[":address"] = address
        return self._update(account_id, expression, names={"#address": address}, values=values)

    def remove_sender(self, account_id: str, address: str) -> Account | None:
        """Remove one member of the map of senders.

        One update cannot remove the default sender only if it is this address. So one
        update removes the default sender, and another removes any other sender.
        """
        return self._update(
            account_id,
            "REMOVE senders.#address, default_sender",
            condition="default_sender = :address",
            names={"#address": address},
            values={":address": address},
        ) or self._update(
            account_id,
            "REMOVE senders.#address",
            condition="attribute_exists(senders.#address) AND"
            " (attribute_not_exists(default_sender) OR default_sender <> :address)",
            names={"#address": address},
            values={":address": address},
        )

    def set_default_sender(self, account_id: str, address: str) -> Account | None:
        return self._update(
            account_id,
            "SET default_sender = :address",
            condition="senders.#address = :verified",
            names={"#address": address},
            values={":address": address, ":verified": True},
        )

    def _update(
        self,
        account_id: str,
        expression: str,
        *,
        entry: LogEntry | None = None,
        **parts: Unpack[Parts],
    ) -> Account | None:
        """Update an account, by default if it exists; with an entry, in one transaction.

        The entry is an update too, so that no role that logs changes needs PutItem, with which it
        could replace an account.
        """
        key = keys.account(account_id)
        parts.setdefault("condition", EXISTS)
        if entry is None:
            item = self._table.try_update(key, expression, **parts)
            return account_of(item) if item else None
        update = self._table.to_update(key, expression, **parts)
        try:
            self._table.transact([update, new_entry(self._table, account_id, entry)])
        except TransactionConditionsFailed as failure:
            if failure.failed[0]:
                return None
            raise
        return self.get(account_id)  # a transaction returns no item
