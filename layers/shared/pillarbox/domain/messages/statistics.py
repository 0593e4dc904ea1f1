"""What messages are found and counted by.

All times here are milliseconds since 1970, as message ids hold them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from math import ceil, log2
from sys import intern
from typing import ClassVar, Final
from uuid import UUID

from pillarbox.domain.address import SIMULATOR_DOMAIN, domain_of, mailbox_key
from pillarbox.domain.ids import shard_count
from pillarbox.domain.messages.message import ERASED_ADDRESS, EventKind, Message, SendRoute, Status
from pillarbox.domain.templates.shape import bounded_shapes
from pillarbox.domain.timing import milliseconds


@dataclass(frozen=True, slots=True)
class RecipientCounts:
    """To how many recipients SES sent emails, and how many of them bounced for good or complained.

    As SES judges a sender: addresses of its simulator do not count, nor those that it refused
    because of its own lists, nor anybody of an email that it took and then refused for a virus.
    """

    sent: int = 0
    bounced: int = 0
    complained: int = 0

    def __add__(self, other: "RecipientCounts") -> "RecipientCounts":
        return RecipientCounts(
            self.sent + other.sent,
            self.bounced + other.bounced,
            self.complained + other.complained,
        )

    def __sub__(self, other: "RecipientCounts") -> "RecipientCounts":
        return RecipientCounts(
            self.sent - other.sent,
            self.bounced - other.bounced,
            self.complained - other.complained,
        )


NO_RECIPIENTS: Final = RecipientCounts()


def one_recipient(statuses: Mapping[Status, int] | frozenset[Status]) -> RecipientCounts:
    """Return the counts of messages to one recipient each that reached some statuses."""
    if isinstance(statuses, frozenset):
        statuses = dict.fromkeys(statuses, 1)
    return RecipientCounts(
        statuses.get(Status.SENT, 0),
        statuses.get(Status.BOUNCED, 0),
        statuses.get(Status.COMPLAINED, 0),
    )


def count_recipients(message: Message, statuses: frozenset[Status]) -> RecipientCounts:
    """Count the recipients of a message as SES judges its sender.

    Notices of the service do not count, because the account did not send them.
    """
    if Status.SENT not in statuses or message.origin.route is SendRoute.NOTICE:
        return NO_RECIPIENTS
    by_kind: defaultdict[EventKind, set[str | None]] = defaultdict(set)
    refused: set[str | None] = set()
    for event in message.events:
        if event.kind is EventKind.FAILED:
            refused.add(event.recipient)
        else:
            by_kind[event.kind].add(event.recipient)
    # A report may name only people whom the record no longer has.
    known = {*message.recipients}
    if None in refused:  # the whole email, except for those of whom a report shows otherwise
        refused |= known - set().union(*by_kind.values())
    sent = {
        recipient
        for recipient in message.recipients
        if recipient not in refused and domain_of(recipient) != SIMULATOR_DOMAIN
    }
    bounced, complained = (
        len({one for one in by_kind[kind] if one in sent or one not in known})
        for kind in (EventKind.BOUNCED, EventKind.COMPLAINED)
    )
    return RecipientCounts(len(sent), min(bounced, len(sent)), min(complained, len(sent)))


#: Waits are counted by spans, of which the first is this long and each next one a fifth longer. So
#: a wait takes one byte, and a percentile is right to a fifth.
_SHORTEST_SPAN: Final = 100
_SPANS_A_DOUBLING: Final = 4
_LAST_SPAN: Final = 255


def span_number(wait: int) -> int:
    """Return the number, from 1, of the shortest span that a wait fits into."""
    longer = log2(max(wait, _SHORTEST_SPAN) / _SHORTEST_SPAN)
    return min(1 + ceil(_SPANS_A_DOUBLING * longer), _LAST_SPAN)


def percentile(waits: Mapping[int, int], part: float) -> int | None:
    """Return within how long a part of some messages was sent; None if none was.

    `waits` has the number of messages by the number of their span. The result is the length of a
    span, so that it never promises too much.
    """
    wanted = part * sum(waits.values())
    for number in sorted(waits):
        wanted -= waits[number]
        if wanted <= 0:
            return round(_SHORTEST_SPAN * 2 ** ((number - 1) / _SPANS_A_DOUBLING))
    return None


_TEN_SECONDS: Final = 10_000
_HOUR: Final = 3_600_000
_DAY: Final = 24 * _HOUR
_MONTHS: Final = 12
_EPOCH_YEAR: Final = 1970

#: The rollup of a subset also has the entries of its messages, if they are this many or fewer.
#: So the item of an hour that few of its messages were sent in stays below a kilobyte.
MAX_ROLLUP_ENTRIES: Final = 8

#: Later than every time that a message id can hold (RFC 9562 section 5.7).
END_OF_TIME: Final = 2**48

#: The statuses that a message can reach after its acceptance.
REACHABLE: Final = (
    Status.SENT,
    Status.DELIVERED,
    Status.BOUNCED,
    Status.COMPLAINED,
    Status.FAILED,
)
#: Events that show that a message had been delivered before, or sent.
_IMPLY_DELIVERED: Final = {EventKind.COMPLAINED}
_IMPLY_SENT: Final = {
    EventKind.BOUNCED_TRANSIENT,
    EventKind.DELIVERED,
    EventKind.BOUNCED,
    EventKind.COMPLAINED,
}


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The time from `since` to before `until`."""

    since: int
    until: int

    def __contains__(self, moment: int) -> bool:
        return self.since <= moment < self.until

    @property
    def is_empty(self) -> bool:
        return self.since >= self.until


