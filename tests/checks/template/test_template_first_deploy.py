"""A first deploy ends without an alarm."""

from typing import Any, Final

from local import template
from pillarbox.application.delivery.sweep import ZERO_HOURS

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
    alarm = _properties("OverdueAlarm")
    assert alarm["InsufficientDataActions"] == alarm["AlarmActions"] == [{"Ref": "AlarmTopic"}]
    assert alarm["Period"] * alarm["EvaluationPeriods"] == (2 * ZERO_HOURS + 1) * 3600
    assert alarm["DatapointsToAlarm"] == 1


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
    assert ingress["SourcePrefixListId"]["Fn::Select"][0] == 2
    assert not ingress.keys() & {"CidrIp", "CidrIpv6", "SourceSecurityGroupId"}
