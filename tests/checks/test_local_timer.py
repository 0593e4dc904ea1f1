"""The local engine knows by which keys tasks wait for the timer."""

import re
from pathlib import Path

from pillarbox.adapters.dynamodb import keys

_ENGINE = Path(__file__).parents[2] / "local" / "guarded_engine.py"


def test_the_engine_looks_for_the_tasks_of_the_timer() -> None:
    """It runs in an environment of its own, without the stores, so it has the start of the keys."""
    (listed,) = re.findall(r"DUE_TASKS: Final = \((.+)\)", _ENGINE.read_text())
    starts = tuple(re.findall(r'"(.+?)"', listed))
    assert len(starts) == len(keys.TIMERS)
    for kind in keys.TIMERS:
        assert keys.timer_item(kind, 1, "task")["pk"]["S"].startswith(starts)
        assert not keys.timer_note(kind)["pk"]["S"].startswith(starts)
