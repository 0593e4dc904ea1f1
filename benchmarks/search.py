"""The cost of a search by recipient or tag, and of the search index, in read and write units.

    .venv/bin/python -m benchmarks.search

Accounts and engine are those of benchmarks/history.py. One message in twenty goes to the same
customer and has the same tag, so a search finds 50 of a thousand messages, and 50,000 of a
million. Each other message goes to one of a million customers, with a tag of its own.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, Final

from benchmarks.history import (
    ACCOUNT,
    NOW,
    Cost,
    account_with,
    batches_of,
    cost,
    creation_times,
    message_at,
    options,
    print_costs,
)
from benchmarks.metered import Metered, metered_table
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.history.message_log import DynamoSearchIndex
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.application.history.aggregate import SearchChanges, SearchIndexing
from pillarbox.application.history.pagination import PageRequest
from pillarbox.application.history.queries import HistoryQueries
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.messages.message import Labels, Message
from pillarbox.domain.messages.statistics import RecipientTerm, TagTerm, terms_of
from pillarbox.domain.timing import milliseconds

REGULAR: Final = "regular@mailbox.example"
#: One message in so many is to the regular customer.
_EVERY: Final = 20


def searched_message_at(moment: int, shards: int = 1) -> Message:
    """Return the message created at a time, with a recipient and a tag to search for."""
    message = message_at(moment, shards)
    tags = {"order": str(moment)}
    if moment % _EVERY == 0:
        message, tags = replace(message, to=(REGULAR,)), {"order": "regular"}
    return replace(message, origin=replace(message.origin, labels=Labels(tags=tags)))


def searched_account(count: int, shards: int = 1) -> tuple[HistoryQueries, Metered, Message]:
    """Return the history of an account with a search index, its engine, and one of its messages.

    That message goes to somebody else than the regular customer.
    """
    queries, engine = account_with(count, shards)
    entries: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    single = None
    for moment in creation_times(count):
        message = searched_message_at(moment, shards)
        single = message if REGULAR not in message.to else single
        for term in terms_of(message):
            key = keys.search_entry(ACCOUNT, message.message_id, term)
            entries[key["pk"]["S"]][key["sk"]["S"]] = key
        key = keys.message(ACCOUNT, message.message_id)
        engine.partition(key["pk"]["S"]).items[key["sk"]["S"]] = lambda moment=moment: message_item(  # type: ignore[misc]
            searched_message_at(moment, shards)
        )
    for pk, items in entries.items():
        engine.partition(pk).fill(items)
    if single is None:
        raise LookupError("no such message")
    return queries, engine, single


def searches(single: Message) -> Iterator[tuple[str, PageRequest]]:
    """Return the searches to measure, each with a name."""
    regular = RecipientTerm(REGULAR)
    yield "an address in one message in twenty", PageRequest(recipient=regular)
    yield "the same, `skip` 20, `limit` 20", PageRequest(recipient=regular, skip=20, limit=20)
    two_days = PageRequest(
        recipient=regular,
        since=milliseconds(NOW - timedelta(days=9)),
        until=milliseconds(NOW - timedelta(days=7)),
        limit=5,
    )
    yield "the same, two days of the week before, `limit` 5", two_days
    yield "a tag of one message in twenty", PageRequest(tag=TagTerm("order", "regular"))
    mailbox = mailbox_key(single.to[0])
    yield "an address in one message", PageRequest(recipient=RecipientTerm(mailbox))
    prefix = RecipientTerm(mailbox.partition("@")[0] + "@", is_prefix=True)
    yield "the start of an address", PageRequest(recipient=prefix)
    ((name, value),) = single.origin.labels.tags.items()
    yield "a tag of one message", PageRequest(tag=TagTerm(name, value))
    absent = RecipientTerm("unknown@mailbox.example")
    yield "an address that no message has", PageRequest(recipient=absent)


def read_costs(sizes: tuple[int, ...], shards: int) -> dict[str, list[Cost]]:
    """Return the cost of each search, for accounts of each size."""
    costs: defaultdict[str, list[Cost]] = defaultdict(list)
    for size in sizes:
        queries, engine, single = searched_account(size, shards)
        for name, request in searches(single):
            call: Callable[[], object] = partial(queries.page, ACCOUNT, request, shards)
            costs[name].append(cost(engine, call))
    return costs


def cost_of_indexing(rate: float, seconds: float) -> float:
    """Return the index's write units per message with one recipient and no tags."""
    table, engine = metered_table()
    indexing = SearchIndexing[Message](
        lambda message, _: (None, None if message.revision else message), DynamoSearchIndex(table)
    )
    for batch in batches_of(rate, seconds):
        merged: SearchChanges = {}
        for message in batch:
            merged |= indexing.changes(message, message)[1]
        indexing.index.change(ACCOUNT, merged)
    return engine.write_units / (rate * seconds)


def main() -> None:
    """Print all figures."""
    sizes, shards = options()
    print_costs(read_costs(sizes, shards), sizes, shards)
    print(f"\nWrite units a message with one recipient: {cost_of_indexing(10, 300):.2f}")


if __name__ == "__main__":
    main()
