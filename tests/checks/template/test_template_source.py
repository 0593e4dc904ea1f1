"""What would be lost between the written templates and what CloudFormation gets.

`sam validate --lint` would find it too, but takes as long as cfn-lint on all that SAM makes of the
templates, and would show nothing else.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from local import template

_FILES: Final = [
    template.PATH,
    template.ROOT / "api.yaml",
    *(template.ROOT / "stacks").glob("*.yaml"),
]
#: What SAM passes on from a resource of its own.
_PASSED_ON: Final = {
    "Condition",
    "DeletionPolicy",
    "DependsOn",
    "Metadata",
    "Properties",
    "Type",
    "UpdateReplacePolicy",
}


def _written_twice(node: yaml.Node | None) -> Iterator[str]:
    """Yield each key that is twice in one mapping: a loader keeps only the last value."""
    if isinstance(node, yaml.MappingNode):
        counts = Counter(key.value for key, _ in node.value)
        line = node.start_mark.line + 1
        yield from (f"{key} below line {line}" for key, count in counts.items() if count > 1)
        for _, value in node.value:
            yield from _written_twice(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _written_twice(item)


def _ignored(resources: Mapping[str, Any]) -> list[str]:
    """Return what SAM ignores: attributes of its own resources that it does not know."""
    return [
        f"{attribute} of {name}"
        for name, resource in resources.items()
        if resource["Type"].startswith("AWS::Serverless::")
        for attribute in resource.keys() - _PASSED_ON
    ]


def test_no_key_is_written_twice() -> None:
    for file in _FILES:
        assert not [*_written_twice(yaml.compose(file.read_text(), yaml.CSafeLoader))], file.name


def test_a_key_that_is_written_twice_is_found() -> None:
    text = "One: {Name: a}\nTwo:\n  - Name: !Ref b\n    Size: 1\n    Name: c\n"
    assert [*_written_twice(yaml.compose(text, yaml.CSafeLoader))] == ["Name below line 3"]


def test_sam_ignores_no_attribute() -> None:
    """Each attribute of SAM's resources reaches CloudFormation, such as a condition."""
    assert not _ignored(template.load()["Resources"])


def test_an_attribute_that_sam_ignores_is_found() -> None:
    attributes = {"Conditon": "WithEdge", "Condition": "WithEdge"}
    resources = {
        "Send": {"Type": "AWS::Serverless::Function", **attributes},
        "Queue": {"Type": "AWS::SQS::Queue", **attributes},
    }
    assert _ignored(resources) == ["Conditon of Send"]
