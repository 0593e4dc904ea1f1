"""Refuses a change of template.yaml that would lose data or an address.

    python -m tests.kept            # compare with kept.json; 1 when something would be lost
    python -m tests.kept --accept   # write kept.json anew: its diff is what a reviewer looks at

What CloudFormation replaces a resource for is read from the resource's schema, as cfn-lint carries
it; what drops data without replacing anything is listed here.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from cfnlint.schema.manager import (  # type: ignore[import-untyped]  # ships no types
    PROVIDER_SCHEMA_MANAGER,
)

from local import template

RECORD: Final = Path(__file__).with_suffix(".json")

type Kept = dict[str, dict[str, Any]]

#: Types whose resources hold what cannot be made again, or are known by an address that AWS
#: gave, and their properties whose change drops some of it though the resource stays.
_KEEPING: Final[Mapping[str, tuple[str, ...]]] = {
    "AWS::CloudFront::Distribution": (),
    "AWS::DynamoDB::Table": (
        "DeletionProtectionEnabled",
        "GlobalSecondaryIndexes",
        "LocalSecondaryIndexes",
        "PointInTimeRecoverySpecification",
        "SSESpecification",
        "StreamSpecification",
        "TimeToLiveSpecification",
    ),
    "AWS::ElasticLoadBalancingV2::LoadBalancer": (),
    "AWS::Logs::LogGroup": ("RetentionInDays",),
    "AWS::S3::Bucket": ("LifecycleConfiguration", "VersioningConfiguration"),
    "AWS::SES::ConfigurationSet": (),
    "AWS::SNS::Topic": (),
    "AWS::SQS::Queue": ("MessageRetentionPeriod", "RedrivePolicy"),
    "AWS::SecretsManager::Secret": (),
}
_ATTRIBUTES: Final = ("Type", "Condition", "DeletionPolicy", "UpdateReplacePolicy")
_NOTHING: Final = object()


def kept(source: template.Template) -> Kept:
    """What of a template may not change unnoticed, by the resources' names."""
    return {
        name: {part: resource[part] for part in _ATTRIBUTES if part in resource}
        | {
            "Properties": {
                part: value
                for part, value in sorted(resource.get("Properties", {}).items())
                if part in replacing(resource["Type"]) | set(_KEEPING[resource["Type"]])
            }
        }
        for name, resource in sorted(source["Resources"].items())
        if resource["Type"] in _KEEPING
    }


def replacing(kind: str) -> set[str]:
    """The properties for whose change CloudFormation makes a resource of this type anew."""
    schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema(template.REGION, kind).schema
    pointers = [
        *schema.get("createOnlyProperties", ()),
        *schema.get("conditionalCreateOnlyProperties", ()),
    ]
    return {pointer.split("/")[2] for pointer in pointers}


def losses(before: Kept, after: Kept) -> Iterator[str]:
    """One line for each thing that an update from one to the other would lose."""
    for name, was in before.items():
        now = after.get(name)
        if now is None:
            yield f"{name} would go, and be made anew where it was but renamed"
            continue
        for part in _ATTRIBUTES:
            if was.get(part) != now.get(part):
                yield f"{name}: {part} would be {now.get(part)}, not {was.get(part)}"
        old, new = was["Properties"], now["Properties"]
        for part in sorted(old.keys() | new.keys()):
            if old.get(part, _NOTHING) != new.get(part, _NOTHING):
                what = "replaced" if part in replacing(was["Type"]) else "cut"
                yield f"{name} would be {what}: {part} is {new.get(part)}, was {old.get(part)}"
    for name in after.keys() - before.keys():
        yield f"{name} is new: nothing is lost, but kept.json does not know it yet"


def main(arguments: list[str]) -> int:
    """Compare or accept; 1 when something would be lost."""
    now = kept(template.load())
    if arguments == ["--accept"]:
        RECORD.write_text(json.dumps(now, indent=2) + "\n")
        return 0
    found = list(losses(json.loads(RECORD.read_text()), now))
    for line in found:
        sys.stderr.write(f"template.yaml: {line}\n")
    if found:
        sys.stderr.write("If that is meant: python -m tests.kept --accept\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
