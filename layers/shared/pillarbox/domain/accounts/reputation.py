"""When bounces and complaints are too many: the limits, and how figures are compared with them.

SES reviews an AWS account at 5 % permanent bounces or 0.1 % complaints, and may pause it at 10 % or
0.5 %. A few emails say little about a rate. So what counts is the least rate that fits what was
seen: the lower end of the 90 % interval of Wilson (1927).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pillarbox.domain.accounts.pause import PauseCause, PauseLevel
from pillarbox.domain.messages.statistics import RecipientCounts
from pillarbox.domain.wilson import lower_bound

#: The least recipients of which a rate of bounces is judged.
LEAST_RECIPIENTS: Final = 20
#: The same for complaints; of fewer recipients it is judged from so many complaints on.
LEAST_FOR_COMPLAINTS: Final = 1_000
LEAST_COMPLAINTS: Final = 3

_LIMITS: Final = r"bounces=([\d.]+)/([\d.]+)/([\d.]+) complaints=([\d.]+)/([\d.]+)/([\d.]+)"


class BreakerMode(StrEnum):
    """What too many bounces or complaints cause: the parameter `BreakerMode`."""

    OFF = "off"
    #: The owners are told, and nothing is refused.
    WARN = "warn"
    ACT = "act"


@dataclass(frozen=True, slots=True)
class ReputationLimits:
    """From which rate on each level holds, as fractions: warn, brake and stop."""

    bounces: tuple[float, float, float]
    complaints: tuple[float, float, float]

    @classmethod
    def parse(cls, text: str) -> "ReputationLimits":
        """Read percentages such as `bounces=3/5/8 complaints=0.05/0.1/0.3`.

        Raises:
            ValueError: the text has another form, or a level is below a milder one.
        """
        match = re.fullmatch(_LIMITS, text.strip())
        if match is None:
            raise ValueError("not bounces=WARN/BRAKE/STOP complaints=WARN/BRAKE/STOP, in percent")
        rates = [float(each) / 100 for each in match.groups()]
        bounces, complaints = tuple(rates[:3]), tuple(rates[3:])
        if not all(0 < one <= two <= three <= 1 for one, two, three in (bounces, complaints)):
            raise ValueError("the percentages of warn, brake and stop must not fall")
        return cls((rates[0], rates[1], rates[2]), (rates[3], rates[4], rates[5]))

    def verdict(self, counts: RecipientCounts) -> tuple[PauseLevel, PauseCause] | None:
        """Return the strictest level that some counts call for, and why; None if there is none."""
        found = [*self._levels(counts)]
        return max(found, key=lambda one: one[0].rank) if found else None

    def may_warn(self, counts: RecipientCounts) -> bool:
        """Return whether the rates are above the lowest limits, of however few recipients."""
        return (
            lower_bound(counts.bounced, counts.sent) >= self.bounces[0]
            or lower_bound(counts.complained, counts.sent) >= self.complaints[0]
        )

    def _levels(self, counts: RecipientCounts) -> Iterator[tuple[PauseLevel, PauseCause]]:
        if counts.sent >= LEAST_RECIPIENTS:
            rate = lower_bound(counts.bounced, counts.sent)
            yield from _exceeded(rate, self.bounces, PauseCause.BOUNCES)
        if counts.sent >= LEAST_FOR_COMPLAINTS or counts.complained >= LEAST_COMPLAINTS:
            rate = lower_bound(counts.complained, counts.sent)
            yield from _exceeded(rate, self.complaints, PauseCause.COMPLAINTS)


def _exceeded(
    rate: float, limits: tuple[float, float, float], cause: PauseCause
) -> Iterator[tuple[PauseLevel, PauseCause]]:
    for level, limit in zip(PauseLevel, limits, strict=True):
        if rate >= limit:
            yield level, cause
