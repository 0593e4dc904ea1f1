"""List, search and count an account's messages.

The search index finds the messages that the ledger has entries for, since it is written first.
Newer ones are found in their records, so that a client finds its own sends at once.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from uuid import UUID

from pillarbox.application.history.pagination import (
    Coverage,
    CoverageReader,
    Page,
    PageRequest,
    Pagination,
    SortBy,
    read_newest_entry,
)
from pillarbox.application.history.ports import ForEach, Ledger, SearchIndex
from pillarbox.application.history.tuning import STANDARD, Tuning
from pillarbox.application.message_log import MessageLog
from pillarbox.application.ports import Clock
from pillarbox.application.validation import to_a_label
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.address import (
    AddressSyntaxError,
    is_address_start,
    mailbox_key,
    parse_address,
)
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.messages.message import CALLED_OFF, Message, Status
from pillarbox.domain.messages.statistics import (
    END_OF_TIME,
    Granularity,
    IndexEntry,
    RecipientTerm,
    Rollup,
    SearchTerm,
    Subset,
    SubsetKind,
    TimeRange,
    count_shapes,
    creation_time,
    percentile,
    roll_up_entries,
)


@dataclass(frozen=True, slots=True)
class RecordSearch:
    """Finds records by what the search index has, and filters them by the rest."""

    log: MessageLog
    ledger: Ledger
    index: SearchIndex
    tuning: Tuning

    @property
    def max_found(self) -> int:
        """The most messages that `find` returns."""
        return self.tuning.max_found

    def page(self, account_id: str, request: PageRequest, shards: int | None) -> Page:
        """List the messages that match all terms of a request.

        Of more than `max_found` messages with an address or a tag only the newest are listed
        and counted.
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
        if len(found) > self.tuning.max_filtered:
            raise _too_many(
                term,
                self.tuning.max_filtered,
                "Ask for a shorter time with from and to, or leave out what else you ask for",
            )
        return request.page_of(self.read(account_id, found, recent))

    def indexed_until(self, account_id: str) -> int:
        """Return the time before which all messages were created that are surely in the index."""
        _, until = read_newest_entry(self.ledger, account_id, self.tuning)
        return until

    def find(
        self, account_id: str, term: SearchTerm, created: TimeRange, shards: int | None
    ) -> tuple[dict[UUID, Message], list[UUID]]:
        """Return the records that may not be in the index yet, and the ids of the found messages.

        The ids are the newest ones in the order of creation, newest first.
        """
        since = max(created.since, self.indexed_until(account_id))
        recent = {
            message.message_id: message
            for message in self.log.newest_first(account_id, since, created.until, shards)
            if term.matches(message)
        }
        most = self.tuning.max_found
        is_prefix = isinstance(term, RecipientTerm) and term.is_prefix
        indexed = self.index.find(account_id, term, created, most + is_prefix, shards)
        if is_prefix and len(indexed) > most:
            raise _too_many(term, most, "Give more of the address")
        ids = {*recent, *(each for each in indexed if creation_time(each) in created)}
        return recent, sorted(ids, key=lambda one: one.int, reverse=True)[:most]

    def read(
        self, account_id: str, ids: Sequence[UUID], recent: dict[UUID, Message]
    ) -> list[Message]:
        """Return the records of some messages, in this order. `recent` has some of them."""
        missing = [each for each in ids if each not in recent]
        read = self.log.get_all(account_id, missing) if missing else ()
        records = recent | {message.message_id: message for message in read}
        return [records[each] for each in ids if each in records]


def _too_many(term: SearchTerm, most: int, advice: str) -> ValidationFailed:
    field = "recipient" if isinstance(term, RecipientTerm) else "tag"
    message = f"finds more than {most:,} messages. {advice}"
    return ValidationFailed(FieldError(field, message, "too_many_matches"))


_ALL: Final = frozenset(Status)
_TOP_ERRORS: Final = 10


class Bucket(StrEnum):
    """The time that one row of analytics covers (contract 4.5)."""

    HOUR = "hour"
    DAY = "day"


