"""The relay in template.yaml: zones, TCP, a closed container, and time to drain."""

from typing import Any

import pytest

from front.settings import MEMORY_MIB
from local import template
from pillarbox.settings import Settings
from relay import container_memory, health, settings
from relay.limits import MIB, ServerLimits
from relay.server import LAST_CALL, LAST_REPLY
from tests.conditions import all_met, containers
from tests.relay.test_image import RUNTIME_STAGE, instructions

RESOURCES: dict[str, Any] = template.inlined(template.load())["Resources"]
RELAY = {
    name: resource["Properties"]
    for name, resource in RESOURCES.items()
    if name.startswith("Relay") and "Properties" in resource
}
CONTAINERS = containers(RESOURCES)
CONTAINER = CONTAINERS["relay"]
ENVIRONMENT = {entry["Name"]: entry["Value"] for entry in CONTAINER["Environment"]}


@pytest.fixture
def relay_settings() -> settings.RelaySettings:
    """Return the settings as the container reads them, with made-up values for references."""
    made = {
        "PILLARBOX_SMTP_PAID_PLANS_ONLY": "true",
    }
    return settings.read(
        Settings(
            {
                name: value if isinstance(value, str) else made.get(name, "made")
                for name, value in ENVIRONMENT.items()
            }
        )
    )


def test_the_image_switches_all_resources() -> None:
    names = [name for name in RESOURCES if name.startswith("Relay")]
    assert {RESOURCES[name]["Condition"] for name in names} == {"WithRelay"}


def test_two_zones() -> None:
    """Containers run in subnets of two zones, as many as the parameter says or more."""
    subnets = [{"Ref": "RelaySubnetA"}, {"Ref": "RelaySubnetB"}]
    zones = [RELAY[subnet["Ref"]]["AvailabilityZone"]["Fn::Select"][0] for subnet in subnets]
    assert zones == [0, 1]
    service = RELAY["RelayService"]
    assert service["LaunchType"] == "FARGATE"
    assert service["NetworkConfiguration"]["AwsvpcConfiguration"]["Subnets"] == subnets
    assert RELAY["RelayBalancer"]["Subnets"] == subnets
    # Beside a scalable target each deploy would set the count back to the template's.
    assert "DesiredCount" not in service
    assert RELAY["RelayScaling"]["MinCapacity"] == {"Ref": "RelayTasks"}
    assert service["DeploymentConfiguration"]["MinimumHealthyPercent"] == 100


def test_tcp_is_passed_through(relay_settings: settings.RelaySettings) -> None:
    listener, targets = RELAY["RelayListener"], RELAY["RelayTargets"]
    assert RELAY["RelayBalancer"]["Type"] == "network"
    assert RELAY["RelayBalancer"]["Scheme"] == "internet-facing"
    assert (listener["Port"], listener["Protocol"], targets["Protocol"]) == (587, "TCP", "TCP")
    assert targets["Port"] == relay_settings.port == CONTAINER["PortMappings"][0]["ContainerPort"]
    attributes = {entry["Key"]: entry["Value"] for entry in targets["TargetGroupAttributes"]}
    assert attributes["proxy_protocol_v2.enabled"] == "true"
    assert [str(network) for network in relay_settings.proxies] == [RELAY["RelayVpc"]["CidrBlock"]]
    (ingress,) = (
        rule
        for rule in all_met(RELAY["RelayGroup"]["SecurityGroupIngress"])
        if rule["ToPort"] == relay_settings.port
    )
    assert ingress["SourceSecurityGroupId"] == {"Ref": "RelayBalancerGroup"}
    assert "CidrIp" not in ingress


def test_the_container_is_closed() -> None:
    assert CONTAINER["ReadonlyRootFilesystem"] is True
    assert CONTAINER["LinuxParameters"]["Capabilities"] == {"Drop": ["ALL"]}
    assert CONTAINER.get("User", instructions(RUNTIME_STAGE, "USER")[0]) not in {"0", "root", "0:0"}
    assert not CONTAINER.get("Privileged")
    assert "MountPoints" not in CONTAINER
    assert CONTAINER["Image"] == {"Ref": "RelayImage"}


