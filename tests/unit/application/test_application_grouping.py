"""Calls that several acceptances make together: outcomes, faults, and who waits for whom."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from typing import Any, Literal

import pytest

from pillarbox.application.grouping import MOST, SMALL, Alone, Grouping, grouped
from pillarbox.application.relaying import Relaying
from pillarbox.application.submission import Submission
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.quota import Limits
from tests.fakes import builders
from tests.fakes.world import World
from tests.stack import wait_for

PATIENCE = 10
#: The port of each step, what one asks of it alone, and what several ask of it together.
STEPS = {
    "directory": ("look_up_all", "look_up_all"),
    "quotas": ("reserve", "reserve"),
    "jobs": ("put", "put_all"),
    "messages": ("commit", "commit_all"),
}


class Port:
    """A port whose first call waits until it is let go, and whose calls can fail."""

    def __init__(self, port: Any) -> None:
        self._port = port
        self.entered, self.go = Event(), Event()
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.held: tuple[str, ...] = ()
        self.fault: Callable[[str, tuple[Any, ...]], Literal["before", "after"] | None] = (
            lambda _name, _arguments: None
        )

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)

        def call(*arguments: Any, **named: Any) -> Any:
            first = not self.calls and name in self.held
            self.calls.append((name, arguments))
            if first:
                self.entered.set()
                assert self.go.wait(PATIENCE)
            failing = self.fault(name, arguments)
            if failing == "before":
                raise ServiceError("service_unavailable", "planted")
            result = method(*arguments, **named)
            if failing == "after":
                raise ServiceError("service_unavailable", "planted")
            return result

        return call


def waiting(submission: Submission, step: str) -> int:
    """How many wait for a call of a step to end."""
    port = getattr(submission, step)
    (grouping,) = (each for each in vars(port).values() if isinstance(each, Grouping))
    return sum(map(len, grouping._waiting.values()))


def mail(number: int) -> bytearray:
    text = f"From: {builders.SENDER}\r\nSubject: Number {number}\r\n\r\nHello\r\n"
    return bytearray(text.encode())


def submit_together(world: World, step: str, port: Port, count: int) -> list[Future[str]]:
    """One message is held in a step until all others wait there; gives how each ended."""
    changed: dict[str, Any] = {step: port}
    submission = grouped(replace(world.submission, **changed))
    relaying = Relaying(submission)
    port.held = STEPS[step]
    with ThreadPoolExecutor(count) as threads:

        def send(number: int) -> Future[str]:
            return threads.submit(relaying.submit, world.live, ("ann@example.com",), mail(number))

        first = send(0)
        assert port.entered.wait(PATIENCE)
        others = [send(number) for number in range(1, count)]
        wait_for(lambda: waiting(submission, step) == count - 1, PATIENCE)
        port.go.set()
    return [first, *others]


def port_of(world: World, step: str) -> Port:
    return Port(getattr(world.submission, step))


def accepted(outcomes: Sequence[Future[str]]) -> set[str]:
    """The ids of those that were told of success."""
    return {each.result() for each in outcomes if each.exception() is None}


def check_promises(world: World, outcomes: Sequence[Future[str]]) -> None:
    """Who was told of success has record and job, who was told of failure has no record."""
    told = accepted(outcomes)
    assert {str(message_id) for _, message_id in world.store.messages} == told
    assert told <= {str(job.message_id) for job in world.store.queue}
    assert min(world.used()) >= len(told)
    for each in outcomes:
        assert isinstance(each.exception(), ServiceError | None)


@pytest.mark.parametrize("step", STEPS)
def test_who_waits_is_served_by_one_call(step: str) -> None:
    """The first asks at once and alone; the four who came meanwhile share the second call."""
    world = World()
    port = port_of(world, step)
    outcomes = submit_together(world, step, port, 5)
    check_promises(world, outcomes)
    assert len(accepted(outcomes)) == 5
    assert world.used() == {5}
    assert [name for name, _ in port.calls] == list(STEPS[step])


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", ["directory", "jobs", "messages"])
def test_a_call_together_that_fails_fails_nobody(
    step: str, when: Literal["before", "after"]
) -> None:
    """What may be asked again, each asks again alone; nothing is there twice."""
    world = World()
    port = port_of(world, step)
    together = STEPS[step][1]
    port.fault = lambda name, arguments: (
        when if name == together and (step != "directory" or len(arguments[0]) > 1) else None
    )
    outcomes = submit_together(world, step, port, 5)
    check_promises(world, outcomes)
    assert len(accepted(outcomes)) == 5
    assert world.used() == {5}


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_draw_together_is_not_tried_again(when: Literal["before", "after"]) -> None:
    """After a draw of unknown outcome all its members fail: again, it might count twice."""
    world = World()
    port = port_of(world, "quotas")
    port.fault = lambda _, arguments: when if arguments[1] > 1 else None
    outcomes = submit_together(world, "quotas", port, 5)
    check_promises(world, outcomes)
    assert len(accepted(outcomes)) == 1
    assert world.used() == {1 if when == "before" else 5}


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_always_fails_accepts_nothing_unrecorded(
    step: str, when: Literal["before", "after"]
) -> None:
    """With every call of a step failing, only records that are there are told of."""
    world = World()
    port = port_of(world, step)
    port.fault = lambda name, _: when if name in STEPS[step] else None
    outcomes = submit_together(world, step, port, 5)
    check_promises(world, outcomes)
    assert len(accepted(outcomes)) == (5 if (step, when) == ("messages", "after") else 0)
    if step != "quotas":
        assert world.used() == ({5} if (step, when) == ("messages", "after") else {0})


def test_one_record_that_cannot_be_put_fails_alone() -> None:
    """A member whose record is refused gets the error and its quota back; the others are told."""
    world = World()
    port = port_of(world, "messages")

    def bad(name: str, arguments: tuple[Any, ...]) -> Literal["before", "after"] | None:
        messages = arguments[0] if name == "commit_all" else [arguments[0]]
        put = name.startswith("commit")
        return "before" if put and any(m.subject == "Number 3" for m in messages) else None

    port.fault = bad
    outcomes = submit_together(world, "messages", port, 5)
    check_promises(world, outcomes)
    assert [each.exception() is None for each in outcomes] == [True, True, True, False, True]
    assert world.used() == {4}


def test_a_job_that_the_queue_refuses_is_tried_alone() -> None:
    """Of a batch that was queued in part only the rest is queued again."""
    world = World()
    port = port_of(world, "jobs")
    real = world.submission.jobs

    def partly(pairs: Sequence[Any]) -> frozenset[Any]:
        real.put_all(pairs[1:])
        return frozenset({pairs[0][0].message_id})

    vars(port)["put_all"] = partly
    outcomes = submit_together(world, "jobs", port, 5)
    check_promises(world, outcomes)
    assert len(accepted(outcomes)) == len(world.store.queue) == 5


def test_what_is_left_of_a_quota_is_used_up() -> None:
    """When not all who draw together fit, as many get in as there is room for."""
    world = World()
    world.set_account(
        builders.account(overrides=Limits(per_minute=3, per_day=None, per_month=None))
    )
    outcomes = submit_together(world, "quotas", port_of(world, "quotas"), 5)
    check_promises(world, outcomes)
    assert len(accepted(outcomes)) == 3
    codes = {each.exception().code for each in outcomes if each.exception()}  # type: ignore[union-attr]
    assert codes == {"rate_limit_exceeded"}


def test_large_mails_go_alone() -> None:
    """A mail that may need the spool is not put among others, who would wait for it."""
    world = World()
    port = port_of(world, "jobs")
    relaying = Relaying(grouped(replace(world.submission, jobs=port)))
    relaying.submit(world.live, ("ann@example.com",), mail(1) + b"x\r\n" * SMALL)
    assert [name for name, _ in port.calls] == ["put"]


def test_groups_are_bounded() -> None:
    """No more than the most are asked together, and all who wait get their own answer."""
    entered, go = Event(), Event()
    sizes: list[int] = []

    def alone(number: int) -> int:
        entered.set()
        assert go.wait(PATIENCE)
        return -number

    def together(numbers: Sequence[int]) -> list[int | Exception]:
        sizes.append(len(numbers))
        return [Alone() if number % 7 == 0 else -number for number in numbers]

    grouping = Grouping[int, int](alone, together)
    with ThreadPoolExecutor(2 * MOST + 1) as threads:
        first = threads.submit(grouping.ask, 1)
        assert entered.wait(PATIENCE)
        others = [threads.submit(grouping.ask, number) for number in range(2, 2 * MOST + 2)]
        wait_for(lambda: len(grouping._waiting[None]) == 2 * MOST, PATIENCE)
        go.set()
    assert first.result() == -1
    assert [each.result() for each in others] == [-n for n in range(2, 2 * MOST + 2)]
    assert sizes == [MOST, MOST]
    assert not grouping._waiting
