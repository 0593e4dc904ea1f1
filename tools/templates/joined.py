"""Joins a stack and its nested stacks to one template."""

from local.template import substitute
from tools.templates.stack import NESTED, Stack
from tools.templates.translate import Json


def join(stack: Stack) -> Json:
    """Return one template with the resources of a stack and of its nested stacks.

    A parameter of a nested stack becomes what is passed, and an output what it reads. So each
    reference leads directly to a resource. Logical ids are unique in all stacks.
    """
    resources: dict[str, Json] = {}
    outputs: dict[str, Json] = {}
    for key, nested in stack.nested.items():
        passed = {name: value for name, value in nested.values.items() if isinstance(value, dict)}
        resources |= {name: substitute(part, passed) for name, part in nested.resources.items()}
        outputs |= {
            f"{key}.Outputs.{name}": substitute(part, passed)
            for name, part in nested.outputs.items()
        }
    own = {name: part for name, part in stack.resources.items() if part["Type"] != NESTED}
    joined = {name: substitute(part, outputs) for name, part in (own | resources).items()}
    for part in joined.values():
        part.pop("Condition", None)
        if depends_on := part.pop("DependsOn", None):
            named = [depends_on] if isinstance(depends_on, str) else depends_on
            part["DependsOn"] = [name for name in named if name in joined]
    return {"AWSTemplateFormatVersion": "2010-09-09", "Resources": joined}
