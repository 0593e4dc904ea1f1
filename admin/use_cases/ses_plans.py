"""The pricing plans of SES: what an email costs with each, and the check that shows it.

An AWS account has one plan for each region, which counts for all that sends there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Final

from pillarbox.application.operator.checks import Finding, Verdict


class SesPlan(StrEnum):
    """A plan, as the command spells it; SES writes it in capitals."""

    NONE = "none"
    ESSENTIALS = "essentials"
    PRO = "pro"
    ENTERPRISE = "enterprise"


@dataclass(frozen=True, slots=True)
class PlanPrice:
    """What a plan costs in us-east-1.

    Args:
        month: dollars by the month.
        steps: from how many emails of a month on, the dollars for 1,000 of them.
    """

    month: float
    steps: tuple[tuple[int, float], ...]


#: AWS's price list of 2026-07-22, as this catalogue read it. Without a plan SES counts recipients.
PRICES: Final[Mapping[SesPlan, PlanPrice]] = {
    SesPlan.NONE: PlanPrice(0, ((0, 0.10),)),
    SesPlan.ESSENTIALS: PlanPrice(0, ((0, 0.16), (10_000_000, 0.14), (100_000_000, 0.11))),
    SesPlan.PRO: PlanPrice(105, ((0, 0.22), (10_000_000, 0.17), (100_000_000, 0.12))),
    SesPlan.ENTERPRISE: PlanPrice(500, ((0, 0.23), (10_000_000, 0.18), (100_000_000, 0.13))),
}
PRICES_SOURCE: Final = (
    "https://github.com/api-evangelist/amazon-ses/blob/main/plans/amazon-ses-plans-pricing.yml"
)
PRICES_FOUND: Final = date(2026, 11, 23)


@dataclass(frozen=True, slots=True)
class ChosenPlan:
    """The plan of an AWS account, in SES's words.

    Args:
        current: what is in force, such as `ESSENTIALS`; None if SES names none.
        following: what comes at the start of the next month; None if nothing changes.
    """

    current: str | None
    following: str | None = None


def cost(plan: SesPlan, emails: int) -> float:
    """Return what SES charges for a month with so many emails, each to one recipient."""
    price = PRICES[plan]
    dollars = price.month
    ends = [*(first for first, _ in price.steps[1:]), max(emails, price.steps[-1][0])]
    for (first, each), end in zip(price.steps, ends, strict=True):
        dollars += max(min(emails, end) - first, 0) / 1000 * each
    return dollars


def describe(plan: str | None) -> str:
    """Return a plan with its price, such as `Pro (105 dollars a month and 0.22 for 1,000)`."""
    known = {item.value.upper(): item for item in SesPlan}.get(plan or "")
    if known is None:
        return plan or "unknown"
    price = PRICES[known]
    month = f"{price.month:g} dollars a month and " if price.month else ""
    return f"{known.value} ({month}{price.steps[0][1]:.2f} dollars for 1,000 emails)"


def check_plan(chosen: ChosenPlan) -> Iterator[Finding]:
    """Show the plan and its price. No plan is wrong, but `none` has all that Pillarbox uses."""
    if chosen.current is None:
        yield Finding("plan", Verdict.PASS, "SES names no pricing plan for this AWS account.")
        return
    message = f"The SES plan here is {describe(chosen.current)}."
    if chosen.following:
        message += f" Next month it is {describe(chosen.following)}."
    elif chosen.current != SesPlan.NONE.upper():
        message += (
            f" Pillarbox needs no plan: {describe('NONE')}. `pillarbox deploy --ses-plan none`"
            " changes it."
        )
    yield Finding("plan", Verdict.PASS, message)
