"""Who goes first while several accounts wait for the sending rate: rounds and lanes."""

import pytest

from pillarbox.adapters.dynamodb.messages.token_bucket import Shares, lane_of

NOW = 1_800_000_000_000_000
SECOND = 1_000_000
A, B, C = "acct0000000a", "acct0000000b", "acct0000000c"
CODES_OF_A, CODES_OF_B = lane_of(A, urgent=True), lane_of(B, urgent=True)


def waiting(rounds: dict[str, int], *, present: int = 0) -> Shares:
    return Shares(rounds, dict.fromkeys(rounds, NOW), present, NOW)


@pytest.mark.parametrize(("round_of_other", "goes_before"), [(0, 1), (48, 1), (49, 0), (60, 0)])
def test_others_send_50_before_one_email_to_50(round_of_other: int, goes_before: int) -> None:
    """An email goes in the round of its last recipient, and the lowest round goes first."""
    assert waiting({A: 0, B: round_of_other}).before(A, 50) == goes_before


def test_equal_accounts_wait_for_nobody() -> None:
    """Of those with equal rounds the first one that asks gets the token."""
    shares = waiting({A: 7, B: 7, C: 6})
    assert [shares.before(one, 1) for one in (A, B, C)] == [1, 1, 0]


@pytest.mark.parametrize(("had", "goes_before"), [(19, 1), (20, 1), (21, 0), (22, 0)])
def test_codes_have_20_recipients_before_other_mail(had: int, goes_before: int) -> None:
    """An account's codes begin 20 rounds before other accounts' mail; one that joins, one more."""
    shares = waiting({A: 0})
    charged = shares.charge({CODES_OF_B: had})
    change = charged["share_" + CODES_OF_B]
    assert change is not None
    assert change.value + change.by == had - 21
    after = waiting({A: 0, CODES_OF_B: change.value + change.by})
    assert after.before(A, 1) == goes_before


def test_mail_does_not_leave_between_the_codes_of_its_account() -> None:
    shares = waiting({A: 0, CODES_OF_A: 90, B: 80})
    assert shares.before(A, 1) == 2
    assert shares.before(CODES_OF_A, 1) == 1
    assert shares.before(B, 1) == 0


def test_a_lane_that_begins_to_wait_goes_first_once() -> None:
    """It joins one round before those of its kind that wait, and not again after its turn."""
    shares = waiting({A: 5, CODES_OF_A: -10}, present=5)
    assert (shares.before(B, 1), shares.before(CODES_OF_B, 1)) == (1, 0)
    charged = shares.charge({CODES_OF_B: 1})["share_" + CODES_OF_B]
    assert charged is not None
    assert charged.value + charged.by == -10
    again = Shares({A: 5, CODES_OF_A: -10, CODES_OF_B: -10}, {A: NOW, CODES_OF_A: NOW}, 5, NOW)
    assert again.before(CODES_OF_A, 1) == 0
    assert again.join(CODES_OF_B)["share_" + CODES_OF_B] == (-10, 0)


def test_nothing_counts_while_no_other_lane_waits() -> None:
    """An account alone is never ahead of anybody, and what it had is forgotten."""
    assert Shares({}, {}, 3, NOW).charge({A: 50}) == {}
    assert waiting({A: 90}).charge({A: 50}) == {"share_" + A: None}
    assert waiting({A: 90, B: 0}).charge({A: 50})["share_" + A] == (90, 50)


@pytest.mark.parametrize(("seconds", "waits"), [(2.9, True), (3.1, False)])
def test_a_lane_waits_for_three_seconds_after_its_line(seconds: float, *, waits: bool) -> None:
    """An email of a line comes back a little later than its turn; after that nobody waits."""
    shares = Shares({B: 0}, {B: NOW - round(seconds * SECOND)}, 0, NOW)
    assert bool(shares.before(A, 3)) == waits
    assert bool(shares.charge({A: 1}).get("share_" + A)) == waits


def test_a_lane_renews_its_wait_after_a_second() -> None:
    ages = (0, 1, 1.1)
    renewed = [Shares({A: 0}, {A: NOW - round(age * SECOND)}, 0, NOW).wait(A) for age in ages]
    assert [bool(changes) for changes in renewed] == [False, False, True]
    assert renewed[-1]["line_" + A] == (NOW, 0)


def test_tokens_are_taken_in_the_present_round() -> None:
    """An account that begins to wait joins where the others are, however long they sent."""
    shares = waiting({A: 70, B: 71}, present=60)
    assert shares.charge({A: 1})["present_round"] == (70, 0)
    assert waiting({A: 70, B: 71}, present=70).join(C)["share_" + C] == (69, 0)


def test_a_line_ends_a_second_after_its_last_turn() -> None:
    """Who takes tokens then says that its lane waits no more; SQS rounds each wait up."""
    for age, gone in ((0.9, False), (1.1, True)):
        lines = {A: NOW - round(age * SECOND), B: NOW}
        changes = Shares({A: 0, B: 0}, lines, 0, NOW).charge({A: 1})
        assert ("line_" + A in changes) == gone


def test_no_lane_waits_for_email_without_a_lane() -> None:
    """The rounds of such email are not known, so it would go before all others while it waits."""
    shares = Shares({A: 0, CODES_OF_A: 0}, {A: NOW, CODES_OF_A: NOW, "": NOW, "_u": NOW}, 0, NOW)
    assert (shares.before(A, 50), shares.before(CODES_OF_A, 50)) == (1, 0)


def test_sixteen_lanes_wait_at_most() -> None:
    """A further one does not count; it gets the place of one that waits no more."""
    lanes = {f"account{number:05}": 3 for number in range(16)}
    shares = waiting(lanes, present=3)
    assert (shares.join(A), shares.wait(A)) == ({}, {})
    assert "share_" + A not in shares.charge({A: 1})
    gone = Shares(lanes, {**dict.fromkeys(lanes, NOW), "account00007": 0}, 4, NOW)
    assert gone.join(A) == {
        "share_account00007": None,
        "line_account00007": None,
        "share_" + A: (3, 0),
    }
