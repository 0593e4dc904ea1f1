"""The sending rate of the SES account: workers share one token bucket in the table."""

import random
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.messages.sending_rate import DynamoSendingRate
from tests.examples import examples
from tests.fakes.builders import ACCOUNT, NOW
from tests.fakes.memory_tables import QuickTable
from tests.fakes.simulation import Simulation

#: The part of the granted rate that workers use.
USED = 0.98

OTHER = "acct00000002"


class Case:
    """Workers that use 14 recipients a second, with a clock of their own."""

    def __init__(self) -> None:
        self.now = NOW
        self.rate: float | None = 14 / USED
        self.reads = 0
        self.table = QuickTable()
        self.one, self.other = self.worker(), self.worker()

    def worker(self) -> DynamoSendingRate:
        return DynamoSendingRate(self.table, self.read_rate, lambda: self.now, self.pause)

    def pause(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def read_rate(self) -> float | None:
        self.reads += 1
        return self.rate

    def seconds(self) -> float:
        return (self.now - NOW).total_seconds()

    def send(self, recipients: int = 1, *, urgent: bool = False, age: float = 0) -> float:
        """Take the tokens of an email at once or after a pause, and return the pause."""
        before, since = self.seconds(), self.now - timedelta(seconds=age)
        assert self.one.acquire(ACCOUNT, recipients, urgent=urgent, since=since) is None
        return self.seconds() - before

    def drain(self) -> None:
        """Take tokens until there are none."""
        while not self.send():
            pass


@pytest.fixture
def case() -> Case:
    random.seed(1)  # a wait is spread at random
    return Case()


@pytest.mark.parametrize("rate", [1.0, 14.0])
def test_a_lone_worker_sends_at_the_full_rate(case: Case, rate: float) -> None:
    """After a burst of at most one second, a single worker has the whole rate that is used."""
    case.rate = rate / USED
    case.drain()
    start = case.seconds()
    for _ in range(20):
        case.send()
    assert case.seconds() - start == pytest.approx(20 / rate, rel=0.001)


def test_each_recipient_counts(case: Case) -> None:
    """An email to seven recipients waits as long as seven emails to one."""
    case.drain()
    assert case.send(7) == pytest.approx(0.5, abs=0.001)


def test_an_email_above_the_rate_is_sent_and_delays_the_next(case: Case) -> None:
    """With 50 recipients an email is sent when the bucket is full; the next one repays the debt."""
    assert case.send(50) == 0
    # The bucket had 12.6 tokens: 0.9 seconds of the rate.
    assert case.send(3) == pytest.approx((50 - 12.6 + 3) / 14, abs=0.03)


def test_a_large_email_is_not_overtaken_for_ever(case: Case) -> None:
    """An email to 14 recipients gets its tokens while others take every token that comes."""
    case.drain()
    assert case.other.acquire(ACCOUNT, 14, urgent=False) is None
    assert case.send() == pytest.approx(1 / 14, abs=0.01)


def test_urgent_mail_goes_before_the_tokens_come(case: Case) -> None:
    """Ordinary mail empties the bucket; urgent mail may leave a debt of a fifth of a second."""
    case.drain()
    # The last ordinary email had to wait for its token, so this one is at the bucket's zero.
    assert [case.send(urgent=True) for _ in range(2)] == [0, 0]
    assert case.send(urgent=True) > 0
    before = case.seconds()
    assert case.other.acquire(OTHER, 1, urgent=False) is None
    assert case.seconds() > before + 0.2


def test_urgent_mail_goes_before_mail_that_waits_for_its_tokens(case: Case) -> None:
    """In the sandbox a code departs soon although the next token is taken already."""
    case.rate = 1 / USED
    case.send()
    departures: list[float] = []

    def depart(seconds: float) -> None:
        departures.append(case.seconds() + seconds)

    waiting = DynamoSendingRate(case.table, case.read_rate, lambda: case.now, depart)
    case.pause(0.5)
    assert waiting.acquire(ACCOUNT, 1, urgent=False) is None
    assert departures == [pytest.approx(1.1, abs=0.01)]
    case.pause(0.5)
    # The other one departs 0.1 seconds from now, with a whole token; the code leaves a debt.
    assert case.send(urgent=True) == pytest.approx(0.35, abs=0.01)


def test_mail_that_has_to_wait_comes_back_one_after_another(case: Case) -> None:
    """After a large email each other one gets a turn of its own, when its tokens come."""
    case.rate = 1 / USED
    case.send(50)
    waits = [case.one.acquire(ACCOUNT, 2, urgent=False) for _ in range(10)]
    seconds = [wait.total_seconds() for wait in waits if wait]
    assert seconds[0] >= 49
    assert [later - earlier for earlier, later in pairwise(seconds)] == [
        pytest.approx(2, abs=0.01)
    ] * 9


def test_urgent_mail_has_turns_of_its_own(case: Case) -> None:
    case.rate = 1 / USED
    case.send(50)
    for _ in range(10):
        ordinary = case.one.acquire(ACCOUNT, 10, urgent=False)
    urgent = case.one.acquire(ACCOUNT, 1, urgent=True)
    assert ordinary
    assert urgent
    assert urgent < timedelta(seconds=51) < ordinary


def test_each_account_comes_back_at_the_full_rate(case: Case) -> None:
    """Of two accounts each has turns as if it were alone, so no token is left when one has none."""
    case.rate = 1 / USED
    case.send(50)
    for account_id in (ACCOUNT, OTHER):
        waits = [case.worker().acquire(account_id, 1, urgent=False) for _ in range(20)]
        assert 68 <= max(wait.total_seconds() for wait in waits if wait) <= 70


def test_no_wait_is_longer_than_a_quarter_of_an_hour(case: Case) -> None:
    """If very many wait, they come back at different times within 10 to 15 minutes."""
    case.rate = 1 / USED
    case.send(50)
    waits = [case.one.acquire(ACCOUNT, 50, urgent=False) for _ in range(40)]
    assert max(wait for wait in waits if wait) <= timedelta(minutes=15)
    late = {wait for wait in waits[20:] if wait and wait >= timedelta(minutes=10)}
    assert len(late) == 20


def test_codes_do_not_wait_in_the_line_of_ordinary_mail(case: Case) -> None:
    """Two accounts compete, one has a backlog and sends codes, and each worker is a new one."""
    case.rate = 1 / USED
    case.send(50)

    def longest(count: int, *, urgent: bool) -> timedelta:
        waits = []
        for _ in range(count):
            case.worker().acquire("other000", 1, urgent=False)
            waits.append(case.worker().acquire(ACCOUNT, 1, urgent=urgent))
        return max(wait for wait in waits if wait)

    assert timedelta(minutes=1) < longest(60, urgent=False) <= timedelta(minutes=15)
    assert longest(8, urgent=True) < timedelta(minutes=1)


def test_a_returned_wait_took_no_token(case: Case) -> None:
    case.rate = 1 / USED
    case.send(50)
    assert case.other.acquire(ACCOUNT, 50, urgent=False)
    assert case.one.acquire(ACCOUNT, 1, urgent=True)
    case.now += timedelta(seconds=50)
    assert case.send() <= 1.01


def test_a_throttle_halves_the_rate_of_all_workers(case: Case) -> None:
    case.drain()
    case.one.slow_down(ACCOUNT, 1, urgent=False)
    case.other.slow_down(ACCOUNT, 1, urgent=False)
    assert case.other.acquire(ACCOUNT, 1, urgent=False) is None
    assert case.send(age=4) == pytest.approx(2 / 14, rel=0.1)
    case.now += timedelta(seconds=6)
    case.drain()
    assert case.send() == pytest.approx(1 / 14, rel=0.01)


def test_recipients_whom_ses_refused_do_not_count_for_their_account(case: Case) -> None:
    """The tries of a minute of throttling would put an account's codes behind all other mail."""
    case.rate = 1 / USED
    case.send(50)
    assert case.other.acquire(OTHER, 1, urgent=False)
    case.now += timedelta(seconds=52)
    assert case.send(2) <= 1
    numbers = []
    for _ in range(2):
        item = case.table.get(keys.sending_rate())
        assert item
        numbers.append((item["share_" + ACCOUNT], item["slowed_to"]))
        case.one.slow_down(ACCOUNT, 2, urgent=False)
    item = case.table.get(keys.sending_rate())
    assert item
    numbers.append((item["share_" + ACCOUNT], item["slowed_to"]))
    assert numbers == [(1, 100), (-1, 50), (-3, 50)]


def test_lines_go_at_the_full_rate_while_ses_throttles(case: Case) -> None:
    """Email that came back after the slowed rate's time would be late when SES grants all again."""
    case.rate = 1 / USED
    case.send(50)
    case.one.slow_down(ACCOUNT, 50, urgent=False)
    waits = [case.one.acquire(ACCOUNT, 1, urgent=False) for _ in range(3)]
    seconds = [wait.total_seconds() for wait in waits if wait]
    assert [later - earlier for earlier, later in pairwise(seconds)] == [
        pytest.approx(1, abs=0.01)
    ] * 2


def test_the_rate_never_falls_below_a_tenth(case: Case) -> None:
    """However often SES throttles, a tenth of the rate stays."""
    case.drain()
    for _ in range(20):
        case.now += timedelta(seconds=1.001)
        case.one.slow_down(ACCOUNT, 1, urgent=False)
    case.drain()
    assert case.send() <= 10 / 14


def test_the_rate_is_read_once_an_hour_by_one_worker(case: Case) -> None:
    case.send()
    assert case.other.acquire(ACCOUNT, 1, urgent=False) is None
    case.now += timedelta(minutes=59)
    case.send()
    assert case.reads == 1
    case.now += timedelta(minutes=2)
    case.rate = 28 / USED
    case.send()
    assert case.other.acquire(ACCOUNT, 1, urgent=False) is None
    assert case.reads == 2
    case.drain()
    assert sum(case.send() for _ in range(28)) == pytest.approx(1, abs=0.1)


def test_without_an_answer_the_last_rate_stays(case: Case) -> None:
    """If SES does not say its rate any more, the old one applies and is read a minute later."""
    case.send()
    case.rate = None
    case.now += timedelta(minutes=61)
    case.drain()
    assert case.send() == pytest.approx(1 / 14, rel=0.01)
    assert case.reads == 2
    case.now += timedelta(minutes=1)
    case.send()
    assert case.reads == 3


def test_an_unknown_rate_is_no_limit(case: Case) -> None:
    """If SES reports no rate, emails are sent at once, and the rate is read a minute later."""
    case.rate = None
    assert [case.send(50) for _ in range(100)] == [0] * 100
    assert case.reads == 1
    case.rate = 14 / USED
    case.now += timedelta(minutes=1)
    case.drain()
    assert case.reads == 2


def test_an_unreachable_table_stops_no_mail(case: Case) -> None:
    """If the table cannot be reached emails are sent at once; SES itself is the limit."""
    case.drain()
    case.table.fails = True
    assert [case.send(50) for _ in range(10)] == [0] * 10
    case.one.slow_down(ACCOUNT, 1, urgent=False)
    case.table.fails = False
    assert case.send() > 0


def test_a_deleted_bucket_stops_no_mail(case: Case) -> None:
    """If somebody deletes the item, an email is sent at once, and the next one creates it."""
    case.drain()
    case.table.delete(keys.sending_rate())
    assert case.send() == 0
    assert case.table.get(keys.sending_rate()) is None
    assert case.send() == 0
    assert case.table.get(keys.sending_rate()) is not None


def test_a_throttle_ends_the_use_of_tokens_in_advance(case: Case) -> None:
    """A worker that SES throttled takes new tokens, at the lower rate."""
    case.rate = 100.0
    for _ in range(8):
        case.send()
    writes = case.table.writes
    case.send()
    assert case.table.writes == writes  # it had tokens left
    case.one.slow_down(ACCOUNT, 1, urgent=False)
    case.send()
    assert case.table.writes == writes + 2


def test_a_high_rate_takes_few_writes(case: Case) -> None:
    """At 1,000 a second a worker that sends ten a second writes once for about ten emails."""
    case.rate = 1000.0
    for _ in range(200):
        assert case.send() == 0
        case.now += timedelta(seconds=0.1)
    assert case.table.writes < 200 * 0.2


def test_the_next_email_has_the_tokens_that_one_gave_back(case: Case) -> None:
    case.drain()
    case.one.give_back(1)
    assert case.send() == 0
    assert case.send() > 0


def test_unused_tokens_of_a_worker_lapse(case: Case) -> None:
    """Tokens that a worker took and did not use within a second are worth nothing."""
    case.rate = 100.0
    for _ in range(8):
        case.send()
    writes = case.table.writes
    case.now += timedelta(seconds=1)
    case.send()
    assert case.table.writes == writes + 1


SCHEDULES = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 0.0, 0.05, 0.3, 2.0]),
            st.sampled_from([1, 1, 1, 2, 3, 20, 50]),
            st.booleans(),
        ),
        max_size=12,
    ),
    min_size=1,
    max_size=5,
)


