"""A first deploy ends without an alarm, and a second region or a second stack may follow it."""

from typing import Any, Final

import pytest

from local import template

_RESOURCES: Final[dict[str, Any]] = template.inlined(template.load())["Resources"]


def _properties(name: str) -> dict[str, Any]:
    properties: dict[str, Any] = _RESOURCES[name]["Properties"]
    return properties


def test_a_new_stack_has_no_alarm() -> None:
    """No alarm treats missing data as a failure, because a new stack has no data."""
    alarms = [name for name, item in _RESOURCES.items() if item["Type"] == "AWS::CloudWatch::Alarm"]
    treated = {name: _properties(name)["TreatMissingData"] for name in alarms}
    assert treated.pop("OverdueAlarm") == "missing"
    assert set(treated.values()) == {"notBreaching"}


def test_a_sweep_that_stops_is_noticed() -> None:
    """The alarm of the sweep notifies the topic when it has had no data for three hours."""
    alarm = _properties("OverdueAlarm")
    assert alarm["InsufficientDataActions"] == alarm["AlarmActions"] == [{"Ref": "AlarmTopic"}]
    assert alarm["Period"] * alarm["EvaluationPeriods"] == 3 * 3600
    assert alarm["DatapointsToAlarm"] == 1


@pytest.mark.parametrize(
    ("resource", "property_name"),
    [("EdgeRoute", "Name"), ("Dashboard", "DashboardName")],
)
def test_names_of_the_whole_account_have_the_region(resource: str, property_name: str) -> None:
    """Stacks of the same name in two regions do not collide in what AWS keeps for all regions."""
    assert "${AWS::Region}" in _properties(resource)[property_name]["Fn::Sub"]


def test_no_other_resource_has_a_fixed_name_of_the_whole_account() -> None:
    """Roles, buckets and policies get their names from CloudFormation."""
    naming = {"BucketName", "RoleName", "PolicyName", "ManagedPolicyName"}
    named = {
        name
        for name, resource in _RESOURCES.items()
        if resource["Type"] in {"AWS::IAM::Role", "AWS::S3::Bucket", "AWS::IAM::ManagedPolicy"}
        and resource["Properties"].keys() & naming
    }
    assert not named


def test_the_front_is_reached_by_cloudfront_alone() -> None:
    """Its load balancer is in subnets without a route out, and takes CloudFront's prefix list."""
    balancer = _properties("FrontBalancer")
    assert balancer["Scheme"] == "internal"
    subnets = {subnet["Ref"] for subnet in balancer["Subnets"]}
    assert len({str(_properties(name)["AvailabilityZone"]) for name in subnets}) == 2
    tables = {
        _properties(name)["SubnetId"]["Ref"]: _properties(name)["RouteTableId"]["Ref"]
        for name, item in _RESOURCES.items()
        if item["Type"] == "AWS::EC2::SubnetRouteTableAssociation"
    }
    routed = {
        _properties(name)["RouteTableId"]["Ref"]
        for name, item in _RESOURCES.items()
        if item["Type"] == "AWS::EC2::Route"
    }
    assert not {tables[name] for name in subnets} & routed
    (ingress,) = _properties("FrontBalancerGroup")["SecurityGroupIngress"]
    assert ingress["SourcePrefixListId"] == {"Ref": "CloudFrontPrefixList"}
    assert not ingress.keys() & {"CidrIp", "CidrIpv6", "SourceSecurityGroupId"}
