"""Production access and quotas of the AWS account at SES."""

from collections.abc import Mapping
from typing import Any, Final

import boto3
from botocore.exceptions import ClientError

from admin.use_cases.production_access import (
    GRANTED,
    NO_REQUEST,
    AccessRequest,
    SendingDomain,
)
from pillarbox.adapters.aws import code_of, operator_errors
from pillarbox.adapters.dns_records import DnsRecords
from pillarbox.domain.errors import ServiceError

_NAME: Final = "SES API"


class SesProductionAccess:
    """The request for production access, and what it says of a domain."""

    def __init__(self, dns: DnsRecords) -> None:
        self._dns = dns

    def state(self) -> str:
        """Return the state of the request for production access."""
        with operator_errors(_NAME):
            account: Any = boto3.client("sesv2").get_account()
        if account.get("ProductionAccessEnabled"):
            return GRANTED
        state: str = account.get("Details", {}).get("ReviewDetails", {}).get("Status", NO_REQUEST)
        return state

    def domain(self, name: str) -> SendingDomain:
        """Read what SES and DNS say of a domain."""
        with operator_errors(_NAME):
            try:
                identity: Any = boto3.client("sesv2").get_email_identity(EmailIdentity=name)
            except ClientError as error:
                if code_of(error) != "NotFoundException":
                    raise
                identity = {}
        records = self._dns.look_up(f"_dmarc.{name}", "TXT") or ()
        return SendingDomain(
            name,
            verified=identity.get("DkimAttributes", {}).get("Status") == "SUCCESS",
            has_mail_from=identity.get("MailFromAttributes", {}).get("MailFromDomainStatus")
            == "SUCCESS",
            has_dmarc=any(record.startswith("v=DMARC1") for record in records),
        )

    def ask(self, request: AccessRequest) -> None:
        """Ask for production access (API v2: PutAccountDetails)."""
        with operator_errors(_NAME):
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
    """Ask for higher quotas, `per day` or `per second`; return the state of each request.

    Raises:
        ServiceError: Service Quotas has no quota of that name.
    """
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
