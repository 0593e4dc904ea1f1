"""A stack as CloudFormation would create it for one set of parameters."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from tools.templates.defects import Defect
from tools.templates.resolve import NO_VALUE, Resolver, Unresolved
from tools.templates.schemas import missing_properties
from tools.templates.sets import ACCOUNT, ParameterSet
from tools.templates.translate import ROOT_TEMPLATE, Json, Sources, Unreadable

NESTED: Final = "AWS::CloudFormation::Stack"
_SECTIONS: Final = ("Resources", "Outputs")


@dataclass(slots=True)
class Stack:
    """A stack of one set of parameters.

    Attributes:
        file: the template's file, such as `stacks/relay.yaml`.
        name: what CloudFormation would call the stack.
        template: the translated template.
        values: the parameters and pseudo-parameters; a nested stack's may be references of its
            parent, as a dict.
        resources: those whose condition holds and that have what their type requires, resolved.
        outputs: the same of the outputs; each is its `Value`.
        problems: what was found while it was resolved.
    """

    file: str
    name: str
    region: str
    template: Json
    values: Mapping[str, Json]
    resources: dict[str, Json] = field(default_factory=dict)
    outputs: dict[str, Json] = field(default_factory=dict)
    nested: dict[str, "Stack"] = field(default_factory=dict)
    problems: list[Defect] = field(default_factory=list)

    def of_type(self, kind: str) -> dict[str, Json]:
        """Return the properties of each resource of a type, by logical id."""
        return {
            name: resource.get("Properties", {})
            for name, resource in self.resources.items()
            if resource["Type"] == kind
        }

    def every(self) -> Iterator["Stack"]:
        """Yield this stack and its nested stacks."""
        yield self
        for nested in self.nested.values():
            yield from nested.every()


def build(sources: Sources, chosen: ParameterSet) -> Stack:
    """Return the stack of a set of parameters, with its nested stacks."""
    template = sources.translated(chosen.parameters, chosen.region)
    root = _resolved(ROOT_TEMPLATE, chosen.stack, chosen.region, template, chosen.parameters)
    _add_nested(sources, root)
    return root


def _resolved(
    file: str, name: str, region: str, template: Json, arguments: Mapping[str, Json]
) -> Stack:
    declared = template.get("Parameters", {})
    defaults = {key: item["Default"] for key, item in declared.items() if "Default" in item}
    known = {key: value for key, value in arguments.items() if key in declared}
    stack = Stack(file, name, region, template, defaults | known | _pseudo_parameters(name, region))
    resolver = Resolver(template, stack.values)
    for section in _SECTIONS:
        for key, content in template.get(section, {}).items():
            try:
                if "Condition" in content and not resolver.holds(content["Condition"]):
                    continue
                resolved = resolver.resolve(content)
            except Unresolved as error:
                remedy = "Declare it, or correct the name."
                stack.problems.append(Defect(file, key, str(error), remedy))
                continue
            if missing := missing_properties(resolved, region):
                message = f"It has no {' and no '.join(missing)}."
                stack.problems.append(Defect(file, key, message, "Add what its type requires."))
                continue
            if section == "Resources":
                stack.resources[key] = resolved
            else:
                stack.outputs[key] = resolved.get("Value", NO_VALUE)
    return stack


def _pseudo_parameters(name: str, region: str) -> dict[str, str]:
    return {
        "AWS::AccountId": ACCOUNT,
        "AWS::Partition": "aws",
        "AWS::Region": region,
        "AWS::StackId": f"arn:aws:cloudformation:{region}:{ACCOUNT}:stack/{name}/{'0' * 36}",
        "AWS::StackName": name,
        "AWS::URLSuffix": "amazonaws.com",
    }


def _add_nested(sources: Sources, parent: Stack) -> None:
    for key, properties in parent.of_type(NESTED).items():
        file = properties["TemplateURL"]
        try:
            template = sources.read(file)
        except Unreadable as error:
            problem = Defect(parent.file, key, str(error), "Correct TemplateURL.")
            parent.problems.append(problem)
            continue
        # CloudFormation adds twelve characters to the names of both.
        name = f"{parent.name}-{key}-{'X' * 12}"
        arguments = properties.get("Parameters", {})
        nested = _resolved(file, name, parent.region, template, arguments)
        parent.nested[key] = nested
        _add_nested(sources, nested)
