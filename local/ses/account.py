"""The AWS account of the SES stand-in: production access, limits, plan and suppression reasons."""

import secrets
from dataclasses import dataclass, field
from typing import Final, Literal

from local.ses.errors import SesError, bad_request
from local.ses.rate_limit import RateLimit
from local.ses.suppression import REASONS, Reason
from pillarbox.domain.errors import Json

#: `ReviewDetails.Status` of GetAccount.
type Review = Literal["PENDING", "FAILED", "GRANTED", "DENIED"]

#: Recipients in 24 hours and in a second in the sandbox (dg/request-production-access).
_SANDBOX_QUOTA: Final = 200.0
_SANDBOX_RATE: Final = 1.0


@dataclass(slots=True, kw_only=True)
class StoredAccount:
    """An account as it is when SES is new to it: in the sandbox, with both reasons in force.

    Args:
        rate: recipients a second that SendEmail allows with production access.
        quota: recipients in 24 hours that it allows then.
    """

    rate: float = 14.0
    quota: float = 50_000.0
    sending_enabled: bool = True
    #: The pricing plan of new accounts (aws.amazon.com/ses/pricing).
    plan: str = "ESSENTIALS"
    suppressed_reasons: tuple[Reason, ...] = REASONS
    review: Review | None = None
    #: Why a review ended as it did. GetAccount does not say it: AWS writes it into the case.
    review_reason: str | None = None
    case_id: str | None = None
    #: What PutAccountDetails stored.
    details: dict[str, Json] = field(default_factory=dict)
    rate_limit: RateLimit = field(init=False)

    def __post_init__(self) -> None:
        self.rate_limit = RateLimit(self.send_rate)

    @property
    def in_sandbox(self) -> bool:
        return self.review != "GRANTED"

    @property
    def send_rate(self) -> float:
        return min(self.rate, _SANDBOX_RATE) if self.in_sandbox else self.rate

    @property
    def daily_quota(self) -> float:
        return _SANDBOX_QUOTA if self.in_sandbox else self.quota

    def decide(self, review: Review | None, reason: str | None = None) -> None:
        """Set the state of production access: None is the sandbox without a request."""
        self.review, self.review_reason = review, reason
        self.rate_limit = RateLimit(self.send_rate)

    def request_production(self, details: dict[str, Json]) -> None:
        """Store the details; a review begins if they ask for production access."""
        if self.review == "PENDING":
            raise SesError("ConflictException", "The account details are under review.")
        wanted = details.pop("ProductionAccessEnabled", None)
        if wanted is not None and not isinstance(wanted, bool):
            raise bad_request("ProductionAccessEnabled must be true or false.")
        self.details = details
        if wanted and self.in_sandbox:
            self.case_id = f"case-{secrets.token_hex(8)}"
            self.decide("PENDING")
