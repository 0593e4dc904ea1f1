"""The checks of the doctor, before a deployment and of a capacity: what was read, what is found."""

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Final

import boto3
import pytest

from admin.use_cases import checks, preflight, ses_plans
from admin.use_cases.capacity import Capacity, check_capacity
from admin.use_cases.ports import TableProtectionState
from admin.use_cases.preflight import AwsAccount, ClusterRole, RelayNeeds
from admin.use_cases.scale import (
    Scale,
    check_fit,
    check_maximums,
    check_table,
    choose_rate,
    deploy_for,
)
from admin.use_cases.ses_plans import ChosenPlan
from local import template
from pillarbox.application.operator.checks import (
    Finding,
    Verdict,
    check_dead_letters,
    check_events,
    check_limits,
    check_queue_ages,
    check_quota,
    check_sending,
    check_strangers,
)
from pillarbox.application.operator.ports import ConfigurationSet, QueueStatus
from pillarbox.domain.accounts.account import Account, Plan
from pillarbox.domain.sign_in.strangers import StrangerDay
from tests.fakes import builders
from tests.fakes.builders import NOW
from tests.loops import for_each
from tests.unit.admin import certificates
from tests.unit.admin.certificates import certificate, ec_key, key_pem
from tests.unit.admin.doctor_fakes import (
    ALL_EVENTS,
    configuration_set,
    sending_status,
    verdicts,
)

BOTH: Final = frozenset({"BOUNCE", "COMPLAINT"})
BARE = QueueStatus(waiting=0, in_flight=0, delayed=0)
EMPTY, DEAD = (replace(BARE, waiting=n, dead_letters_url="https://dead.example") for n in (0, 3))


def suppression(of_set: Iterable[str] | None, of_account: Iterable[str]) -> Iterable[Finding]:
    reasons = None if of_set is None else frozenset(of_set)
    status = sending_status(suppresses=frozenset(of_account))
    return checks.check_suppression(configuration_set(suppresses=reasons), status)


def published(events: Iterable[str], *, sending: bool = True) -> Iterable[Finding]:
    return check_events(ConfigurationSet(sending=sending, published=frozenset(events)))


def rate(max_rate: float, scale: int, share: int = 100) -> Iterable[Finding]:
    return checks.check_rate(sending_status(max_rate=max_rate), Scale(scale), share)


def strangers(bounced: int) -> Iterable[Finding]:
    return check_strangers("invited", [StrangerDay(NOW.date(), 20, bounced)], NOW)


def allowed(plan: Plan, a_day: int | None = None) -> Account:
    overrides = replace(builders.UNLIMITED, recipients_per_day=a_day)
    return builders.account(plan=plan, overrides=overrides)


def limits(account: Account, **changes: Any) -> Iterable[Finding]:
    return check_limits([account], sending_status(**changes))


def protection(*state: Any) -> Iterable[Finding]:
    names = ("point_in_time_recovery", "deletion_protection", "expiry_attribute")
    return checks.check_table(TableProtectionState(**dict(zip(names, state, strict=True))), "It")


def silent(**duration: int) -> Iterable[Finding]:
    return checks.check_alarms([], {"pillarbox-OverdueAlarm-1": dt.timedelta(**duration)}, 1)


def certificate_for(**left: int) -> Iterable[Finding]:
    return checks.check_certificate(NOW + dt.timedelta(**left), NOW)


def clock(seconds: int) -> Iterable[Finding]:
    return checks.check_clock(sending_status(local_time=NOW + dt.timedelta(seconds=seconds)))


def sending(**changes: Any) -> Iterable[Finding]:
    return check_sending(sending_status(**changes))


def quota(**changes: float) -> Iterable[Finding]:
    return check_quota(sending_status(**changes))


def plan(*chosen: str | None) -> Iterable[Finding]:
    return ses_plans.check_plan(ChosenPlan(*chosen))


