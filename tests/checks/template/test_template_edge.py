"""The edge in template.yaml: its limits, its origins and their firewalls."""

import json
import re
from typing import Any, Final

from admin.aws import deployment
from local import template
from pillarbox.domain.errors import CODES
from tests.conditions import containers
from tests.deployed import properties
from tests.edge_function import FRONT, LAMBDA
from tests.loops import for_each

_SOURCE: Final = template.inlined(template.load())
_RESOURCES: Final[dict[str, Any]] = _SOURCE["Resources"]
_FIREWALLS: Final = ("ApiFirewall", "FrontFirewall", "EdgeFirewall")

#: AWS Lambda's quota on the payload of a synchronous invocation, in bytes.
_LAMBDA_PAYLOAD: Final = 6 * 1024 * 1024
#: API Gateway's quota on request line and headers, in bytes.
_HEADERS: Final = 10_240


def _rules(name: str) -> list[dict[str, Any]]:
    """Return all rules of a firewall, those of `Firewall: managed` too."""
    rules: list[dict[str, Any]] = properties(name, "everything")["Rules"]
    return rules


def test_a_request_to_lambda_fits_into_an_event() -> None:
    event = -(-LAMBDA // 3) * 4 + 4 * _HEADERS + 64 * 1024
    assert event <= _LAMBDA_PAYLOAD
    too_large = _RESOURCES["Api"]["Properties"]["GatewayResponses"]["REQUEST_TOO_LARGE"]
    error = json.loads(too_large["ResponseTemplates"]["application/json"])["error"]
    assert error["details"] == {"limit_bytes": LAMBDA}


def test_two_attachments_of_5_mb_fit_into_the_front() -> None:
    """Contract 8: the limit fits 10 MB of attachments in base64, and 1 MB each of html and text."""
    assert FRONT >= -(-10 * 1024**2 // 3) * 4 + 2 * 1024**2


def test_origins_get_the_secret_and_check_it() -> None:
    secret = {"Fn::Sub": "{{resolve:secretsmanager:${EdgeSecret}:SecretString}}"}
    origins = properties("Edge", "everything")["DistributionConfig"]["Origins"]
    sent = {origin["Id"]: origin.get("OriginCustomHeaders") for origin in origins}
    header = [{"HeaderName": "X-Pillarbox-Edge", "HeaderValue": secret}]
    assert sent == {"api": header, "front": header, "errors": None, "dashboard": None}
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
    assert properties("FirewallAssociation", "no-edge-managed")["WebACLArn"] == firewall
    index, parts = properties("FirewallAssociation", "basic")["WebACLArn"]["Fn::Select"]
    separator, text = parts["Fn::Split"]
    assert text["Fn::Sub"] == "${ApiFirewall.Arn}|${Edge}"
    assert (separator, index) == ("|", 0)  # no ARN has this character


@for_each("name", ["ApiFirewall", "FrontFirewall"])
def test_a_firewall_can_count_and_let_all_pass(name: str) -> None:
    """With `Firewall: count` no rule blocks, so that the edge may stop sending the secret."""
    counting = properties(name, "everything", Firewall="count")["Rules"]
    blocking = properties(name, "everything", Firewall="basic")["Rules"]
    assert [rule["Name"] for rule in counting] == [rule["Name"] for rule in blocking]
    assert {"edge-only", "address-rate"} <= {rule["Name"] for rule in counting}
    assert all(rule["Action"] == {"Count": {}} for rule in counting)
    assert all(rule["Action"].keys() == {"Block"} for rule in blocking)


@for_each("name", _FIREWALLS)
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
    firewall = properties("ApiFirewall", "everything", EmailsPerSecond="40")
    rules = {rule["Name"]: rule for rule in firewall["Rules"]}
    rate = rules["key-rate"]["Statement"]["RateBasedStatement"]
    assert (rate["AggregateKeyType"], rate["EvaluationWindowSec"]) == ("CUSTOM_KEYS", 60)
    (key,) = rate["CustomKeys"]
    assert key["Header"]["Name"] == "x-pillarbox-key"
    assert rate["Limit"] == "2400"
    assert rules["edge-only"]["Priority"] < rules["key-rate"]["Priority"]


@for_each("name", _FIREWALLS)
def test_each_rule_has_its_own_metric(name: str) -> None:
    rules = _rules(name)
    metrics = [rule["VisibilityConfig"]["MetricName"] for rule in rules]
    total = properties(name, "everything")["VisibilityConfig"]["MetricName"]
    assert len({total, *metrics}) == len(rules) + 1
    assert metrics == [f"pillarbox-{rule['Name']}" for rule in rules]
    # A sample would contain API keys.
    assert not any(rule["VisibilityConfig"]["SampledRequestsEnabled"] for rule in rules)


def test_the_firewall_says_nothing_about_its_reason() -> None:
    blocked = _RESOURCES["Api"]["Properties"]["GatewayResponses"]["WAF_FILTERED"]
    bodies = [
        blocked["ResponseTemplates"]["application/json"],
        _RESOURCES["EdgeFirewall"]["Properties"]["CustomResponseBodies"]["reputation"]["Content"],
    ]
    for body in bodies:
        assert json.loads(body)["error"]["message"] == "The firewall refused the request."


@for_each("name", _FIREWALLS)
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
    def actions(role: str) -> set[str]:
        return {
            action
            for policy in _RESOURCES[role]["Properties"]["Policies"]
            for statement in policy["PolicyDocument"]["Statement"]
            if "Action" in statement  # the secret is a part of the template that is switched
            for action in (
                [statement["Action"]]
                if isinstance(statement["Action"], str)
                else statement["Action"]
            )
            if not action.startswith("logs:")
        }

    sends = actions("SendEmailRole") | actions("SendBatchRole")
    assert actions("RelayRole") == sends | {"secretsmanager:GetSecretValue"}


def test_the_front_gets_the_settings_of_sending() -> None:
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


@for_each(
    ("bucket", "pages"),
    [
        ("ErrorPages", ["/errors/*"]),
        # The first pattern that matches decides.
        ("DashboardFiles", ["/app/preview.html", "/app/*", "/widget*", "/assets/*"]),
    ],
)
def test_pages_come_from_their_bucket(bucket: str, pages: list[str]) -> None:
    """CloudFront signs its requests for what this distribution serves from a private bucket."""
    edge = properties("Edge", "prod")["DistributionConfig"]
    (origin,) = (
        one
        for one in edge["Origins"]
        if one["DomainName"] == {"Fn::GetAtt": [bucket, "RegionalDomainName"]}
    )
    access = f"{bucket.removesuffix('Files')}Access"
    assert origin["OriginAccessControlId"] == {"Fn::GetAtt": [access, "Id"]}
    behaviors = [one for one in edge["CacheBehaviors"] if one["TargetOriginId"] == origin["Id"]]
    assert [one["PathPattern"] for one in behaviors] == pages


@for_each(
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
    for chosen, ancestors in (
        ("prod", "'none'"),
        ("everything", "https://shop.example https://example.org"),
    ):
        config = properties("WidgetHeaders", chosen)["ResponseHeadersPolicyConfig"]
        security = config["SecurityHeadersConfig"]
        policy = security["ContentSecurityPolicy"]["ContentSecurityPolicy"]
        assert f"; frame-ancestors {ancestors};" in policy
        assert "FrameOptions" not in security