@pytest.mark.parametrize("rate", [1.0, 14.0, 100.0])
@settings(max_examples=examples(10), deadline=None)
@given(schedules=SCHEDULES)
@pytest.mark.slow
def test_no_window_has_more_tokens_than_the_rate_and_a_burst(
    rate: float, schedules: list[list[tuple[float, int, bool]]]
) -> None:
    """When several workers ask for tokens, each window gets its rate and one burst at most.

    The burst is one second, a fifth of one for urgent mail (both at least one token), what an
    email to more recipients than that is over, and a second's leases at a high rate.
    """
    random.seed(1)
    simulation, table = Simulation(), QuickTable()
    departures: list[tuple[float, int]] = []
    running = len(schedules)

    def work(schedule: list[tuple[float, int, bool]]) -> None:
        nonlocal running
        worker = DynamoSendingRate(table, lambda: rate, lambda: simulation.now, simulation.sleep)
        for pause, recipients, urgent in schedule:
            simulation.sleep(pause)
            if worker.acquire(ACCOUNT, recipients, urgent=urgent) is None:
                departures.append(((simulation.now - NOW).total_seconds(), recipients))
        running -= 1

    for schedule in schedules:
        simulation.start(lambda schedule=schedule: work(schedule))  # type: ignore[misc]
    simulation.run(lambda: not running)
    size = max(rate, 1.0)
    burst = size + max(rate / 5, 1.0) + (rate if rate >= 20 else 0)
    burst += max((max(recipients - size, 0) for _, recipients in departures), default=0)
    for first, (start, _) in enumerate(departures):
        taken = 0
        for end, recipients in departures[first:]:
            taken += recipients
            assert taken <= rate * (end - start) + burst + 0.001


