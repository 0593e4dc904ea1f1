"""Production access and quotas of the AWS account at SES."""

from collections.abc import Mapping
from typing import Any, Final

import boto3

from admin.use_cases.production_access import AccessRequest
from pillarbox.adapters.aws import operator_errors
from pillarbox.domain.errors import ServiceError


def ask(request: AccessRequest) -> None:
    """Ask SES for production access (API v2: PutAccountDetails)."""
    with operator_errors("SES API"):
        boto3.client("sesv2").put_account_details(
            MailType="TRANSACTIONAL",
            WebsiteURL=request.website,
            ContactLanguage="EN",
            UseCaseDescription=request.describe(),
            AdditionalContactEmailAddresses=list(request.contacts),
            ProductionAccessEnabled=True,
        )


#: How Service Quotas names what SES limits.
_QUOTAS: Final = {"per day": "Sending quota", "per second": "Sending rate"}


def ask_for_quotas(wanted: Mapping[str, int]) -> dict[str, str]:
    """Ask for higher quotas, `per day` or `per second`; return the state of each request."""
    quotas: Any = boto3.client("service-quotas")
    pages = quotas.get_paginator("list_service_quotas").paginate(ServiceCode="ses")
    codes = {quota["QuotaName"]: quota["QuotaCode"] for page in pages for quota in page["Quotas"]}
    states: dict[str, str] = {}
    for unit, value in wanted.items():
        name = _QUOTAS[unit]
        if name not in codes:
            message = f"Service Quotas names no “{name}” of SES. Ask in its console (SES)."
            raise ServiceError("service_unavailable", message)
        made = quotas.request_service_quota_increase(
            ServiceCode="ses", QuotaCode=codes[name], DesiredValue=float(value)
        )
        states[unit] = made["RequestedQuota"]["Status"]
    return states
