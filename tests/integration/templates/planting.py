"""The templates in memory, so that a test can plant an error without translating them again."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final

from tools.templates.checks import check
from tools.templates.defects import Defect
from tools.templates.sets import SETS, ParameterSet
from tools.templates.stack import Stack, build
from tools.templates.translate import ROOT_TEMPLATE, Sources

ALL: Final[ParameterSet] = SETS[-1]
#: As a value of `plant`: what the path names is removed.
GONE: Final = object()


class Templates(Sources):
    """A copy of the translated templates that a test may change."""

    def __init__(self) -> None:
        super().__init__()
        root, nested = json.loads(_translated())
        self.root: dict[str, Any] = root
        self.nested: dict[str, Any] = nested
        self.chosen = ALL

    def read(self, name: str) -> Any:
        return self.nested[name] if name in self.nested else super().read(name)

    def translated(self, *_: object) -> Any:
        return self.root

    def plant(self, changes: Mapping[str, Any]) -> None:
        """Set what paths name to values.

        A path is a parameter of the set, or begins with a section, or with a resource for its
        properties. A file comes before it, with a colon, if it is in a nested stack.
        """
        for path, value in changes.items():
            file, _, place = path.rpartition(":")
            *above, key = place.split()
            if not above and key not in self.root:
                parameters = {**self.chosen.parameters, key: value}
                self.chosen = replace(self.chosen, parameters=parameters)
                continue
            part: Any = self.nested[file] if file else self.root
            if above and above[0] not in part:
                part = part["Resources"][above.pop(0)]["Properties"]
            for step in above:
                part = part[int(step) if step.isdigit() else step]
            if value is GONE:
                del part[key]
            else:
                part[key] = value

    def build(self) -> Stack:
        """Return the stack with everything in it."""
        return build(self, self.chosen)

    def problems(self) -> list[Defect]:
        """Return what the checks find, except lint."""
        return list(check(self.build(), self.chosen))


@cache
def _translated() -> str:
    """Translate once, which takes seconds; return the templates as JSON, the cheapest to copy."""
    sources = Sources()
    root = sources.translated(ALL.parameters, ALL.region)
    nested = (
        resource["Properties"]["TemplateURL"]
        for resource in root["Resources"].values()
        if resource["Type"] == "AWS::CloudFormation::Stack"
    )
    assert sources.read(ROOT_TEMPLATE)
    return json.dumps([root, {file: sources.read(file) for file in nested}])


def texts(problems: Iterable[Defect]) -> set[str]:
    return {f"{problem.resource}: {problem.message}" for problem in problems}
