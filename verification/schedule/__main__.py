"""Run all orders of what happens to a message that waits, then find the known bugs.

    .venv/bin/python -m verification.schedule [SWITCHES]

A line has the number of runs of a scenario and what was wrong, which must be nothing. In each run
a process is also killed before each call. It ends with 1 if anything is wrong.
"""

import sys

from verification.schedule.known_bugs import KNOWN_BUGS
from verification.schedule.races import SCENARIOS, explore


def find(bug: str) -> str | None:
    """Return what a known bug breaks first in its scenario, or None."""
    plant, name = KNOWN_BUGS[bug]
    (scenario,) = (one for one in SCENARIOS if one.name == name)
    with plant():
        races = explore(scenario, switches=1, kills=1)
        return next((race.wrong for race in races if race.wrong), None)


def _show(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Return 1 if a promise was broken, or a known bug was missed."""
    switches, failed, total = int(sys.argv[1]) if len(sys.argv) > 1 else 2, False, 0
    for scenario in SCENARIOS:
        runs, wrong = 0, ""
        for race in explore(scenario, switches=switches, kills=1):
            runs += 1
            if race.wrong and not wrong:
                wrong = f"{race.wrong} {[choice for choice, _ in race.choices.taken]}"
        failed |= bool(wrong)
        total += runs
        _show(f"{scenario.name}: {runs:,} runs, {wrong or 'nothing wrong'}")
    _show(f"{total:,} runs")
    for bug in KNOWN_BUGS:
        found = find(bug)
        failed |= found is None
        _show(f"{bug.replace('_', ' ')}: {found or 'NOT FOUND'}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
