"""The sending rate of the SES account: workers share one token bucket in the table."""

import random
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.messages.sending_rate import DynamoSendingRate
from pillarbox.adapters.dynamodb.messages.shares import Shares
from pillarbox.adapters.dynamodb.messages.token_bucket import SECOND, TokenBucket
from tests.examples import examples
from tests.fakes.builders import ACCOUNT, NOW
from tests.fakes.quick_table import QuickTable
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

    def send(self, recipients: int = 1, *, urgent: bool = False) -> float:
        """Take the tokens of an email at once or after a pause, and return the pause."""
        before = self.seconds()
        assert self.one.acquire(ACCOUNT, recipients, urgent=urgent) is None
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


def test_workers_share_one_bucket(case: Case) -> None:
    """What one worker takes, another one lacks."""
    case.drain()
    assert case.other.acquire(ACCOUNT, 1, urgent=False) is None
    assert case.send() > 0.07


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


def test_mail_does_not_leave_between_the_codes_of_its_account() -> None:
    """Codes that wait hold back the ordinary mail of their account alone, for four tokens."""
    entered = Shares({}, 0, SECOND).enter(ACCOUNT, urgent=True)
    times = {charge.name: charge.start for charge in entered} | {OTHER: -2 * SECOND}
    assert len(times) == 3
    after = [Shares(times, seconds * SECOND, SECOND) for seconds in (0, 3, 4)]
    assert [shares.excess(ACCOUNT, urgent=False) for shares in after] == [2, 2, 0]
    assert [shares.excess(OTHER, urgent=False) for shares in after] == [0, 0, 0]
    assert after[1].enter(ACCOUNT, urgent=True)[0].name == ACCOUNT
    assert [Shares(times, 0, SECOND).enter(ACCOUNT, urgent=urgent) for urgent in (True, False)] == [
        [],
        [],
    ]


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
    """A backlog of ordinary mail does not delay the turn of a code."""
    case.rate = 1 / USED
    case.send(50)
    for _ in range(10):
        ordinary = case.one.acquire(ACCOUNT, 10, urgent=False)
    urgent = case.one.acquire(ACCOUNT, 1, urgent=True)
    assert ordinary
    assert urgent
    assert urgent < timedelta(seconds=51) < ordinary


def test_mail_of_an_account_that_had_less_comes_back_at_the_full_rate(case: Case) -> None:
    """Twenty emails behind another account's large one, in its line and the common one: 10 s."""
    case.rate = 1 / USED
    case.send(50)

    def longest(account_id: str) -> float:
        waits = [case.worker().acquire(account_id, 1, urgent=False) for _ in range(20)]
        return max(wait.total_seconds() for wait in waits if wait) - 50

    assert longest(OTHER) <= 10
    assert longest(ACCOUNT) > 10


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
    """An email that has to wait does not delay the next one."""
    case.rate = 1 / USED
    case.send(50)
    assert case.other.acquire(ACCOUNT, 50, urgent=False)
    assert case.one.acquire(ACCOUNT, 1, urgent=True)
    case.now += timedelta(seconds=50)
    assert case.send() <= 1.01


def test_a_throttle_halves_the_rate_of_all_workers(case: Case) -> None:
    """The rate is halved once a second at most, and recovers by a tenth a second."""
    case.drain()
    case.one.slow_down()
    case.other.slow_down()
    assert case.other.acquire(ACCOUNT, 1, urgent=False) is None
    assert case.send() == pytest.approx(2 / 14, rel=0.1)
    case.now += timedelta(seconds=6)
    case.drain()
    assert case.send() == pytest.approx(1 / 14, rel=0.01)


def test_the_rate_never_falls_below_a_tenth(case: Case) -> None:
    """However often SES throttles, a tenth of the rate stays."""
    case.drain()
    for _ in range(20):
        case.now += timedelta(seconds=1.001)
        case.one.slow_down()
    case.drain()
    assert case.send() <= 10 / 14


def test_the_rate_is_read_once_an_hour_by_one_worker(case: Case) -> None:
    """SES may raise the rate, so one worker reads it again after an hour."""
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
    case.one.slow_down()
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
    case.one.slow_down()
    case.send()
    assert case.table.writes == writes + 2


def test_a_high_rate_takes_few_writes(case: Case) -> None:
    """At 1,000 a second a worker that sends ten a second writes once for about ten emails."""
    case.rate = 1000.0
    for _ in range(200):
        assert case.send() == 0
        case.now += timedelta(seconds=0.1)
    assert case.table.writes < 200 * 0.2


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


def share_of(case: Case, account_id: str) -> float | None:
    """Return how far an account's tokens reach beyond the bucket's, in seconds; None without."""
    state = TokenBucket(case.table).read()
    assert state
    time = state.shares.get(account_id)
    return None if time is None else (time - state.empty_at) / SECOND


def compete(case: Case) -> None:
    """Let one account take all tokens, and the other one wait for it."""
    case.drain()
    case.send(30)
    case.other.acquire(OTHER, 14, urgent=False)


