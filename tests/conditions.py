"""A part of a template as CloudFormation creates it if every condition holds."""

from typing import Any, Final

_NO_VALUE: Final = {"Ref": "AWS::NoValue"}


def all_met(part: Any) -> Any:
    """Return a part of a template with the first branch of each `Fn::If`."""
    match part:
        case {"Fn::If": [_, content, _]}:
            return all_met(content)
        case dict():
            chosen = {name: all_met(content) for name, content in part.items()}
            return {name: content for name, content in chosen.items() if content != _NO_VALUE}
        case list():
            return [content for content in map(all_met, part) if content != _NO_VALUE]
    return part


def containers(resources: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the definitions of all containers by name, also of those with a condition."""
    return {
        container["Name"]: container
        for resource in resources.values()
        if resource["Type"] == "AWS::ECS::TaskDefinition"
        for container in all_met(resource["Properties"]["ContainerDefinitions"])
    }
