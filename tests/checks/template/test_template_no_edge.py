"""With EdgeService=none the API is at the stage's own address, and needs no CloudFront."""

from typing import Any, Final

from local import template
from tests.conditions import conditions

_SOURCE: Final = template.inlined(template.load())
_RESOURCES: Final[dict[str, Any]] = _SOURCE["Resources"]
_CONDITIONS: Final[dict[str, Any]] = _SOURCE["Conditions"]

_WITH_EDGE: Final = {"Condition": "WithEdge"}


def _rule(name: str) -> dict[str, Any]:
    """Return a rule of the API's firewall."""
    rules = (rule.get("Fn::If", [None, rule])[1] for rule in _firewall()["Rules"])
    found: dict[str, Any]
    (found,) = (rule for rule in rules if rule["Name"] == name)
    return found


def _firewall() -> dict[str, Any]:
    properties: dict[str, Any] = _RESOURCES["ApiFirewall"]["Properties"]
    return properties


def test_everything_of_cloudfront_has_the_edge_as_its_condition() -> None:
    """Nothing of CloudFront is created, because AWS may not have verified the account yet."""
    assert conditions(_RESOURCES, "AWS::CloudFront::") == {
        "DashboardAccess": "WithEdge",
        "DashboardAssetHeaders": "WithEdge",
        "DashboardPage": "WithEdge",
        "DashboardPageHeaders": "WithEdge",
        "DashboardPreviewHeaders": "WithEdge",
        "Edge": "WithEdge",
        "EdgeRoute": "WithEdge",
        "ErrorPagesAccess": "WithEdge",
        "FrontOrigin": "WithFront",
        "WidgetHeaders": "WithEdge",
    }
    assert _WITH_EDGE in _CONDITIONS["WithFront"]["Fn::And"]
    assert _WITH_EDGE in _CONDITIONS["WithEdgeFirewall"]["Fn::And"]
    parameter = _SOURCE["Parameters"]["EdgeService"]
    assert (parameter["Default"], parameter["AllowedValues"]) == (
        "cloudfront",
        ["cloudfront", "none"],
    )


def test_the_output_is_the_address_of_the_stage() -> None:
    """`{ApiUrl}/api/v1` is the stage `api`, so clients only change their base URL later."""
    _, _, without_domain = _SOURCE["Outputs"]["ApiUrl"]["Value"]["Fn::If"]
    condition, _, stage = without_domain["Fn::If"]
    assert condition == "WithEdge"
    assert stage == {"Fn::Sub": "https://${Api}.execute-api.${AWS::Region}.${AWS::URLSuffix}"}
    assert _RESOURCES["Api"]["Properties"]["StageName"] == "api"
    assert _SOURCE["Outputs"]["EdgeAddress"]["Condition"] == "WithEdge"


def test_the_stage_counts_the_callers_own_address() -> None:
    """Without an edge no header says the caller's address, and a caller could forge it."""
    statement = _rule("address-rate")["Statement"]["RateBasedStatement"]
    assert statement["AggregateKeyType"] == {"Fn::If": ["WithEdge", "FORWARDED_IP", "IP"]}
    condition, _, nothing = statement["ForwardedIPConfig"]["Fn::If"]
    assert (condition, nothing) == ("WithEdge", {"Ref": "AWS::NoValue"})


def test_the_stage_asks_for_no_secret_and_for_reputation() -> None:
    """Callers have no secret; and only without an edge does the stage see whose address it is."""
    rules = {
        rule["Fn::If"][1]["Name"]: rule["Fn::If"][0]
        for rule in _firewall()["Rules"]
        if "Fn::If" in rule
    }
    assert rules["edge-only"] == "WithEdge"
    assert rules["reputation"] == "WithReputationAtApi"
    assert {"Fn::Not": [_WITH_EDGE]} in _CONDITIONS["WithReputationAtApi"]["Fn::And"]


def test_the_secret_exists_only_where_something_compares_it() -> None:
    """The front and a firewall behind the edge compare it; without them it would only cost."""
    assert _RESOURCES["EdgeSecret"]["Condition"] == "WithEdgeSecret"
    compare = {"Fn::Or": [{"Condition": "WithFront"}, {"Condition": "WithFirewall"}]}
    assert _CONDITIONS["WithEdgeSecret"]["Fn::And"] == [_WITH_EDGE, compare]


def test_a_domain_of_ones_own_needs_the_edge() -> None:
    """The template refuses ApiDomain without an edge, since nothing would answer at it."""
    assertions = _SOURCE["Rules"]["DomainHasItsCertificate"]["Assertions"]
    assert {"Fn::Equals": [{"Ref": "EdgeService"}, "cloudfront"]} in [
        assertion["Assert"] for assertion in assertions
    ]


