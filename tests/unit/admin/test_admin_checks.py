"""What the doctor makes of what it sees."""

from datetime import timedelta
from typing import Any

import pytest

from admin.operations import checks
from admin.operations.checks import Finding, Verdict
from admin.operations.ports import ConfigurationSet, QueueStatus, TableProtectionState
from tests.unit.admin.doctor_fakes import ALL_EVENTS, standing
from tests.unit.admin.fakes import NOW


def verdicts(found: list[Finding]) -> list[str]:
    """The verdicts; what is not well has a remedy, what is well has none."""
    for finding in found:
        assert bool(finding.remedy) == (finding.verdict in {Verdict.WARN, Verdict.FAIL})
    return [finding.verdict.value for finding in found]


@pytest.mark.parametrize(
    ("changes", "verdict", "said"),
    [
        ({}, "pass", "Out of the sandbox"),
        ({"sandbox": True}, "warn", "sandbox"),
        ({"sending": False}, "fail", "paused"),
        ({"enforcement": "SHUTDOWN"}, "fail", "SHUTDOWN"),
        ({"enforcement": "PROBATION", "sandbox": True}, "warn", "PROBATION"),
    ],
)
def test_whether_ses_lets_the_account_send(
    changes: dict[str, Any], verdict: str, said: str
) -> None:
    """Paused fails; a review and the sandbox warn."""
    found = list(checks.check_sending(standing(**changes)))
    assert verdicts(found) == [verdict]
    assert said in found[0].message


@pytest.mark.parametrize(
    ("changes", "workers", "expected", "remedy"),
    [
        ({}, 2, ["pass", "pass"], ""),
        ({"sent_last_24_hours": 40_000.0}, 2, ["warn", "pass"], ""),
        ({"sent_last_24_hours": 50_000.0}, 2, ["fail", "pass"], ""),
        ({"daily_quota": -1.0}, 2, ["pass", "pass"], ""),
        ({"max_rate": 1.0}, 10, ["pass", "warn"], "DeliveryConcurrency=2"),
        ({"max_rate": 3.0}, 10, ["pass", "warn"], "DeliveryConcurrency=6"),
        ({"max_rate": 0.5}, 2, ["pass", "warn"], "higher sending rate"),
        ({"max_rate": 100.0}, 10, ["pass", "warn"], "DeliveryConcurrency=13"),
        ({"max_rate": 14.0}, 28, ["pass", "pass"], ""),
    ],
)
def test_the_quota_and_the_rate_for_the_workers(
    changes: dict[str, Any], workers: int, expected: list[str], remedy: str
) -> None:
    """Much and all of the day's quota, too many workers for the rate and too few for it."""
    found = list(checks.check_quota_and_rate(standing(**changes), workers))
    assert verdicts(found) == expected
    assert remedy in found[1].remedy


@pytest.mark.parametrize(
    ("found", "verdict", "said"),
    [
        (None, "fail", "does not know"),
        (ConfigurationSet(sending=False, published=ALL_EVENTS), "fail", "paused"),
        (ConfigurationSet(sending=True, published=frozenset()), "fail", "BOUNCE, COMPLAINT"),
        (ConfigurationSet(sending=True, published=ALL_EVENTS - {"SEND"}), "fail", "report SEND to"),
        (ConfigurationSet(sending=True, published=ALL_EVENTS), "pass", "SES reports"),
    ],
)
def test_whether_ses_reports(found: ConfigurationSet | None, verdict: str, said: str) -> None:
    """No configuration set, a paused one, and each kind of event that is lacking fail."""
    result = list(checks.check_events(found))
    assert verdicts(result) == [verdict]
    assert said in result[0].message


def test_functions_are_left_for_requests() -> None:
    """A new account's ten are too few beside ten workers; fifty beside them are enough."""
    assert verdicts(list(checks.check_concurrency(10, 2))) == ["warn"]
    assert verdicts(list(checks.check_concurrency(59, 10))) == ["warn"]
    assert verdicts(list(checks.check_concurrency(60, 10))) == ["pass"]


def test_what_was_set_aside_and_what_waits() -> None:
    """Dead messages fail with how to redrive; age fails by each queue's own bound."""
    empty = QueueStatus(waiting=0, in_flight=0, delayed=0)
    dead = QueueStatus(waiting=3, in_flight=0, delayed=0)
    found = list(checks.check_dead_letters({"jobs": (dead, empty), "events": (empty, dead)}))
    assert verdicts(found) == ["pass", "fail"]
    assert "redrive events" in found[1].remedy
    assert (
        verdicts(list(checks.check_queue_ages({"jobs": 3600.0, "events": 300.0}))) == ["pass"] * 2
    )
    assert (
        verdicts(list(checks.check_queue_ages({"jobs": 3601.0, "events": 301.0}))) == ["fail"] * 2
    )
    assert verdicts(list(checks.check_queue_ages({"jobs": None}))) == ["skipped"]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ((True, True, "expires_at"), ["pass", "pass", "pass"]),
        ((False, False, None), ["fail", "warn", "fail"]),
        ((True, True, "ttl"), ["pass", "pass", "fail"]),
    ],
)
def test_whether_the_table_can_be_lost(
    state: tuple[bool, bool, str | None], expected: list[str]
) -> None:
    """Without recovery or expiry it fails, without deletion protection it warns."""
    recovery, protection, expiry = state
    table = TableProtectionState(
        point_in_time_recovery=recovery, deletion_protection=protection, expiry_attribute=expiry
    )
    assert verdicts(list(checks.check_table(table))) == expected


def test_alarms_and_who_is_told() -> None:
    """Each alarm fails by its name; that nobody is told warns."""
    assert verdicts(list(checks.check_alarms([], 1))) == ["pass", "pass"]
    found = list(checks.check_alarms(["pillarbox-SlowAlarm-1"], 0))
    assert verdicts(found) == ["fail", "warn"]
    assert "pillarbox-SlowAlarm-1" in found[0].message


@pytest.mark.parametrize(
    ("left", "verdict"),
    [
        (timedelta(days=21), "pass"),
        (timedelta(days=20), "warn"),
        (timedelta(days=6), "fail"),
        (timedelta(days=-1), "fail"),
    ],
)
def test_the_end_of_the_certificate(left: timedelta, verdict: str) -> None:
    """Three weeks ahead it warns, one week ahead it fails."""
    assert verdicts(list(checks.check_certificate(NOW + left, NOW))) == [verdict]


@pytest.mark.parametrize(
    ("offset", "verdict"), [(0, "pass"), (-30, "pass"), (31, "warn"), (-240, "warn"), (241, "fail")]
)
def test_the_clock(offset: int, verdict: str) -> None:
    """Off by half a minute warns; before AWS refuses signatures it fails."""
    seen = standing(local_time=NOW + timedelta(seconds=offset))
    assert verdicts(list(checks.check_clock(seen))) == [verdict]
    assert verdicts(list(checks.check_clock(standing(provider_time=None)))) == ["skipped"]
