"""Quotas of accounts that send very often: several messages are counted at once."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import inf
from random import Random
from typing import Any, Final
from unittest.mock import patch

import pytest
from botocore.exceptions import ClientError
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.messages import quotas
from pillarbox.adapters.dynamodb.messages.quotas import DynamoQuotas
from pillarbox.domain.accounts.quota import (
    NOTHING,
    WINDOWS,
    Amount,
    Limits,
    QuotaExceeded,
    window_name,
)
from pillarbox.domain.errors import ServiceError, Unavailable
from tests.examples import examples
from tests.fakes.builders import messages
from tests.fakes.memory_tables import QuickTable

ACCOUNT: Final = "acct00000001"
START: Final = datetime(2026, 3, 14, 15, 0, tzinfo=UTC)
PARTITION: Final = 1_000
UNLIMITED: Final = Limits(per_minute=None, per_day=None, per_month=None)


class QuotaItem(QuickTable):
    """A table that counts its write units by second, and throttles above a partition's."""

    def __init__(self, most: float = PARTITION) -> None:
        super().__init__()
        self.now = START
        self.units: Counter[datetime] = Counter()
        self.throttled = 0
        self._most = most

    @property
    def counts(self) -> Mapping[str, int]:
        return self.get(keys.quota(ACCOUNT)) or {}

    def update_item(self, **request: Any) -> dict[str, Any]:
        """Make one conditional update; a failed one costs a unit too."""
        second = self.now.replace(microsecond=0)
        if self.units[second] >= self._most:
            self.throttled += 1
            raise failure("ProvisionedThroughputExceededException")
        self.units[second] += 1
        return super().update_item(**request)


def failure(code: str = "InternalServerError") -> ClientError:
    return ClientError({"Error": {"Code": code}}, "UpdateItem")


def process(item: QuotaItem) -> DynamoQuotas:
    """Return the quotas as a process of its own uses them."""
    quotas = DynamoQuotas(item)
    vars(quotas)["_refunds"] = item
    return quotas


@dataclass
class Run:
    """What the sends of some seconds led to."""

    item: QuotaItem
    accepted: Counter[datetime] = field(default_factory=Counter)
    refused: int = 0

    @property
    def most_units(self) -> int:
        """The largest number of write units in one second."""
        return max(self.item.units.values())

    @property
    def mean_units(self) -> float:
        """The mean number of write units in a second."""
        return sum(self.item.units.values()) / len(self.item.units)


def run(
    rate: float,
    seconds: float,
    *,
    limits: Limits = UNLIMITED,
    processes: int = 60,
    deaths: float = 0,
    start: datetime = START,
) -> Run:
    """Reserve for `rate` messages a second, at random moments and in random processes.

    So many processes a second die and are replaced.
    """
    draw = Random(1)  # noqa: S311  a repeatable schedule, not a secret
    item = QuotaItem()
    item.now = start
    result, pool = Run(item), [process(item) for _ in range(processes)]
    end = item.now + timedelta(seconds=seconds)
    while (now := item.now + timedelta(seconds=draw.expovariate(rate))) < end:
        item.now = now
        number = draw.randrange(processes)
        if draw.random() < deaths / rate:
            pool[number] = process(item)
        try:
            pool[number].reserve(ACCOUNT, Amount(1, 1), limits, now)
        except QuotaExceeded:
            result.refused += 1
        except Unavailable:
            continue
        else:
            result.accepted[now.replace(second=0, microsecond=0)] += 1
    return result


@contextmanager
def chunks_of(spare: int) -> Iterator[None]:
    """Let the processes count this many messages in advance from now on."""
    with patch.object(quotas.Chunk, "spare", lambda _: messages(spare)):
        yield


def limit_of(per_minute: int) -> Limits:
    return Limits(per_minute=per_minute, per_day=None, per_month=None)


def counted(item: QuotaItem, now: datetime = START) -> set[int]:
    return {item.counts[window_name(window, now)] for window in WINDOWS}


def units(item: QuotaItem) -> int:
    return sum(item.units.values())


@pytest.mark.slow
def test_a_thousand_messages_a_second_do_not_throttle_the_item() -> None:
    """At 1,000 a second from 60 processes, also in a new minute, no write is throttled."""
    done = run(1_000, 14, start=START + timedelta(seconds=53))
    assert len(done.accepted) == 2
    assert done.item.throttled == 0
    assert done.most_units <= PARTITION
    assert done.mean_units < quotas.CHUNKED_RATE


def test_one_by_one_the_item_would_be_throttled() -> None:
    """The same messages, each counted by itself, exceed what the partition takes."""
    with patch.object(quotas, "CHUNKED_RATE", inf):
        assert run(1_000, 2).item.throttled > 0


