# ruff: noqa: T201  programs that are run by hand print what they found
"""The results of runs, and how they are printed."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from verification.faults.verdict import Verdict


@dataclass(frozen=True)
class RunResult:
    """One run: the words that repeat it, how many faults struck, and its verdict."""

    name: str
    faults: int
    verdict: Verdict


@dataclass(frozen=True)
class Totals:
    """The sum of some runs."""

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


def report(what: str, runs: Iterable[RunResult]) -> Totals:
    """Print the sum of some runs, and each run that broke a promise."""
    total = Totals()
    for run in runs:
        total += Totals(1, run.faults, run.verdict)
        if run.verdict:
            print(f"BROKEN {run.name}: {run.verdict}", flush=True)
    print(
        f"{what}: runs {total.runs}, faults tried {total.faults}, {total.verdict}",
        flush=True,
    )
    return total
