"""What a check reports."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Defect:
    """Something that CloudFormation or a service would refuse, and what to do about it.

    Attributes:
        stack: the file of the template.
        resource: the logical id, or the section of the template.
    """

    stack: str
    resource: str
    message: str
    remedy: str


def lines(found: Iterable[tuple[str, Defect]], sets: int) -> Iterator[str]:
    """Yield the text of each distinct problem, with the names of the sets that have it."""
    names: dict[Defect, list[str]] = {}
    for name, problem in found:
        if name not in names.setdefault(problem, []):
            names[problem].append(name)
    for problem, having in names.items():
        all_sets = len(having) == sets > 1
        yield f"{problem.stack}: {problem.resource}: {problem.message}"
        yield f"    in {'every set' if all_sets else ', '.join(having)}. {problem.remedy}"
