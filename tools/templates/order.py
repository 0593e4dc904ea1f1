"""Checks that what CloudFormation creates waits for what it needs and does not refer to."""

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Final

from tools.templates.defects import Defect
from tools.templates.references import edges, references
from tools.templates.stack import Stack
from tools.templates.translate import Json

_BALANCER: Final = "AWS::ElasticLoadBalancingV2::LoadBalancer"
_SERVICE: Final = "AWS::ECS::Service"


def check_order(stack: Stack) -> Iterator[Defect]:
    """Without an order the first deployment fails now and then.

    A route to the internet, a load balancer and a task with a public address need the gateway
    attached to their VPC (docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide, DependsOn
    attribute), a subnet the CIDR block that has its addresses, and a service the routes of its
    subnets, and the listeners of its target groups (docs.aws.amazon.com/AmazonECS, 2026-11).
    """
    needed = edges(stack)
    for key, others in _waits(stack):
        missing = sorted(others - _before(needed, key))
        if missing:
            message = f"It does not wait for {' and '.join(missing)}."
            yield Defect(stack.file, key, message, "Add it to DependsOn.")


def _waits(stack: Stack) -> Iterator[tuple[str, set[str]]]:
    """Yield each resource and those that must exist before it."""
    attachments = set(stack.of_type("AWS::EC2::VPCGatewayAttachment"))
    routes = {key for key, one in stack.of_type("AWS::EC2::Route").items() if "GatewayId" in one}
    for key in (*routes, *stack.of_type(_BALANCER), *stack.of_type("AWS::EC2::EIP")):
        yield key, attachments
    for key, service in stack.of_type(_SERVICE).items():
        network = service["NetworkConfiguration"]["AwsvpcConfiguration"]
        subnets = _names(network["Subnets"])
        tables = {
            name: _names(one["RouteTableId"])
            for name, one in stack.of_type("AWS::EC2::SubnetRouteTableAssociation").items()
            if _names(one["SubnetId"]) & subnets
        }
        used = set[str]().union(*tables.values())
        table_routes = stack.of_type("AWS::EC2::Route").items()
        yield (
            key,
            set(tables) | {n for n, one in table_routes if _names(one["RouteTableId"]) & used},
        )
        targets = _names([one["TargetGroupArn"] for one in service.get("LoadBalancers", [])])
        listeners = stack.of_type("AWS::ElasticLoadBalancingV2::Listener").items()
        yield key, {name for name, one in listeners if _names(one["DefaultActions"]) & targets}
    for key, subnet in stack.of_type("AWS::EC2::Subnet").items():
        blocks = stack.of_type("AWS::EC2::VPCCidrBlock").items()
        yield key, {name for name, block in blocks if _contains(block, subnet)}


def _names(part: Json) -> set[str]:
    return {name for name, _ in references(part)}


def _contains(block: Json, subnet: Json) -> bool:
    addresses = IPv4Network(subnet["CidrBlock"])
    return block["VpcId"] == subnet["VpcId"] and addresses.subnet_of(
        IPv4Network(block["CidrBlock"])
    )


def _before(needed: dict[str, set[str]], key: str) -> set[str]:
    """Return everything that exists before a resource."""
    found: set[str] = set()
    waiting = [key]
    while waiting:
        new = needed[waiting.pop()] - found
        found |= new
        waiting += new
    return found
