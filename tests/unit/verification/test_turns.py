"""The processes of the rigs, and their threads, of which one runs at a time."""

from datetime import UTC, datetime

import pytest

from verification.faults.processes import Process
from verification.turns import Turns

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def _turns() -> Turns:
    return Turns(lambda ready: ready[-1], lambda: NOW, lambda _: None)


def test_a_process_runs_to_its_end_with_its_threads() -> None:
    """One step ends it, though its turns were made before it began."""
    process = Process(lambda: process.turns.together([lambda: 1, lambda: 2]))
    process.turns = _turns()
    process.resume()
    assert (process.done, process.paused, process.result) == (True, False, [1, 2])


def test_a_process_that_a_thread_pauses_goes_on_there() -> None:
    steps: list[str] = []

    def pause() -> None:
        process.pause()
        steps.append("went on")

    process = Process(lambda: process.turns.together([lambda: steps.append("first"), pause]))
    process.turns = _turns()
    process.resume()
    assert (process.done, process.paused, steps) == (False, True, [])
    process.resume()
    assert (process.done, steps) == (True, ["went on", "first"])


@pytest.mark.parametrize("end", [SystemExit, KeyboardInterrupt])
def test_a_signal_that_ends_the_program_is_not_taken_for_a_kill(end: type[BaseException]) -> None:
    """What a handler of SIGTERM or SIGINT raises in a simulated process ends the program."""

    def work() -> None:
        raise end

    def work_in_threads() -> None:
        process.turns.together([work, lambda: None])

    for call in (work, work_in_threads):
        process = Process(call)
        process.turns = _turns()
        with pytest.raises(end):
            process.resume()
