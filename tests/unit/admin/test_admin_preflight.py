"""The checks before a deployment, on given values."""

from collections.abc import Iterable
from dataclasses import replace

import boto3
import pytest

from admin.operations import preflight
from admin.operations.preflight import AwsAccount, RelayNeeds
from local import template
from pillarbox.application.operation.checks import Finding, Verdict

ACCOUNT = AwsAccount(
    account_id="123456789012",
    identity="arn:aws:iam::123456789012:user/ops",
    region="eu-west-1",
    region_has_ses=True,
    concurrency=1000,
    distributions=1,
)
RELAY = {"RelayImage": "image", "RelayCertificate": "smtp"}
NEEDS = RelayNeeds(
    image=True,
    architectures=frozenset({"arm64"}),
    certificate=True,
    fields=frozenset({"certificate", "key"}),
)


def verdicts(findings: list[Finding]) -> list[str]:
    """Return the verdicts; assert that a problem has a remedy, and other findings have none."""
    for finding in findings:
        assert bool(finding.remedy) == (finding.verdict in {Verdict.WARN, Verdict.FAIL})
    return [finding.verdict.value for finding in findings]


def test_the_account_is_shown() -> None:
    """The first finding names account, region and identity."""
    shown, region = preflight.check_account(ACCOUNT)
    assert verdicts([shown, region]) == ["pass", "pass"]
    for part in (ACCOUNT.account_id, ACCOUNT.region, ACCOUNT.identity):
        assert part in shown.message


@pytest.mark.parametrize(
    "account",
    [
        replace(ACCOUNT, identity="arn:aws-cn:iam::123456789012:user/ops"),
        replace(ACCOUNT, identity="arn:aws-us-gov:iam::123456789012:user/ops"),
        replace(ACCOUNT, region_has_ses=False),
        *(replace(ACCOUNT, region=region) for region in sorted(preflight.REFUSED_REGIONS)),
    ],
)
def test_a_region_without_the_services_fails(account: AwsAccount) -> None:
    """Partitions without CloudFront and regions without a service are refused."""
    assert verdicts(list(preflight.check_account(account))) == ["pass", "fail"]


def test_the_template_refuses_the_same_regions() -> None:
    """A deployment without the preflight fails too, before it creates anything."""
    (assertion,) = template.load()["Rules"]["RegionHasEveryService"]["Assertions"]
    ((operator, (regions, region)),) = assertion["Assert"]["Fn::Not"][0].items()
    assert (operator, region) == ("Fn::Contains", {"Ref": "AWS::Region"})
    assert set(regions) == preflight.REFUSED_REGIONS


def test_every_region_without_ses_is_refused() -> None:
    """The list has each region that AWS's SDK knows and in which it finds no SES."""
    session = boto3.Session()
    known = set(session.get_available_regions("ec2"))
    assert known - set(session.get_available_regions("sesv2")) <= preflight.REFUSED_REGIONS


@pytest.mark.parametrize(
    ("concurrency", "workers", "verdict"),
    [(10, "2", "pass"), (10, "3", "fail"), (40, "10", "pass"), (39, "10", "fail")],
)
def test_half_of_the_functions_are_left_to_requests(
    concurrency: int, workers: str, verdict: str
) -> None:
    """The workers of both queues together take at most half of the account's concurrency."""
    account = replace(ACCOUNT, concurrency=concurrency)
    (finding,) = preflight.check_concurrency(account, {"DeliveryConcurrency": workers})
    assert verdicts([finding]) == [verdict]
    if verdict == "fail":
        assert f"DeliveryConcurrency={concurrency // 4}" in finding.remedy


@pytest.mark.parametrize("workers", ["", "many", "-1", "²"])
def test_a_maximum_that_is_not_a_number_fails(workers: str) -> None:
    """The finding shows the value, and there is no traceback."""
    (finding,) = preflight.check_concurrency(ACCOUNT, {"DeliveryConcurrency": workers})
    assert verdicts([finding]) == ["fail"]
    assert finding.message.endswith(f": {workers}")


@pytest.mark.parametrize(("distributions", "verdict"), [(None, "fail"), (0, "warn"), (3, "pass")])
def test_cloudfront_is_checked_as_far_as_possible(distributions: int | None, verdict: str) -> None:
    """Missing rights fail; an account without a distribution may need AWS's verification."""
    account = replace(ACCOUNT, distributions=distributions)
    (finding,) = preflight.check_cloudfront(account, {"EdgeService": "cloudfront"})
    assert verdicts([finding]) == [verdict]
    # Nobody waits for AWS: the remedy names the way without CloudFront.
    assert ("EdgeService=none" in finding.remedy) == (verdict != "pass")


