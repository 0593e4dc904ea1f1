"""Check a template when it is saved: only then is the template engine imported."""

from dataclasses import dataclass
from enum import StrEnum

from pillarbox.rendering.saved import TemplateVariables


def check_template(subject: str, html: str, text: str | None = None) -> TemplateVariables:
    """Check that a template contains only what is allowed, and return its variables.

    The body may contain `{{ path }}`, the filters capitalize, default, lower, trim
    and upper, `if`, and `for` that is not nested. Subject and text part may contain only
    plain references.
    """
    from pillarbox.rendering.sandbox import check  # noqa: PLC0415  imports jinja2

    return check(subject, html, text)


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
        return self.severity is Severity.ERROR
