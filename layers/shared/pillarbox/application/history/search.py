"""Search an account's messages by recipient and by tag, at a cost that has a bound.

The search index finds the messages that the ledger has entries for, since it is written first.
Newer ones are found in their records, so that a client finds its own sends at once.
"""

from collections.abc import Sequence
from uuid import UUID

from pillarbox.application.history.coverage import read_newest_entry
from pillarbox.application.history.page import Page, PageRequest, SortBy
from pillarbox.application.history.ports import Ledger, SearchIndex
from pillarbox.application.history.tuning import Tuning
from pillarbox.application.message_log import MessageLog
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.messages.message import Message
from pillarbox.domain.messages.search import RecipientTerm, SearchTerm
from pillarbox.domain.messages.statistics import END_OF_TIME, TimeRange, creation_time


class RecordSearch:
    """Finds records by what the search index has, and filters them by the rest."""

    def __init__(self, log: MessageLog, ledger: Ledger, index: SearchIndex, tuning: Tuning) -> None:
        self._log = log
        self._ledger = ledger
        self._index = index
        self._tuning = tuning

    @property
    def max_found(self) -> int:
        """The most messages that `find` returns."""
        return self._tuning.max_found

    def page(self, account_id: str, request: PageRequest, shards: int | None) -> Page:
        """List the messages that match all terms of a request.

        Of more than `max_found` messages with an address or a tag only the newest are listed
        and counted.

        Raises:
            ValidationFailed: on `recipient` or `tag`: too many messages for how an address begins,
                or for a filter or an order that the index does not have.
        """
        until = END_OF_TIME if request.until is None else request.until
        created = TimeRange(max(request.since or 0, 0), until)
        term, *others = request.terms
        recent, found = self.find(account_id, term, created, shards)
        filters = (*others, *request.subsets, *filter(None, (request.error,)))
        if request.status is None and request.sort_by is SortBy.CREATED_AT and not filters:
            on_page = found[request.skip : request.skip + request.limit]
            records = self.read(account_id, on_page, recent)
            return Page([r for r in records if term.matches(r)], len(found))
        if len(found) > self._tuning.max_filtered:
            raise _too_many(
                term,
                self._tuning.max_filtered,
                "Ask for a shorter time with from and to, or leave out what else you ask for",
            )
        return request.page_of(self.read(account_id, found, recent))

    def indexed_until(self, account_id: str) -> int:
        """Return the time before which all messages were created that are surely in the index."""
        _, until = read_newest_entry(self._ledger, account_id, self._tuning)
        return until

    def find(
        self, account_id: str, term: SearchTerm, created: TimeRange, shards: int | None
    ) -> tuple[dict[UUID, Message], list[UUID]]:
        """Return the records that may not be in the index yet, and the ids of the found messages.

        The ids are the newest ones in the order of creation, newest first.

        Raises:
            ValidationFailed: on `recipient`: too many messages for how an address begins.
        """
        since = max(created.since, self.indexed_until(account_id))
        recent = {
            message.message_id: message
            for message in self._log.newest_first(account_id, since, created.until, shards)
            if term.matches(message)
        }
        most = self._tuning.max_found
        is_prefix = isinstance(term, RecipientTerm) and term.is_prefix
        indexed = self._index.find(account_id, term, created, most + is_prefix, shards)
        if is_prefix and len(indexed) > most:
            raise _too_many(term, most, "Give more of the address")
        ids = {*recent, *(each for each in indexed if creation_time(each) in created)}
        return recent, sorted(ids, key=_creation, reverse=True)[:most]

    def read(
        self, account_id: str, ids: Sequence[UUID], recent: dict[UUID, Message]
    ) -> list[Message]:
        """Return the records of some messages, in this order. `recent` has some of them."""
        missing = [each for each in ids if each not in recent]
        read = self._log.get_all(account_id, missing) if missing else ()
        records = recent | {message.message_id: message for message in read}
        return [records[each] for each in ids if each in records]


def _creation(message_id: UUID) -> int:
    return message_id.int


def _too_many(term: SearchTerm, most: int, advice: str) -> ValidationFailed:
    field = "recipient" if isinstance(term, RecipientTerm) else "tag"
    message = f"finds more than {most:,} messages. {advice}"
    return ValidationFailed(FieldError(field, message, "too_many_matches"))
