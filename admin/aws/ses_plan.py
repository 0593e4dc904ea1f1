"""The AWS account's pricing plan at SES (API v2: GetAccount, PutAccountPricingAttributes)."""

from typing import TYPE_CHECKING, Final, cast

from admin.use_cases.ses_plans import ChosenPlan, SesPlan
from pillarbox.adapters.aws import client_of, operator_errors

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client
    from mypy_boto3_sesv2.literals import PricingPlanType

_NAME: Final = "SES API"


class SesAccountPlan:
    """The AWS account's plan at SES."""

    _ses: "SESV2Client" = client_of("sesv2")

    def read(self) -> ChosenPlan:
        with operator_errors(_NAME):
            attributes = self._ses.get_account().get("PricingAttributes", {})
        return ChosenPlan(attributes.get("CurrentPlan"), attributes.get("NextPlan"))

    def change(self, plan: SesPlan) -> None:
        """Ask for another plan. SES decides whether it begins now or with the next month."""
        with operator_errors(_NAME):
            self._ses.put_account_pricing_attributes(
                Plan=cast("PricingPlanType", plan.value.upper())
            )