@dataclass(frozen=True, slots=True)
class MessageCounts:
    """The number of messages (contract 2.8).

    `reached` has the number of those that reached each status (`statistics.reached`), and
    `by_status` of those that have it now, which is the total of their list.
    """

    count: int = 0
    reached: Counter[Status] = field(default_factory=Counter)
    by_status: Counter[Status] = field(default_factory=Counter)

    def __add__(self, rollup: Rollup) -> "MessageCounts":
        return MessageCounts(
            self.count + rollup.total,
            self.reached + rollup.reached,
            self.by_status + rollup.by_status,
        )

    def rate(self, status: Status) -> float:
        """Return the fraction that reached a status of what was handed to the provider.

        To four places, or 0 if nothing was.
        """
        return round(self.reached[status] / (self.reached[Status.SENT] or 1), 4)


@dataclass(frozen=True, slots=True)
class Analytics:
    """The counts of each bucket of a window in order of time, and the most frequent errors."""

    volume: dict[int, MessageCounts]
    total: MessageCounts
    errors: list[tuple[str, int]]
    #: Number of a span of waiting -> number of messages.
    waits: Counter[int] = field(default_factory=Counter)

    def sent_within(self, part: float) -> int | None:
        """Return within how many milliseconds a part of the sent messages was sent."""
        return percentile(self.waits, part)


def _statuses(request: PageRequest) -> frozenset[Status]:
    return _ALL if request.status is None else frozenset({request.status})


