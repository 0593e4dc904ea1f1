"""The relay in template.yaml: two zones, TCP passed through, nothing to write, time to drain."""

import re
from typing import Any

import pytest

from local import template
from relay import health, settings
from relay.limits import MIB, ServerLimits
from tests.relay.test_image import RUN, instructions

RESOURCES: dict[str, Any] = template.inlined(template.load())["Resources"]
RELAY = {
    name: resource["Properties"]
    for name, resource in RESOURCES.items()
    if name.startswith("Relay") and "Properties" in resource
}
(CONTAINER,) = (
    each for each in RELAY["RelayTask"]["ContainerDefinitions"] if each["Name"] == "relay"
)
ENVIRONMENT = {each["Name"]: each["Value"] for each in CONTAINER["Environment"]}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> settings.RelaySettings:
    """The settings as the container reads them; what is made at deployment is made up."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value if isinstance(value, str) else "made")
    return settings.from_environment()


def test_all_of_it_is_switched_by_the_image() -> None:
    """Without `RelayImage` nothing of the relay is made."""
    names = [name for name in RESOURCES if name.startswith("Relay")]
    assert {RESOURCES[name]["Condition"] for name in names} == {"WithRelay"}


def test_two_zones() -> None:
    """Two containers at least, in subnets of two zones, behind a load balancer in both."""
    subnets = [{"Ref": "RelaySubnetA"}, {"Ref": "RelaySubnetB"}]
    zones = [RELAY[each["Ref"]]["AvailabilityZone"]["Fn::Select"][0] for each in subnets]
    assert zones == [0, 1]
    service = RELAY["RelayService"]
    assert service["LaunchType"] == "FARGATE"
    assert service["NetworkConfiguration"]["AwsvpcConfiguration"]["Subnets"] == subnets
    assert RELAY["RelayBalancer"]["Subnets"] == subnets
    assert service["DesiredCount"] >= 2
    assert RELAY["RelayScaling"]["MinCapacity"] >= 2
    assert service["DeploymentConfiguration"]["MinimumHealthyPercent"] == 100


def test_tcp_is_passed_through(read: settings.RelaySettings) -> None:
    """TLS ends in the container; only the VPC may tell it of clients, by the PROXY protocol."""
    listener, targets = RELAY["RelayListener"], RELAY["RelayTargets"]
    assert RELAY["RelayBalancer"]["Type"] == "network"
    assert (listener["Port"], listener["Protocol"], targets["Protocol"]) == (587, "TCP", "TCP")
    assert targets["Port"] == read.port == CONTAINER["PortMappings"][0]["ContainerPort"]
    attributes = {each["Key"]: each["Value"] for each in targets["TargetGroupAttributes"]}
    assert attributes["proxy_protocol_v2.enabled"] == "true"
    assert [str(network) for network in read.proxies] == [RELAY["RelayVpc"]["CidrBlock"]]
    (ingress,) = (
        rule for rule in RELAY["RelayGroup"]["SecurityGroupIngress"] if rule["ToPort"] == read.port
    )
    assert ingress["SourceSecurityGroupId"] == {"Ref": "RelayBalancerGroup"}
    assert "CidrIp" not in ingress


def test_the_container_is_closed() -> None:
    """A root file system that cannot be written, no capability, a user that is nobody."""
    assert CONTAINER["ReadonlyRootFilesystem"] is True
    assert CONTAINER["LinuxParameters"]["Capabilities"] == {"Drop": ["ALL"]}
    assert CONTAINER.get("User", instructions(RUN, "USER")[0]) not in {"0", "root", "0:0"}
    assert not CONTAINER.get("Privileged")
    assert "MountPoints" not in CONTAINER
    assert CONTAINER["Image"] == {"Ref": "RelayImage"}


def test_there_is_time_to_drain(read: settings.RelaySettings) -> None:
    """ECS waits longer for the container than the drain lasts, which is longer than a commit."""
    assert CONTAINER["StopTimeout"] == 120  # Fargate's longest
    assert read.limits.drain + 10 <= CONTAINER["StopTimeout"]
    (delay,) = (
        int(each["Value"])
        for each in RELAY["RelayTargets"]["TargetGroupAttributes"]
        if each["Key"] == "deregistration_delay.timeout_seconds"
    )
    assert delay >= read.limits.drain
    # The load balancer forgets a silent connection after 350 seconds: we end it before.
    assert read.limits.idle < 350


def test_the_health_check_is_the_relays_own() -> None:
    """ECS asks `relay.health`, and waits longer than it does."""
    check = CONTAINER["HealthCheck"]
    assert check["Command"] == ["CMD", "python", "-m", "relay.health"]
    assert check["Timeout"] > health._TIMEOUT
    assert ENVIRONMENT["PILLARBOX_SMTP_PORT"] == str(CONTAINER["PortMappings"][0]["ContainerPort"])


def test_it_scales_by_cpu_and_connections(read: settings.RelaySettings) -> None:
    """More containers come well before one is full, by either measure."""
    targets = {
        name: RELAY[f"RelayScalingBy{name}"]["TargetTrackingScalingPolicyConfiguration"]
        for name in ("Cpu", "Connections")
    }
    assert targets["Cpu"]["PredefinedMetricSpecification"] == {
        "PredefinedMetricType": "ECSServiceAverageCPUUtilization"
    }
    assert targets["Connections"]["TargetValue"] <= read.limits.connections / 2
    metrics = targets["Connections"]["CustomizedMetricSpecification"]["Metrics"]
    assert [each["MetricStat"]["Metric"]["MetricName"] for each in metrics[:2]] == [
        "ActiveFlowCount",
        "RunningTaskCount",
    ]


def test_there_are_descriptors_and_memory(read: settings.RelaySettings) -> None:
    """Mail in transit takes at most half of the task's memory; each connection has descriptors."""
    (descriptors,) = CONTAINER["Ulimits"]
    assert descriptors["SoftLimit"] >= 2 * read.limits.connections
    assert read.limits.memory <= int(RELAY["RelayTask"]["Memory"]) * MIB / 2
    assert read.limits.memory >= 8 * 2 * ServerLimits().message_size


def test_it_reads_what_it_is_given(read: settings.RelaySettings) -> None:
    """Each setting that the task gives the relay is one that it knows, documented with the rest."""
    known = re.findall(
        r"`(?:PILLARBOX_SMTP_|…_)(\w+)`", (template.ROOT / "docs/relay.md").read_text()
    )
    given = {name for name in ENVIRONMENT if name.startswith("PILLARBOX_SMTP_")}
    assert given <= {f"PILLARBOX_SMTP_{name}" for name in known}
    assert (read.secret, read.name) == ("made", "made")
