"""The pricing plans of SES: prices, and what the check says."""

import pytest

from admin.use_cases import ses_plans
from admin.use_cases.ses_plans import ChosenPlan, SesPlan
from pillarbox.application.operator.checks import Verdict
from tests.loops import for_each


@for_each(
    ("plan", "emails", "dollars"),
    [
        (SesPlan.NONE, 50_000_000, 5_000),
        (SesPlan.ESSENTIALS, 5_000, 0.80),
        (SesPlan.ESSENTIALS, 10_000_000, 1_600),
        (SesPlan.ESSENTIALS, 50_000_000, 1_600 + 5_600),
        (SesPlan.ESSENTIALS, 200_000_000, 1_600 + 12_600 + 11_000),
        (SesPlan.PRO, 0, 105),
        (SesPlan.ENTERPRISE, 1_000_000, 500 + 230),
    ],
)
def test_a_plan_costs_by_the_month_and_by_steps(plan: SesPlan, emails: int, dollars: float) -> None:
    assert ses_plans.cost(plan, emails) == pytest.approx(dollars)


@pytest.mark.parametrize(
    ("chosen", "parts"),
    [
        (ChosenPlan(None), ["names no pricing plan"]),
        (ChosenPlan("NONE"), ["is none (0.10 dollars for 1,000 emails)."]),
        (ChosenPlan("ESSENTIALS"), ["essentials (0.16 dollars for 1,000 emails)", "--ses-plan"]),
        (
            ChosenPlan("PRO", "NONE"),
            ["pro (105 dollars a month and 0.22", "Next month it is none (0.10"],
        ),
        (ChosenPlan("GALAXY"), ["is GALAXY."]),
    ],
)
def test_the_check_shows_plan_and_price(chosen: ChosenPlan, parts: list[str]) -> None:
    (finding,) = ses_plans.check_plan(chosen)
    assert (finding.check, finding.verdict) == ("plan", Verdict.PASS)
    for part in parts:
        assert part in finding.message
    assert ("--ses-plan" in finding.message) == (chosen.current in {"ESSENTIALS", "GALAXY"})