ACCOUNT: Final = AwsAccount(
    account_id="123456789012",
    identity="arn:aws:iam::123456789012:user/ops",
    region="eu-west-1",
    region_has_ses=True,
    concurrency=1000,
    distributions=1,
)
REGISTRY: Final = "123456789012.dkr.ecr.eu-west-1.amazonaws.com"
KEY: Final = ec_key()
PEM: Final = certificate("smtp", KEY, names=("smtp.shop.example",)).decode()
NEEDS: Final = RelayNeeds(
    image=True,
    architectures=frozenset({"arm64"}),
    certificate={"certificate": PEM, "key": key_pem(KEY).decode()},
)


def account(**changes: Any) -> Iterable[Finding]:
    return preflight.check_account(replace(ACCOUNT, **changes))


def scaled(concurrency: int, text: str) -> Iterable[Finding]:
    parameters = {"EmailsPerSecond": text, "Webhooks": "on"}
    return preflight.check_scale(replace(ACCOUNT, concurrency=concurrency), parameters)


def cloudfront(distributions: int | None, edge: str = "cloudfront") -> Iterable[Finding]:
    used = replace(ACCOUNT, distributions=distributions)
    return preflight.check_cloudfront(used, {"EdgeService": edge})


def firewall(
    before: str, after: str, had: str = "none", gets: str = "cloudfront"
) -> Iterable[Finding]:
    """Change the firewall of a stack that had one edge, or none, and gets another."""
    deployed = {"Firewall": before, "EdgeService": had}
    return preflight.check_firewall(deployed, {"Firewall": after, "EdgeService": gets})


def rollout(name: str, *, fires: bool) -> Iterable[Finding]:
    return preflight.check_rollout({"Rollout": name}, alarm_fires=fires)


def webhooks(before: dict[str, str], after: str) -> Iterable[Finding]:
    return preflight.check_webhooks(before, {"Webhooks": after})


def relay(name: str = f"{REGISTRY}/relay:1", host: str = "smtp.shop.example", **needs: Any) -> Any:
    chosen = {"RelayImage": name, "RelayName": host}
    now = needs.pop("now", certificates.NOW)
    return preflight.check_relay(replace(NEEDS, **needs), chosen, "smtp", ACCOUNT, now)


def secret(**fields: Any) -> Any:
    return relay(certificate={**(NEEDS.certificate or {}), **fields})


