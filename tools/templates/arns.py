"""Checks that what is called an ARN is one, also across the border of a nested stack."""

from collections.abc import Iterator
from typing import Final

from tools.templates.defects import Defect
from tools.templates.joined import join
from tools.templates.schemas import identifying_properties
from tools.templates.stack import Stack
from tools.templates.translate import Json

_ARN: Final = "arn"
#: Its identifier is called Id, and is an ARN.
_SECRET: Final = "AWS::SecretsManager::Secret"  # noqa: S105  a type


def check_arns(root: Stack) -> Iterator[Defect]:
    """A property whose name ends with Arn gets no name, address or id of a resource."""
    resources = join(root)["Resources"]
    files = {key: stack.file for stack in root.every() for key in stack.resources}
    for key, resource in resources.items():
        for path, value in _called_arn(resource.get("Properties", {})):
            match value:
                case {"Fn::GetAtt": [str(name), str(attribute)]} if name in resources:
                    is_arn = attribute.lower().endswith(_ARN)
                    found = f"{name}.{attribute}"
                case {"Ref": str(name)} if name in resources:
                    is_arn = _is_reference_arn(resources[name]["Type"], root.region)
                    found = name
                case _:
                    continue
            if not is_arn:
                message = f"{path} gets {found}, which is not an ARN."
                yield Defect(files[key], key, message, "Pass the resource's Arn.")


def _called_arn(part: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    """Yield each property whose name ends with Arn, with its path."""
    for name, value in part.items() if isinstance(part, dict) else enumerate(part):
        place = f"{path}/{name}".strip("/")
        if str(name).lower().endswith(_ARN):
            yield place, value
        if isinstance(value, dict | list):
            yield from _called_arn(value, place)


def _is_reference_arn(kind: str, region: str) -> bool:
    identifiers = identifying_properties(kind, region)
    return kind == _SECRET or any(path[-1].lower().endswith(_ARN) for path in identifiers)