@pytest.mark.parametrize(("rate", "recipients", "longest"), [(1.0, 3, 5), (14.0, 30, 7)])
def test_a_worker_never_waits_longer_than_its_function_allows(
    rate: float, recipients: int, longest: float
) -> None:
    """However often others take the tokens first, an email gets a turn after 9 s at most.

    Up to seven seconds are for the waits, and the others for the tokens that it takes in the end.
    """
    random.seed(1)
    simulation, table = Simulation(), QuickTable()
    waits: list[float] = []

    def work() -> None:
        worker = DynamoSendingRate(table, lambda: rate, lambda: simulation.now, simulation.sleep)
        for _ in range(4):
            start = simulation.now
            worker.acquire(ACCOUNT, recipients, urgent=False)
            waits.append((simulation.now - start).total_seconds())
            simulation.sleep(0.1)

    for _ in range(10):
        simulation.start(work)
    simulation.run(lambda: len(waits) == 40)
    assert max(waits) <= longest + 1 / USED + 0.25


@pytest.mark.parametrize(("recipients", "waits"), [(1, False), (2, False), (10, True), (50, True)])
def test_an_email_to_many_leaves_tokens_to_others(
    case: Case, recipients: int, *, waits: bool
) -> None:
    """Behind another account's email it comes back, although the bucket has tokens."""
    case.rate = 1 / USED
    case.send(50)
    assert case.one.acquire(OTHER, 1, urgent=False)
    case.now += timedelta(seconds=51)
    assert bool(case.worker().acquire(ACCOUNT, recipients, urgent=False)) == waits


