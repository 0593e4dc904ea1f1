"""The tenants of SES (API v2), which keep reputation, status and suppressions apart."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from pillarbox.adapters.aws import client_of, code_of, ignoring, service_errors
from pillarbox.adapters.direct import CallLimits
from pillarbox.adapters.ses.identities import PROVIDER, find_identity
from pillarbox.domain.accounts.account import Isolation
from pillarbox.domain.address import domain_and_parents, domain_of
from pillarbox.domain.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client
    from mypy_boto3_sesv2.type_defs import (
        TenantInfoTypeDef,
        TenantSuppressionAttributesTypeDef,
        TenantTypeDef,
    )

#: SES takes about one call a second of all operations but those that send.
_PATIENT: Final = CallLimits(attempts=5, mode="adaptive")
#: A tenant suppresses by its own list: an address that bounced for one may be fine for another.
_SUPPRESSION: "Final[TenantSuppressionAttributesTypeDef]" = {
    "SuppressedReasons": ["BOUNCE", "COMPLAINT"],
    "SuppressionScope": "TENANT",
}


class SesTenants:
    """Implements `accounts.ports.Tenants`.

    Args:
        configuration_set: the one that every email names; each tenant needs it.
    """

    _ses: "SESV2Client" = client_of("sesv2", _PATIENT)

    def __init__(
        self,
        configuration_set: str,
        errors: Callable[[str], AbstractContextManager[None]] = service_errors,
    ) -> None:
        self._configuration_set = configuration_set
        self._errors = errors

    def create(self, name: str, isolation: Isolation) -> None:
        """Create the tenant with its suppression list, then set the policy, which AWS owns."""
        with self._errors(PROVIDER):
            try:
                self._ses.create_tenant(
                    TenantName=name,
                    SuppressionAttributes=_SUPPRESSION,
                )
            except ClientError as error:
                if code_of(error) != "AlreadyExistsException":
                    raise
                self._ses.put_tenant_suppression_attributes(TenantName=name, **_SUPPRESSION)
        arn = self._get(name)["TenantArn"]
        partition, region = arn.split(":")[1], arn.split(":")[3]
        with self._errors(PROVIDER):
            self._ses.update_reputation_entity_policy(
                ReputationEntityType="RESOURCE",
                ReputationEntityReference=arn,
                ReputationEntityPolicy=(
                    f"arn:{partition}:ses:{region}:aws:reputation-policy/{isolation.value}"
                ),
            )

    def associate(self, name: str, addresses: Iterable[str]) -> None:
        """Associate the configuration set and each verified identity of an address."""
        wanted = self._wanted(name, addresses)
        for arn in wanted - self._associated(name):
            with self._errors(PROVIDER), ignoring("AlreadyExistsException"):
                self._ses.create_tenant_resource_association(TenantName=name, ResourceArn=arn)
        if wanted - self._associated(name):
            raise Unavailable(PROVIDER, f"SES has not associated all that {name} needs; try again.")

    def missing(self, name: str, addresses: Iterable[str]) -> Sequence[str]:
        """Compare what the tenant needs with its associations; return the ends of the ARNs."""
        missing = self._wanted(name, addresses) - self._associated(name)
        return sorted(arn.partition("/")[2] for arn in missing)

    def suppresses_apart(self, name: str) -> bool:
        found = self._get(name).get("SuppressionAttributes", {})
        reasons = {*found.get("SuppressedReasons", ())}
        return found.get("SuppressionScope") == "TENANT" and reasons >= {"BOUNCE", "COMPLAINT"}

    def delete(self, name: str) -> None:
        """Delete the tenant; SES ends its associations with it."""
        with self._errors(PROVIDER), ignoring("NotFoundException"):
            self._ses.delete_tenant(TenantName=name)

    def all(self) -> Mapping[str, bool]:
        found: dict[str, bool] = {}
        with self._errors(PROVIDER):
            for page in self._ses.get_paginator("list_tenants").paginate():
                for tenant in page["Tenants"]:
                    found[tenant["TenantName"]] = _may_send(tenant)
        return found

    def may_send(self, name: str) -> bool | None:
        tenant = self._find(name)
        return _may_send(tenant) if tenant else None

    def _find(self, name: str) -> "TenantTypeDef | None":
        with self._errors(PROVIDER), ignoring("NotFoundException"):
            return self._ses.get_tenant(TenantName=name)["Tenant"]
        return None

    def _get(self, name: str) -> "TenantTypeDef":
        if tenant := self._find(name):
            return tenant
        raise Unavailable(PROVIDER, f"SES has no tenant {name}.")

    def _wanted(self, name: str, addresses: Iterable[str]) -> set[str]:
        start = self._get(name)["TenantArn"].partition(":tenant/")[0]
        names = {
            one
            for address in addresses
            for one in (address, *domain_and_parents(domain_of(address)))
        }
        # SES deletes no identity that a tenant has, so one that never sent stays free.
        wanted = {f"{start}:identity/{one}" for one in names if self._is_verified(one)}
        return wanted | {f"{start}:configuration-set/{self._configuration_set}"}

    def _is_verified(self, identity: str) -> bool:
        found = find_identity(self._ses, identity, self._errors)
        return found is not None and found["VerifiedForSendingStatus"]

    def _associated(self, name: str) -> set[str]:
        with self._errors(PROVIDER):
            pages = self._ses.get_paginator("list_tenant_resources").paginate(TenantName=name)
            return {one["ResourceArn"] for page in pages for one in page["TenantResources"]}


def _may_send(tenant: "TenantTypeDef | TenantInfoTypeDef") -> bool:
    return tenant.get("SendingStatus") != "DISABLED"