def test_a_slow_account_counts_each_message_by_itself() -> None:
    """At 200 a second each send is one update, and nothing is counted in advance."""
    done = run(200, 5)
    assert units(done.item) == done.accepted.total()
    assert counted(done.item) == {done.accepted.total()}


@pytest.mark.parametrize(("rate", "spare"), [(0, 0), (299, 0), (300, 1), (1_000, 3), (3_000, 10)])
def test_a_chunk_grows_with_the_rate(rate: float, spare: int) -> None:
    """A chunk has a spare message for each 300 a second, so about 300 updates remain."""
    assert quotas.Chunk(START, UNLIMITED, rate=rate, room=None).spare().messages == spare


@pytest.mark.parametrize(("room", "spare"), [(0, 0), (999, 0), (1_000, 1), (3_000, 3), (9**9, 10)])
def test_a_chunk_ends_before_the_room(room: int, spare: int) -> None:
    """A chunk is at most a thousandth of the room that is left, so the last messages fit."""
    assert quotas.Chunk(START, UNLIMITED, rate=3_000, room=room).spare().messages == spare


@pytest.mark.slow
def test_a_full_window_has_accepted_its_limit() -> None:
    """At 1,000 a second a limit of 5,000 is used up to within half a percent."""
    done = run(1_000, 7, limits=limit_of(5_000))
    assert 4_975 <= done.accepted.total() <= 5_000


def test_a_chunk_serves_several_messages() -> None:
    """With three spare messages, four sends are one update."""
    item = QuotaItem()
    quota = process(item)
    with chunks_of(3):
        for _ in range(8):
            quota.reserve(ACCOUNT, messages(1), UNLIMITED, START)
    assert (units(item), counted(item)) == (2, {8})


def test_several_messages_use_up_the_chunk_first() -> None:
    """A batch takes what is left of the chunk, and counts only the others and new spare ones."""
    item = QuotaItem()
    quota = process(item)
    with chunks_of(3):
        quota.reserve(ACCOUNT, messages(1), UNLIMITED, START)
        quota.reserve(ACCOUNT, messages(100), UNLIMITED, START)
    assert counted(item) == {104}


def test_spare_messages_never_cost_the_last_ones() -> None:
    item = QuotaItem()
    with chunks_of(3):
        for _ in range(2):
            process(item).reserve(ACCOUNT, messages(1), limit_of(5), START)
        with pytest.raises(QuotaExceeded):
            process(item).reserve(ACCOUNT, messages(1), limit_of(5), START)
    assert counted(item) == {5}


def test_a_refusal_reports_the_room_with_the_chunk() -> None:
    """What is left of a process's own chunk is not used, so a smaller batch gets it."""
    quota = process(QuotaItem())
    with chunks_of(3):
        quota.reserve(ACCOUNT, messages(1), limit_of(5), START)
        with pytest.raises(QuotaExceeded) as error:
            quota.reserve(ACCOUNT, messages(6), limit_of(5), START)
        assert error.value.headers["RateLimit-Remaining"] == "4"
        quota.reserve(ACCOUNT, messages(4), limit_of(5), START)
        with pytest.raises(QuotaExceeded):
            quota.reserve(ACCOUNT, messages(1), limit_of(5), START)


@pytest.mark.parametrize("frozen", [60, 3_600, 86_400 * 40])
def test_a_thawed_process_refunds_its_chunk(frozen: float) -> None:
    """A chunk is not used after its minute: the rest is refunded to the windows that counted it."""
    item = QuotaItem()
    quota, later = process(item), START + timedelta(seconds=frozen)
    with chunks_of(3):
        quota.reserve(ACCOUNT, messages(1), UNLIMITED, START)
    quota.reserve(ACCOUNT, messages(1), UNLIMITED, later)
    assert item.counts[window_name("minute", START)] == 1
    assert item.counts[window_name("minute", later)] == 1
    same_day = frozen < 9 * 3_600
    assert item.counts[window_name("day", later)] == 1 + same_day


def test_a_refund_that_fails_does_not_fail_the_send() -> None:
    """If the rest of a chunk cannot be refunded, the quota is too strict by it."""
    item, refunds = QuotaItem(), QuotaItem(most=0)
    quota = process(item)
    vars(quota)["_refunds"] = refunds
    with chunks_of(3):
        quota.reserve(ACCOUNT, messages(1), UNLIMITED, START)
    later = START + timedelta(minutes=1)
    for _ in range(2):
        quota.reserve(ACCOUNT, messages(1), UNLIMITED, later)
    assert refunds.throttled == 1
    assert item.counts[window_name("day", START)] == 6


