# ruff: noqa: T201  programs that are run by hand print their results
"""The results of runs and their output."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from verification.faults.verdict import Verdict


@dataclass(frozen=True)
class RunResult:
    """One run: its name, which says how to repeat it, the number of faults and the verdict."""

    name: str
    faults: int
    verdict: Verdict


@dataclass(frozen=True)
class Totals:
    """The sums over several runs."""

    runs: int = 0
    faults: int = 0
    verdict: Verdict = field(default_factory=Verdict)

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(
            self.runs + other.runs, self.faults + other.faults, self.verdict + other.verdict
        )

    def __bool__(self) -> bool:
        """Whether a promise was broken."""
        return bool(self.verdict)

    def __str__(self) -> str:
        """Return the last line of a long run."""
        verdict = self.verdict
        return (
            f"faults tried {self.faults}, "
            f"lost {verdict.lost}, doubled {verdict.doubled}, stuck {verdict.stuck}"
        )


def report(name: str, runs: Iterable[RunResult]) -> Totals:
    """Print each run that broke a promise, and the sums over all runs."""
    total = Totals()
    for run in runs:
        total += Totals(1, run.faults, run.verdict)
        if run.verdict:
            print(f"BROKEN {run.name}: {run.verdict}", flush=True)
    print(
        f"{name}: runs {total.runs}, faults tried {total.faults}, {total.verdict}",
        flush=True,
    )
    return total
