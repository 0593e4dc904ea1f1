"""Calls in threads: each result or error, and looks at those that still run."""

from collections.abc import Sequence
from datetime import timedelta
from threading import Event

from pillarbox.adapters.webhook_poster import in_threads


def test_each_call_has_its_result_or_its_error() -> None:
    failure = KeyError("planted")

    def fail() -> str:
        raise failure

    assert in_threads([lambda: "done", fail]) == ["done", failure]


def test_calls_that_run_are_looked_at_again_and_again() -> None:
    looks: list[Sequence[int]] = []
    end = Event()

    def look(running: Sequence[int]) -> None:
        looks.append(running)
        if len(looks) == 3:
            end.set()
        raise ValueError("planted")

    calls = [lambda: True, lambda: end.wait(5)]
    assert in_threads(calls, timedelta(milliseconds=5), look) == [True, True]
    assert looks[:3] == [[1], [1], [1]]
