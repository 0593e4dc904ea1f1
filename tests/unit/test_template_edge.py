"""The edge in template.yaml: which origin gets a request, and who may ask an origin."""

import json
import re
from typing import Any, Final

import pytest

from local import template
from pillarbox.domain.errors import CODES
from pillarbox.http.routes import ROUTES
from tests.edge_function import needs_node, route

_SOURCE: Final = template.inlined(template.load())
_RESOURCES: Final[dict[str, Any]] = _SOURCE["Resources"]
_CODE, _VALUES = _RESOURCES["EdgeRoute"]["Properties"]["FunctionCode"]["Fn::Sub"]
_FIREWALLS: Final = ("Firewall", "FrontFirewall", "EdgeFirewall")

#: AWS Lambda's quota on the payload of a synchronous invocation, in bytes.
_LAMBDA_PAYLOAD: Final = 6 * 1024 * 1024
#: API Gateway's quota on request line and headers, in bytes.
_HEADERS: Final = 10_240


def _limit(name: str) -> int:
    return int(re.findall(rf"const {name} = (\d+);", _CODE)[0])


LAMBDA, FRONT = _limit("LAMBDA_BYTES"), _limit("FRONT_BYTES")


def error_of(answer: Any) -> Any:
    """The error of an answer that the edge gives by itself."""
    assert answer["headers"]["content-type"] == {"value": "application/json"}
    assert answer["headers"]["x-request-id"] == {"value": "request-1"}
    error = json.loads(answer["body"])["error"]
    assert CODES[error["code"]] == (answer["statusCode"], error["type"])
    return error


@needs_node
@pytest.mark.parametrize(
    ("uri", "canonical"),
    [
        ("/api/v1/emails", "/api/v1/emails"),
        ("/api/v1/v1/emails/batch", "/api/v1/emails/batch"),
        ("/api/v1/emails/", "/api/v1/emails/"),
    ],
)
@pytest.mark.parametrize(
    ("length", "origin"), [(0, "api"), (LAMBDA, "api"), (LAMBDA + 1, "front"), (FRONT, "front")]
)
def test_a_send_goes_where_its_size_is_taken(
    uri: str, canonical: str, length: int, origin: str
) -> None:
    """Up to what Lambda takes to the API, up to the contract's limit to the container."""
    answer = route(length, uri=uri)
    assert answer["origin"] == origin
    assert answer["uri"] == canonical


@needs_node
@pytest.mark.parametrize(
    ("uri", "canonical"),
    [
        ("/api/v1/v1/emails", "/api/v1/emails"),
        ("/api/v1/v1/emails/%2F%C3%BC", "/api/v1/emails/%2F%C3%BC"),
        ("/api/v1/v1/v1/emails", "/api/v1/v1/emails"),
        ("/api/v1/v1", "/api/v1/v1"),
        ("/api/v12/v1/emails", "/api/v12/v1/emails"),
        ("/api/v1/v12/emails", "/api/v1/v12/emails"),
        ("/api/v1/emails/v1/v1/", "/api/v1/emails/v1/v1/"),
    ],
)
def test_both_readings_of_a_path_are_one(uri: str, canonical: str) -> None:
    """Contract 9: /api/v1/v1/… is /api/v1/… to both origins; a third v1 is an unknown path."""
    assert route(None, method="GET", uri=uri)["uri"] == canonical


@needs_node
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE"])
@pytest.mark.parametrize("path", ROUTES)
def test_a_wrong_method_is_answered_at_the_edge(path: str, method: str) -> None:
    """Decisions: 405 with Allow, in the envelope, in both readings; a right method passes."""
    allow = ", ".join(ROUTES[path])
    for stage in ("/api", "/api/v1"):
        answer = route(2, method=method, uri=stage + re.sub(r"\{\w+\}", "%22x", path))
        if method in ROUTES[path]:
            assert answer["origin"] == "api"
            assert "statusCode" not in answer
        else:
            assert error_of(answer)["code"] == "method_not_allowed"
            assert answer["headers"]["allow"] == {"value": allow}


@needs_node
@pytest.mark.parametrize("uri", ["/api/v1/nothing", "/api/v1/emails/x/y", "/api/v1/", "/api/x/"])
def test_an_unknown_path_is_left_to_the_gateway(uri: str) -> None:
    """The gateway knows its paths: what is not one of them gets its 404."""
    for method in ("GET", "PATCH"):
        assert route(2, method=method, uri=uri)["origin"] == "api"


@needs_node
def test_a_send_of_unknown_size_goes_to_the_container() -> None:
    """Without Content-Length it may become too large for Lambda; without a container it may not."""
    assert route(None)["origin"] == "front"
    assert route(None, front=False)["origin"] == "api"
    assert route(None, method="GET")["origin"] == "api"


@needs_node
@pytest.mark.parametrize(
    ("length", "given", "limit"),
    [
        (FRONT + 1, {}, FRONT),
        (LAMBDA + 1, {"front": False}, LAMBDA),
        (LAMBDA + 1, {"method": "GET"}, LAMBDA),
        (LAMBDA + 1, {"uri": "/api/v1/starter-templates/otp/preview"}, LAMBDA),
        (LAMBDA + 1, {"uri": "/api/v1/emails/x"}, LAMBDA),
        (LAMBDA + 1, {"method": "PUT"}, LAMBDA),
    ],
)
def test_what_nobody_takes_is_answered_at_the_edge(
    length: int, given: dict[str, Any], limit: int
) -> None:
    """Contract 7: 413 with the limit that holds for this route, in the envelope."""
    error = error_of(route(length, **given))
    assert (error["code"], error["details"]) == ("request_too_large", {"limit_bytes": limit})