def test_there_is_time_to_drain(relay_settings: settings.RelaySettings) -> None:
    """ECS waits longer for the container than the drain and what follows it last."""
    assert CONTAINER["StopTimeout"] == 120  # Fargate's maximum
    assert relay_settings.limits.drain + 10 <= CONTAINER["StopTimeout"]
    assert relay_settings.limits.drain + LAST_CALL + LAST_REPLY < CONTAINER["StopTimeout"]
    (delay,) = (
        int(entry["Value"])
        for entry in RELAY["RelayTargets"]["TargetGroupAttributes"]
        if entry["Key"] == "deregistration_delay.timeout_seconds"
    )
    # A network load balancer opens new connections to a target for two minutes after that.
    assert delay >= max(relay_settings.limits.drain, 120 + 30)
    # The load balancer drops an idle connection after 350 seconds; the relay ends it earlier.
    assert relay_settings.limits.idle < 350


def test_the_health_check_is_the_relays_own() -> None:
    """ECS runs `relay.health` and waits longer than its timeout."""
    check = CONTAINER["HealthCheck"]
    assert check["Command"] == ["CMD", "python", "-m", "relay.health"]
    assert check["Timeout"] > health._TIMEOUT
    assert CONTAINER["PortMappings"][0]["ContainerPort"] == 5870


def test_it_scales_by_cpu_and_connections(relay_settings: settings.RelaySettings) -> None:
    targets = {
        name: RELAY[f"RelayScalingBy{name}"]["TargetTrackingScalingPolicyConfiguration"]
        for name in ("Cpu", "Connections")
    }
    assert targets["Cpu"]["PredefinedMetricSpecification"] == {
        "PredefinedMetricType": "ECSServiceAverageCPUUtilization"
    }
    assert targets["Connections"]["TargetValue"] <= relay_settings.limits.connections / 2
    metrics = targets["Connections"]["CustomizedMetricSpecification"]["Metrics"]
    assert [metric["MetricStat"]["Metric"]["MetricName"] for metric in metrics[:2]] == [
        "ActiveFlowCount",
        "HealthyHostCount",
    ]
    # These metrics are free, so nothing else of the cluster is measured.
    (setting,) = RELAY["RelayCluster"]["ClusterSettings"]
    assert setting == {"Name": "containerInsights", "Value": "disabled"}


def test_there_are_descriptors_and_memory(relay_settings: settings.RelaySettings) -> None:
    (descriptors,) = CONTAINER["Ulimits"]
    assert descriptors["SoftLimit"] >= 2 * relay_settings.limits.connections
    assert relay_settings.limits.memory <= 1024 * MIB / 2
    assert relay_settings.limits.memory >= 8 * 2 * ServerLimits().message_size


def test_the_processes_fit_into_the_memory() -> None:
    """The relay has 50 MiB beside its messages, the front 65 beside its bodies and a worker 363.

    The figures are those of benchmarks/relay.md and front.md.
    """
    limits = {name: container["Memory"] for name, container in CONTAINERS.items()}
    assert limits["relay"] >= 50 + 256
    assert limits["front"] >= 65 + MEMORY_MIB + 363
    assert limits["relay"] + limits["front"] <= 1024
    container_memory.check(1, limits["relay"])


def test_fargate_offers_the_size_with_arm64() -> None:
    task = RELAY["RelayTask"]
    assert (task["Cpu"], task["Memory"]) == ("256", {"Fn::If": ["WithFront", "1024", "512"]})


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_a_stop_reaches_the_program(container: dict[str, Any]) -> None:
    """An init process is each container's first one: the kernel gives that one no SIGTERM."""
    assert container["LinuxParameters"]["InitProcessEnabled"] is True
