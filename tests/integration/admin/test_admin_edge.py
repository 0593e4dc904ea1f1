"""`pillarbox edge rotate`, with prepared answers of AWS."""

from typing import Any, Final

import pytest

from admin.aws import edge_parts
from admin.aws.edge_parts import AwsEdgeParts
from local import template
from pillarbox.domain.errors import ServiceError
from tests.integration.admin.aws_stubs import WHEN, Stubs, stack_id
from tests.integration.admin.documented_output import documented, readable
from tests.integration.admin.operator_command import Operator, failure

STACK: Final = stack_id("pillarbox-dev")
RELAY: Final = stack_id("pillarbox-dev-Relay")
RULES: Final = stack_id("pillarbox-dev-EdgeRules")
SECRET: Final = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:EdgeSecret-1"
PARTS: Final = {
    "Edge": "E1",
    "EdgeSecret": SECRET,
    "EdgeRules": RULES,
    "Relay": RELAY,
}
FIREWALLS: Final = {"ApiFirewall": "api|11111111-1111-1111-1111-111111111111|REGIONAL"}
WATCH: Final = {
    "CloudWatchMetricsEnabled": True,
    "SampledRequestsEnabled": False,
    "MetricName": "edge-only",
}


def match(value: str) -> dict[str, Any]:
    return {
        "ByteMatchStatement": {
            "FieldToMatch": {"SingleHeader": {"Name": "x-pillarbox-edge"}},
            "TextTransformations": [{"Priority": 0, "Type": "NONE"}],
            "PositionalConstraint": "EXACTLY",
            "SearchString": value.encode(),
        }
    }


def rules(*values: str) -> list[dict[str, Any]]:
    parts = [match(value) for value in values]
    inner = parts[0] if len(parts) == 1 else {"OrStatement": {"Statements": parts}}
    return [
        {
            "Name": "edge-only",
            "Priority": 0,
            "Action": {"Block": {}},
            "Statement": {"NotStatement": {"Statement": inner}},
            "VisibilityConfig": WATCH,
        }
    ]


ACL: Final = {"Name": "api", "Scope": "REGIONAL", "Id": "11111111-1111-1111-1111-111111111111"}


def firewall(stubs: Stubs, *values: str) -> None:
    stubs.resources(FIREWALLS, RULES)
    acl = {
        "Name": "api",
        "Id": ACL["Id"],
        "ARN": "arn:aws:wafv2:eu-west-1:123456789012:regional/webacl/api/1",
        "DefaultAction": {"Allow": {}},
        "Rules": rules(*values),
        "VisibilityConfig": WATCH,
        "Capacity": 2,
        "TokenDomains": ["shop.example"],
    }
    stubs.answer("wafv2", "get_web_acl", {"WebACL": acl, "LockToken": "lock-1-lock-1"}, ACL)


def firewall_changes(stubs: Stubs, *values: str) -> None:
    expected = ACL | {
        "LockToken": "lock-1-lock-1",
        "DefaultAction": {"Allow": {}},
        "Rules": rules(*values),
        "VisibilityConfig": WATCH,
        "TokenDomains": ["shop.example"],
    }
    stubs.answer("wafv2", "update_web_acl", {}, expected)


def config(value: str) -> dict[str, Any]:
    headers = {
        "Quantity": 1,
        "Items": [{"HeaderName": "X-Pillarbox-Edge", "HeaderValue": value}],
    }
    origin = {"Id": "api", "DomainName": "api.example", "CustomHeaders": headers}
    return {
        "CallerReference": "1",
        "Origins": {"Quantity": 1, "Items": [origin]},
        "DefaultCacheBehavior": {"TargetOriginId": "api", "ViewerProtocolPolicy": "https-only"},
        "Comment": "",
        "Enabled": True,
    }


def distribution(stubs: Stubs, value: str) -> None:
    answer = {"DistributionConfig": config(value), "ETag": "v1"}
    stubs.answer("cloudfront", "get_distribution_config", answer, {"Id": "E1"})


def deployed(stubs: Stubs, *statuses: str) -> None:
    for status in statuses:
        found = {
            "Id": "E1",
            "ARN": "arn",
            "Status": status,
            "LastModifiedTime": WHEN,
            "InProgressInvalidationBatches": 0,
            "DomainName": "d1.cloudfront.net",
            "DistributionConfig": config("s1"),
        }
        stubs.answer("cloudfront", "get_distribution", {"Distribution": found}, {"Id": "E1"})


def secret(stubs: Stubs, text: str) -> None:
    expected = {"SecretId": SECRET}
    stubs.answer("secretsmanager", "get_secret_value", {"SecretString": text}, expected)


def secret_changes(stubs: Stubs, before: str, after: str) -> None:
    secret(stubs, before)
    expected = {"SecretId": SECRET, "SecretString": after}
    stubs.answer("secretsmanager", "put_secret_value", {}, expected)


def service(*states: str) -> dict[str, Any]:
    """The newest deployment is the primary one; those before still end."""
    deployments = [
        {"status": "ACTIVE" if number else "PRIMARY", "rolloutState": state}
        for number, state in enumerate(states)
    ]
    return {"services": [{"deployments": deployments}]}