#: What is found, its verdicts, and words of a message or a remedy.
CHECKS: Final[list[tuple[Callable[[], Any], str, str]]] = [
    (sending, "pass", "Out of the sandbox"),
    (lambda: sending(sandbox=True), "warn", "sandbox"),
    (lambda: sending(sandbox=True, review="PENDING"), "warn", "AWS reviews the request"),
    (lambda: sending(sandbox=True, review="DENIED"), "warn", "AWS denied the request"),
    (lambda: sending(sandbox=True, review="FAILED"), "warn", "could not review"),
    (lambda: sending(sending=False), "fail", "paused"),
    (lambda: sending(enforcement="SHUTDOWN"), "fail", "SHUTDOWN"),
    (lambda: sending(enforcement="PROBATION", sandbox=True), "warn", "PROBATION"),
    # What the set leaves out lets SES's list of all customers in; a bare set has the account's.
    (lambda: suppression(BOTH, []), "pass", "follow ours"),
    (lambda: suppression(None, BOTH), "warn", "has lost"),
    (lambda: suppression(None, []), "fail", "for BOUNCE and COMPLAINT"),
    (lambda: suppression([], BOTH), "fail", "for BOUNCE and COMPLAINT"),
    (lambda: suppression(["BOUNCE"], BOTH), "fail", "for COMPLAINT."),
    (lambda: checks.check_suppression(None, sending_status()), "skipped", ""),
    (lambda: strangers(1), "pass", "1 of 20 emails to invited members"),
    (lambda: strangers(10), "warn", f"until {NOW + dt.timedelta(days=2):%Y-%m-%d} 00:00 UTC"),
    (quota, "pass", ""),
    (lambda: quota(sent_last_24_hours=40_000.0), "warn", ""),
    (lambda: quota(sent_last_24_hours=50_000.0), "fail", ""),
    (lambda: quota(daily_quota=-1.0), "pass", ""),
    (lambda: rate(14.0, 40), "pass", ""),
    (lambda: rate(200.0, 200), "pass", ""),
    (lambda: rate(201.0, 200), "warn", "EmailsPerSecond=500"),
    (lambda: rate(5001.0, 5000), "warn", "Use more than one stack"),
    (lambda: rate(250.0, 200), "warn", "250 recipients per second for 10 workers."),
    (lambda: rate(250.0, 200, 80), "pass", "200 recipients per second (80 % of SES's 250) for 10"),
    (lambda: rate(250.0, 200, 81), "warn", "202.5 recipients per second (81 % of SES's 250) for"),
    (lambda: checks.check_reserve(Scale(40)), "warn", "EmailsPerSecond=500. Lambda accepts it"),
    (lambda: checks.check_reserve(Scale(200)), "warn", "it from a limit of 175 on."),
    (lambda: checks.check_reserve(Scale(500)), "pass", ""),
    (lambda: limits(allowed(Plan.STANDARD)), "pass", ""),
    (lambda: limits(allowed(Plan.STANDARD, 49_999)), "pass", ""),
    (lambda: limits(allowed(Plan.STANDARD, 50_000)), "warn", builders.ACCOUNT),
    (lambda: limits(allowed(Plan.ENTERPRISE)), "warn", builders.ACCOUNT),
    (lambda: limits(allowed(Plan.ENTERPRISE, 0)), "pass", ""),
    (lambda: limits(allowed(Plan.ENTERPRISE), sandbox=True), "skipped", ""),
    (lambda: limits(allowed(Plan.ENTERPRISE), daily_quota=-1.0), "skipped", ""),
    (lambda: check_events(None), "fail", "does not know"),
    (lambda: published(ALL_EVENTS, sending=False), "fail", "paused"),
    (lambda: published([]), "fail", "BOUNCE, COMPLAINT"),
    (lambda: published(ALL_EVENTS - {"SEND"}), "fail", "report SEND to"),
    (lambda: published(ALL_EVENTS), "pass", "SES reports"),
    # Fewer than 50 functions besides all workers warn, such as the ten of a new account.
    (lambda: checks.check_concurrency(10, Scale(40)), "warn", "up to 21 of them (DeliverMessage 4"),
    (lambda: checks.check_concurrency(70, Scale(40)), "warn", "a limit of 71"),
    (lambda: checks.check_concurrency(71, Scale(40)), "pass", ""),
    (lambda: check_dead_letters({"jobs": (DEAD, EMPTY), "urgent": (EMPTY, None)}), "pass pass", ""),
    (lambda: check_dead_letters({"urgent": (BARE, None)}), "fail", "no redrive policy"),
    (lambda: check_dead_letters({"events": (EMPTY, DEAD)}), "fail", "redrive events"),
    (lambda: check_queue_ages({"jobs": 3600.0, "urgent": 60.0, "events": 300.0}), "pass " * 3, ""),
    (lambda: check_queue_ages({"jobs": 3601.0, "urgent": 61.0, "events": 301.0}), "fail " * 3, ""),
    (lambda: check_queue_ages({"jobs": None}), "skipped", ""),
    (lambda: protection(True, True, "expires_at"), "pass pass pass", ""),
    (lambda: protection(False, False, None), "fail fail fail", ""),
    (lambda: protection(True, True, "ttl"), "pass pass fail", ""),
    (lambda: checks.check_alarms([], {}, 1), "pass pass", ""),
    (lambda: checks.check_alarms(["pillarbox-SlowAlarm-1"], {}, 0), "fail warn", "SlowAlarm-1"),
    # An alarm of a new stack may wait for the sweep's report; seven hours without data fail.
    (lambda: silent(minutes=1), "warn pass pass", "pillarbox-OverdueAlarm-1"),
    (lambda: silent(hours=6, minutes=59), "warn pass pass", ""),
    (lambda: silent(hours=7), "fail pass pass", "pillarbox-OverdueAlarm-1"),
    (lambda: certificate_for(days=21), "pass", ""),
    (lambda: certificate_for(days=20), "warn", ""),
    (lambda: certificate_for(days=7), "warn", ""),
    (lambda: certificate_for(days=6), "fail", ""),
    (lambda: certificate_for(days=-1), "fail", ""),
    (lambda: clock(-30), "pass", ""),
    (lambda: clock(31), "warn", ""),
    (lambda: clock(-240), "warn", ""),
    (lambda: clock(241), "fail", ""),
    (lambda: checks.check_clock(sending_status(provider_time=None)), "skipped", ""),
    (lambda: plan(None), "pass", "names no pricing plan"),
    (lambda: plan("NONE"), "pass", "is none (0.10 dollars for 1,000 emails)."),
    (lambda: plan("ESSENTIALS"), "pass", "essentials (0.16 dollars for 1,000 emails)"),
    (lambda: plan("ESSENTIALS"), "pass", "--ses-plan"),
    (lambda: plan("PRO", "NONE"), "pass", "pro (105 dollars a month and 0.22"),
    (lambda: plan("PRO", "NONE"), "pass", "Next month it is none (0.10 dollars for 1,000 emails)."),
    (lambda: plan("GALAXY"), "pass", "is GALAXY."),
    # Before a deployment
    (account, "pass pass", ""),
    (lambda: account(identity="arn:aws-cn:iam::123456789012:user/ops"), "pass fail", "partition"),
    (lambda: account(identity="arn:aws-us-gov:iam::123456789012:user/o"), "pass fail", "partition"),
    (lambda: account(region_has_ses=False), "pass fail", "SES is not in"),
    *(
        (partial(account, region=region), "pass fail", f"cannot run in {region}")
        for region in sorted(preflight.REFUSED_REGIONS)
    ),
    (lambda: preflight.check_receiving(receives=False), "warn", ""),
    (lambda: preflight.check_receiving(receives=True), "", ""),
    # CloudFront allows the longest name that contains the stack's 64 characters.
    (lambda: preflight.check_stack_name("x" * 34, "ap-southeast-2"), "", ""),
    (lambda: preflight.check_stack_name("x" * 35, "ap-southeast-2"), "fail", "have 34 in ap-south"),
    (lambda: preflight.check_stack_name("x" * 39, "us-east-1"), "", ""),
    (lambda: preflight.check_stack_name("x" * 40, "us-east-1"), "fail", "allows 64 for "),
    (lambda: preflight.check_stack_name("x" * 40, "eu-west-1"), "fail", "which has 65"),
    (lambda: scaled(10, "40"), "warn", ""),
    (lambda: scaled(10, "200"), "fail warn", ""),
    (lambda: scaled(10, "50"), "fail", ""),
    (lambda: preflight.check_cluster_role(ClusterRole.EXISTS), "pass", ""),
    (lambda: preflight.check_cluster_role(ClusterRole.CREATED), "pass", ""),
    (lambda: preflight.check_cluster_role(ClusterRole.UNKNOWN), "warn", "pillarbox policy deploy"),
    (lambda: preflight.check_cluster_role(ClusterRole.MISSING), "fail", "pillarbox policy deploy"),
    # The remedy names the way without CloudFront, which needs no answer of AWS.
    (lambda: cloudfront(None), "fail", "EdgeService=none"),
    (lambda: cloudfront(0), "warn", "EdgeService=none"),
    (lambda: cloudfront(3), "pass", ""),
    (lambda: cloudfront(None, "none"), "pass", ""),
    (lambda: cloudfront(0, "none"), "pass", ""),
    # The edge sends the secret until the firewall is gone, and afterwards.
    (lambda: firewall("basic", "none", had="cloudfront"), "", ""),
    (lambda: firewall("none", "basic", had="cloudfront"), "", ""),
    (lambda: firewall("basic", "managed", had="cloudfront"), "", ""),
    # One that exists is changed before the edge is there: it would refuse everything without the
    # secret, so it lets requests pass in the first of two deployments. A new one comes after it.
    (lambda: firewall("basic", "basic"), "fail", "Firewall=count first"),
    (lambda: firewall("basic", "count"), "", ""),
    (lambda: firewall("none", "managed"), "", ""),
    (lambda: firewall("basic", "none", gets="none"), "", ""),
    (lambda: rollout("Canary10Percent10Minutes", fires=True), "fail", "Rollout=AllAtOnce"),
    (lambda: rollout("Canary10Percent10Minutes", fires=False), "", ""),
    (lambda: rollout("AllAtOnce", fires=True), "", ""),
    (lambda: webhooks({"Webhooks": "on"}, "off"), "warn", ""),
    (lambda: webhooks({"Webhooks": "off"}, "off"), "", ""),
    (lambda: webhooks({"Webhooks": "on"}, "on"), "", ""),
    (lambda: webhooks({}, "off"), "", ""),  # a new stack
    (relay, "pass pass", ""),
    (lambda: relay(image=None), "fail pass", ""),
    (lambda: relay(image=False, certificate=None), "fail fail", ""),
    # An image for another processor would never start; the remedy says how to build it.
    (lambda: relay(architectures=frozenset({"amd64", "arm64"})), "pass pass", ""),
    (lambda: relay(architectures=frozenset({"amd64"})), "fail pass", "The image is for amd64, and"),
    (lambda: relay(architectures=frozenset({"amd64"})), "fail pass", "pillarbox relay image"),
    (lambda: relay(architectures=frozenset()), "fail pass", "is for an unknown architecture, and"),
    # The relay's role may pull from the stack's own registry only.
    (lambda: relay(REGISTRY.replace("eu", "us") + "/relay:1"), "fail pass", f"{REGISTRY}/ only"),
    (lambda: relay(REGISTRY.replace("12", "21") + "/relay:1"), "fail pass", f"{REGISTRY}/ only"),
    (lambda: relay(host="mail.shop.example"), "pass fail", "is for smtp.shop.example, not"),
    (lambda: secret(certificate=""), "pass fail", "certificate in the secret smtp is not a list"),
    (lambda: secret(certificate=1), "pass fail", "relay certificate"),
    (lambda: secret(key=""), "pass fail", "key in the secret smtp is not a private key"),
    (lambda: secret(key=key_pem(ec_key()).decode()), "pass fail", "key in the secret smtp does"),
    (
        lambda: relay(now=certificates.NOW + dt.timedelta(days=90)),
        "pass fail",
        "The certificate in the secret smtp ended on 2027-02-20.",
    ),
    # A queue without a maximum could take all functions of a small account.
    (lambda: check_maximums(10, Scale(200)), "warn", "RecordFeedback, SweepAccount, PostWebhooks"),
    (lambda: check_maximums(999, Scale(200)), "warn", "EmailsPerSecond=40"),
    (lambda: check_maximums(1000, Scale(200)), "", ""),
    (lambda: check_maximums(10, Scale(40)), "", ""),
    # Half of the functions and a hundred are not delivery's.
    (lambda: check_fit(7, Scale(40)), "fail", "Deploy with EmailsPerSecond=40"),
    (lambda: check_fit(10, Scale(40)), "warn", ""),
    (lambda: check_fit(21, Scale(40)), "warn", ""),
    (lambda: check_fit(22, Scale(40)), "pass", ""),
    (lambda: check_fit(174, Scale(500)), "fail", "Deploy with EmailsPerSecond=40"),
    (lambda: check_fit(175, Scale(500)), "pass", ""),
    (lambda: check_fit(999, Scale(5000)), "fail", "Deploy with EmailsPerSecond=40"),
    (lambda: check_fit(1000, Scale(5000)), "pass", ""),
    # A table that was warmed keeps what it takes.
    (lambda: check_table(1000, 500), "fail", ""),
    (lambda: check_table(1000, 1000), "", ""),
    (lambda: check_table(1000, 200), "", ""),
    (lambda: check_table(200, 1000), "", ""),
]