def test_an_account_alone_is_never_ahead(case: Case) -> None:
    """While one account sends, however much, its tokens reach as far as those of the bucket."""
    for _ in range(40):
        case.send()
    assert share_of(case, ACCOUNT) == 0


def test_an_account_that_waits_enters_before_the_others(case: Case) -> None:
    """One that has to wait is two emails, or a second, before the one that took the tokens."""
    case.rate = 1 / USED
    case.send(50)
    assert case.other.acquire(OTHER, 1, urgent=False)
    assert share_of(case, ACCOUNT) == 0
    assert share_of(case, OTHER) == pytest.approx(-2, abs=0.01)


@pytest.mark.parametrize("accounts", [2, 11])
def test_a_token_counts_for_each_account_that_competes(case: Case, accounts: int) -> None:
    """Of eleven accounts each has an eleventh: a token moves its time by those of eleven."""
    case.rate = 1 / USED
    case.send(50)
    others = [f"account{number:05}" for number in range(accounts - 1)]
    for other in others:
        assert case.other.acquire(other, 1, urgent=False)
    case.now += timedelta(seconds=50)
    assert case.worker().acquire(others[0], 1, urgent=False) is None
    # It was two emails behind, and the bucket moved by one.
    assert share_of(case, others[0]) == pytest.approx(accounts - 2 - 1, abs=0.01)


def test_an_account_ahead_leaves_tokens_to_the_others() -> None:
    """Ahead of another account one tries 0.3 seconds later; the other one gets the token."""
    waits = {}
    for account_id in (ACCOUNT, OTHER):
        case = Case()
        compete(case)
        before = case.seconds()
        assert case.worker().acquire(account_id, 1, urgent=False) is None
        waits[account_id] = case.seconds() - before
    assert waits[OTHER] > waits[ACCOUNT] + 0.2


def test_urgent_email_of_an_account_ahead_is_ordinary(case: Case) -> None:
    """It comes back later and leaves no debt, so the other account's codes go at once."""
    case.drain()
    assert case.other.acquire(OTHER, 14, urgent=True) is None
    assert case.one.acquire(ACCOUNT, 1, urgent=False) is None
    assert None not in [case.other.acquire(OTHER, 1, urgent=True) for _ in range(6)]
    before = case.seconds()
    assert [case.one.acquire(ACCOUNT, 1, urgent=True) for _ in range(2)] == [None, None]
    assert case.seconds() == before


def test_codes_do_not_pay_for_the_ordinary_mail_of_their_account(case: Case) -> None:
    """Codes go out at once although ordinary mail put their account ahead of another one."""
    case.rate = 1 / USED
    case.send(20)
    assert case.other.acquire(OTHER, 1, urgent=False)
    case.now += timedelta(seconds=20)
    case.send()
    before = case.seconds()
    assert case.worker().acquire(ACCOUNT, 1, urgent=True) is None
    assert case.seconds() - before <= 1


def test_codes_have_a_share_and_count_for_their_account() -> None:
    """Codes that are ahead of another account wait, and so does their account's ordinary mail."""
    shares = Shares({ACCOUNT: 4 * SECOND, OTHER: 0}, 0, SECOND)
    assert shares.excess(ACCOUNT, urgent=True) == 0
    of_account, of_codes = shares.charge({ACCOUNT: SECOND}, urgent=True)
    assert (of_account.by, of_codes.by) == (2 * SECOND, 2 * SECOND)
    times = {of_account.name: 6 * SECOND, of_codes.name: of_codes.start + 2 * SECOND}
    after = Shares({**times, OTHER: 0}, 0, SECOND)
    assert after.excess(ACCOUNT, urgent=True) == 1
    assert not after.is_behind(ACCOUNT, SECOND, urgent=True)
    assert after.competing == {ACCOUNT: 6 * SECOND, OTHER: 0}


def test_accounts_come_before_the_times_of_codes() -> None:
    """If the item is full, a new account takes the place of a code's time, and codes follow theirs.

    Twelve accounts with codes fill the item; without a time a thirteenth would never be ahead.
    """
    times = {f"account{number:05}{lane}": 5 * SECOND for number in range(12) for lane in ("", "!")}
    removed, added = Shares(times, 0, SECOND).charge({ACCOUNT: SECOND}, urgent=True)
    assert (removed.name, removed.by) == ("account00000!", None)
    assert (added.name, added.by) == (ACCOUNT, 13 * SECOND)
    del times["account00000!"]
    full = Shares(times | {ACCOUNT: 0}, 0, SECOND)
    assert full.excess("account00000", urgent=True) == 1
    stale = Shares(times | {ACCOUNT: -5 * SECOND}, 0, SECOND)
    assert stale.excess("account00000", urgent=True) == 0
    codes = [name for name in full.times if name.endswith("!")]
    everybody = {name.removesuffix("!"): SECOND for name in (*codes, "new")}
    changes = full.charge(everybody, urgent=True)
    assert len({change.name for change in changes}) == len(changes)


def test_a_code_is_not_ahead_of_its_own_account() -> None:
    """A worker with an old state may put the account's time below that of its codes."""
    shares = Shares({ACCOUNT: -2 * SECOND, f"{ACCOUNT}!": 3 * SECOND}, 0, SECOND)
    assert shares.excess(ACCOUNT, urgent=True) == 0