class Granularity(StrEnum):
    """The length of a bucket of time. Buckets are aligned to UTC.

    Only the messages of an account with several shards are counted by ten seconds.
    """

    TEN_SECONDS = "ten-seconds"
    HOUR = "hour"
    DAY = "day"
    MONTH = "month"

    @property
    def finer(self) -> "Granularity | None":
        return _FINER.get(self)

    def bucket_number(self, moment: int) -> int:
        """Return the number of the bucket that holds a moment, counted from 1970."""
        if self is Granularity.MONTH:
            at = datetime.fromtimestamp(moment / 1000, UTC)
            return (at.year - _EPOCH_YEAR) * _MONTHS + at.month - 1
        return moment // _LENGTHS[self]

    def bucket_start(self, number: int) -> int:
        if self is Granularity.MONTH:
            year, month = divmod(number, _MONTHS)
            return round(datetime(_EPOCH_YEAR + year, month + 1, 1, tzinfo=UTC).timestamp() * 1000)
        return number * _LENGTHS[self]

    def start(self, moment: int) -> int:
        return self.bucket_start(self.bucket_number(moment))

    def end(self, moment: int) -> int:
        """Return the end of the bucket that holds a moment, which is the start of the next."""
        return self.bucket_start(self.bucket_number(moment) + 1)

    def ceiling(self, moment: int) -> int:
        """Return the start of the first bucket that starts at or after a moment."""
        start = self.start(moment)
        return moment if start == moment else self.end(moment)


_FINER: Final = {
    Granularity.MONTH: Granularity.DAY,
    Granularity.DAY: Granularity.HOUR,
    Granularity.HOUR: Granularity.TEN_SECONDS,
}
_LENGTHS: Final = {
    Granularity.TEN_SECONDS: _TEN_SECONDS,
    Granularity.HOUR: _HOUR,
    Granularity.DAY: _DAY,
}


class SubsetKind(StrEnum):
    """By what the messages of an account are counted besides all together."""

    KEY = "key"
    TEMPLATE = "template"


