"""The edge in template.yaml: its limits, its origins and their firewalls."""

import json
import re
from typing import Any, Final

import pytest

from admin.aws import deployment
from local import template
from pillarbox.domain.errors import CODES
from tests.conditions import all_met, containers
from tests.edge_function import CODE, FRONT, LAMBDA

_SOURCE: Final = template.inlined(template.load())
_RESOURCES: Final[dict[str, Any]] = _SOURCE["Resources"]
_, _VALUES = _RESOURCES["EdgeRoute"]["Properties"]["FunctionCode"]["Fn::Sub"]
_FIREWALLS: Final = ("ApiFirewall", "FrontFirewall", "EdgeFirewall")

#: AWS Lambda's quota on the payload of a synchronous invocation, in bytes.
_LAMBDA_PAYLOAD: Final = 6 * 1024 * 1024
#: API Gateway's quota on request line and headers, in bytes.
_HEADERS: Final = 10_240


def _rules_as_written(name: str) -> list[dict[str, Any]]:
    """Return the rules of a firewall with their conditions."""
    rules: list[dict[str, Any]] = _RESOURCES[name]["Properties"]["Rules"]
    return rules


def _rules(name: str) -> list[dict[str, Any]]:
    """Return all rules of a firewall, those of `Firewall: managed` too."""
    rules: list[dict[str, Any]] = all_met(_rules_as_written(name))
    return rules


