"""What a stack costs by the month, used or not: alarms, polling, timers, relay and firewall.

The numbers of alarms and queues come from the template.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from benchmarks.prices import PRICES
from local import template
from pillarbox.adapters.dynamodb import keys
from pillarbox.application.delivery.sweep import ZERO_HOURS

type Bill = Mapping[str, float]

_HOURS: Final = 730
#: Seconds of a month of 30 days.
SECONDS: Final = 30 * 24 * 3600
_RELAY: Final = template.load(template.ROOT / "stacks/relay.yaml")["Resources"]["RelayTask"]
#: Lambda reads an idle queue with five pollers if its mapping has a maximum, otherwise with two
#: (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html, found on 2026-11-23).
_POLLERS: Final = {True: 5, False: 2}
#: Each poller waits 20 seconds for a message.
_RECEIVES: Final = SECONDS / 20
#: Each minute the timers of emails, webhooks and alerts run. One that somebody has used reads the
#: buckets of some minutes and its note, half a unit each, and writes the note.
_TICKS: Final = SECONDS / 60
_MINUTES_READ: Final = {"DUE": 3, "WAKE": 1, "TELL": 3}
#: Modelled: a tick takes 20 ms at 0.5 GB and writes 350 bytes of log.
_TICK_GB_SECONDS: Final = 0.5 * 0.020
_TICK_LOG: Final = 350
#: Modelled: the seconds of a start. Lambda charges them since August 2025:
#: https://aws.amazon.com/blogs/compute/aws-lambda-standardizes-billing-for-init-phase
START: Final = 0.5
#: Modelled: each hour both functions of the sweep start (0.5 and 1 GB) and run for 0.2 seconds.
_PASS_GB_SECONDS: Final = (0.5 + 1.0) * (START + 0.2)


def idle(
    *,
    production: bool = False,
    metrics: int = 0,
    with_webhooks: bool = True,
    limits: bool = False,
    used: Sequence[str] = (),
) -> Bill:
    """Return a month without any mail.

    A custom metric costs by the hours with a value. The sweep reports one each six hours.

    Args:
        production: `--profile production` has all alarms, a dashboard and a rollout in steps.
        metrics: the custom metrics that have values in every hour, beside the sweep's.
        with_webhooks: `Webhooks=on`.
        limits: `EmailsPerSecond` is not 200.
        used: the timers that are used (`keys.TIMERS`).
    """
    alarms = alarm_metrics(None)
    if production:
        alarms += alarm_metrics("WithSteps") + alarm_metrics("WithAllAlarms")
        alarms += alarm_metrics("WithWebhooksAlarm") if with_webhooks else 0
    pollers = sum(_pollers(with_webhooks=with_webhooks, limits=limits))
    return {
        "Alarms": alarms * PRICES["alarm"].dollars,
        "Polling the queues": pollers * _RECEIVES / 1e6 * PRICES["sqs"].dollars,
        "Custom metrics": (metrics + 1 / ZERO_HOURS) * PRICES["metric"].dollars,
        "Timer": _TICKS * (_tick() + sum(map(tick_of, used))),
        "Sweep": _HOURS * _PASS_GB_SECONDS * PRICES["gb-second"].dollars,
        "CloudWatch dashboard": production * PRICES["dashboard"].dollars,
        "The edge's secret": PRICES["secret"].dollars,
    }


def tick_of(kind: str) -> float:
    """Return what a used timer adds to a tick."""
    reads = (keys.TIMERS[kind] * _MINUTES_READ[kind] + 1) / 2
    return (reads * PRICES["read"].dollars + PRICES["write"].dollars) / 1e6


def _tick() -> float:
    """Return what one tick costs while no timer is used."""
    units = len(keys.TIMERS) / 2 * PRICES["read"].dollars
    logged = _TICK_LOG / 1000 * PRICES["log"].dollars
    run = _TICK_GB_SECONDS * PRICES["gb-second"].dollars
    return (units + PRICES["invocation"].dollars + logged) / 1e6 + run


def alarm_metrics(condition: str | None) -> int:
    """Return how many metrics the template's alarms with a condition watch."""
    return sum(
        sum("MetricStat" in part for part in alarm["Properties"].get("Metrics", [])) or 1
        for alarm in _resources("AWS::CloudWatch::Alarm")
        if alarm.get("Condition") == condition
    )


def _pollers(*, with_webhooks: bool, limits: bool) -> Iterator[int]:
    """Yield how many pollers each queue of a function has."""
    switch = {"Fn::If": ["WithWebhooks", True, False]}
    for function in _resources("AWS::Serverless::Function"):
        for event in function["Properties"].get("Events", {}).values():
            properties = event.get("Properties", {})
            if event["Type"] != "SQS":
                continue
            enabled = properties.get("Enabled", True)
            if not enabled or (enabled == switch and not with_webhooks):
                continue
            scaling = properties.get("ScalingConfig", {})
            optional = scaling.get("Fn::If", ["", {}, scaling])
            yield _POLLERS[bool(optional[1] if limits and optional[0] else optional[2])]


def _resources(kind: str) -> list[dict[str, Any]]:
    resources = template.inlined(template.load())["Resources"].values()
    return [resource for resource in resources if resource["Type"] == kind]


def relay(tasks: int = 1, *, front: bool = True) -> Bill:
    """Return a month of the relay, and of the front: with an edge and `LargeRequests=on`."""
    values = _RELAY["Properties"]
    _, with_front, without = values["Memory"]["Fn::If"]
    memory = with_front if front else without
    task = (
        int(values["Cpu"]) / 1024 * PRICES["vcpu"].dollars
        + int(memory) / 1024 * PRICES["gb"].dollars
    )
    return {
        "Fargate, arm64": tasks * task * _HOURS,
        "Network load balancer, for SMTP": PRICES["balancer"].dollars * _HOURS,
        "Application load balancer, for large requests": front
        * PRICES["balancer"].dollars
        * _HOURS,
        "Public IPv4 addresses": (2 + tasks) * PRICES["address"].dollars * _HOURS,
        "Secret of the certificate": PRICES["secret"].dollars,
        "Alarm": front * alarm_metrics("WithFront") * PRICES["alarm"].dollars,
    }


def firewall(kind: str) -> tuple[float, float]:
    """Return what a firewall costs a month in us-east-1, and a million requests of it."""
    acls, rules = {"none": (0, 0), "basic": (1, 3), "managed": (2, 7)}[kind]
    fixed = acls * PRICES["acl"].dollars + rules * PRICES["rule"].dollars
    return fixed, acls * PRICES["waf"].dollars