@dataclass(frozen=True, slots=True, order=True)
class Subset:
    """The messages of an account that one API key sent, or that one template made.

    The id is that of the key or of the saved template, or the slug of the starter template.
    """

    kind: SubsetKind
    id: str


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What listing and counting need to know about a message, as of one of its revisions."""

    message_id: UUID
    revision: int
    status: Status
    #: The time of the last event.
    updated: int
    #: What `reached` returns for the message.
    reached: frozenset[Status] = frozenset()
    #: The code of the current failure, if the status is one.
    error: str | None = None
    #: What the message came from, as its subsets name it; None if that is not known.
    key_id: str | None = None
    template: str | None = None
    #: What its recipients add to the counts that `reached` makes of one recipient.
    more: RecipientCounts = NO_RECIPIENTS
    #: The number of the span that its wait until it was sent fits into; 0 before that.
    wait: int = 0
    #: The shape of the variables of a send by a saved template. It never changes, and of very many
    #: an item has only some, so it makes no difference between entries.
    shape: str | None = field(default=None, compare=False)

    @property
    def recipients(self) -> RecipientCounts:
        """How many recipients it was sent to, with which success."""
        return one_recipient(self.reached) + self.more

    @property
    def subsets(self) -> list[Subset]:
        of_key = [Subset(SubsetKind.KEY, self.key_id)] if self.key_id else []
        of_template = [Subset(SubsetKind.TEMPLATE, self.template)] if self.template else []
        return of_key + of_template

    def is_in(self, subset: Subset | None) -> bool:
        """Whether the message belongs to a subset; None stands for all messages."""
        if subset is None:
            return True
        return subset.id == (self.key_id if subset.kind is SubsetKind.KEY else self.template)

    @property
    def created(self) -> int:
        return creation_time(self.message_id)

    @property
    def is_sharded(self) -> bool:
        """Whether the message is in one of several shards."""
        return shard_count(self.message_id) > 1


def creation_time(message_id: UUID) -> int:
    """Return the time in a message id, in milliseconds since 1970."""
    return message_id.int >> 80


def index_entry(message: Message) -> IndexEntry:
    error, origin = message.error, message.origin
    template = origin.template
    statuses = reached(message)
    return IndexEntry(
        message_id=message.message_id,
        revision=message.revision,
        status=message.status,
        updated=milliseconds(message.updated_at),
        reached=statuses,
        error=(error.code or error.kind.value) if error else None,
        # Thousands of entries share these texts.
        key_id=intern(origin.key_id) if origin.key_id else None,
        template=intern(template) if template else None,
        more=count_recipients(message, statuses) - one_recipient(statuses),
        wait=_wait_of(message),
        shape=intern(origin.shape) if origin.shape else None,
    )


def _wait_of(message: Message) -> int:
    """Return the number of the span from when a message was due until it was sent, or 0.

    Notices of the service do not count. Their ids have the time of what they tell of.
    """
    if message.origin.route is SendRoute.NOTICE:
        return 0
    due_at = message.schedule.due_at if message.schedule else message.created_at
    for event in message.events:
        if event.kind is EventKind.SENT:
            return span_number(milliseconds(event.at) - milliseconds(due_at))
    return 0


def reached(message: Message) -> frozenset[Status]:
    """Return the statuses that a message ever had, of the bounces only permanent ones.

    A transient bounce is no sign of a bad address. It may even be an out-of-office reply to a
    message that was delivered.

    Providers skip steps: a message with a complaint was delivered before, and a
    message that was delivered or bounced was sent before.
    """
    kinds = {event.kind for event in message.events}
    lasting = kinds - {EventKind.BOUNCED_TRANSIENT}
    statuses = {kind.status for kind in lasting} & set(REACHABLE)
    if kinds & _IMPLY_DELIVERED:
        statuses.add(Status.DELIVERED)
    if kinds & _IMPLY_SENT:
        statuses.add(Status.SENT)
    return frozenset(statuses)


@dataclass(slots=True)
class Rollup:
    """Counts of the messages that were created in one bucket of time."""

    granularity: Granularity
    #: The start of the bucket.
    start: int
    #: (status, start of the bucket of the last update) -> number of messages.
    by_status_and_update: Counter[tuple[Status, int]] = field(default_factory=Counter)
    #: Status of REACHABLE -> number of messages that reached it.
    reached: Counter[Status] = field(default_factory=Counter)
    #: Error code -> number of messages that have it now.
    errors: Counter[str] = field(default_factory=Counter)
    #: What their recipients add to the counts that `reached` makes of one recipient each.
    more: RecipientCounts = NO_RECIPIENTS
    #: Number of a span -> number of messages whose wait until they were sent fits into it.
    waits: Counter[int] = field(default_factory=Counter)
    #: Shape of variables -> number of messages, if the subset is a template.
    shapes: Counter[str] = field(default_factory=Counter, compare=False)
    #: Whether there are finer rollups of its messages.
    is_divisible: bool = field(default=False, compare=False)
    #: The id, status and last update of each message, if a subset has few; otherwise nothing.
    entries: tuple[IndexEntry, ...] = ()

    @property
    def created(self) -> TimeRange:
        return TimeRange(self.start, self.granularity.end(self.start))

    @property
    def total(self) -> int:
        return self.by_status_and_update.total()

    @property
    def recipients(self) -> RecipientCounts:
        """To how many recipients its messages were sent, with which success."""
        return one_recipient(self.reached) + self.more

    @property
    def has_entries(self) -> bool:
        """Whether it has the entry of each of its messages."""
        return len(self.entries) == self.total

    @property
    def by_status(self) -> Counter[Status]:
        result = Counter[Status]()
        for (status, _), n in self.by_status_and_update.items():
            result[status] += n
        return result

    def count(self, statuses: frozenset[Status]) -> int:
        """Return the number of messages that now have one of the statuses."""
        return sum(n for (status, _), n in self.by_status_and_update.items() if status in statuses)

    def counts(
        self, statuses: frozenset[Status], updated: TimeRange
    ) -> Iterator[tuple[Status, int, int]]:
        """Return the counts for some statuses and a time range of updates.

        Each is a status, the start of a bucket of updates and a number of messages.
        """
        for (status, start), n in self.by_status_and_update.items():
            if status in statuses and start in updated:
                yield status, start, n


def roll_up_entries(granularity: Granularity, start: int, entries: Iterable[IndexEntry]) -> Rollup:
    result = Rollup(granularity, start)
    for entry in entries:
        result.by_status_and_update[entry.status, granularity.start(entry.updated)] += 1
        result.reached.update(entry.reached)
        result.more += entry.more
        if entry.error is not None:
            result.errors[entry.error] += 1
        if entry.wait:
            result.waits[entry.wait] += 1
    return result


def roll_up_subsets(
    granularity: Granularity, start: int, entries: Iterable[IndexEntry]
) -> Mapping[Subset, Rollup]:
    """Count the index entries of a bucket in each subset that has some."""
    by_subset: defaultdict[Subset, list[IndexEntry]] = defaultdict(list)
    for entry in entries:
        for subset in entry.subsets:
            by_subset[subset].append(entry)
    return {
        subset: roll_up_subset(subset, granularity, start, in_subset)
        for subset, in_subset in by_subset.items()
    }


def roll_up_subset(
    subset: Subset, granularity: Granularity, start: int, entries: Iterable[IndexEntry]
) -> Rollup:
    """Count the index entries of a bucket that one subset has, and keep them if they are few."""
    entries = [*entries]
    rollup = roll_up_entries(granularity, start, entries)
    if subset.kind is SubsetKind.TEMPLATE:
        rollup.shapes = bounded_shapes(count_shapes(entries))
    rollup.entries = _few(
        IndexEntry(entry.message_id, 0, entry.status, entry.updated) for entry in entries
    )
    return rollup


def count_shapes(entries: Iterable[IndexEntry]) -> Counter[str]:
    """Count the shapes of the entries that have one."""
    return Counter(entry.shape for entry in entries if entry.shape is not None)


def combine_rollups(granularity: Granularity, start: int, rollups: Iterable[Rollup]) -> Rollup:
    """Add up the finer rollups of a bucket."""
    result = Rollup(granularity, start, is_divisible=True)
    rollups = [*rollups]
    for rollup in rollups:
        for (status, updated), n in rollup.by_status_and_update.items():
            result.by_status_and_update[status, granularity.start(updated)] += n
        result.reached.update(rollup.reached)
        result.more += rollup.more
        result.errors.update(rollup.errors)
        result.waits.update(rollup.waits)
        result.shapes.update(rollup.shapes)
    result.shapes = bounded_shapes(result.shapes)
    if all(rollup.has_entries for rollup in rollups):
        result.entries = _few(entry for rollup in rollups for entry in rollup.entries)
    return result


def _few(entries: Iterable[IndexEntry]) -> tuple[IndexEntry, ...]:
    """Return entries by creation, or none if they are too many for a rollup."""
    by_creation = sorted(entries, key=lambda entry: entry.message_id.int)
    return tuple(by_creation) if len(by_creation) <= MAX_ROLLUP_ENTRIES else ()


@dataclass(frozen=True, slots=True)
class RecipientTerm:
    """An address in To, Cc or Bcc, or how one begins, as `mailbox_key` returns it."""

    text: str
    is_prefix: bool = False

    def matches(self, message: Message) -> bool:
        mailboxes = mailboxes_of(message)
        if self.is_prefix:
            return any(mailbox.startswith(self.text) for mailbox in mailboxes)
        return self.text in mailboxes


@dataclass(frozen=True, slots=True)
class TagTerm:
    """A tag: a name with a value."""

    name: str
    value: str
    is_prefix: ClassVar = False

    def matches(self, message: Message) -> bool:
        return message.origin.labels.tags.get(self.name) == self.value


type SearchTerm = RecipientTerm | TagTerm

#: The name of the tag by which an erasure finds the copies of a message. No sender can give it.
_COPY: Final = ""


def terms_of(message: Message) -> frozenset[SearchTerm]:
    """Return what a message can be found by.

    That is each recipient who was not erased, each tag, and the message whose content it repeats.
    """
    recipients = {RecipientTerm(mailbox) for mailbox in mailboxes_of(message)}
    original = message.origin.resend_of
    tags = {**message.origin.labels.tags} | ({_COPY: str(original)} if original else {})
    return frozenset(recipients | {TagTerm(name, value) for name, value in tags.items()})


def mailboxes_of(message: Message) -> set[str]:
    """Return the mailboxes of the recipients who were not erased."""
    return {*map(mailbox_key, message.recipients)} - {ERASED_ADDRESS}
