# ruff: noqa: T201  a program that is run by hand prints its results
"""Run all orders of what happens to a message that waits.

    .venv/bin/python -m verification.schedule [--switches N] [--scenario NAME]

A line has the number of runs of a scenario and what was wrong, which must be nothing. In each run
a process is also killed before each call. It ends with 1 if anything is wrong.
"""

import argparse
import sys

from verification.schedule.races import SCENARIOS, explore


def main() -> int:
    """Return 1 if a promise was broken."""
    names = [scenario.name for scenario in SCENARIOS]
    parser = argparse.ArgumentParser(prog="python -m verification.schedule")
    parser.add_argument("--switches", type=int, default=2, help="between the processes of a run")
    parser.add_argument("--scenario", choices=names, help="only this one, to its first failure")
    options = parser.parse_args()
    failed, total = False, 0
    for scenario in SCENARIOS:
        if options.scenario not in {None, scenario.name}:
            continue
        runs, wrong = 0, ""
        for race in explore(scenario, switches=options.switches, kills=1):
            runs += 1
            if race.wrong and not wrong:
                wrong = f"{race.wrong} {[choice for choice, _ in race.choices.taken]}"
                print(f"BROKEN {wrong}", flush=True)
                if options.scenario:
                    return 1
        failed |= bool(wrong)
        total += runs
        print(f"{scenario.name}: {runs:,} runs, {wrong or 'nothing wrong'}", flush=True)
    print(f"{total:,} runs")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
