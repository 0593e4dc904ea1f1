"""Runs cfn-lint on what SAM makes of the templates, not on what it is made from."""

import dataclasses
import json
from collections.abc import Iterator
from functools import cache
from typing import Final

from cfnlint.api import ManualArgs, lint
from cfnlint.context import context
from cfnlint.jsonschema import validators
from cfnlint.template import Template

from tools.templates.defects import Defect
from tools.templates.joined import join
from tools.templates.stack import Stack
from tools.templates.translate import Json

# cfn-lint makes the table of a template's attributes anew for each reference, and looks up the
# fields of two classes for each value: a sixth of its time.
Template.get_valid_getatts = cache(Template.get_valid_getatts)
context.fields = validators.fields = cache(dataclasses.fields)

_REGIONS: Final = ["us-east-1", "eu-west-1"]
_IGNORED: Final = (
    "E3004",  # circles: references.check_circles names the shortest one, for each set
    "E3010",  # resources in a template: limits.py allows fewer, and counts them for each stack
    "W2001",  # SAM reads the parameter Rollout, and writes its value into the template
    "W3010",  # the zones are parameters, and a set gives them a value
    "W3002",  # `sam deploy` uploads the nested templates and replaces their paths
)


def check_lint(stack: Stack) -> Iterator[Defect]:
    """Lint each template with all its conditions, then the resolved stack and its nested stacks.

    The second shows whether an attribute fits the property of a nested stack that gets it, and
    whether values of parameters fit.
    """
    for part in stack.every():
        yield from _lint(part.file, part.template)
    yield from _lint(f"{stack.file} with its nested stacks", join(stack))


def _lint(file: str, template: Json) -> Iterator[Defect]:
    config = ManualArgs(regions=_REGIONS, ignore_checks=list(_IGNORED))
    for match in lint(json.dumps(template), None, _REGIONS, config):
        path = "/".join(str(step) for step in getattr(match, "path", None) or ["template"])
        remedy = f"cfn-lint's rule {match.rule.id} explains it."
        yield Defect(file, path, match.message, remedy)
