"""With EdgeService=none the API is at the stage's own address, and needs no CloudFront."""

from typing import Any, Final

from local import template
from tests.deployed import of_type, properties, refusals, resources, stack
from tests.loops import for_each

_NO_EDGE: Final = {"EdgeService": "none", "ApiDomain": ""}


def test_nothing_of_cloudfront_exists_without_an_edge() -> None:
    """AWS may not have verified the account for CloudFront yet; by default there is an edge."""
    assert not of_type("AWS::CloudFront::", "everything", **_NO_EDGE)
    assert "EdgeFirewall" not in resources("everything", **_NO_EDGE)
    assert "Edge" in resources("prod")


def test_the_output_is_the_address_of_the_stage() -> None:
    """`{ApiUrl}/api/v1` is the stage `api`, so clients only change their base URL later."""
    outputs = stack("no-edge").outputs
    assert outputs["ApiUrl"] == {"Fn::Sub": "https://${Api}.execute-api.us-east-1.amazonaws.com"}
    assert properties("Api", "no-edge")["StageName"] == "api"
    assert "EdgeAddress" not in outputs


def test_the_stage_counts_the_callers_own_address() -> None:
    for chosen, key, header in (
        ("no-edge-managed", "IP", None),
        ("managed", "FORWARDED_IP", "X-Pillarbox-Client"),
    ):
        rules = properties("ApiFirewall", chosen)["Rules"]
        (rule,) = (rule for rule in rules if rule["Name"] == "address-rate")
        rate = rule["Statement"]["RateBasedStatement"]
        assert rate["AggregateKeyType"] == key
        assert rate.get("ForwardedIPConfig", {}).get("HeaderName") == header


@for_each(
    ("chosen", "parameters", "exists"),
    [
        ("prod", {}, True),
        ("basic", {}, True),
        ("relay-and-front", {}, True),
        ("relay-without-front", {}, True),
        ("everything", _NO_EDGE, False),
    ],
)
def test_the_secret_exists_with_the_edge(
    chosen: str, parameters: dict[str, str], *, exists: bool
) -> None:
    """Functions that answer requests compare it, and so do the front and the firewalls."""
    found = resources(chosen, **parameters)
    assert ("EdgeSecret" in found) is exists
    variables = template.load()["Globals"]["Function"]["Environment"]["Variables"]
    named = {"Fn::If": ["WithEdge", {"Ref": "EdgeSecret"}, ""]}
    assert variables["PILLARBOX_EDGE_SECRET_ID"] == named
    for name in ("SignIn", "SendBatch", "ManageKeys"):
        may_read = "EdgeSecret" in str(found[f"{name}Role"])
        assert may_read is exists


def test_parameters_that_need_each_other_are_asked_for() -> None:
    """A domain of one's own needs the edge, and a relay its zones and prefix list."""
    (refusal,) = refusals("domain", EdgeService="none")
    assert refusal.endswith("ApiDomain requires an EdgeService.")
    (refusal,) = refusals("relay-and-front", RelayNetwork="")
    assert "RelayImage requires RelayNetwork" in refusal
    assert not refusals("relay") + refusals("relay-without-front")


@for_each(
    ("chosen", "parameters", "containers"),
    [
        ("relay-and-front", {}, ["relay", "front"]),
        ("relay-and-front", _NO_EDGE, ["relay"]),
        ("relay-without-front", {}, ["relay"]),
    ],
)
def test_a_front_exists_with_an_edge_and_large_requests_only(
    chosen: str, parameters: dict[str, str], containers: list[str]
) -> None:
    found = resources(chosen, **parameters)

    def part(name: str, of: str) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = found[name]["Properties"][of]
        return listed

    has_front = "front" in containers
    assert [one["Name"] for one in part("RelayTask", "ContainerDefinitions")] == containers
    assert [one["ContainerName"] for one in part("RelayService", "LoadBalancers")] == containers
    assert any(name.startswith("Front") for name in found) is has_front
    groups = [rule["SourceSecurityGroupId"] for rule in part("RelayGroup", "SecurityGroupIngress")]
    names = ["RelayBalancerGroup", "FrontBalancerGroup"][: len(containers)]
    assert groups == [{"Ref": name} for name in names]
    (policy,) = part("RelayExecutionRole", "Policies")
    assert ("secretsmanager:GetSecretValue" in str(policy)) is has_front
    if "Edge" in found:
        origins = found["Edge"]["Properties"]["DistributionConfig"]["Origins"]
        (front,) = (one for one in origins if one["Id"] == "front")
        assert ("VpcOriginConfig" in front) is has_front
        code = str(found["EdgeRoute"]["Properties"]["FunctionCode"])
        assert f"const FRONT = {str(has_front).lower()};" in code


def test_without_a_front_a_task_has_half_the_memory() -> None:
    """The relay's own limit fits into it, and AWS charges for the rest."""
    memory: dict[str, int] = {}
    for chosen in ("relay-and-front", "relay-without-front"):
        task = properties("RelayTask", chosen)
        memory[chosen] = int(task["Memory"])
        needed = sum(int(one["Memory"]) for one in task["ContainerDefinitions"])
        assert needed <= memory[chosen]
    assert memory == {"relay-and-front": 1024, "relay-without-front": 512}