class HistoryQueries:
    """Queries the messages of an account at a cost that does not grow with their number."""

    def __init__(  # noqa: PLR0913  its ports
        self,
        *,
        log: MessageLog,
        ledger: Ledger,
        index: SearchIndex,
        clock: Clock,
        for_each: ForEach = map,
        tuning: Tuning = STANDARD,
    ) -> None:
        self._log = log
        self._for_each = for_each
        self.search = RecordSearch(log, ledger, index, tuning)
        self._ledger = ledger
        self._tuning = tuning
        self._reader = CoverageReader(
            log=log, ledger=ledger, clock=clock, tuning=tuning, for_each=for_each
        )

    def page(self, account_id: str, request: PageRequest, shards: int | None = None) -> Page:
        """List messages (contract 4.3)."""
        if request.terms:
            return self.search.page(account_id, request, shards)
        if len(request.subsets) > 1:
            return self._page_of_both(account_id, request, shards)
        subset = next(iter(request.subsets), None)
        coverage = self._cover(account_id, request, shards, subset)
        statuses = _statuses(request)
        pagination = self._pagination(account_id, subset)
        if request.error is not None:
            total = coverage.count_error(request.error)
            entries = pagination.by_error(coverage, request.error, request.skip, request.limit)
            return Page(
                self._read_records(account_id, coverage, entries, shards, adjacent=False), total
            )
        total = coverage.count(statuses)
        if request.skip >= total:
            return Page([], total)
        select = {
            SortBy.CREATED_AT: pagination.by_creation,
            SortBy.UPDATED_AT: pagination.by_update,
            SortBy.STATUS: pagination.by_status,
        }[request.sort_by]
        entries = select(coverage, statuses, request.skip, request.limit)
        adjacent = (
            request.sort_by is SortBy.CREATED_AT and request.status is None and subset is None
        )
        records = self._read_records(account_id, coverage, entries, shards, adjacent=adjacent)
        return Page(records, total)

    def count_pending(self, account: Account) -> int:
        """Count the accepted messages of an account that still wait."""
        request = PageRequest(status=Status.PENDING, limit=1).of(account)
        return self.page(account.account_id, request, account.shards).total

    def analytics(  # noqa: PLR0913  whose messages, and which
        self,
        account_id: str,
        since: int,
        until: int,
        bucket: Bucket,
        shards: int | None = None,
        *,
        subset: Subset | None = None,
    ) -> Analytics:
        """Count the messages created in a window, exact to the millisecond (contract 4.5).

        With a subset, count only its messages. What was called off is no error.
        """
        granularity = Granularity(bucket)
        window = TimeRange(max(since, 0), max(until, 0))
        coverage = self._reader.read(account_id, window, granularity, shards, subset)
        volume: dict[int, MessageCounts] = {}
        start = granularity.start(since)
        while start < until:
            volume[start] = MessageCounts()
            start = granularity.end(start)
        entries: defaultdict[int, list[IndexEntry]] = defaultdict(list)
        for entry in (*coverage.newest_entries, *coverage.oldest_entries):
            entries[granularity.start(entry.created)].append(entry)
        rollups = coverage.rollups + [
            roll_up_entries(granularity, start, in_bucket) for start, in_bucket in entries.items()
        ]
        total, errors, waits = MessageCounts(), Counter[str](), Counter[int]()
        for rollup in rollups:
            volume[granularity.start(rollup.start)] += rollup
            total += rollup
            errors.update(rollup.errors)
            waits.update(rollup.waits)
        for code in CALLED_OFF:
            del errors[code]
        ranked = sorted(errors.items(), key=lambda error: (-error[1], error[0]))
        return Analytics(volume, total, ranked[:_TOP_ERRORS], waits)

    def shapes(
        self, account_id: str, template_id: str, since: int, until: int, shards: int | None = None
    ) -> Counter[str]:
        """Count the messages of a template in a window by the shape of their variables.

        Of those before a release that records shapes, and of tests, nothing is counted.
        """
        subset = Subset(SubsetKind.TEMPLATE, template_id)
        window = TimeRange(max(since, 0), until)
        coverage = self._reader.read(account_id, window, Granularity.DAY, shards, subset)
        shapes = count_shapes(coverage.entries(_ALL))
        for rollup in coverage.rollups:
            shapes.update(rollup.shapes)
        return shapes

    def _pagination(self, account_id: str, subset: Subset | None) -> Pagination:
        return Pagination(
            account_id=account_id,
            ledger=self._ledger,
            reader=self._reader,
            tuning=self._tuning,
            for_each=self._for_each,
            subset=subset,
        )

    def _cover(
        self, account_id: str, request: PageRequest, shards: int | None, subset: Subset | None
    ) -> Coverage:
        until = END_OF_TIME if request.until is None else request.until
        created = TimeRange(max(request.since or 0, 0), until)
        return self._reader.read(account_id, created, Granularity.MONTH, shards, subset)

    def _page_of_both(self, account_id: str, request: PageRequest, shards: int | None) -> Page:
        """List the messages of a key and a template, which have no rollups together.

        Read the records of the key's or of the template's messages, and keep those of the other.
        """
        statuses, most = _statuses(request), self._tuning.max_filtered
        for subset in request.subsets:
            coverage = self._cover(account_id, request, shards, subset)
            total = coverage.count(statuses)
            if total <= most:
                break
        else:
            advice = "Ask for a shorter time with from and to, or leave out key or template"
            message = f"finds more than {most:,} messages, and so does key. {advice}"
            raise ValidationFailed(FieldError("template", message, "too_many_matches"))
        pagination = self._pagination(account_id, subset)
        entries = pagination.by_creation(coverage, statuses, 0, total)
        return request.page_of(
            self._read_records(account_id, coverage, entries, shards, adjacent=False)
        )

    def _read_records(
        self,
        account_id: str,
        coverage: Coverage,
        entries: list[IndexEntry],
        shards: int | None,
        *,
        adjacent: bool,
    ) -> list[Message]:
        """Return the records of some entries, in their order.

        Adjacent records are read as one range of the log, the others by their ids.
        """
        records = coverage.recent_records
        missing = [entry for entry in entries if entry.message_id not in records]
        if missing and adjacent:
            since, until = missing[-1].created, missing[0].created + 1
            read = self._log.newest_first(account_id, since, until, shards)
        else:
            read = self._log.get_all(account_id, [entry.message_id for entry in missing])
        records = records | {message.message_id: message for message in read}
        return [records[entry.message_id] for entry in entries if entry.message_id in records]


def search_recipient(text: str) -> RecipientTerm:
    """Return what a recipient to search for means: an address, or with a final * its start."""
    if not text.endswith("*"):
        return RecipientTerm(mailbox_key(parse_address(text, to_a_label)))
    start = mailbox_key(text[:-1])
    if not is_address_start(start):
        raise AddressSyntaxError("must have the start of an address before the *")
    return RecipientTerm(start, is_prefix=True)
