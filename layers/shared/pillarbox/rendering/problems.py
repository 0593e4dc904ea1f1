"""What is wrong with a template, and where."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a problem is. Only an error stops a template from being published."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem in a field of a template; `line` is that of the source, if it has one.

    `suggestion` is the nearest form that is allowed.
    """

    severity: Severity
    code: str
    message: str
    field: str = "source"
    line: int | None = None
    suggestion: str | None = None

    @property
    def stops_publication(self) -> bool:
        """Whether the template cannot be published."""
        return self.severity is Severity.ERROR