@needs_node
@pytest.mark.parametrize("uri", ["/", "/v1/emails", "/apis", "/api"])
def test_there_is_nothing_beside_the_api(uri: str) -> None:
    """What the gateway would answer in its own words for another stage is a 404 of the contract."""
    assert error_of(route(10, uri=uri))["code"] == "route_not_found"


@needs_node
def test_the_edge_says_who_calls() -> None:
    """The rate is counted by this address, so a caller's own word for it is replaced."""
    assert route(10)["headers"]["x-pillarbox-client"] == {"value": "2001:db8::1"}


def test_what_goes_to_lambda_fits_into_an_event() -> None:
    """As base64 beside headers that stand twice, each character escaped, and 64 KiB of context."""
    event = -(-LAMBDA // 3) * 4 + 4 * _HEADERS + 64 * 1024
    assert event <= _LAMBDA_PAYLOAD
    too_large = _RESOURCES["Api"]["Properties"]["GatewayResponses"]["REQUEST_TOO_LARGE"]
    error = json.loads(too_large["ResponseTemplates"]["application/json"])["error"]
    assert error["details"] == {"limit_bytes": LAMBDA}


def test_two_attachments_of_5_mb_fit_into_the_front() -> None:
    """Contract 8: 10 MB decoded in all, in JSON with a megabyte each of html and text."""
    assert FRONT >= -(-10 * 1024**2 // 3) * 4 + 2 * 1024**2


def test_the_function_fits() -> None:
    """CloudFront takes functions of 10 KB."""
    assert len(_CODE.encode()) < 10_000
    assert _VALUES == {"Front": {"Fn::If": ["WithRelay", "true", "false"]}}


def test_origins_get_the_secret_and_check_it() -> None:
    """Both origins are sent it; WAF and container are given the same one."""
    secret = {"Fn::Sub": "{{resolve:secretsmanager:${EdgeSecret}:SecretString}}"}
    origins = _RESOURCES["Edge"]["Properties"]["DistributionConfig"]["Origins"]
    for origin in (origins[0], origins[1]["Fn::If"][1]):
        assert origin["OriginCustomHeaders"] == [
            {"HeaderName": "X-Pillarbox-Edge", "HeaderValue": secret}
        ]
    for name in ("Firewall", "FrontFirewall"):
        first = min(_RESOURCES[name]["Properties"]["Rules"], key=lambda rule: rule["Priority"])
        match = first["Statement"]["NotStatement"]["Statement"]["ByteMatchStatement"]
        assert match["SearchString"] == secret
        assert match["PositionalConstraint"] == "EXACTLY"
        assert "Block" in first["Action"]
    (front,) = (
        container
        for container in _RESOURCES["RelayTask"]["Properties"]["ContainerDefinitions"]
        if container["Name"] == "front"
    )
    assert front["Secrets"] == [
        {"Name": "PILLARBOX_EDGE_SECRET", "ValueFrom": {"Ref": "EdgeSecret"}}
    ]


@pytest.mark.parametrize("name", _FIREWALLS)
def test_the_firewall_answers_in_the_envelope(name: str) -> None:
    """Contract 7: what a rule answers by itself has the status and type of its code."""
    firewall = _RESOURCES[name]["Properties"]
    for rule in firewall["Rules"]:
        if custom := rule.get("Action", {}).get("Block", {}).get("CustomResponse"):
            body = firewall["CustomResponseBodies"][custom["CustomResponseBodyKey"]]
            error = json.loads(body["Content"])["error"]
            assert CODES[error["code"]] == (custom["ResponseCode"], error["type"])
            assert body["ContentType"] == "APPLICATION_JSON"
        else:  # the gateway's words, which a load balancer and CloudFront do not have
            assert name == "Firewall" or "OverrideAction" in rule


@pytest.mark.parametrize("name", _FIREWALLS)
def test_bodies_are_counted_not_judged(name: str) -> None:
    """Mail is large and HTML: no rule of AWS's sets that looks at a body blocks."""
    for rule in _RESOURCES[name]["Properties"]["Rules"]:
        if group := rule["Statement"].get("ManagedRuleGroupStatement"):
            overrides = group.get("RuleActionOverrides", [])
            assert all(each["Name"].endswith("_BODY") for each in overrides)
            assert all(each["ActionToUse"] == {"Count": {}} for each in overrides)
            assert overrides or rule["OverrideAction"] == {"Count": {}}


def test_the_container_may_do_what_the_sends_may() -> None:
    """Relay and front run both sends: their role has the two functions' actions, and a secret."""

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


def test_the_front_gets_its_settings() -> None:
    """What the front reads and must have, the template gives it."""
    (front,) = (
        container
        for container in _RESOURCES["RelayTask"]["Properties"]["ContainerDefinitions"]
        if container["Name"] == "front"
    )
    given = {variable["Name"] for variable in front["Environment"]}
    send = _RESOURCES["SendEmail"]["Properties"]["Environment"]["Variables"]
    functions = _SOURCE["Globals"]["Function"]["Environment"]["Variables"] | send
    assert {
        f"PILLARBOX_{name}"
        for name in ("TABLE", "JOBS_QUEUE_URL", "SPOOL_BUCKET", "PREVIEW_SENDER", "UPGRADE_URL")
    } < given
    assert {"PILLARBOX_FRONT_PORT", "PILLARBOX_FRONT_WORKERS"} < given
    for variable in front["Environment"]:
        if variable["Name"] in functions:
            assert functions[variable["Name"]] == variable["Value"]