def restart(stubs: Stubs, *answers: dict[str, Any]) -> None:
    stubs.resources({"RelayCluster": "cluster", "RelayService": "service"}, RELAY)
    expected = {"cluster": "cluster", "service": "service", "forceNewDeployment": True}
    stubs.answer("ecs", "update_service", {}, expected)
    for answer in answers or (service("COMPLETED"),):
        stubs.answer(
            "ecs", "describe_services", answer, {"cluster": "cluster", "services": ["service"]}
        )


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waits: list[float] = []
    monkeypatch.setattr("admin.edge.sleep", waits.append)
    monkeypatch.setattr("admin.edge.secrets.token_hex", lambda _: "s1")
    return waits


def rotate() -> Any:
    return Operator().plain("--stack-name", "pillarbox-dev", "edge", "rotate")


def test_a_rotation_makes_these_calls(stubs: Stubs, waits: list[float]) -> None:
    stubs.stack("pillarbox-dev")
    stubs.resources(PARTS, STACK)
    secret(stubs, "s0")
    distribution(stubs, "s0")
    firewall(stubs, "s0")
    # The origins accept both secrets.
    secret_changes(stubs, "s0", "s0 s1")
    restart(stubs, service("IN_PROGRESS", "COMPLETED"), service("COMPLETED"))
    firewall(stubs, "s0")
    firewall_changes(stubs, "s0", "s1")
    # The edge sends the new one.
    distribution(stubs, "s0")
    expected = {"Id": "E1", "IfMatch": "v1", "DistributionConfig": config("s1")}
    stubs.answer("cloudfront", "update_distribution", {}, expected)
    deployed(stubs, "InProgress", "Deployed")
    # The origins accept the new one only.
    secret_changes(stubs, "s0 s1", "s1")
    restart(stubs)
    firewall(stubs, "s0", "s1")
    firewall_changes(stubs, "s1")
    result = rotate()
    assert (result.exit_code, readable(result.output)) == (0, documented("edge rotate"))
    assert waits == [10.0, 300.0, 10.0, 60.0]


def test_a_finished_edge_is_not_changed_again(stubs: Stubs, waits: list[float]) -> None:
    stubs.stack("pillarbox-dev")
    stubs.resources({name: PARTS[name] for name in ("Edge", "EdgeSecret", "EdgeRules")})
    secret(stubs, "s1")
    distribution(stubs, "s1")
    firewall(stubs, "s0", "s1")
    distribution(stubs, "s1")
    deployed(stubs, "Deployed")
    secret(stubs, "s1")
    firewall(stubs, "s0", "s1")
    firewall_changes(stubs, "s1")
    assert rotate().exit_code == 0
    assert waits == [60.0]


def test_containers_that_do_not_start_end_the_rotation(stubs: Stubs) -> None:
    stubs.resources(PARTS, STACK)
    restart(stubs, service("FAILED", "COMPLETED"))
    with pytest.raises(ServiceError, match="The containers do not start"):
        AwsEdgeParts(STACK, lambda _: None).restart_containers()


def test_a_stack_without_an_edge_has_nothing_to_rotate(stubs: Stubs, waits: list[float]) -> None:
    stubs.stack("pillarbox-dev")
    stubs.resources({"Edge": "E1"})
    assert failure(rotate()) == "The stack has no EdgeSecret: there is nothing to rotate.\n"
    stubs.stack("pillarbox-dev")
    stubs.resources(PARTS, STACK)
    secret(stubs, "s0")
    bare = config("s0")
    del bare["Origins"]["Items"][0]["CustomHeaders"]
    answer = {"DistributionConfig": bare, "ETag": "v1"}
    stubs.answer("cloudfront", "get_distribution_config", answer)
    assert "The edge sends 0 secrets" in rotate().stderr
    assert waits == []


def test_a_stack_that_changes_is_not_rotated(stubs: Stubs) -> None:
    stubs.stack("pillarbox-dev", "UPDATE_IN_PROGRESS")
    assert "changes now (UPDATE_IN_PROGRESS)" in rotate().stderr


@pytest.mark.parametrize(("text", "rotating"), [("s0", False), ("s0 s1", True)])
def test_a_rotation_that_has_not_ended_is_seen(stubs: Stubs, text: str, *, rotating: bool) -> None:
    """A deployment waits for it, since two values are stored."""
    stubs.resources(PARTS, STACK)
    secret(stubs, text)
    assert edge_parts.is_rotating(STACK) is rotating
    stubs.resources({})
    assert not edge_parts.is_rotating(STACK)


_RULES: Final = template.ROOT / "stacks/edge.yaml"


def test_the_template_has_the_parts() -> None:
    declared = template.inlined(template.load())["Resources"]
    assert {"Edge", "EdgeSecret", "EdgeRules", "Relay", "RelayCluster", "RelayService"} <= {
        *declared,
        *template.load()["Resources"],
    }
    assert {*edge_parts._FIREWALLS} <= template.load(_RULES)["Resources"].keys()
    for name in edge_parts._FIREWALLS:
        found = [
            rule.get("Fn::If", [None, rule])[1] for rule in declared[name]["Properties"]["Rules"]
        ]
        (rule,) = (rule for rule in found if rule["Name"] == edge_parts._RULE)
        (only,) = edge_parts._matches(rule)
        assert only["FieldToMatch"] == {"SingleHeader": {"Name": "x-pillarbox-edge"}}
