"""Delete what the tables hold of an account."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import batched
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.history.ledger_format import subsets_of
from pillarbox.adapters.dynamodb.messages.waiting import wake_keys
from pillarbox.adapters.dynamodb.sign_in.users import DynamoMembers
from pillarbox.adapters.dynamodb.table import Item, Table, to_item

#: So many are deleted before the progress is reported, in several requests at a time.
_REPORTED: Final = 200


class DynamoAccountData:
    """Implements `operator.ports.AccountData`."""

    def __init__(self, table: Table, credentials: Table) -> None:
        self._table = table
        self._credentials = credentials

    def delete_contents(self, account_id: str, shards: int) -> Iterator[tuple[str, int]]:
        for shard in range(shards):
            messages = keys.messages_from(account_id, shard, 0)
            yield from _delete(self._table, "messages", messages, beside=wake_keys)
        contents = keys.waiting_contents(account_id)
        yield from _delete(self._table, "waitingEmails", *contents)
        # The stream also removes the entries of deleted messages, a little later.
        for shard in range(shards):
            for entries in keys.search_lists(account_id, shard):
                yield from _delete(self._table, "searchEntries", entries)
        yield from self._delete_statistics(account_id)
        yield from self._delete_domains(account_id)
        for kind, templates in zip(
            ("templates", "templateDrafts", "templateVersions"),
            keys.of_templates(account_id),
            strict=True,
        ):
            yield from _delete(self._table, kind, templates)
        yield from _delete(self._table, "suppressions", keys.suppression(account_id))
        yield from _delete(self._table, "senderDomains", keys.sender_domain(account_id))
        yield from _delete(self._table, "quotas", keys.quota(account_id))
        yield from _delete(self._table, "keyUses", keys.key_use(account_id))
        yield from _delete(self._table, "alerts", keys.alert(account_id))
        self._table.delete(keys.chat_state(account_id))
        yield from _delete(self._table, "logEntries", keys.account_log(account_id))
        yield from self._delete_webhooks(account_id)
        members = DynamoMembers(self._credentials)
        for member in members.of_account(account_id):
            members.remove(account_id, member.user_id)
            yield "members", 1
        marks = [
            item
            for item in self._table.query(keys.rebuild_mark())
            if keys.marked_account(item) == account_id
        ]
        self._table.write_all(deletes=[_key(mark) for mark in marks])
        for table in (self._table, self._credentials):
            for batch in batched(table.query(keys.key_list(account_id)), _REPORTED, strict=False):
                for entry in batch:
                    children = table.query(keys.key_list(entry["sk"]))
                    table.write_all(deletes=[*map(_key, children)])
                # An entry of the list is the only way to its key, so it goes last.
                table.write_all(deletes=[keys.api_key(entry["digest"]) for entry in batch])
                table.write_all(deletes=[_key(entry) for entry in batch])
                yield "keys", len(batch)

    def delete_account(self, account_id: str) -> None:
        """Delete the entry in the list of all accounts, then the record, which shows the rest."""
        self._table.delete(keys.account_list(account_id))
        self._table.delete(keys.account(account_id))

    def _delete_domains(self, account_id: str) -> Iterator[tuple[str, int]]:
        """Delete the domains, and what they received."""
        domains = keys.account_domain(account_id)
        for domain in self._table.query(domains):
            self._table.delete(keys.domain_owner(domain["sk"], account_id))
            if label := domain.get("receive"):
                self._table.delete(keys.receiving_domain(f"{label}.{domain['sk']}"))
        received = keys.received_before(account_id, None)
        yield from _delete(self._table, "receivedMails", *received, beside=_answers)
        yield from _delete(self._table, "domains", domains)

    def _delete_webhooks(self, account_id: str) -> Iterator[tuple[str, int]]:
        """Delete what is about each endpoint, and the endpoints last: they show the rest."""
        for endpoint in self._credentials.query(*keys.webhook_endpoints(account_id)):
            for partition in keys.of_webhook_endpoint(account_id, endpoint["sk"]):
                yield from _delete(self._table, "webhookDeliveries", partition)
        endpoints = keys.webhook_endpoints(account_id)
        yield from _delete(self._credentials, "webhookEndpoints", *endpoints)
        self._credentials.delete(keys.webhook_endpoint_ids(account_id))

    def _delete_statistics(self, account_id: str) -> Iterator[tuple[str, int]]:
        """Delete the figures of keys and templates first: lists in the last partition name them."""
        first, last = keys.subsets(account_id, 0), keys.subsets(account_id, keys.LATEST)
        lists = self._table.query(first, last)
        for subset in sorted({subset for item in lists for subset in subsets_of(item)}):
            yield from _delete(self._table, "statistics", keys.rollups_of(account_id, subset))
        yield from _delete(self._table, "statistics", keys.entries(account_id, 0))


def _delete(
    table: Table,
    kind: str,
    first: Item,
    last: Item | None = None,
    *,
    beside: Callable[[Mapping[str, Any]], Iterable[Item]] = lambda _: (),
) -> Iterator[tuple[str, int]]:
    items = table.query(first, last, page=_REPORTED)
    for batch in batched(items, _REPORTED, strict=False):
        table.write_all(deletes=[key for item in batch for key in (_key(item), *beside(item))])
        yield kind, len(batch)


def _answers(item: Mapping[str, Any]) -> Iterator[Item]:
    if answered := item.get("answered"):
        account_id = item["pk"].partition("#")[2]
        yield keys.received(account_id, UUID(item["sk"]), UUID(answered["message"]))


def _key(item: Mapping[str, Any]) -> Item:
    return to_item({"pk": item["pk"], "sk": item["sk"]})
