"""The stack of a set of parameters, with what SAM would translate as it is written."""

from functools import cache
from typing import Any

from tools.templates.joined import join
from tools.templates.parameters import check_rules
from tools.templates.sets import SETS, ParameterSet
from tools.templates.stack import Stack, build
from tools.templates.translate import ROOT_TEMPLATE, Sources


class _Untranslated(Sources):
    """The templates without what SAM makes of them, which would take seconds."""

    def translated(self, *_: object) -> Any:
        return self.read(ROOT_TEMPLATE)


_SOURCES = _Untranslated()


@cache
def stack(chosen: str, **parameters: str) -> Stack:
    """Return the stack of a set of tools/templates/sets.py, with some parameters changed."""
    (known,) = (one for one in SETS if one.name == chosen)
    values = {**known.parameters, **parameters}
    return build(_SOURCES, ParameterSet("test", values, region=known.region))


@cache
def resources(chosen: str, **parameters: str) -> dict[str, dict[str, Any]]:
    """Return the resources of a stack and its nested stacks; no test changes them."""
    found: dict[str, dict[str, Any]] = join(stack(chosen, **parameters))["Resources"]
    return found


def properties(name: str, chosen: str, **parameters: str) -> dict[str, Any]:
    found: dict[str, Any] = resources(chosen, **parameters)[name]["Properties"]
    return found


def of_type(kind: str, chosen: str, **parameters: str) -> dict[str, dict[str, Any]]:
    """Return the properties of each resource whose type starts with this, by logical id."""
    return {
        name: resource.get("Properties", {})
        for name, resource in resources(chosen, **parameters).items()
        if resource["Type"].startswith(kind)
    }


def refusals(chosen: str, **parameters: str) -> list[str]:
    """Return why the template's rules refuse the parameters."""
    return [problem.message for problem in check_rules(stack(chosen, **parameters))]