def test_without_an_edge_there_is_no_front() -> None:
    """No container, rule or right of the front is created, since nothing could reach it."""
    nothing = {"Ref": "AWS::NoValue"}
    relay, (condition, front, otherwise) = _relay_and_front("RelayTask", "ContainerDefinitions")
    assert (relay["Name"], condition, front["Name"], otherwise) == (
        "relay",
        "WithFront",
        "front",
        nothing,
    )
    group = _RESOURCES["FrontBalancerGroup"]
    relay, (condition, front, otherwise) = _relay_and_front("RelayGroup", "SecurityGroupIngress")
    assert group["Condition"] == condition == "WithFront"
    assert front["SourceSecurityGroupId"] == {"Ref": "FrontBalancerGroup"}
    assert otherwise == nothing
    (policy,) = _RESOURCES["RelayExecutionRole"]["Properties"]["Policies"]
    (read_secret,) = (
        statement["Fn::If"]
        for statement in policy["PolicyDocument"]["Statement"]
        if "Fn::If" in statement
    )
    assert (read_secret[0], read_secret[2]) == ("WithFront", nothing)
    assert read_secret[1]["Action"] == "secretsmanager:GetSecretValue"


def test_without_a_front_a_small_task_has_half_the_memory() -> None:
    """The relay's own limit fits into it, and AWS charges for the rest."""
    memory = _RESOURCES["RelayTask"]["Properties"]["Memory"]
    name, alone = "RelaySizes", "MemoryWithoutFront"
    assert memory == {
        "Fn::If": [
            "WithFront",
            {"Fn::FindInMap": [name, {"Ref": "RelaySize"}, "Memory"]},
            {"Fn::FindInMap": [name, {"Ref": "RelaySize"}, alone]},
        ]
    }
    sizes = template.load(template.ROOT / "stacks/relay.yaml")["Mappings"][name]
    assert 2 * int(sizes["small"][alone]) == int(sizes["small"]["Memory"])
    for size in sizes.values():
        assert int(size["RelayMemory"]) <= int(size[alone]) <= int(size["Memory"])


def test_a_relay_without_a_front_needs_no_prefix_list() -> None:
    """The rules of the template require CloudFront's prefix list with a front only."""
    assertions = _SOURCE["Rules"]["RelayHasItsCertificate"]["Assertions"]
    (prefix_list,) = (
        assertion["Assert"]
        for assertion in assertions
        if "CloudFrontPrefixList" in assertion["AssertDescription"]
    )
    assert prefix_list["Fn::Or"][:2] == [
        {"Fn::Equals": [{"Ref": "EdgeService"}, "none"]},
        {"Fn::Equals": [{"Ref": "LargeRequests"}, "off"]},
    ]


def test_large_requests_can_be_switched_off() -> None:
    """Then there is no front behind an edge either: no origin, and the edge routes none to it."""
    assert _SOURCE["Parameters"]["LargeRequests"]["Default"] == "on"
    switch = {"Fn::Equals": [{"Ref": "LargeRequests"}, "on"]}
    parts = [{"Condition": "WithRelay"}, _WITH_EDGE, switch]
    assert template.load()["Conditions"]["WithFront"] == {"Fn::And": parts}
    relay = template.load()["Resources"]["Relay"]["Properties"]["Parameters"]
    assert relay["Front"] == {"Fn::If": ["WithFront", "on", "off"]}
    origins = _RESOURCES["Edge"]["Properties"]["DistributionConfig"]["Origins"]
    (front,) = (origin["Fn::If"] for origin in origins if "Fn::If" in origin)
    assert (front[0], front[1]["Id"]) == ("WithFront", "front")


def _relay_and_front(resource: str, name: str) -> tuple[Any, Any]:
    """Return what the relay has in a list, and the condition, the front's part and the other."""
    relay, front = _RESOURCES[resource]["Properties"][name]
    return relay, front["Fn::If"]


def test_the_relay_needs_no_edge() -> None:
    """SMTP works without CloudFront; the balancer for large requests is not created."""
    balancers = _RESOURCES["RelayService"]["Properties"]["LoadBalancers"]
    assert balancers[0]["ContainerName"] == "relay"
    condition, front, nothing = balancers[1]["Fn::If"]
    assert (condition, front["ContainerName"]) == ("WithFront", "front")
    assert nothing == {"Ref": "AWS::NoValue"}