@for_each(("check", "expected", "words"), CHECKS)
def test_a_check(check: Callable[[], Any], expected: str, words: str) -> None:
    found = check()
    findings = [found] if isinstance(found, Finding) else [*found]
    assert verdicts(findings) == expected.split(), findings
    assert words in " ".join(f"{one.message} {one.remedy}" for one in findings)


@pytest.mark.parametrize(
    ("concurrency", "own", "rate"),
    [(10, {}, "40"), (1000, {}, "200"), (10, {"EmailsPerSecond": "200"}, "200")],
)
def test_the_rate_fits_the_account_unless_it_is_set(
    concurrency: int, own: dict[str, str], rate: str
) -> None:
    small = replace(ACCOUNT, concurrency=concurrency)
    chosen = preflight.choose_scale(small, {"EmailsPerSecond": "200"}, own)
    assert chosen["EmailsPerSecond"] == rate


@pytest.mark.parametrize(("limit", "rate"), [(10, 40), (999, 40), (1000, 200), (5000, 200)])
def test_the_rate_follows_the_account(limit: int, rate: int) -> None:
    assert choose_rate(limit) == rate
    assert 2 * Scale(rate).of_functions["DeliverMessage"] <= limit


def test_the_remedy_names_the_smallest_that_is_enough() -> None:
    assert deploy_for(201) == deploy_for(500) == "Deploy with EmailsPerSecond=500."
    assert deploy_for(5001).startswith("Use more than one stack: one is for up to 5,000 emails a ")


