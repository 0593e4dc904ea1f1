"""The tenants of the SES stand-in: what each may send from, and whether it may send."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from local.ses.errors import SesError, not_found

if TYPE_CHECKING:
    from local.ses.store import MailStore

type TenantStatus = Literal["ENABLED", "REINSTATED", "DISABLED"]


@dataclass(slots=True, kw_only=True)
class Tenant:
    """A tenant. It may send unless the owner or SES has disabled it."""

    name: str
    tenant_id: str
    arn: str
    created_at: datetime
    suppression: dict[str, object] = field(default_factory=dict)
    #: The ARNs of what it may send with, and since when.
    resources: dict[str, datetime] = field(default_factory=dict)
    policy: str
    #: What the owner set, and what SES set.
    own_status: TenantStatus = "ENABLED"
    ses_status: TenantStatus = "ENABLED"

    @property
    def status(self) -> TenantStatus:
        """The status in force: what the owner reinstates sends in spite of SES's findings."""
        if self.own_status != "ENABLED":
            return self.own_status
        return self.ses_status


class TenantStore:
    """All tenants by name, and the ARNs of a region."""

    def __init__(self, region: str, account_id: str) -> None:
        self.start = f"arn:aws:ses:{region}:{account_id}"
        self.policies = f"arn:aws:ses:{region}:aws:reputation-policy/"
        self._tenants: dict[str, Tenant] = {}

    def create(self, name: str, suppression: dict[str, object]) -> Tenant:
        """Add a tenant with the policy `standard`, as SES does.

        Raises:
            SesError: AlreadyExistsException.
        """
        if name in self._tenants:
            raise SesError("AlreadyExistsException", f"Tenant <{name}> already exists.")
        tenant_id = f"tn-{secrets.token_hex(14)}"
        tenant = Tenant(
            name=name,
            tenant_id=tenant_id,
            arn=f"{self.start}:tenant/{name}/{tenant_id}",
            created_at=datetime.now(UTC),
            suppression=suppression,
            policy=f"{self.policies}standard",
        )
        self._tenants[name] = tenant
        return tenant

    def get(self, name: str) -> Tenant:
        """Return a tenant.

        Raises:
            SesError: NotFoundException.
        """
        try:
            return self._tenants[name]
        except KeyError:
            raise not_found(f"Tenant <{name}> does not exist.") from None

    def of_arn(self, arn: str) -> Tenant:
        """Return the tenant with an ARN.

        Raises:
            SesError: NotFoundException.
        """
        return self.get(arn.removeprefix(f"{self.start}:tenant/").partition("/")[0])

    def delete(self, name: str) -> None:
        """Delete a tenant with its associations.

        Raises:
            SesError: NotFoundException.
        """
        self.get(name)
        del self._tenants[name]

    def pause(self, name: str) -> None:
        """Pause a tenant, as SES does by its policy.

        Raises:
            SesError: NotFoundException.
        """
        self.get(name).ses_status = "DISABLED"

    def __iter__(self) -> Iterator[Tenant]:
        return iter([*self._tenants.values()])

    def check_send(
        self, mailbox: "MailStore", name: str, source: str, configuration_set: str | None
    ) -> None:
        """Check that a tenant may send an email, with its own identity and configuration set.

        Raises:
            SesError: NotFoundException, AccessDeniedException or SendingPausedException.
        """
        tenant = self.get(name)
        if tenant.status == "DISABLED":
            raise SesError("SendingPausedException", f"Sending is paused for tenant <{name}>.")
        used = {f"{self.start}:identity/{_identity_of(mailbox, source)}"}
        if configuration_set:
            used.add(f"{self.start}:configuration-set/{configuration_set}")
        if missing := sorted(used - tenant.resources.keys()):
            message = f"Tenant not associated with resources [{', '.join(missing)}]"
            raise SesError("AccessDeniedException", message)


def _identity_of(mailbox: "MailStore", source: str) -> str:
    """Return the identity with which SES sends: the address, its domain or a parent domain."""
    labels = source.rpartition("@")[2].lower().split(".")
    names = [source, *(".".join(labels[start:]) for start in range(len(labels)))]
    return next((name for name in names if mailbox.identity_verified(name)), source)
