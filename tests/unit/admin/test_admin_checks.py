"""The doctor's checks on given values."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from admin.use_cases import checks
from admin.use_cases.ports import TableProtectionState
from admin.use_cases.scale import Scale
from pillarbox.application.operator.checks import (
    check_dead_letters,
    check_events,
    check_limits,
    check_queue_ages,
    check_quota,
    check_sending,
    check_strangers,
)
from pillarbox.application.operator.ports import ConfigurationSet, QueueStatus
from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.sign_in.strangers import StrangerDay
from tests.fakes import builders
from tests.fakes.builders import NOW
from tests.loops import for_each
from tests.unit.admin.doctor_fakes import (
    ALL_EVENTS,
    configuration_set,
    sending_status,
    verdicts,
)


@pytest.mark.parametrize(
    ("changes", "verdict", "message"),
    [
        ({}, "pass", "Out of the sandbox"),
        ({"sandbox": True}, "warn", "sandbox"),
        ({"sandbox": True, "review": "PENDING"}, "warn", "AWS reviews the request"),
        ({"sandbox": True, "review": "DENIED"}, "warn", "AWS denied the request"),
        ({"sandbox": True, "review": "FAILED"}, "warn", "could not review"),
        ({"sending": False}, "fail", "paused"),
        ({"enforcement": "SHUTDOWN"}, "fail", "SHUTDOWN"),
        ({"enforcement": "PROBATION", "sandbox": True}, "warn", "PROBATION"),
    ],
)
def test_the_sending_status_at_ses(changes: dict[str, Any], verdict: str, message: str) -> None:
    findings = list(check_sending(sending_status(**changes)))
    assert verdicts(findings) == [verdict]
    assert message in findings[0].message


BOTH = frozenset({"BOUNCE", "COMPLAINT"})


@pytest.mark.parametrize(
    ("of_set", "of_account", "verdict", "message"),
    [
        (BOTH, frozenset(), "pass", "follow ours"),
        (None, BOTH, "warn", "has lost"),
        (None, frozenset(), "fail", "for BOUNCE and COMPLAINT"),
        (frozenset(), BOTH, "fail", "for BOUNCE and COMPLAINT"),
        (frozenset({"BOUNCE"}), BOTH, "fail", "for COMPLAINT."),
    ],
)
def test_the_suppression_lists_that_ses_uses(
    of_set: frozenset[str] | None, of_account: frozenset[str], verdict: str, message: str
) -> None:
    """What the set leaves out lets SES's list of all customers in; a bare set has the account's."""
    found = configuration_set(suppresses=of_set)
    findings = [*checks.check_suppression(found, sending_status(suppresses=of_account))]
    assert verdicts(findings) == [verdict]
    assert message in findings[0].message
    assert verdicts([*checks.check_suppression(None, sending_status())]) == ["skipped"]


def test_mail_to_strangers_that_bounces() -> None:
    few, many = (StrangerDay(NOW.date(), 20, bounced) for bounced in (1, 10))
    (passed,) = check_strangers("invited", [few], NOW)
    (warned,) = check_strangers("invited", [many], NOW)
    assert verdicts([passed, warned]) == ["pass", "warn"]
    assert passed.message.startswith("1 of 20 emails to invited members")
    assert f"until {NOW + timedelta(days=2):%Y-%m-%d} 00:00 UTC" in warned.message


@for_each(
    ("changes", "scale", "expected", "remedy"),
    [
        ({}, 40, ["pass", "pass"], ""),
        ({"sent_last_24_hours": 40_000.0}, 40, ["warn", "pass"], ""),
        ({"sent_last_24_hours": 50_000.0}, 40, ["fail", "pass"], ""),
        ({"daily_quota": -1.0}, 40, ["pass", "pass"], ""),
        ({"max_rate": 1.0}, 200, ["pass", "pass"], ""),
        ({"max_rate": 200.0}, 200, ["pass", "pass"], ""),
        ({"max_rate": 201.0}, 200, ["pass", "warn"], "EmailsPerSecond=500"),
        ({"max_rate": 5001.0}, 5000, ["pass", "warn"], "Use more than one stack"),
    ],
)
def test_the_quota_and_the_rate_for_the_workers(
    changes: dict[str, Any], scale: int, expected: list[str], remedy: str
) -> None:
    status = sending_status(**changes)
    findings = [*check_quota(status), *checks.check_rate(status, Scale(scale), 100)]
    assert verdicts(findings) == expected
    assert remedy in findings[1].remedy


@pytest.mark.parametrize(("rate", "verdict"), [(40, "warn"), (200, "warn"), (500, "pass")])
def test_functions_are_reserved_for_delivery(rate: int, verdict: str) -> None:
    finding = checks.check_reserve(Scale(rate))
    assert verdicts([finding]) == [verdict]
    remedy = "Deploy with EmailsPerSecond=500. Lambda accepts it from a limit of 175 on."
    assert finding.remedy == (remedy if verdict == "warn" else "")


@for_each(
    ("plan", "recipients_per_day", "changes", "verdict"),
    [
        (Plan.STANDARD, None, {}, "pass"),
        (Plan.STANDARD, 49_999, {}, "pass"),
        (Plan.STANDARD, 50_000, {}, "warn"),
        (Plan.ENTERPRISE, None, {}, "warn"),
        (Plan.ENTERPRISE, 0, {}, "pass"),
        (Plan.ENTERPRISE, None, {"sandbox": True}, "skipped"),
        (Plan.ENTERPRISE, None, {"daily_quota": -1.0}, "skipped"),
    ],
)
def test_no_account_can_use_up_the_quota_of_all(
    plan: Plan, recipients_per_day: int | None, changes: dict[str, Any], verdict: str
) -> None:
    overrides = replace(builders.UNLIMITED, recipients_per_day=recipients_per_day)
    account = builders.account(plan=plan, overrides=overrides)
    (finding,) = check_limits([account], sending_status(**changes))
    assert verdicts([finding]) == [verdict]
    assert (builders.ACCOUNT in finding.message) == (verdict == "warn")


@pytest.mark.parametrize(
    ("configuration_set", "verdict", "message"),
    [
        (None, "fail", "does not know"),
        (ConfigurationSet(sending=False, published=ALL_EVENTS), "fail", "paused"),
        (ConfigurationSet(sending=True, published=frozenset()), "fail", "BOUNCE, COMPLAINT"),
        (ConfigurationSet(sending=True, published=ALL_EVENTS - {"SEND"}), "fail", "report SEND to"),
        (ConfigurationSet(sending=True, published=ALL_EVENTS), "pass", "SES reports"),
    ],
)
def test_the_events_that_ses_publishes(
    configuration_set: ConfigurationSet | None, verdict: str, message: str
) -> None:
    findings = list(check_events(configuration_set))
    assert verdicts(findings) == [verdict]
    assert message in findings[0].message


@pytest.mark.parametrize(
    ("share", "verdict", "message"),
    [
        (100, "warn", "250 recipients per second for 10 workers."),
        (80, "pass", "200 recipients per second (80 % of SES's 250) for 10 workers."),
        (81, "warn", "202.5 recipients per second (81 % of SES's 250) for 10 workers."),
    ],
)
def test_workers_need_only_use_the_stacks_share(share: int, verdict: str, message: str) -> None:
    (finding,) = checks.check_rate(sending_status(max_rate=250.0), Scale(200), share)
    assert (verdicts([finding]), finding.message) == ([verdict], message)


#: At most 21 of its functions run at a time.
SMALL = Scale(40)


def test_functions_are_free_for_requests() -> None:
    """Fewer than 50 functions besides all workers warn, such as the ten of a new account."""
    for limit, verdict in ((10, "warn"), (70, "warn"), (71, "pass")):
        findings = list(checks.check_concurrency(limit, SMALL))
        assert verdicts(findings) == [verdict]
        assert "up to 21 of them (DeliverMessage 4, " in findings[0].message
        assert ("a limit of 71" in findings[0].remedy) == (verdict == "warn")


def test_dead_letters_and_ages_of_queues() -> None:
    empty = QueueStatus(waiting=0, in_flight=0, delayed=0)
    dead = QueueStatus(waiting=3, in_flight=0, delayed=0)
    findings = list(check_dead_letters({"jobs": (dead, empty), "events": (empty, dead)}))
    assert verdicts(findings) == ["pass", "fail"]
    assert "redrive events" in findings[1].remedy
    assert (
        verdicts(list(check_queue_ages({"jobs": 3600.0, "urgent": 60.0, "events": 300.0})))
        == ["pass"] * 3
    )
    assert (
        verdicts(list(check_queue_ages({"jobs": 3601.0, "urgent": 61.0, "events": 301.0})))
        == ["fail"] * 3
    )
    assert verdicts(list(check_queue_ages({"jobs": None}))) == ["skipped"]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ((True, True, "expires_at"), ["pass", "pass", "pass"]),
        ((False, False, None), ["fail", "fail", "fail"]),
        ((True, True, "ttl"), ["pass", "pass", "fail"]),
    ],
)
def test_the_protection_of_the_table(
    state: tuple[bool, bool, str | None], expected: list[str]
) -> None:
    recovery, protection, expiry = state
    table = TableProtectionState(
        point_in_time_recovery=recovery, deletion_protection=protection, expiry_attribute=expiry
    )
    assert verdicts(list(checks.check_table(table))) == expected


def test_alarms_and_their_subscribers() -> None:
    assert verdicts(list(checks.check_alarms([], {}, 1))) == ["pass", "pass"]
    findings = list(checks.check_alarms(["pillarbox-SlowAlarm-1"], {}, 0))
    assert verdicts(findings) == ["fail", "warn"]
    assert "pillarbox-SlowAlarm-1" in findings[0].message


@pytest.mark.parametrize(
    ("duration", "verdict"),
    [
        (timedelta(minutes=1), "warn"),
        (timedelta(hours=6, minutes=59), "warn"),
        (timedelta(hours=7), "fail"),
        (timedelta(days=2), "fail"),
    ],
)
def test_an_alarm_without_data_yet_is_a_warning(duration: timedelta, verdict: str) -> None:
    """An alarm of a new stack may wait for the sweep's report; seven hours without data fail."""
    findings = list(checks.check_alarms([], {"pillarbox-OverdueAlarm-1": duration}, 1))
    assert verdicts(findings) == [verdict, "pass", "pass"]
    assert "pillarbox-OverdueAlarm-1" in findings[0].message
    assert findings[0].remedy


@pytest.mark.parametrize(
    ("left", "verdict"),
    [
        (timedelta(days=21), "pass"),
        (timedelta(days=20), "warn"),
        (timedelta(days=6), "fail"),
        (timedelta(days=-1), "fail"),
    ],
)
def test_the_expiry_of_the_certificate(left: timedelta, verdict: str) -> None:
    assert verdicts(list(checks.check_certificate(NOW + left, NOW))) == [verdict]


@pytest.mark.parametrize(
    ("offset", "verdict"), [(0, "pass"), (-30, "pass"), (31, "warn"), (-240, "warn"), (241, "fail")]
)
def test_the_clock(offset: int, verdict: str) -> None:
    status = sending_status(local_time=NOW + timedelta(seconds=offset))
    assert verdicts(list(checks.check_clock(status))) == [verdict]
    assert verdicts(list(checks.check_clock(sending_status(provider_time=None)))) == ["skipped"]
