"""The tenants of the SES stand-in: what each may send from, and whether it may send."""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal
from uuid import uuid4

from local.ses.errors import SesError, not_found
from local.ses.suppression import SuppressedDestinations, SuppressionOptions
from pillarbox.domain.errors import Json

type TenantStatus = Literal["ENABLED", "REINSTATED", "DISABLED"]
#: Who set a status: the owner, or SES. SES's own policies set the owner's.
type Origin = Literal["CUSTOMER_MANAGED", "AWS_MANAGED"]


@dataclass(slots=True, kw_only=True)
class Tenant:
    """A tenant. It may send unless the owner or SES has disabled it."""

    name: str
    tenant_id: str
    arn: str
    created_at: datetime
    suppression: SuppressionOptions = field(default_factory=SuppressionOptions)
    #: The ARNs of what it may send with, and since when.
    resources: dict[str, datetime] = field(default_factory=dict)
    policy: str
    #: Its own suppression list, which is in force while `suppression` has the scope TENANT.
    suppressed: SuppressedDestinations = field(default_factory=SuppressedDestinations)
    statuses: dict[Origin, TenantStatus] = field(
        default_factory=lambda: {"CUSTOMER_MANAGED": "ENABLED", "AWS_MANAGED": "ENABLED"}
    )

    @property
    def status(self) -> TenantStatus:
        """The status in force: whatever SES has disabled its owner cannot enable."""
        found = self.statuses.values()
        return next((one for one in ("DISABLED", "REINSTATED") if one in found), "ENABLED")

    def status_event(self, origin: Origin, cause: str, at: datetime) -> dict[str, Json]:
        """Return what SES sends to EventBridge when a status has changed.

        The form is that of "Setting up EventBridge notifications" in the guide's chapter on
        tenants (docs.aws.amazon.com/ses/latest/dg/tenants.html, read on 2026-11-26).
        """
        _, _, _, region, account_id, _ = self.arn.split(":", 5)
        status, moment = self.statuses[origin], at.timetuple()[:6]
        disabled = status == "DISABLED"
        return {
            "version": "0",
            "id": str(uuid4()),
            "detail-type": f"Sending Status {'Disabled' if disabled else 'Enabled'}",
            "source": "aws.ses",
            "account": account_id,
            "time": f"{at:%Y-%m-%dT%H:%M:%SZ}",
            "region": region,
            "resources": [self.arn],
            "detail": {
                "version": "1.0.0",
                "data": {
                    "origin": origin,
                    "record": {
                        "status": status,
                        "cause": cause,
                        "lastUpdatedTimestamp": [*moment, at.microsecond * 1000],
                    },
                },
            },
        }


class TenantStore:
    """All tenants by name, and the ARNs of a region."""

    def __init__(self, region: str, account_id: str) -> None:
        self.start = f"arn:aws:ses:{region}:{account_id}"
        self.policies = f"arn:aws:ses:{region}:aws:reputation-policy/"
        self._tenants: dict[str, Tenant] = {}
        #: Receives each event about a status. The application sets it.
        self.tell: Callable[[dict[str, Json]], None] = lambda _: None

    def create(self, name: str, suppression: SuppressionOptions) -> Tenant:
        """Add a tenant with the policy `standard`, as SES does."""
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
        """Return a tenant."""
        try:
            return self._tenants[name]
        except KeyError:
            raise not_found(f"The requested tenant {name} does not exist.") from None

    def find(self, name: str | None) -> Tenant | None:
        return self._tenants.get(name or "")

    def of_arn(self, arn: str) -> Tenant:
        """Return the tenant with an ARN."""
        return self.get(arn.removeprefix(f"{self.start}:tenant/").partition("/")[0])

    def delete(self, name: str) -> None:
        """Delete a tenant with its associations."""
        self.get(name)
        del self._tenants[name]

    def set_status(self, tenant: Tenant, origin: Origin, status: TenantStatus, cause: str) -> None:
        """Change a status and tell the listener, as SES tells EventBridge."""
        tenant.statuses[origin] = status
        self.tell(tenant.status_event(origin, cause, datetime.now(UTC)))

    def __iter__(self) -> Iterator[Tenant]:
        return iter([*self._tenants.values()])

    def check_send(self, name: str, identity: str, configuration_set: str | None) -> None:
        """Check that a tenant may send an email, with its own identity and configuration set."""
        tenant = self.get(name)
        if tenant.status == "DISABLED":
            message = f"Sending disabled for {tenant.arn}."
            raise SesError("MessageRejected", message, passing=True)
        used = {f"{self.start}:identity/{identity}"}
        if configuration_set:
            used.add(f"{self.start}:configuration-set/{configuration_set}")
        if missing := sorted(used - tenant.resources.keys()):
            message = f"Tenant not associated with resources [{', '.join(missing)}]."
            raise SesError("AccessDeniedException", message)