def test_urgent_email_of_a_burst_does_not_hold_its_worker(case: Case) -> None:
    """In the sandbox a burst of codes comes back later, so other codes find workers."""
    case.rate = 1 / USED
    waited: list[float] = []
    worker = DynamoSendingRate(case.table, case.read_rate, lambda: case.now, waited.append)
    waits = [worker.acquire(OTHER, 1, urgent=True) for _ in range(20)]
    assert sum(wait is None for wait in waits) <= 3
    assert sum(waited) <= 3
    before = case.seconds()
    assert case.one.acquire(ACCOUNT, 1, urgent=True) is None
    assert case.seconds() - before <= 2


def test_codes_behind_a_flood_keep_their_workers() -> None:
    """An account that had less than another one waits for its tokens, so the flood finds none."""
    shares = Shares({OTHER: 5 * SECOND, f"{OTHER}!": 2 * SECOND, ACCOUNT: 0}, 0, SECOND // 14)
    assert shares.keeps_worker(ACCOUNT)
    assert not shares.keeps_worker(OTHER)
    assert not Shares({ACCOUNT: 0, f"{ACCOUNT}!": 0}, 0, SECOND // 14).keeps_worker(ACCOUNT)


def test_a_flood_of_codes_behind_another_account_leaves_workers_to_others() -> None:
    """Codes that had more than their share give way, however far ahead a third account is."""
    times = {OTHER: 100 * SECOND, ACCOUNT: 6 * SECOND}
    assert Shares({**times, f"{ACCOUNT}!": SECOND}, 0, SECOND).keeps_worker(ACCOUNT)
    assert not Shares({**times, f"{ACCOUNT}!": 2 * SECOND}, 0, SECOND).keeps_worker(ACCOUNT)


def test_equal_floods_of_codes_leave_workers_to_others() -> None:
    """Each is behind the one that was served last, by a charge; of two floods that is a share."""
    for others, keeps in ((1, True), (5, False)):
        floods = {f"account{number:05}": (others + 1) * SECOND for number in range(others)}
        shares = Shares({**floods, ACCOUNT: 0, f"{ACCOUNT}!": 0}, 0, SECOND)
        assert shares.keeps_worker(ACCOUNT) == keeps


def test_a_large_email_is_far_behind_only_if_the_others_had_more_than_it_takes() -> None:
    """One to 50 recipients does not come back at the full rate if others took one like it."""
    token = SECOND // 14
    shares = Shares({OTHER: 2 * 50 * token, ACCOUNT: 0}, 0, token)
    assert shares.is_far_behind(ACCOUNT, token, urgent=False)
    assert not shares.is_far_behind(ACCOUNT, 50 * token, urgent=False)


def test_what_is_long_past_leaves_an_overfull_item_first() -> None:
    """Several workers may add accounts at once; codes that compete keep their times then."""
    stale = {f"account{number:05}": -9 * SECOND for number in range(20)}
    times = {
        **stale,
        **{f"{name}{lane}": 0 for name in (ACCOUNT, OTHER, "b0") for lane in ("", "!")},
    }
    removed = {change.name for change in Shares(times, 0, SECOND).charge({"b0": 1}, urgent=False)}
    assert removed == {*stale, "b0"}


def test_a_flood_is_charged_for_two_minutes_at_most() -> None:
    """What an account took long ago does not count against it for hours."""
    token = 1_000_000
    ahead = Shares({OTHER: 120 * SECOND, ACCOUNT: 0}, 0, token)
    (charge,) = ahead.charge({OTHER: 50 * token}, urgent=False)
    assert charge.by == 100 * token
    far_ahead = Shares({OTHER: 121 * SECOND, ACCOUNT: 0}, 0, token)
    assert far_ahead.charge({OTHER: 50 * token}, urgent=False) == []


@pytest.mark.parametrize("recipients", [1, 50])
def test_the_item_has_a_bounded_number_of_accounts(case: Case, recipients: int) -> None:
    """With very many accounts that wait or send it still costs one write unit."""
    case.rate = (14 if recipients == 1 else 1) / USED
    for number in range(60):
        case.other.acquire(f"account{number:05}", recipients, urgent=False)
    state = TokenBucket(case.table).read()
    assert state
    assert len(state.shares) == 24
    case.now += timedelta(minutes=10)
    case.rate = None
    case.worker().acquire(ACCOUNT, 1, urgent=False)
    assert share_of(case, ACCOUNT) is not None


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


@pytest.mark.slow
def test_each_account_has_a_line_of_its_own(case: Case) -> None:
    """An account's email does not come back after all that waits of another one."""
    case.rate = 1 / USED
    case.send(50)
    waits = [case.one.acquire(ACCOUNT, 1, urgent=False) for _ in range(200)]
    assert waits[-1] is not None
    assert waits[-1] > timedelta(seconds=200)
    for _ in range(3):
        wait = case.other.acquire(OTHER, 1, urgent=False)
        assert wait is not None
        assert wait < timedelta(seconds=54)
