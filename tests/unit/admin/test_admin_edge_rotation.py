"""The rotation of the edge's secret refuses no request, wherever it is interrupted."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

import pytest

from admin.use_cases.edge_rotation import EdgeRotation
from tests.loops import for_each


class Interrupted(Exception):
    """The operator's machine failed."""


class World:
    """Edge and origins that follow a change late: until it settles, old and new are in force."""

    def __init__(self) -> None:
        self.secret = ["s0"]
        self.edge = {"s0"}
        self.firewalls = [[{"s0"}] for _ in range(2)]
        self.containers = [{"s0"}]
        self.made = 0
        self.left: int | None = None
        self.steps = 0

    def stored(self) -> Sequence[str]:
        return self.secret

    def store(self, values: Sequence[str]) -> None:
        self.step()
        self.secret = list(values)

    def sent(self) -> str:
        return max(self.edge)

    def send(self, value: str) -> None:
        self.step()
        self.edge = {*self.edge, value}
        self.check()
        self.step()
        self.edge = {value}

    def accepted(self) -> Sequence[AbstractSet[str]]:
        return [states[-1] for states in self.firewalls]

    def accept(self, values: AbstractSet[str]) -> None:
        for states in self.firewalls:
            self.step()
            states.append(set(values))
            self.check()

    def restart_containers(self) -> None:
        self.step()
        self.containers.append(set(self.secret))
        self.check()
        self.step()
        self.containers = self.containers[-1:]

    def pause(self, seconds: float) -> None:
        """After five minutes the firewalls follow everywhere."""
        self.step()
        if seconds >= 300:
            self.firewalls = [states[-1:] for states in self.firewalls]

    def make_secret(self) -> str:
        self.made += 1
        return f"s{self.made}"

    def step(self) -> None:
        """Fail before a step, if it is the one that is interrupted."""
        self.check()
        self.steps += 1
        if self.left == 0:
            raise Interrupted
        if self.left is not None:
            self.left -= 1

    def check(self) -> None:
        """Check that every origin accepts each secret that the edge may send now."""
        for states in [*self.firewalls, self.containers]:
            for accepted in states:
                assert self.edge <= accepted

    def rotate(self, report: Callable[[str], None] = lambda _: None) -> None:
        EdgeRotation(
            parts=self, make_secret=self.make_secret, pause=self.pause, report=report
        ).run()
        self.check()


def steps_of_a_rotation() -> int:
    world = World()
    world.rotate()
    return world.steps


STEPS: Final = steps_of_a_rotation()


def test_the_next_rotation_chooses_another_secret() -> None:
    world = World()
    world.rotate()
    world.rotate()
    assert (world.secret, world.made) == (["s2"], 2)


@for_each("interrupted", range(STEPS))
def test_an_interrupted_rotation_is_finished(interrupted: int) -> None:
    world = World()
    world.left = interrupted
    with pytest.raises(Interrupted):
        world.rotate()
    world.left = None
    world.rotate()
    assert world.secret == [max(world.edge)]
    assert world.accepted() == [{world.secret[0]}] * 2
    assert world.secret != ["s0"]
    # Only a run that stored nothing chooses again.
    assert world.made == (2 if interrupted == 0 else 1)


@for_each("again", range(STEPS))
def test_a_rotation_that_is_interrupted_twice_is_finished(again: int) -> None:
    world: Any = World()
    for left in (STEPS // 2, again):
        world.left = left
        try:
            world.rotate()
        except Interrupted:
            continue
    world.left = None
    world.rotate()
    assert world.secret == [max(world.edge)]
