"""An account whose stream has records as DynamoDB writes them, and a recount of searches."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.history.message_log import (
    DynamoSearchIndex,
    read_change,
    read_search_change,
)
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.application.history.aggregate import Aggregation, SearchIndexing
from pillarbox.application.history.pagination import Page, PageRequest
from pillarbox.domain.messages.kept import erase_recipient
from pillarbox.domain.messages.message import Labels, Message
from pillarbox.domain.messages.statistics import RecipientTerm
from tests.unit.history.world import World

PEOPLE = ("Ann@example.com", "ann@example.com", "annie@example.com", "bob@example.com")
TAGS: tuple[dict[str, str], ...] = (
    {},
    {"order": "1"},
    {"order": "1#2"},
    {"order": "1%232"},
    {"ord": "er=1"},
    {"a": "é 1"},
)


@dataclass
class SearchWorld(World):
    """A world whose changes also reach the search index."""

    @property
    def index(self) -> DynamoSearchIndex:
        return DynamoSearchIndex(self.table)

    @property
    def indexing(self) -> SearchIndexing[Any]:
        return SearchIndexing(read_search_change, self.index)

    def make_aggregation(
        self, read: Callable[[Any], Message | None] = read_change
    ) -> Aggregation[Any]:
        return super().make_aggregation(read)

    def send_to(self, *to: str, tags: Mapping[str, str] | None = None) -> Message:
        """Accept a message with these recipients and tags."""
        sent = super().send()
        origin = replace(sent.origin, labels=Labels(tags=tags or {}))
        addressed = replace(sent, to=to[:1], bcc=to[1:], origin=origin)
        self.table.delete(keys.message(sent.account_id, sent.message_id))
        self.stream.pop()
        self._put(addressed)
        return addressed

    def erase(self, target: Message, mailbox: str) -> None:
        """Erase a recipient from a record."""
        current = self.messages[target.message_id]
        erased = erase_recipient(current, mailbox)
        self._put(replace(erased, revision=current.revision + 1))

    def delete(self, target: Message) -> None:
        """Delete a record."""
        key = keys.message(target.account_id, target.message_id)
        old = self.engine.partition(key["pk"]["S"]).get(key["sk"]["S"])
        self.table.delete(key)
        del self.messages[target.message_id]
        self.stream.append({"dynamodb": {"OldImage": old}})  # type: ignore[arg-type]

    def _put(self, changed: Message) -> None:
        key = keys.message(changed.account_id, changed.message_id)
        old = self.engine.partition(key["pk"]["S"]).get(key["sk"]["S"])
        self.messages[changed.message_id] = changed
        item = message_item(changed)
        self.table.put(item)
        images = {"NewImage": item} | ({"OldImage": old} if old else {})
        self.stream.append({"dynamodb": images})  # type: ignore[arg-type]

    def search(self, request: PageRequest) -> Page:
        return self.queries.page(self.account_id, request, self.shards)

    def found(self, address: str) -> list[UUID]:
        """Return the ids of the messages to an address."""
        page = self.search(PageRequest(recipient=RecipientTerm(address)))
        return [message.message_id for message in page.items]

    def entries(self) -> list[str]:
        """Return the sort keys of all entries of the index."""
        return [
            sort_key
            for shard in range(self.shards)
            for partition in keys.search_lists(self.account_id, shard)
            for sort_key in self.engine.partition(partition["pk"]["S"]).order
        ]

    def expected_page(self, request: PageRequest) -> Page:
        """Return the page that a recount finds."""
        everything = super().expected_page(replace(request, skip=0, limit=10**6)).items
        found = [m for m in everything if all(term.matches(m) for term in request.terms)]
        return Page(found[request.skip : request.skip + request.limit], len(found))


def send_some(world: SearchWorld, rng: random.Random, count: int) -> None:
    """Accept messages to some people, with some tags."""
    for _ in range(count):
        recipients = rng.sample(PEOPLE, rng.randrange(1, 3))
        world.send_to(*recipients, tags=rng.choice(TAGS))
        world.pass_time(rng.choice((0, 0.001, 5, 90, 4000)))
