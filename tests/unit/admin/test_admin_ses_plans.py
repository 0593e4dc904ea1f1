"""The prices of SES's plans."""

import pytest

from admin.use_cases import ses_plans
from admin.use_cases.ses_plans import SesPlan
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
