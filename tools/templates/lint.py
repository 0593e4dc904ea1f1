"""Runs cfn-lint on what SAM makes of the templates, not on what it is made from."""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from cfnlint.config import ConfigMixIn
from cfnlint.decode.decode import decode_str
from cfnlint.rules import Rules
from cfnlint.runner import Runner, run_template_by_data

from tools.templates import cheaper_lint
from tools.templates.defects import Defect
from tools.templates.joined import join
from tools.templates.stack import Stack
from tools.templates.translate import Json

cheaper_lint.install()

_REGIONS: Final = ["us-east-1", "eu-west-1"]
_IGNORED: Final = (
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
        yield from _lint(part.file, part.template, _REGIONS)
    joined = join(stack)  # for the region of its values
    yield from _lint(f"{stack.file} with its nested stacks", joined, [stack.region])


def _lint(file: str, template: Json, regions: Sequence[str]) -> Iterator[Defect]:
    config = ConfigMixIn(regions=[*regions], ignore_checks=[*_IGNORED])
    content, errors = decode_str(json.dumps(template))
    for match in errors or run_template_by_data(content, config, _rules()):
        path = "/".join(str(step) for step in getattr(match, "path", None) or ["template"])
        remedy = f"cfn-lint's rule {match.rule.id} explains it."
        yield Defect(file, path, match.message, remedy)


@cache
def _rules() -> Rules:
    """Load the rules once: cfn-lint would do it for each template."""
    return Runner(ConfigMixIn([])).rules
