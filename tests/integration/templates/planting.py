"""The templates in memory, so that a test can plant an error without translating them again."""

import copy
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any, Final

from tools.templates.checks import check
from tools.templates.defects import Defect
from tools.templates.sets import SETS, ParameterSet
from tools.templates.stack import Stack, build
from tools.templates.translate import ROOT_TEMPLATE, Sources

ALL: Final[ParameterSet] = SETS[-1]
RELAY: Final = "stacks/relay.yaml"
ALARMS: Final = "stacks/alarms.yaml"


class Templates(Sources):
    """A copy of the translated templates that a test may change."""

    def __init__(self) -> None:
        super().__init__()
        root, nested = copy.deepcopy(_translated())
        self.root: dict[str, Any] = root
        self.nested: dict[str, Any] = nested
        self.chosen = ALL

    def read(self, name: str) -> Any:
        return self.nested[name] if name in self.nested else super().read(name)

    def translated(self, *_: object) -> Any:
        return self.root

    @property
    def resources(self) -> dict[str, Any]:
        """The resources of the root template."""
        resources: dict[str, Any] = self.root["Resources"]
        return resources

    def properties(self, key: str) -> dict[str, Any]:
        """Return the properties of a resource of the root template."""
        properties: dict[str, Any] = self.resources[key]["Properties"]
        return properties

    def choose(self, **parameters: str) -> None:
        """Set parameters."""
        self.chosen = replace(self.chosen, parameters={**self.chosen.parameters, **parameters})

    def build(self) -> Stack:
        """Return the stack with everything in it."""
        return build(self, self.chosen)

    def problems(self) -> list[Defect]:
        """Return what the checks find, except lint."""
        return list(check(self.build(), self.chosen))


@cache
def _translated() -> tuple[Any, dict[str, Any]]:
    """Translate once, which takes seconds."""
    sources = Sources()
    root = sources.translated(ALL.parameters, ALL.region)
    nested = (
        resource["Properties"]["TemplateURL"]
        for resource in root["Resources"].values()
        if resource["Type"] == "AWS::CloudFormation::Stack"
    )
    assert sources.read(ROOT_TEMPLATE)
    return root, {file: sources.read(file) for file in nested}


def texts(problems: Iterable[Defect]) -> set[str]:
    """Return the resource and the message of each problem."""
    return {f"{problem.resource}: {problem.message}" for problem in problems}