def test_a_new_limit_applies_at_once() -> None:
    item = QuotaItem()
    quota = process(item)
    with chunks_of(3):
        quota.reserve(ACCOUNT, messages(1), limit_of(100), START)
    quota.reserve(ACCOUNT, messages(1), limit_of(2), START)
    with pytest.raises(QuotaExceeded):
        quota.reserve(ACCOUNT, messages(1), limit_of(2), START)
    assert counted(item) == {2}


def test_a_failed_update_keeps_the_chunk() -> None:
    """If the table does not answer, what was left of the chunk serves the next send."""
    item = QuotaItem()
    quota = process(item)
    with chunks_of(3):
        quota.reserve(ACCOUNT, messages(1), UNLIMITED, START)
        with patch.object(item, "_most", 0), pytest.raises(Unavailable):
            quota.reserve(ACCOUNT, messages(5), UNLIMITED, START)
        quota.reserve(ACCOUNT, messages(3), UNLIMITED, START)
    assert (units(item), counted(item)) == (1, {4})


def test_accounts_have_chunks_of_their_own() -> None:
    item = QuotaItem(most=inf)
    quota = process(item)
    with chunks_of(1):
        for number in range(1_001):
            quota.reserve(f"acct{number}", messages(1), UNLIMITED, START)
        quota.reserve("acct1000", messages(1), UNLIMITED, START)
        assert units(item) == 1_001, "the newest account has its chunk"
        quota.reserve("acct0", messages(1), UNLIMITED, START)
        assert units(item) == 1_002, "the oldest account's chunk is forgotten"


@pytest.mark.parametrize(("pause", "in_chunks"), [(59, True), (61, False)])
def test_a_rate_is_known_for_a_minute(pause: float, *, in_chunks: bool) -> None:
    """A new minute goes on in chunks, but a send a minute after a burst counts one message."""
    item = QuotaItem(most=inf)
    quota = process(item)
    for step in range(1_000):
        quota.reserve(ACCOUNT, messages(1), UNLIMITED, START + timedelta(milliseconds=step))
    assert units(item) < 1_000
    later = START + timedelta(seconds=pause + 1)
    for _ in range(2):  # the first finds how much room the new minute has
        quota.reserve(ACCOUNT, messages(1), UNLIMITED, later)
    assert (item.counts[window_name("minute", later)] > 2) == in_chunks


@pytest.mark.parametrize("recipients", [1, 3, 50])
def test_a_chunk_has_the_recipients_of_its_messages(recipients: int) -> None:
    """An account that sends to several recipients at 1,000 a second needs as few updates."""
    item = QuotaItem(most=inf)
    quota = process(item)
    for step in range(4_000):
        now = START + timedelta(milliseconds=step)
        quota.reserve(ACCOUNT, messages(1, recipients), UNLIMITED, now)
    assert units(item) < 2_000
    assert 4_000 <= item.counts[window_name("minute", START)] <= 4_010
    unused = item.counts[window_name("recipients", START)] - 4_000 * recipients
    assert 0 <= unused <= 10 * recipients


def test_messages_of_mixed_sizes_stay_in_chunks() -> None:
    """If every tenth message has fifty recipients, the item is still updated less often."""
    item = QuotaItem(most=inf)
    quota = process(item)
    for step in range(4_000):
        amount = messages(1, 50 if step % 10 == 0 else 1)
        quota.reserve(ACCOUNT, amount, UNLIMITED, START + timedelta(milliseconds=step))
    assert units(item) < 2_500


def test_chunks_end_before_the_recipients_do() -> None:
    item = QuotaItem(most=inf)
    quota, limits, accepted = process(item), replace(UNLIMITED, recipients_per_day=3_000), 0
    with suppress(QuotaExceeded):
        for step in range(4_000):
            quota.reserve(ACCOUNT, messages(1), limits, START + timedelta(milliseconds=step))
            accepted += 1
    assert accepted == 3_000


class FaultyItem(QuotaItem):
    """A quota item whose updates fail, or after which other processes come first."""

    def __init__(self) -> None:
        super().__init__(most=inf)
        self.fault: str | None = None
        self.first: Callable[[], object] | None = None

    def update_item(self, **request: Any) -> dict[str, Any]:
        first, self.first = self.first, None
        if first:
            first()
        fault, self.fault = self.fault, None
        if fault == "before":
            raise failure()
        item = super().update_item(**request)
        if fault == "after":
            raise failure()
        return item


