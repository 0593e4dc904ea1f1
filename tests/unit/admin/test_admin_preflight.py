"""The checks before a deployment, on given values."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import boto3
import pytest

from admin.use_cases import preflight
from admin.use_cases.preflight import AwsAccount, ClusterRole, RelayNeeds
from local import template
from pillarbox.application.operator.checks import Finding
from tests.loops import for_each
from tests.unit.admin.certificates import NOW, certificate, ec_key, key_pem
from tests.unit.admin.doctor_fakes import verdicts

ACCOUNT = AwsAccount(
    account_id="123456789012",
    identity="arn:aws:iam::123456789012:user/ops",
    region="eu-west-1",
    region_has_ses=True,
    concurrency=1000,
    distributions=1,
)
REGISTRY = "123456789012.dkr.ecr.eu-west-1.amazonaws.com"
IMAGE = f"{REGISTRY}/relay:1"
KEY = ec_key()
PEM = certificate("smtp", KEY, names=("smtp.shop.example",))
NEEDS = RelayNeeds(
    image=True,
    architectures=frozenset({"arm64"}),
    certificate={"certificate": PEM.decode(), "key": key_pem(KEY).decode()},
)
CHOSEN = {"RelayImage": IMAGE, "RelayName": "smtp.shop.example"}


def check_relay(needs: RelayNeeds, **chosen: str) -> list[Finding]:
    return list(preflight.check_relay(needs, CHOSEN | chosen, "smtp", ACCOUNT, NOW))


@for_each(
    "account",
    [
        replace(ACCOUNT, identity="arn:aws-cn:iam::123456789012:user/ops"),
        replace(ACCOUNT, identity="arn:aws-us-gov:iam::123456789012:user/ops"),
        replace(ACCOUNT, region_has_ses=False),
        *(replace(ACCOUNT, region=region) for region in sorted(preflight.REFUSED_REGIONS)),
    ],
)
def test_a_region_without_the_services_fails(account: AwsAccount) -> None:
    assert verdicts(list(preflight.check_account(account))) == ["pass", "fail"]


def test_a_region_in_which_ses_receives_nothing_is_a_warning() -> None:
    assert verdicts(list(preflight.check_receiving(receives=False))) == ["warn"]
    assert list(preflight.check_receiving(receives=True)) == []


@pytest.mark.parametrize(
    ("region", "characters"), [("ap-southeast-2", 34), ("eu-west-1", 39), ("us-east-1", 39)]
)
def test_a_long_name_of_a_stack_fails(region: str, characters: int) -> None:
    """CloudFront allows the longest name that contains it 64 characters, and the error says so."""
    assert list(preflight.check_stack_name("x" * characters, region)) == []
    (finding,) = preflight.check_stack_name("x" * (characters + 1), region)
    assert verdicts([finding]) == ["fail"]
    for part in (f"may have {characters} in {region}", "allows 64", "which has 65"):
        assert part in finding.message


@pytest.mark.parametrize(
    ("concurrency", "own", "rate"),
    [(10, {}, "40"), (1000, {}, "200"), (10, {"EmailsPerSecond": "200"}, "200")],
)
def test_the_rate_fits_the_account_unless_it_is_set(
    concurrency: int, own: dict[str, str], rate: str
) -> None:
    account = replace(ACCOUNT, concurrency=concurrency)
    chosen = preflight.choose_scale(account, {"EmailsPerSecond": "200"}, own)
    assert chosen["EmailsPerSecond"] == rate


def test_the_template_refuses_the_same_regions() -> None:
    """A deployment without the preflight fails too, before it creates anything."""
    (assertion,) = template.load()["Rules"]["RegionHasEveryService"]["Assertions"]
    ((operator, (regions, region)),) = assertion["Assert"]["Fn::Not"][0].items()
    assert (operator, region) == ("Fn::Contains", {"Ref": "AWS::Region"})
    assert set(regions) == preflight.REFUSED_REGIONS


def test_every_region_without_ses_is_refused() -> None:
    session = boto3.Session()
    known = set(session.get_available_regions("ec2"))
    assert known - set(session.get_available_regions("sesv2")) <= preflight.REFUSED_REGIONS


@pytest.mark.parametrize(("rate", "verdict"), [("40", "warn"), ("200", "fail"), ("50", "fail")])
def test_the_account_can_do_what_the_rate_asks(rate: str, verdict: str) -> None:
    account = replace(ACCOUNT, concurrency=10)
    finding, *_ = preflight.check_scale(account, {"EmailsPerSecond": rate, "Webhooks": "on"})
    assert verdicts([finding]) == [verdict]


@pytest.mark.parametrize(
    ("role", "verdict"),
    [("exists", "pass"), ("created", "pass"), ("unknown", "warn"), ("missing", "fail")],
)
def test_the_role_of_ecs_is_there_before_the_cluster(role: str, verdict: str) -> None:
    finding = preflight.check_cluster_role(ClusterRole(role))
    assert verdicts([finding]) == [verdict]
    assert ("pillarbox policy deploy" in finding.remedy) == (verdict != "pass")


@pytest.mark.parametrize(("distributions", "verdict"), [(None, "fail"), (0, "warn"), (3, "pass")])
def test_cloudfront_is_checked_as_far_as_possible(distributions: int | None, verdict: str) -> None:
    account = replace(ACCOUNT, distributions=distributions)
    (finding,) = preflight.check_cloudfront(account, {"EdgeService": "cloudfront"})
    assert verdicts([finding]) == [verdict]
    # Nobody waits for AWS: the remedy names the way without CloudFront.
    assert ("EdgeService=none" in finding.remedy) == (verdict != "pass")


@pytest.mark.parametrize("distributions", [None, 0, 3])
def test_an_api_without_an_edge_needs_no_cloudfront(distributions: int | None) -> None:
    account = replace(ACCOUNT, distributions=distributions)
    findings = list(preflight.check_cloudfront(account, {"EdgeService": "none"}))
    assert verdicts(findings) == ["pass"]


EDGE = {"EdgeService": "cloudfront", "RelayImage": ""}


@for_each(
    ("before", "after", "verdict"),
    [
        # The edge sends the secret until the firewall is gone, and afterwards.
        ({"Firewall": "basic"}, {"Firewall": "none"}, []),
        ({"Firewall": "none"}, {"Firewall": "none"}, []),
        ({"Firewall": "none"}, {"Firewall": "basic"}, []),
        # A firewall that exists is changed before the edge is there; a new one is used after it.
        ({"Firewall": "basic", "EdgeService": "none"}, {"Firewall": "basic"}, ["fail"]),
        ({"Firewall": "basic", "EdgeService": "none"}, {"Firewall": "count"}, []),
        ({"Firewall": "none", "EdgeService": "none"}, {"Firewall": "managed"}, []),
        # No edge, no secret.
        (
            {"Firewall": "basic", "EdgeService": "none"},
            {"Firewall": "none", "EdgeService": "none"},
            [],
        ),
    ],
)
def test_a_firewall_waits_for_the_secret_in_two_deployments(
    before: dict[str, str], after: dict[str, str], verdict: list[str]
) -> None:
    """Without the secret it would refuse all requests, so it lets them pass in the first one."""
    findings = list(preflight.check_firewall(EDGE | before, EDGE | after))
    assert verdicts(findings) == verdict
    assert all("Firewall=count first" in finding.remedy for finding in findings)


@pytest.mark.parametrize(
    ("rollout", "fires", "verdict"),
    [
        ("Canary10Percent10Minutes", True, ["fail"]),
        ("Canary10Percent10Minutes", False, []),
        ("AllAtOnce", True, []),
    ],
)
def test_a_rollout_in_steps_waits_for_the_end_of_its_alarm(
    rollout: str, *, fires: bool, verdict: list[str]
) -> None:
    findings = list(preflight.check_rollout({"Rollout": rollout}, alarm_fires=fires))
    assert verdicts(findings) == verdict
    assert all("Rollout=AllAtOnce" in finding.remedy for finding in findings)


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ({"Webhooks": "on"}, "off", ["warn"]),
        ({"Webhooks": "off"}, "off", []),
        ({"Webhooks": "off"}, "on", []),
        ({"Webhooks": "on"}, "on", []),
        ({}, "off", []),  # a new stack
    ],
)
def test_what_ends_with_webhooks_is_said(
    before: dict[str, str], after: str, verdict: list[str]
) -> None:
    assert verdicts(list(preflight.check_webhooks(before, {"Webhooks": after}))) == verdict


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ({}, ["pass", "pass"]),
        ({"image": False}, ["fail", "pass"]),
        ({"image": None, "certificate": None}, ["fail", "fail"]),
    ],
)
def test_what_the_relay_names_must_exist(missing: dict[str, Any], expected: list[str]) -> None:
    needs = replace(NEEDS, **missing)
    assert verdicts(check_relay(needs)) == expected


@pytest.mark.parametrize(
    ("architectures", "verdict"),
    [({"arm64"}, "pass"), ({"amd64", "arm64"}, "pass"), ({"amd64"}, "fail"), ((), "fail")],
)
def test_the_image_must_be_for_the_tasks_processor(
    architectures: Iterable[str], verdict: str
) -> None:
    """An image for another processor would never start, and the remedy says how to build it."""
    needs = replace(NEEDS, architectures=frozenset(architectures))
    image, secret = check_relay(needs)
    assert verdicts([image, secret]) == [verdict, "pass"]
    assert ("relay image" in image.remedy) == (verdict == "fail")
    task = template.load(template.ROOT / "stacks/relay.yaml")["Resources"]["RelayTask"]
    assert task["Properties"]["RuntimePlatform"]["CpuArchitecture"] == "ARM64"


@for_each(
    ("fields", "name", "message"),
    [
        ({}, "mail.shop.example", "certificate in the secret smtp is for smtp.shop.example, not"),
        ({"certificate": ""}, "smtp.shop.example", "certificate in the secret smtp is not a list"),
        ({"certificate": 1}, "smtp.shop.example", "certificate in the secret smtp is not a list"),
        ({"key": ""}, "smtp.shop.example", "key in the secret smtp is not a private key"),
        ({"key": key_pem(ec_key()).decode()}, "smtp.shop.example", "key in the secret smtp does"),
    ],
)
def test_clients_can_use_the_certificate(fields: dict[str, str], name: str, message: str) -> None:
    needs = replace(NEEDS, certificate={**(NEEDS.certificate or {}), **fields})
    image, secret = check_relay(needs, RelayName=name)
    assert verdicts([image, secret]) == ["pass", "fail"]
    assert secret.message.startswith(f"The {message}")
    assert "relay certificate" in secret.remedy


def test_a_certificate_that_has_ended_is_refused() -> None:
    ended = NOW + dt.timedelta(days=90)
    _, secret = preflight.check_relay(NEEDS, CHOSEN, "smtp", ACCOUNT, ended)
    assert secret.message == "The certificate in the secret smtp ended on 2027-02-20."
    assert "PRIVATE KEY" not in repr(NEEDS)


def test_zones_without_vpc_origins_are_left_out() -> None:
    """The zones are chosen by id, because their names differ by account."""
    zones = [("a", "use1-az3"), ("c", "use1-az1"), ("b", "use1-az2")]
    assert preflight.choose_zones(zones, front=True) == ("b", "c")
    assert preflight.choose_zones(zones[:2], front=True) is None


def test_without_a_front_any_two_zones_do() -> None:
    """Zones that can have a VPC origin still come first, since an edge may be added later."""
    zones = [("a", "use1-az3"), ("c", "use1-az1"), ("b", "use1-az2")]
    assert preflight.choose_zones(zones, front=False) == ("b", "c")
    assert preflight.choose_zones(zones[:2], front=False) == ("c", "a")
    assert preflight.choose_zones(zones[:1], front=False) is None


@pytest.mark.parametrize(
    "registry", [REGISTRY.replace("eu-west-1", "us-east-1"), REGISTRY.replace("1234", "4321")]
)
def test_an_image_of_another_account_or_region_is_refused(registry: str) -> None:
    """ECR has it, but the relay's role may pull from the stack's own registry only."""
    image, _ = check_relay(NEEDS, RelayImage=f"{registry}/relay:1")
    assert (image.verdict.value, f"{REGISTRY}/ only" in image.message) == ("fail", True)
