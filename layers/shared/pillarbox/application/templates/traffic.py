"""Compare what a template needs with what recent sends by it gave."""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.templates.shape import values_of
from pillarbox.domain.templates.template import SavedTemplate
from pillarbox.domain.timing import milliseconds
from pillarbox.rendering.saved import missing_values
from pillarbox.rendering.template_check import Problem, Severity

#: A release of the client that sends is seldom older than a week, and each day of it has sends.
_DAYS: Final = 7
_HALF: Final = 0.005
_MAX_PROBLEMS: Final = 20

#: Counts an account's emails by a template that were created in a time range, by their shape.
type CountShapes = Callable[[Account, str, int, int], Counter[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateTraffic:
    """What the sends of the last days gave to templates."""

    count_shapes: CountShapes
    clock: Clock

    def check(self, account: Account, template_id: str, required: Iterable[str]) -> list[Problem]:
        """Return a warning for each required path that recent sends by a template did not give.

        Emails whose variables are not known, such as those of earlier releases, do not count.

        Args:
            template_id: it may be the id of no template, which has no sends.
        """
        paths = [*dict.fromkeys(required)]
        if not paths:
            return []
        now = self.clock()
        since = milliseconds(now - timedelta(days=_DAYS))
        shapes = self.count_shapes(account, template_id, since, milliseconds(now) + 1)
        brand = account.brand.variables()
        known, absent = 0, Counter[str]()
        for shape, count in shapes.items():
            given = values_of(shape)
            if given is not None:
                known += count
                absent.update(dict.fromkeys(missing_values(paths, {**brand, **given}), count))
        return [_problem(path, count, known) for path, count in absent.most_common(_MAX_PROBLEMS)]

    def check_published(self, account: Account, template: SavedTemplate) -> list[Problem]:
        """Return the warnings for what was just published; none if the sends cannot be read.

        An error would tell the author that nothing was published.
        """
        with suppress(ServiceError):
            return self.check(account, template.template_id, template.required)
        return []


def _problem(path: str, count: int, known: int) -> Problem:
    share = "less than 1 %" if count / known < _HALF else f"{count / known:.0%}".replace("%", " %")
    emails = f"{count:,} of {known:,} emails"
    return Problem(
        severity=Severity.WARNING,
        code="variable_not_sent",
        message=f"{path} is required, and {emails} of the last {_DAYS} days ({share}) had no value"
        " for it. Such sends are refused once this is published.",
        field="variables",
    )