def test_codes_do_not_pay_for_the_ordinary_mail_of_their_account(case: Case) -> None:
    case.rate = 1 / USED
    case.send(20)
    assert case.other.acquire(OTHER, 1, urgent=False)
    case.now += timedelta(seconds=20)
    case.send()
    before = case.seconds()
    assert case.worker().acquire(ACCOUNT, 1, urgent=True) is None
    assert case.seconds() - before <= 1


def test_urgent_email_of_a_burst_does_not_hold_its_worker(case: Case) -> None:
    """In the sandbox one code of a burst waits in its worker; the others come back later."""
    case.rate = 1 / USED
    waited: list[float] = []
    worker = DynamoSendingRate(case.table, case.read_rate, lambda: case.now, waited.append)
    waits = [worker.acquire(OTHER, 1, urgent=True) for _ in range(4)]
    assert sum(wait is None for wait in waits) <= 3
    waited.clear()
    assert None not in [worker.acquire(OTHER, 1, urgent=True) for _ in range(20)]
    assert waited == []
    before = case.seconds()
    assert case.one.acquire(ACCOUNT, 1, urgent=True) is None
    assert case.seconds() - before <= 2


def test_a_code_that_comes_back_waits_for_its_tokens(case: Case) -> None:
    """In the sandbox a new code goes to the end of its account's line, one from there waits."""
    case.rate = 1 / USED
    rate = DynamoSendingRate(case.table, case.read_rate, lambda: case.now, lambda _: None)
    waits = [rate.acquire(ACCOUNT, 1, urgent=True) for _ in range(6)]
    assert waits[-1]
    assert case.other.acquire(ACCOUNT, 1, urgent=True)
    case.now += timedelta(seconds=1)
    assert case.other.acquire(ACCOUNT, 1, urgent=True, comes_back=True) is None