def test_the_template_refuses_the_same_regions() -> None:
    """A deployment without the preflight fails too, before it creates anything."""
    (assertion,) = template.load()["Rules"]["RegionHasEveryService"]["Assertions"]
    ((operator, (regions, region)),) = assertion["Assert"]["Fn::Not"][0].items()
    assert (operator, region) == ("Fn::Contains", {"Ref": "AWS::Region"})
    assert set(regions) == preflight.REFUSED_REGIONS
    session = boto3.Session()
    known = set(session.get_available_regions("ec2"))
    assert known - set(session.get_available_regions("sesv2")) <= preflight.REFUSED_REGIONS


def test_the_relays_tasks_have_the_processor_of_its_image() -> None:
    task = template.load(template.ROOT / "stacks/relay.yaml")["Resources"]["RelayTask"]
    assert task["Properties"]["RuntimePlatform"]["CpuArchitecture"] == "ARM64"
    assert "PRIVATE KEY" not in repr(NEEDS)


def test_zones_without_vpc_origins_are_left_out_with_a_front_and_come_last_without() -> None:
    """The zones are chosen by id, because their names differ by account."""
    zones = [("a", "use1-az3"), ("c", "use1-az1"), ("b", "use1-az2")]
    for front in (True, False):
        assert preflight.choose_zones(zones, front=front) == ("b", "c")
    assert preflight.choose_zones(zones[:2], front=True) is None
    assert preflight.choose_zones(zones[:2], front=False) == ("c", "a")
    assert preflight.choose_zones(zones[:1], front=False) is None
    assert preflight.choose_zones(zones[1:2], front=False) is None


