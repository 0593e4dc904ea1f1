"""Checks the policies of queues and buckets, the alarms and the metrics."""

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from tools.templates.defects import Defect
from tools.templates.known import is_metric
from tools.templates.references import references
from tools.templates.stack import Stack
from tools.templates.translate import Json

#: The property that names what each kind of policy belongs to. Each of them has one policy only:
#: the policy that is written last replaces the others.
POLICIES: Final = {
    "AWS::SQS::QueuePolicy": "Queues",
    "AWS::S3::BucketPolicy": "Bucket",
    "AWS::SNS::TopicPolicy": "Topics",
    "AWS::SecretsManager::ResourcePolicy": "SecretId",
}
#: The namespace of the service's own metrics.
_NAMESPACE: Final = "Pillarbox"
#: What Powertools calls the dimension with the value of POWERTOOLS_SERVICE_NAME.
_DIMENSION: Final = "service"


def policy_owners(stack: Stack) -> dict[str, list[str]]:
    """Return the policies of each queue, bucket, topic and secret, by logical id."""
    owners: dict[str, list[str]] = defaultdict(list)
    for kind, place in POLICIES.items():
        for key, properties in stack.of_type(kind).items():
            for name in dict.fromkeys(name for name, _ in references(properties.get(place))):
                owners[name].append(key)
    return owners


def check_policies(stack: Stack) -> Iterator[Defect]:
    """A queue, bucket or topic has one policy: of two, the one that is written last stays."""
    for name, owners in policy_owners(stack).items():
        if len(owners) > 1:
            message = f"{' and '.join(sorted(owners))} each write its policy, and one is lost."
            yield Defect(stack.file, name, message, "Keep one of them with all statements.")


def check_alarms(stack: Stack) -> Iterator[Defect]:
    """Each alarm notifies somebody, or stops a rollout."""
    rollouts = {
        name
        for group in stack.of_type("AWS::CodeDeploy::DeploymentGroup").values()
        for name, _ in references(group.get("AlarmConfiguration"))
    }
    for key, alarm in stack.of_type("AWS::CloudWatch::Alarm").items():
        if not alarm.get("AlarmActions") and key not in rollouts:
            message = "It has no action, so it notifies no one."
            yield Defect(stack.file, key, message, "Add the topic to AlarmActions.")


def check_metrics(root: Stack, stack: Stack) -> Iterator[Defect]:
    """Each metric in an alarm or dashboard exists, and each of ours is the stack's own.

    CloudWatch takes an alarm on a metric that does not exist, and it never fires.
    """
    shown = {
        key: list(measured(alarm)) for key, alarm in stack.of_type("AWS::CloudWatch::Alarm").items()
    }
    for key, board in stack.of_type("AWS::CloudWatch::Dashboard").items():
        shown[key] = [
            (*words[:2], dict(zip(words[2::2], words[3::2], strict=True)))
            for words in listed(board["DashboardBody"])
        ]
    names = [root.name, *_parameters_with(stack, root.name)]
    for key, metrics in shown.items():
        unknown = {
            " ".join((space, metric, *dimensions))
            for space, metric, dimensions in metrics
            if space != _NAMESPACE and not is_metric(space, metric, dimensions)
        }
        if unknown:
            message = f"AWS has no metric {' and no '.join(sorted(unknown))}."
            remedy = "Correct it, or add it to tools/templates/known.py with its source."
            yield Defect(stack.file, key, message, remedy)
        mixed = {
            metric
            for space, metric, dimensions in metrics
            if space == _NAMESPACE and dimensions.get(_DIMENSION) not in names
        }
        if mixed:
            message = f"The dimension {_DIMENSION} of {', '.join(sorted(mixed))} is not the stack."
            remedy = "Make it the stack's name, or two stacks in an account are added up."
            yield Defect(stack.file, key, message, remedy)


def measured(alarm: Json) -> Iterator[tuple[str, str, dict[str, Json]]]:
    """Yield the namespace, name and dimensions of each metric in an alarm."""
    queries = alarm.get("Metrics", [])
    for metric in [alarm, *(query.get("MetricStat", {}).get("Metric", {}) for query in queries)]:
        if "MetricName" in metric:
            dimensions = {item["Name"]: item["Value"] for item in metric.get("Dimensions", [])}
            yield metric.get("Namespace", ""), metric["MetricName"], dimensions


def listed(body: Json) -> Iterator[list[Json]]:
    """Yield the metrics in a dashboard, with the words that it repeats by a dot."""
    text = body["Fn::Sub"] if isinstance(body, dict) else body
    for widget in json.loads(text[0] if isinstance(text, list) else text)["widgets"]:
        before: list[Json] = []
        for metric in widget.get("properties", {}).get("metrics", []):
            words = [word for word in metric if not isinstance(word, dict)]
            if words[:1] == ["..."]:
                words = [*before[: len(before) - len(words) + 1], *words[1:]]
            before = [before[number] if word == "." else word for number, word in enumerate(words)]
            yield before


def _parameters_with(stack: Stack, value: str) -> list[str]:
    return [f"${{{name}}}" for name, passed in stack.values.items() if passed == value]
