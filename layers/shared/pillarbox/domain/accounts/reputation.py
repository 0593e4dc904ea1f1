"""When bounces and complaints are too many: the limits, and how figures are compared with them.

SES reviews an AWS account at 5 % permanent bounces or 0.1 % complaints, and may pause it at 10 % or
0.5 %. A few emails say little about a rate. So what counts is the least rate that fits what was
seen: the lower end of the 90 % interval of Wilson (1927).
"""

from collections.abc import Iterator
from typing import Final

from pillarbox.domain.accounts.pause import PauseCause, PauseLevel
from pillarbox.domain.messages.statistics import RecipientCounts
from pillarbox.domain.wilson import lower_bound

#: The least recipients of which a rate of bounces is judged.
LEAST_RECIPIENTS: Final = 20
#: The same for complaints; of fewer recipients it is judged from so many complaints on.
LEAST_FOR_COMPLAINTS: Final = 1_000
LEAST_COMPLAINTS: Final = 3

#: The rates from which on each level holds: warn, brake and stop.
_BOUNCES: Final = (0.03, 0.05, 0.08)
_COMPLAINTS: Final = (0.0005, 0.001, 0.003)


def verdict_on(counts: RecipientCounts) -> tuple[PauseLevel, PauseCause] | None:
    """Return the strictest level that some counts call for, and why; None if there is none."""
    found = [*_levels(counts)]
    return max(found, key=lambda one: one[0].rank) if found else None


def may_warn(counts: RecipientCounts) -> bool:
    """Return whether the rates are above the lowest limits, of however few recipients."""
    return (
        lower_bound(counts.bounced, counts.sent) >= _BOUNCES[0]
        or lower_bound(counts.complained, counts.sent) >= _COMPLAINTS[0]
    )


def _levels(counts: RecipientCounts) -> Iterator[tuple[PauseLevel, PauseCause]]:
    if counts.sent >= LEAST_RECIPIENTS:
        rate = lower_bound(counts.bounced, counts.sent)
        yield from _exceeded(rate, _BOUNCES, PauseCause.BOUNCES)
    if counts.sent >= LEAST_FOR_COMPLAINTS or counts.complained >= LEAST_COMPLAINTS:
        rate = lower_bound(counts.complained, counts.sent)
        yield from _exceeded(rate, _COMPLAINTS, PauseCause.COMPLAINTS)


def _exceeded(
    rate: float, limits: tuple[float, float, float], cause: PauseCause
) -> Iterator[tuple[PauseLevel, PauseCause]]:
    for level, limit in zip(PauseLevel, limits, strict=True):
        if rate >= limit:
            yield level, cause
