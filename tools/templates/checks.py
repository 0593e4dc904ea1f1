"""Runs every check for every set of parameters."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from tools.templates import (
    api,
    arns,
    known,
    limits,
    names,
    order,
    parameters,
    references,
    services,
    workers,
)
from tools.templates.defects import Defect
from tools.templates.lint import check_lint
from tools.templates.sets import ParameterSet
from tools.templates.stack import Stack, build
from tools.templates.translate import Sources

#: Each looks at one stack, without the stacks that are nested in it.
_OF_A_STACK: Final[Sequence[Callable[[Stack], Iterator[Defect]]]] = (
    references.check_references,
    parameters.check_outputs,
    parameters.check_nested,
    parameters.check_values,
    parameters.check_rules,
    limits.check_template,
    limits.check_resource_policies,
    limits.check_roles,
    limits.check_environments,
    limits.check_edge_functions,
    api.check_resources,
    api.check_variables,
    api.check_permissions,
    services.check_policies,
    known.check_known,
    order.check_order,
    workers.check_visibility,
    workers.check_streams,
    workers.check_rights,
    services.check_alarms,
)


def check(root: Stack, chosen: ParameterSet) -> Iterator[Defect]:
    """Check the stack of one set of parameters, and its nested stacks."""
    yield from parameters.check_names(root, chosen.parameters)
    yield from names.check_names(root)
    yield from arns.check_arns(root)
    for stack in root.every():
        yield from stack.problems
        for check_stack in _OF_A_STACK:
            yield from check_stack(stack)
        yield from services.check_metrics(root, stack)
    yield from workers.check_concurrency(root, chosen)
    yield from workers.check_reserved(root, chosen)


def check_all(
    sources: Sources, sets: Sequence[ParameterSet], show: Callable[[str], None]
) -> Iterator[tuple[str, Defect]]:
    """Check every set of parameters; yield the name of the set and each problem.

    The last set is linted, because it has the most resources. `show` gets a line for each set.
    """
    deployments: list[tuple[ParameterSet, Stack]] = []
    for chosen in sets:
        root = build(sources, chosen)
        deployments.append((chosen, root))
        show(f"{chosen.name}: {limits.summary(root)}")
        yield from ((chosen.name, problem) for problem in check(root, chosen))
    yield from names.check_neighbours(deployments)
    yield from ((chosen.name, problem) for problem in check_lint(root))
