"""Accounts: whose mail it is, under which plan, from which addresses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from pillarbox.domain.errors import ServiceError
from pillarbox.domain.quota import Limits


class Plan(StrEnum):
    """What an account pays for (contract section 5)."""

    FREE = "free"
    STANDARD = "standard"
    ENTERPRISE = "enterprise"

    @property
    def paid(self) -> bool:
        """Whether the plan is a paid one: own `from`, no footer, marketing scopes."""
        return self is not Plan.FREE


#: Contract section 8.1; what it leaves open is decided here, and each figure
#: can be overridden on the account. None: not limited.
PLAN_LIMITS: Final[Mapping[Plan, Limits]] = {
    Plan.FREE: Limits(per_minute=60, per_day=300, per_month=9_000),
    Plan.STANDARD: Limits(per_minute=600, per_day=1_500, per_month=15_000),
    Plan.ENTERPRISE: Limits(per_minute=None, per_day=None, per_month=None),
}
PREVIEW_LIMITS: Final = Limits(per_minute=10, per_day=50, per_month=1_500)
_NO_OVERRIDES: Final = Limits(per_minute=None, per_day=None, per_month=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account. `senders` tells for each address whether it is verified."""

    account_id: str
    name: str
    plan: Plan
    created_at: datetime
    overrides: Limits = _NO_OVERRIDES
    senders: Mapping[str, bool] = field(default_factory=dict)
    default_sender: str | None = None
    #: What becomes of a mail that the provider may or may not have taken:
    #: False sends it again once the wait is over, True leaves it failed.
    hold_uncertain: bool = False

    @property
    def limits(self) -> Limits:
        """The plan's limits with the account's own figures put over them.

        A Standard tier is named by its month; its day is a tenth of it.
        """
        plan, own = PLAN_LIMITS[self.plan], self.overrides
        per_day = own.per_day
        if per_day is None and own.per_month is not None and self.plan is Plan.STANDARD:
            per_day = own.per_month // 10
        return Limits(
            per_minute=plan.per_minute if own.per_minute is None else own.per_minute,
            per_day=plan.per_day if per_day is None else per_day,
            per_month=plan.per_month if own.per_month is None else own.per_month,
        )

    def sender(self, requested: str | None) -> str:
        """The address that a live key's mail goes out from (contract 2.1, `from`).

        Raises:
            ServiceError: `no_verified_sender`, when there is no default one or
                the requested one is not verified on this account.
        """
        default = self.default_sender
        if default is None or not self.senders.get(default, False):
            raise ServiceError(
                "no_verified_sender",
                "The account has no verified default sender; set one first.",
            )
        if requested is None or not self.plan.paid or requested == default:
            return default
        if not self.senders.get(requested, False):
            raise ServiceError(
                "no_verified_sender",
                f"{requested} is not a verified sender of this account.",
                details={"from": requested},
            )
        return requested
