"""Checks that names are short enough, and differ from each other in an account."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from tools.templates.defects import Defect
from tools.templates.schemas import fixed_properties, identifying_properties, longest_text
from tools.templates.sets import ParameterSet
from tools.templates.stack import Stack
from tools.templates.translate import Json

#: The names of these hold for all regions of an account.
_GLOBAL: Final = (
    "AWS::CloudFront::",
    "AWS::CloudWatch::Dashboard",
    "AWS::IAM::",
    "AWS::S3::Bucket",
)
#: Where names are that the schema does not mark as fixed, but that CloudFront keeps once.
_CLOUDFRONT: Final = {
    "AWS::CloudFront::CachePolicy": ("CachePolicyConfig", "Name"),
    "AWS::CloudFront::Function": ("Name",),
    "AWS::CloudFront::OriginAccessControl": ("OriginAccessControlConfig", "Name"),
    "AWS::CloudFront::OriginRequestPolicy": ("OriginRequestPolicyConfig", "Name"),
    "AWS::CloudFront::ResponseHeadersPolicy": ("ResponseHeadersPolicyConfig", "Name"),
    "AWS::CloudFront::VpcOrigin": ("VpcOriginEndpointConfig", "Name"),
}
#: The characters of a name that its schema does not limit. The documents limit the first and the
#: last one: API_OriginAccessControlConfig, API_PutDashboard.
_MAX_NAMES: Final = {
    "AWS::CloudFront::OriginAccessControl": 64,
    "AWS::CloudFront::ResponseHeadersPolicy": 128,
    "AWS::CloudFront::VpcOrigin": 64,
    "AWS::CloudWatch::Dashboard": 255,
}


@dataclass(frozen=True, slots=True)
class Name:
    """A name that the template gives to a resource; `place` is a region or `everywhere`."""

    kind: str
    place: str
    text: str


def at(properties: Json, path: tuple[str, ...]) -> Json:
    """Return the value of a property; None without one."""
    for step in path:
        properties = properties.get(step) if isinstance(properties, dict) else None
    return properties


def given_name(stack: Stack, key: str) -> Name | None:
    """Return the name that the template gives to a resource; None if CloudFormation chooses it.

    A name inside of another resource, such as an alias, is not one of the account.
    """
    kind = stack.resources[key]["Type"]
    paths = {
        *fixed_properties(kind, stack.region),
        *identifying_properties(kind, stack.region),
        *([_CLOUDFRONT[kind]] if kind in _CLOUDFRONT else []),
    }
    properties = stack.resources[key].get("Properties", {})
    values = {path: at(properties, path) for path in sorted(paths)}
    named = {path: value for path, value in values.items() if path[-1].endswith("Name")}
    if not any(isinstance(value, str) for value in named.values()):
        return None
    if any(isinstance(value, dict) for value in values.values()):
        return None
    place = "everywhere" if kind.startswith(_GLOBAL) else stack.region
    text = ", ".join(str(value) for value in named.values() if value is not None)
    return Name(kind, place, text)


def names(root: Stack) -> dict[Name, list[tuple[str, str]]]:
    """Return the names in a stack and its nested stacks, with files and logical ids."""
    found: dict[Name, list[tuple[str, str]]] = {}
    for stack in root.every():
        for key in stack.resources:
            if name := given_name(stack, key):
                found.setdefault(name, []).append((stack.file, key))
    return found


def check_names(root: Stack) -> Iterator[Defect]:
    """No two resources of a deployment have the same type and name, and no name is too long."""
    for name, places in names(root).items():
        most = _MAX_NAMES.get(name.kind) or longest_text(name.kind, "Name", root.region)
        if len(name.text) > most:
            message = f"Its name {name.text} has {len(name.text)} characters, more than {most}."
            yield Defect(*places[0], message, "Shorten it, or `longest_stack_name` of the command.")
        for file, key in places[1:]:
            message = f"It has the name {name.text}, and so has {places[0][1]}."
            yield Defect(file, key, message, "Give it another name, or none.")


def check_neighbours(
    deployments: Iterable[tuple[ParameterSet, Stack]],
) -> Iterator[tuple[str, Defect]]:
    """Stacks of other names or regions in the same account have other names for everything."""
    owners: dict[Name, tuple[str, str]] = {}
    for chosen, root in deployments:
        deployment = (chosen.stack, chosen.region)
        for name, places in names(root).items():
            if owners.setdefault(name, deployment) != deployment:
                other = " in ".join(owners[name])
                message = f"Its name {name.text} is also in the stack {other}."
                remedy = (
                    "Make the name of ${AWS::StackName}, and of ${AWS::Region} if it is global."
                )
                yield chosen.name, Defect(*places[0], message, remedy)
