# ruff: noqa: T201  the results of a program that is run by hand
"""What an attack counts and finds, and how it is told."""

import logging
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from tests.contract.name_server import running_name_server
from tests.contract.service import Service, running_service


@dataclass(frozen=True, slots=True)
class Options:
    """How long a fuzzer runs, and the seed of what it makes."""

    seconds: float = 600
    seed: int = 1


class Tally(Counter[str]):
    """Counts of an attack, by what was counted, and sentences that say what went wrong.

    Args:
        wrong: what must not happen even once.
    """

    def __init__(self, *wrong: str) -> None:
        super().__init__(dict.fromkeys(wrong, 0))
        self._wrong = wrong
        self.findings = Counter[str]()

    def find(self, wrong: str, finding: object) -> None:
        """Count something that must not happen."""
        self[wrong] += 1
        self.findings[f"{wrong}: {finding!s:.300}"] += 1

    @property
    def failed(self) -> bool:
        """Whether anything happened that must not."""
        return any(self[name] for name in self._wrong)

    def __str__(self) -> str:
        return ", ".join(f"{name} {count:,}" for name, count in self.items())

    def report(self) -> int:
        """Print the findings, and all counts in the last line; return the exit code."""
        for finding, times in self.findings.most_common(50):
            print(f"{times:6} {finding}")
        print(self)
        return int(self.failed)


@contextmanager
def service_alone() -> Iterator[Service]:
    """Run the real functions on emulated AWS with a real name server, and without their logs."""
    logging.disable()
    with (
        Path(os.devnull).open("w") as metrics,
        running_name_server() as name_server,
        running_service(name_server) as service,
        redirect_stdout(metrics),
    ):
        yield service