@pytest.mark.parametrize("distributions", [None, 0, 3])
def test_an_api_without_an_edge_needs_no_cloudfront(distributions: int | None) -> None:
    """With EdgeService=none neither rights nor a verification are needed."""
    account = replace(ACCOUNT, distributions=distributions)
    findings = list(preflight.check_cloudfront(account, {"EdgeService": "none"}))
    assert verdicts(findings) == ["pass"]


EDGE = {"EdgeService": "cloudfront", "RelayImage": ""}


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ({"Firewall": "basic"}, {"Firewall": "none"}, ["fail"]),
        ({"Firewall": "managed"}, {"Firewall": "none"}, ["fail"]),
        ({"Firewall": "basic"}, {"Firewall": "count"}, []),
        ({"Firewall": "count"}, {"Firewall": "none"}, []),
        ({"Firewall": "none"}, {"Firewall": "none"}, []),
        ({"Firewall": "none"}, {"Firewall": "basic"}, []),
        # The front needs the secret, so the edge goes on sending it.
        ({"Firewall": "basic"}, {"Firewall": "none", "RelayImage": "image"}, []),
        # No edge, no secret.
        (
            {"Firewall": "basic", "EdgeService": "none"},
            {"Firewall": "none", "EdgeService": "none"},
            [],
        ),
    ],
)
def test_a_firewall_that_goes_lets_requests_pass_first(
    before: dict[str, str], after: dict[str, str], verdict: list[str]
) -> None:
    """A firewall is removed in two steps, since it would refuse all requests without the secret."""
    findings = list(preflight.check_firewall(EDGE | before, EDGE | after))
    assert verdicts(findings) == verdict
    assert all("Firewall=count first" in finding.remedy for finding in findings)


def test_a_new_stack_has_no_firewall_to_remove() -> None:
    """A stack without parameters is not checked."""
    assert list(preflight.check_firewall({}, EDGE | {"Firewall": "none"})) == []


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ({"Webhooks": "on"}, "off", ["warn"]),
        ({"AlarmSet": "all"}, "off", ["warn"]),  # a stack of an older release
        ({"Webhooks": "off"}, "off", []),
        ({"Webhooks": "off"}, "on", []),
        ({"Webhooks": "on"}, "on", []),
        ({}, "off", []),  # a new stack
    ],
)
def test_what_ends_with_webhooks_is_said(
    before: dict[str, str], after: str, verdict: list[str]
) -> None:
    """Who switches webhooks off in a stack that has them is told what ends."""
    assert verdicts(list(preflight.check_webhooks(before, {"Webhooks": after}))) == verdict


@pytest.mark.parametrize(
    ("image", "certificate", "expected"),
    [
        (True, True, ["pass", "pass"]),
        (False, True, ["fail", "pass"]),
        (None, False, ["fail", "fail"]),
    ],
)
def test_what_the_relay_names_must_exist(
    image: bool | None,  # noqa: FBT001  a row of the table
    certificate: bool,  # noqa: FBT001  a row of the table
    expected: list[str],
) -> None:
    """A missing image or secret fails before anything is built."""
    needs = replace(NEEDS, image=image, certificate=certificate)
    assert verdicts(list(preflight.check_relay(needs, RELAY))) == expected


@pytest.mark.parametrize(
    ("architectures", "verdict"),
    [({"arm64"}, "pass"), ({"amd64", "arm64"}, "pass"), ({"amd64"}, "fail"), ((), "fail")],
)
def test_the_image_must_be_for_the_tasks_processor(
    architectures: Iterable[str], verdict: str
) -> None:
    """An image for another processor would never start, and the remedy says how to build it."""
    needs = replace(NEEDS, architectures=frozenset(architectures))
    image, secret = preflight.check_relay(needs, RELAY)
    assert verdicts([image, secret]) == [verdict, "pass"]
    assert ("relay image" in image.remedy) == (verdict == "fail")
    task = template.load(template.ROOT / "stacks/relay.yaml")["Resources"]["RelayTask"]
    assert task["Properties"]["RuntimePlatform"]["CpuArchitecture"] == "ARM64"


@pytest.mark.parametrize(
    ("fields", "missing"),
    [((), "certificate and key"), ({"key", "ca"}, "certificate"), ({"certificate"}, "key")],
)
def test_the_secret_must_have_both_fields(fields: Iterable[str], missing: str) -> None:
    """A secret without a certificate or key fails, and the message names what it lacks."""
    needs = replace(NEEDS, fields=frozenset(fields))
    image, secret = preflight.check_relay(needs, RELAY)
    assert verdicts([image, secret]) == ["pass", "fail"]
    assert secret.message == f"The secret smtp lacks {missing}."


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
