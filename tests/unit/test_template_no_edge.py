"""With EdgeService=none the API is at the stage's own address, and needs no CloudFront."""

from typing import Any, Final

from local import template

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
    conditions = {
        name: resource.get("Condition")
        for name, resource in _RESOURCES.items()
        if resource["Type"].startswith("AWS::CloudFront::")
    }
    assert conditions == {
        "Edge": "WithEdge",
        "EdgeRoute": "WithEdge",
        "ErrorPagesAccess": "WithEdge",
        "FrontOrigin": "WithFront",
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
    conditions = {
        rule["Fn::If"][1]["Name"]: rule["Fn::If"][0]
        for rule in _firewall()["Rules"]
        if "Fn::If" in rule
    }
    assert conditions["edge-only"] == "WithEdge"
    assert conditions["reputation"] == "WithReputationAtApi"
    assert {"Fn::Not": [_WITH_EDGE]} in _CONDITIONS["WithReputationAtApi"]["Fn::And"]


def test_the_secret_exists_only_where_something_compares_it() -> None:
    """A firewall behind the edge compares the secret, and the front; else it would only cost."""
    assert _RESOURCES["EdgeSecret"]["Condition"] == "WithEdgeSecret"
    assert _CONDITIONS["WithEdgeSecret"]["Fn::Or"] == [
        {"Condition": "WithRelay"},
        {"Fn::And": [_WITH_EDGE, {"Condition": "WithFirewall"}]},
    ]


def test_a_domain_of_ones_own_needs_the_edge() -> None:
    """The template refuses ApiDomain without an edge, where nothing would answer under it."""
    assertions = _SOURCE["Rules"]["DomainHasItsCertificate"]["Assertions"]
    assert {"Fn::Equals": [{"Ref": "EdgeService"}, "cloudfront"]} in [
        assertion["Assert"] for assertion in assertions
    ]


def test_the_relay_needs_no_edge() -> None:
    """SMTP works without CloudFront; the balancer for large requests is not created."""
    balancers = _RESOURCES["RelayService"]["Properties"]["LoadBalancers"]
    assert balancers[0]["ContainerName"] == "relay"
    condition, front, nothing = balancers[1]["Fn::If"]
    assert (condition, front["ContainerName"]) == ("WithFront", "front")
    assert nothing == {"Ref": "AWS::NoValue"}
