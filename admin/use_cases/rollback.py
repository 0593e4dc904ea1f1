"""Find the versions of the functions that the last deployment replaced."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from pillarbox.domain.errors import ServiceError

#: CloudFormation keeps a version's resource when another one replaces it.
_REPLACED: Final = "DELETE_SKIPPED"
_CREATED: Final = "CREATE_COMPLETE"
_STARTED: Final = frozenset({"CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS"})


@dataclass(frozen=True, slots=True)
class FunctionVersion:
    """A numbered version of a function."""

    function: str
    number: int


@dataclass(frozen=True, slots=True)
class StackEvent:
    """A status of the stack itself (`version` is None), or of a version of a function."""

    status: str
    version: FunctionVersion | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFunction:
    """A function, and where its alias leads."""

    logical_id: str
    name: str
    #: The version to which CloudFormation moved the alias.
    deployed: int
    #: The version that gets traffic; None if two versions share it.
    live: int | None
    #: Whether an earlier rollback fixed the alias at this version.
    fixed: bool
    #: Versions that were rolled back, with those that took their place.
    rolled_back: Mapping[int, int] = field(default_factory=dict)

    @property
    def deployed_again(self) -> bool:
        """Whether the live version was rolled back, and a later deployment brought it back."""
        return not self.fixed and self.live == self.deployed and self.live in self.rolled_back


@dataclass(frozen=True, slots=True)
class Move:
    """The alias of a function goes to the version `after`; `done` if it is there already."""

    function: LiveFunction
    after: int
    done: bool

    @property
    def begun(self) -> bool:
        """Whether an earlier rollback began this move, and was interrupted or failed."""
        return self.done or self.function.deployed in self.function.rolled_back


def plan(functions: Iterable[LiveFunction], newest_first: Iterable[StackEvent]) -> list[Move]:
    """Return the moves that undo the last deployment.

    A function that the last deployment did not change stays. After a rollback the functions
    stay too, so that a second run does not go back any further.

    Raises:
        ServiceError: `service_unavailable`: no deployment is known, or nothing was before it.
    """
    known = {function.name: function for function in functions}
    if fixed := [function for function in known.values() if function.fixed]:
        return [
            Move(function, function.deployed, function.live == function.deployed)
            for function in fixed
        ]
    created, replaced = _last_deployment(known, newest_first)
    changed = [known[name] for name in sorted(created)]
    if not changed:
        message = "CloudFormation reports no deployment of functions in the last 90 days."
        raise ServiceError("service_unavailable", message)
    if not replaced:
        names = ", ".join(function.logical_id for function in changed)
        message = f"The last deployment created {names}: there is nothing before it."
        raise ServiceError("service_unavailable", message)
    moves = []
    # A function that the last deployment created has no other version, and stays.
    for function in (function for function in changed if function.name in replaced):
        before = replaced[function.name]
        # CloudFormation may have replaced a version that a rollback had replaced before.
        after = function.rolled_back.get(before, before)
        moves.append(Move(function, after, function.live == after))
    return moves


def _last_deployment(
    known: Mapping[str, LiveFunction], newest_first: Iterable[StackEvent]
) -> tuple[set[str], dict[str, int]]:
    """Return the functions that it changed, and the versions that it replaced.

    An update that failed created versions too, but no alias leads to them.
    """
    created: set[str] = set()
    replaced: dict[str, int] = {}
    for event in newest_first:
        version = event.version
        if version is None:
            if event.status in _STARTED:
                if created:
                    break
                replaced = {}
        elif event.status == _REPLACED:
            replaced[version.function] = version.number
        elif event.status == _CREATED:
            function = known.get(version.function)
            if function is not None and function.deployed == version.number:
                created.add(function.name)
    return created, {name: number for name, number in replaced.items() if name in created}