@pytest.mark.parametrize(("seconds", "updates"), [(0, 2), (60, 3)])
def test_threads_share_a_chunk(seconds: float, updates: int) -> None:
    """Two threads' spare messages add up, and those of the last minute are not used in the next."""
    item = FaultyItem()
    quota, now = process(item), START + timedelta(seconds=seconds)
    with chunks_of(3):
        item.first = lambda: quota.reserve(ACCOUNT, messages(1), UNLIMITED, now)
        quota.reserve(ACCOUNT, messages(1), UNLIMITED, START)
    for _ in range(6 if seconds == 0 else 4):
        quota.reserve(ACCOUNT, messages(1), UNLIMITED, now)
    assert units(item) == updates
    assert item.counts[window_name("minute", now)] == (8 if seconds == 0 else 5)


@dataclass
class Member:
    """A process with a clock of its own, and the reservations that it may refund."""

    quotas: DynamoQuotas
    skew: timedelta
    accepted: list[tuple[Amount, datetime]] = field(default_factory=list)


class Fleet:
    """Processes that share a quota, and what they have accepted in each window."""

    def __init__(self) -> None:
        self.item, self.now = FaultyItem(), START
        self.members = [self._start(skew) for skew in (-15, 0, 0, 15)]
        self.accepted: Counter[str] = Counter()

    def _start(self, skew: float) -> Member:
        return Member(process(self.item), timedelta(seconds=skew))

    def reserve(self, number: int, amount: Amount, limits: Limits) -> None:
        member = self.members[number]
        now = self.now + member.skew
        with suppress(QuotaExceeded, Unavailable):
            member.quotas.reserve(ACCOUNT, amount, limits, now)
            member.accepted.append((amount, now))
            self.add(amount, now)

    def refund(self, number: int) -> None:
        member = self.members[number]
        if member.accepted:
            amount, now = member.accepted.pop()
            self.add(NOTHING - amount, now)
            with suppress(ServiceError):
                member.quotas.refund(ACCOUNT, amount, now)

    def die(self, number: int) -> None:
        self.members[number] = self._start(self.members[number].skew.total_seconds())

    def add(self, amount: Amount, now: datetime) -> None:
        for window in WINDOWS:
            self.accepted[window_name(window, now)] += amount.of(window)


MEMBERS = st.integers(0, 3)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["reserve"] * 8 + ["refund", "die"]),
        MEMBERS,
        st.builds(messages, st.integers(1, 4), st.integers(1, 3)),
        st.sampled_from([0.0] * 4 + [0.1, 0.6, 7.0, 31.0, 59.0, 60.0, 7_000.0]),
        st.sampled_from([None] * 8 + ["before", "after"]),
        st.none() | MEMBERS,
    ),
    max_size=60,
)
LIMITS = st.builds(
    Limits,
    per_minute=st.none() | st.integers(0, 25),
    per_day=st.none() | st.integers(0, 60),
    per_month=st.none() | st.integers(0, 90),
    recipients_per_day=st.none() | st.integers(0, 100),
)


@settings(max_examples=examples(100), deadline=None)
@given(LIMITS, STEPS, st.integers(0, 86_400 * 2))
@example(limit_of(25), [("reserve", 1, messages(1), 0.6, None, None)] * 40, 0)
@pytest.mark.slow
def test_no_schedule_exceeds_a_quota(
    limits: Limits, steps: list[tuple[str, int, Amount, float, str | None, int | None]], start: int
) -> None:
    """Processes with different clocks that die, freeze and fail never exceed a limit (promise 6).

    The rate and the share are small here, so that chunks form in any schedule.
    """
    fleet = Fleet()
    fleet.now = START + timedelta(days=16, seconds=start)  # a month ends within these two days
    with (
        patch.object(quotas, "CHUNKED_RATE", 1),
        patch.object(quotas, "_SHARE", 3),
        patch.object(quotas, "_MAX_ATTRIBUTES", 6),
    ):
        for action, number, amount, wait, fault, other in steps:
            fleet.now += timedelta(seconds=wait)
            fleet.item.fault = fault
            if other is not None and other != number:
                fleet.item.first = lambda other=other, amount=amount: fleet.reserve(
                    other, amount, limits
                )
            match action:
                case "reserve":
                    fleet.reserve(number, amount, limits)
                case "refund":
                    fleet.refund(number)
                case "die":
                    fleet.die(number)
            fleet.item.first = None
            for window in WINDOWS:
                limit = limits.of(window)
                highest = max(
                    (n for name, n in fleet.accepted.items() if name.startswith(window)), default=0
                )
                assert limit is None or highest <= limit


def test_chunks_form_in_the_schedules() -> None:
    """The settings of the test above do lead to chunks, so it shows something about them."""
    fleet = Fleet()
    with patch.object(quotas, "CHUNKED_RATE", 1), patch.object(quotas, "_SHARE", 3):
        for _ in range(40):
            fleet.now += timedelta(seconds=0.1)
            fleet.reserve(1, messages(1), limit_of(1_000))
    assert units(fleet.item) < 20