#: A stack as it is deployed without parameters, in a new region of an established account.
DEPLOYED = Capacity(
    region="eu-north-1", scale=Scale(200), max_rate=14, functions=1_000, table_writes=4_000
)
#: A larger one with all that AWS grants.
GRANTED = replace(
    DEPLOYED, region="us-east-1", scale=Scale(1_000), max_rate=1_000, table_writes=15_000
)


@for_each(
    ("rate", "capacity", "low"),
    [
        (14, DEPLOYED, []),
        (1_000, DEPLOYED, ["sending", "workers", "table", "events"]),
        (1_000, GRANTED, []),
        (1_000, replace(GRANTED, max_rate=999.0), ["sending"]),
        (1_000, replace(GRANTED, scale=Scale(500)), ["workers"]),
        (1_000, replace(GRANTED, functions=299), ["functions"]),
        (1_000, replace(GRANTED, table_writes=14_999), ["table"]),
        (1_000, replace(GRANTED, region="us-east-2"), []),
        (1_000, replace(GRANTED, region="af-south-1"), ["events"]),
    ],
)
def test_limits_that_are_too_low(rate: int, capacity: Capacity, low: list[str]) -> None:
    found = {f.check: f.remedy for f in check_capacity(rate, capacity) if f.verdict is Verdict.FAIL}
    assert [*found] == low
    if "table" in low:
        assert found["table"] == "Deploy with EmailsPerSecond=1000."


@for_each(("rate", "quota"), [(2_666, ""), (2_667, "Ask for 40,005 write units")])
def test_above_40_000_writes_a_table_needs_a_quota(rate: int, quota: str) -> None:
    remedy = {f.check: f.remedy or "" for f in check_capacity(rate, DEPLOYED)}["table"]
    assert remedy.startswith(quota or "Deploy with EmailsPerSecond=5000.")