def test_the_item_costs_one_write_unit(case: Case) -> None:
    """With very many accounts that wait it has sixteen lanes, and at most one kilobyte."""
    case.rate = 1 / USED
    case.send(50)
    for number in range(60):
        case.other.acquire(f"account{number:05}", 1, urgent=number % 2 == 0)
    item = case.table.get(keys.sending_rate())
    assert item
    assert sum(name.startswith("share_") for name in item) == 16
    texts = [str(value) for value in item.values()]
    assert sum(len(name) for name in item) + sum(len(text) // 2 + 2 for text in texts) <= 1024
    case.now += timedelta(minutes=10)
    assert case.worker().acquire(ACCOUNT, 1, urgent=False) is None
    item = case.table.get(keys.sending_rate())
    assert item
    assert not [name for name in item if name.startswith("share_")]


def test_codes_without_a_lane_have_a_line_beside_that_of_such_mail(case: Case) -> None:
    """When sixteen lanes wait, a further account's code comes back before others' ordinary mail."""
    case.rate = 1 / USED
    case.send(50)
    for number in range(16):
        case.other.acquire(f"account{number:05}", 1, urgent=False)
    waits = [case.other.acquire(OTHER, 1, urgent=number == 30) for number in range(31)]
    assert waits[29]
    assert waits[30]
    assert waits[30] < timedelta(seconds=52) < timedelta(seconds=78) < waits[29]


def test_an_email_waits_if_the_table_throttles(case: Case) -> None:
    """Without its tokens it would leave faster than SES grants, so it comes back."""
    case.drain()
    case.table.error = "ProvisionedThroughputExceededException"
    case.table.fails = True
    wait = case.other.acquire(ACCOUNT, 1, urgent=True)
    assert wait
    assert timedelta(seconds=1) <= wait <= timedelta(seconds=2)


def test_a_batch_takes_its_tokens_together() -> None:
    """Ten threads of a worker take their tokens with two writes, and depart one after another."""
    simulation = Simulation()

    class SlowTable(QuickTable):
        def _check(self) -> None:
            simulation.sleep(0.004)

    departures: list[float] = []
    table = SlowTable()
    worker = DynamoSendingRate(
        table, lambda: 100.0, lambda: simulation.now, simulation.sleep, simulation.lock()
    )

    def take(recipients: int) -> None:
        assert worker.acquire(ACCOUNT, recipients, urgent=False) is None
        departures.append((simulation.now - NOW).total_seconds())

    def work() -> None:
        take(100)
        before = table.writes
        simulation.together([lambda: take(1)] * 10)
        writes.append(table.writes - before)

    writes: list[int] = []
    simulation.start(work)
    simulation.run(lambda: bool(writes))
    assert writes[0] <= 2
    assert all(later - earlier >= 0.009 for earlier, later in pairwise(departures[1:]))


def test_a_worker_that_gets_no_rate_uses_the_bucket_of_another_one(case: Case) -> None:
    """SES answers one of several workers that begin together; the others wait for tokens too."""

    def throttled() -> float | None:
        case.one.acquire(ACCOUNT, 50, urgent=False)
        return None

    worker = DynamoSendingRate(case.table, throttled, lambda: case.now, case.pause)
    before = case.seconds()
    worker.acquire(ACCOUNT, 1, urgent=False)
    assert case.seconds() > before + 1