def test_a_request_to_lambda_fits_into_an_event() -> None:
    """The limit leaves room for base64, the headers twice and escaped, and 64 KiB of context."""
    event = -(-LAMBDA // 3) * 4 + 4 * _HEADERS + 64 * 1024
    assert event <= _LAMBDA_PAYLOAD
    too_large = _RESOURCES["Api"]["Properties"]["GatewayResponses"]["REQUEST_TOO_LARGE"]
    error = json.loads(too_large["ResponseTemplates"]["application/json"])["error"]
    assert error["details"] == {"limit_bytes": LAMBDA}


def test_two_attachments_of_5_mb_fit_into_the_front() -> None:
    """Contract 8: the limit fits 10 MB of attachments in base64, and 1 MB each of html and text."""
    assert FRONT >= -(-10 * 1024**2 // 3) * 4 + 2 * 1024**2


def test_the_function_is_small_enough() -> None:
    """The function is smaller than CloudFront's limit of 10 KB."""
    assert len(CODE.encode()) < 10_000
    assert _VALUES == {"Front": {"Fn::If": ["WithFront", "true", "false"]}}


def test_origins_get_the_secret_and_check_it() -> None:
    """The edge sends the secret to both origins; firewalls and front compare it."""
    secret = {"Fn::Sub": "{{resolve:secretsmanager:${EdgeSecret}:SecretString}}"}
    origins = _RESOURCES["Edge"]["Properties"]["DistributionConfig"]["Origins"]
    for origin in (origins[0], origins[1]["Fn::If"][1]):
        assert origin["OriginCustomHeaders"]["Fn::If"] == [
            "WithEdgeSecret",
            [{"HeaderName": "X-Pillarbox-Edge", "HeaderValue": secret}],
            {"Ref": "AWS::NoValue"},
        ]
    for name in ("ApiFirewall", "FrontFirewall"):
        first = min(_rules(name), key=lambda rule: rule["Priority"])
        match = first["Statement"]["NotStatement"]["Statement"]["ByteMatchStatement"]
        assert match["SearchString"] == secret
        assert match["PositionalConstraint"] == "EXACTLY"
        assert "Block" in first["Action"]
    front = containers(_RESOURCES)["front"]
    assert front["Secrets"] == [
        {"Name": "PILLARBOX_EDGE_SECRET", "ValueFrom": {"Ref": "EdgeSecret"}}
    ]


def test_a_firewall_that_is_switched_on_waits_for_the_edge() -> None:
    """Until the edge sends the secret, every request would get 403, so it is changed first.

    A web ACL that no resource uses refuses nothing. The text of the association names the edge, and
    its value is the web ACL alone: another value would replace the association.
    """
    firewall = {"Fn::GetAtt": ["ApiFirewall", "Arn"]}
    condition, with_edge, without = _RESOURCES["FirewallAssociation"]["Properties"]["WebACLArn"][
        "Fn::If"
    ]
    assert (condition, without) == ("WithEdge", firewall)
    index, parts = with_edge["Fn::Select"]
    separator, text = parts["Fn::Split"]
    assert text["Fn::Sub"] == ["${Firewall}|${Edge}", {"Firewall": firewall}]
    assert (separator, index) == ("|", 0)  # no ARN has this character


@pytest.mark.parametrize("name", ["ApiFirewall", "FrontFirewall"])
def test_a_firewall_can_count_and_let_all_pass(name: str) -> None:
    """With `Firewall: count` no rule blocks, so that the edge may stop sending the secret."""
    blocking = {"Fn::Not": [{"Fn::Equals": [{"Ref": "Firewall"}, "count"]}]}
    assert _SOURCE["Conditions"]["WithBlocking"] == blocking
    rules = [rule.get("Fn::If", [None, rule])[1] for rule in _rules_as_written(name)]
    own = [rule for rule in rules if "Action" in rule]
    assert {rule["Name"] for rule in own} >= {"edge-only", "address-rate"}
    for rule in own:
        condition, block, count = rule["Action"]["Fn::If"]
        assert (condition, list(block), count) == ("WithBlocking", ["Block"], {"Count": {}})
    for rule in rules:  # AWS's rule sets block, and exist only with `managed`
        assert ("Action" in rule) == ("ManagedRuleGroupStatement" not in rule["Statement"])


@pytest.mark.parametrize("name", _FIREWALLS)
def test_the_firewall_answers_in_the_envelope(name: str) -> None:
    """Contract 7: the response of a rule has the status and type of its error code."""
    firewall = _RESOURCES[name]["Properties"]
    for rule in _rules(name):
        if custom := rule.get("Action", {}).get("Block", {}).get("CustomResponse"):
            body = firewall["CustomResponseBodies"][custom["CustomResponseBodyKey"]]
            error = json.loads(body["Content"])["error"]
            assert CODES[error["code"]] == (custom["ResponseCode"], error["type"])
            assert body["ContentType"] == "APPLICATION_JSON"
        else:  # gateway responses; a load balancer and CloudFront have none
            assert name == "ApiFirewall" or "OverrideAction" in rule


def test_a_response_says_which_rule_refused() -> None:
    """Each rule of ours has a message of its own, and docs/operations.md names its rule."""
    page = (template.ROOT / "docs/operations.md").read_text()
    messages: dict[str, str] = {}
    for name in _FIREWALLS:
        bodies = _RESOURCES[name]["Properties"]["CustomResponseBodies"]
        for rule in _rules(name):
            if custom := rule.get("Action", {}).get("Block", {}).get("CustomResponse"):
                body = bodies[custom["CustomResponseBodyKey"]]["Content"]
                message = json.loads(body)["error"]["message"]
                messages[rule["Name"].removeprefix("bad-")] = message
                sentence = message.partition(". ")[0].rstrip(".")
                start = f"| {custom['ResponseCode']} `{sentence}."
                (row,) = [line for line in page.splitlines() if line.startswith(start)]
                assert f"`{rule['Name'].removeprefix('bad-')}`" in row
    assert len(set(messages.values())) == len(messages) == 4


def test_the_firewall_counts_each_key() -> None:
    """A key is counted over all addresses, after what goes around the edge was blocked."""
    rules = {rule["Name"]: rule for rule in _rules("ApiFirewall")}
    rate = rules["key-rate"]["Statement"]["RateBasedStatement"]
    assert (rate["AggregateKeyType"], rate["EvaluationWindowSec"]) == ("CUSTOM_KEYS", 60)
    (key,) = rate["CustomKeys"]
    assert key["Header"]["Name"] == "x-api-key"
    assert rate["Limit"] == {"Ref": "RequestsPerKey"}
    assert rules["edge-only"]["Priority"] < rules["key-rate"]["Priority"]


def test_one_key_cannot_use_the_rate_of_all() -> None:
    """By default a key has a fifth of what the gateway accepts for one method in a minute."""
    defaults = {
        name: it["Default"] for name, it in _SOURCE["Parameters"].items() if "Default" in it
    }
    assert defaults["RequestsPerKey"] * 5 <= defaults["RequestsPerSecond"] * 60
    assert defaults["RequestsPerAddress"] <= defaults["RequestsPerKey"]


@pytest.mark.parametrize("name", _FIREWALLS)
def test_each_rule_has_its_own_metric(name: str) -> None:
    """The metric of a rule counts that rule alone."""
    rules = _rules(name)
    metrics = [rule["VisibilityConfig"]["MetricName"]["Fn::Sub"] for rule in rules]
    total = _RESOURCES[name]["Properties"]["VisibilityConfig"]["MetricName"]["Fn::Sub"]
    assert len({total, *metrics}) == len(rules) + 1
    assert [metric.removeprefix("${AWS::StackName}-") for metric in metrics] == [
        rule["Name"] for rule in rules
    ]
    # A sample would contain API keys.
    assert not any(rule["VisibilityConfig"]["SampledRequestsEnabled"] for rule in rules)


def test_the_firewall_says_nothing_about_its_reason() -> None:
    """A managed rule refuses for many reasons, and an attacker learns none."""
    blocked = _RESOURCES["Api"]["Properties"]["GatewayResponses"]["WAF_FILTERED"]
    bodies = [
        blocked["ResponseTemplates"]["application/json"],
        _RESOURCES["EdgeFirewall"]["Properties"]["CustomResponseBodies"]["reputation"]["Content"],
    ]
    for body in bodies:
        assert json.loads(body)["error"]["message"] == "The firewall refused the request."


@pytest.mark.parametrize("name", _FIREWALLS)
def test_bodies_are_counted_but_not_blocked(name: str) -> None:
    """No managed rule on a body blocks, because mail is large and contains HTML."""
    for rule in _rules(name):
        if group := rule["Statement"].get("ManagedRuleGroupStatement"):
            overrides = group.get("RuleActionOverrides", [])
            assert all(override["Name"].endswith("_BODY") for override in overrides)
            assert all(override["ActionToUse"] == {"Count": {}} for override in overrides)
            looks_at_addresses = group["Name"] == "AWSManagedRulesAmazonIpReputationList"
            assert overrides or looks_at_addresses


def test_the_container_has_the_permissions_of_the_sends() -> None:
    """The container's role has the actions of both send functions, and may read secrets."""

    def actions(role: str) -> set[str]:
        return {
            action
            for policy in _RESOURCES[role]["Properties"]["Policies"]
            for statement in policy["PolicyDocument"]["Statement"]
            for action in (
                [statement["Action"]]
                if isinstance(statement["Action"], str)
                else statement["Action"]
            )
            if not action.startswith(("logs:", "xray:"))
        }

    sends = actions("SendEmailRole") | actions("SendBatchRole")
    assert actions("RelayRole") == sends | {"secretsmanager:GetSecretValue"}


def test_the_front_gets_the_settings_of_sending() -> None:
    """The front gets the same values as the functions that send."""
    front = containers(_RESOURCES)["front"]
    send = _RESOURCES["SendEmail"]["Properties"]["Environment"]["Variables"]
    functions = _SOURCE["Globals"]["Function"]["Environment"]["Variables"] | send
    for variable in front["Environment"]:
        if variable["Name"] in functions:
            assert functions[variable["Name"]] == variable["Value"]


def test_what_no_origin_answers_has_the_envelope() -> None:
    """CloudFront shows the page that the deploy writes, for statuses that no origin gives."""
    edge = _RESOURCES["Edge"]["Properties"]["DistributionConfig"]
    pages = {
        response["ErrorCode"]: (response["ResponseCode"], response["ResponsePagePath"])
        for response in edge["CustomErrorResponses"]
        if "ResponsePagePath" in response
    }
    assert pages == dict.fromkeys((502, 504), (503, f"/{deployment.ERROR_PAGE}"))
    gateway = _RESOURCES["Api"]["Properties"]["GatewayResponses"].values()
    ours = {status for status, _ in CODES.values()} | {r["StatusCode"] for r in gateway}
    assert not ours & pages.keys()
    (behavior,) = (b for b in edge["CacheBehaviors"] if b["PathPattern"] == "/errors/*")
    (origin,) = (o for o in edge["Origins"] if o.get("Id") == behavior["TargetOriginId"])
    assert origin["DomainName"] == {"Fn::GetAtt": ["ErrorPages", "RegionalDomainName"]}


def test_only_the_distribution_reads_the_error_page() -> None:
    """The bucket is private; CloudFront signs its requests for this distribution."""
    _, allowed = _RESOURCES["ErrorPagesPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    assert allowed["Principal"] == {"Service": "cloudfront.amazonaws.com"}
    assert allowed["Action"] == "s3:GetObject"
    (source,) = allowed["Condition"]["StringEquals"].values()
    assert source["Fn::Sub"].endswith(":distribution/${Edge}")


def test_only_the_distribution_reads_the_dashboard() -> None:
    """The bucket is private, and the distribution reads what it serves."""
    _, read, look = _RESOURCES["DashboardFilesPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    assert (read["Action"], look["Action"]) == ("s3:GetObject", "s3:ListBucket")
    assert [resource["Fn::Sub"] for resource in read["Resource"]] == [
        "${DashboardFiles.Arn}/app/*",
        "${DashboardFiles.Arn}/assets/*",
        "${DashboardFiles.Arn}/widget.*",
    ]
    for statement in (read, look):
        assert statement["Principal"] == {"Service": "cloudfront.amazonaws.com"}
        (source,) = statement["Condition"]["StringEquals"].values()
        assert source["Fn::Sub"].endswith(":distribution/${Edge}")
    edge = _RESOURCES["Edge"]["Properties"]["DistributionConfig"]
    paths = [b["PathPattern"] for b in edge["CacheBehaviors"] if b["TargetOriginId"] == "dashboard"]
    # The first pattern that matches decides.
    assert paths == ["/app/preview.html", "/app/*", "/widget*", "/assets/*"]
    (origin,) = (o for o in edge["Origins"] if o.get("Id") == "dashboard")
    assert origin["OriginAccessControlId"] == {"Fn::GetAtt": ["DashboardAccess", "Id"]}


@pytest.mark.parametrize(
    ("sites", "is_allowed"),
    [
        ("", True),
        ("https://shop.example", True),
        ("https://shop.example,http://localhost:8080,https://*.shop.example", True),
        ("shop.example", False),
        ("https://shop.example/", False),
        ("https://shop.example, https://www.shop.example", False),
        ("https://shop.example; script-src *", False),
        ("https://shop.example,", False),
        ("'self'", False),
        ("*", False),
    ],
)
def test_only_origins_reach_the_policy(sites: str, *, is_allowed: bool) -> None:
    """`WidgetOrigins` is a part of a header: what would change another directive is refused."""
    pattern = _SOURCE["Parameters"]["WidgetOrigins"]["AllowedPattern"]
    assert bool(re.search(pattern, sites)) is is_allowed


def test_only_the_sites_of_the_parameter_show_the_widget() -> None:
    """`WidgetOrigins` becomes a list of a policy, and without it no site shows the frame."""
    assert _SOURCE["Parameters"]["WidgetOrigins"]["Default"] == ""
    config = _RESOURCES["WidgetHeaders"]["Properties"]["ResponseHeadersPolicyConfig"]
    policy = config["SecurityHeadersConfig"]["ContentSecurityPolicy"]["ContentSecurityPolicy"]
    text, values = policy["Fn::Sub"]
    assert "frame-ancestors ${Ancestors};" in text
    condition, sites, nobody = values["Ancestors"]["Fn::If"]
    assert (condition, nobody) == ("WithWidget", "'none'")
    empty = {"Fn::Equals": [{"Ref": "WidgetOrigins"}, ""]}
    assert _SOURCE["Conditions"][condition] == {"Fn::Not": [empty]}
    assert sites == {"Fn::Join": [" ", {"Fn::Split": [",", {"Ref": "WidgetOrigins"}]}]}
    assert "FrameOptions" not in config["SecurityHeadersConfig"]
