"""Accounts: their plan, limits, senders and brand.

Without such limits one account could make the lists of its things too long to read in one request.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import Json, ServiceError
from pillarbox.domain.ids import MAX_SHARDS

if TYPE_CHECKING:
    from pillarbox.domain.accounts.pause import Pause

#: Contract 8.2: characters of a brandName, of a logoUrl (and our other links) and of a fromName.
MAX_BRAND_NAME: Final = 128
MAX_LOGO_URL: Final = 2048
MAX_FROM_NAME: Final = 1024
MAX_COMPANY_ADDRESS: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Brand:
    """A brand. `from_name` is the display name of the sender, and `accent` a colour: `#c4122f`.

    What starters show of the company: `support_email` is an address or a link for help,
    `company_address` the postal address, and `action_url` the link of the button of `welcome`.
    """

    name: str | None = None
    logo_url: str | None = None
    accent: str | None = None
    from_name: str | None = None
    support_email: str | None = None
    company_address: str | None = None
    action_url: str | None = None

    def override(
        self, *, name: str | None, logo_url: str | None, from_name: str | None = None
    ) -> "Brand":
        """Return the brand of one email: what its request gives, and this brand for the rest.

        A request that names another brand gets of this one the colour and the display name only.
        """
        is_other = bool(name) and name != self.name
        own = Brand(accent=self.accent, from_name=self.from_name) if is_other else self
        return replace(
            own,
            name=self.name if name is None else name,
            logo_url=own.logo_url if logo_url is None else logo_url,
            from_name=own.from_name if from_name is None else from_name,
        )

    def variables(self) -> dict[str, Json]:
        """Return the variables that a saved template gets from the brand, if a send gives none."""
        values = {"brandName": self.name, "logoUrl": self.logo_url}
        return {name: value for name, value in values.items() if value is not None}

    def name_or(self, account_name: str) -> str:
        """Return the name to show: the brand's, else the sender's, else the account's.

        A sender's name may be longer than a subject, so it is cut to the length of a brand name.
        """
        names = (self.name, self.from_name, account_name)
        return next((name for name in names if name and name.strip()), "")[:MAX_BRAND_NAME]


#: For how many days received mail is kept, unless its account says otherwise.
RECEIVED_DAYS: Final = 30
#: The brand of an account that has set none.
NO_BRAND: Final = Brand()


class Plan(StrEnum):
    """The plan of an account (contract section 5)."""

    FREE = "free"
    STANDARD = "standard"
    ENTERPRISE = "enterprise"

    @property
    def paid(self) -> bool:
        """Whether the plan is paid: own `from`, no footer, marketing scopes."""
        return self is not Plan.FREE


class Isolation(StrEnum):
    """When SES pauses the email of one account by itself, apart from that of all others.

    With `NONE` the account has no tenant at SES, and shares the reputation of the AWS account.
    """

    NONE = "none"
    STANDARD = "standard"
    STRICT = "strict"


#: Contract section 8.1, with our own figures where it gives none. An account can
#: override each figure. None means no limit.
PLAN_LIMITS: Final[Mapping[Plan, Limits]] = {
    Plan.FREE: Limits(per_minute=60, per_day=300, per_month=9_000),
    Plan.STANDARD: Limits(per_minute=600, per_day=1_500, per_month=15_000),
    Plan.ENTERPRISE: Limits(per_minute=None, per_day=None, per_month=None),
}
PREVIEW_LIMITS: Final = Limits(per_minute=10, per_day=50, per_month=1_500)
#: No limits of an account's own: the plan's limits apply.
NO_LIMITS: Final = Limits(per_minute=None, per_day=None, per_month=None)


#: The numbers of shards that an account can have.
SHARD_COUNTS: Final = tuple(1 << exponent for exponent in range(MAX_SHARDS.bit_length()))
#: The messages per second of one shard. Each takes five write units of the 1,000 a second that a
#: partition of the table has; three eighths of them are left for bursts.
SHARD_RATE: Final = 125
#: Longer than an acceptance takes that read the account before the change, plus the errors of its
#: clock and of the operator's, from which AWS accepts no request beyond five minutes.
_SHARDING_NOTICE: Final = timedelta(minutes=10)


def first_sharding(now: datetime) -> datetime:
    """Return from when on an account that has one shard may have several.

    That is the next full hour with some notice. So the ids of one hour have either no shard or
    all of them one, and the statistics of an hour are counted in one way only.
    """
    hour = (now + _SHARDING_NOTICE).astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return hour + timedelta(hours=1)


class QueuedMail(StrEnum):
    """What happens to the emails that a suspended account has in the queue."""

    SEND = "send"
    #: They wait for up to four hours.
    HOLD = "hold"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class Suspension:
    """Since when an account's keys do not work, and the operator's note of the reason."""

    at: datetime
    reason: str | None = None
    queued: QueuedMail = QueuedMail.SEND


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account. `senders` maps each address to whether it is verified."""

    account_id: str
    name: str
    plan: Plan
    created_at: datetime
    overrides: Limits = NO_LIMITS
    senders: Mapping[str, bool] = field(default_factory=dict)
    default_sender: str | None = None
    brand: Brand = NO_BRAND
    #: What to do with an email when the provider may or may not have accepted it:
    #: False sends it again after the wait, True marks it as failed.
    hold_uncertain: bool = False
    #: Over how many shards its new messages are spread, from `sharded_from` on. The number
    #: never falls: the messages of a shard stay in it.
    shards: int = 1
    sharded_from: datetime | None = None
    #: Set while the operator has suspended the account: each of its keys is refused.
    suspension: Suspension | None = None
    #: Whether some of its suppressions are only hashes of addresses, which need a second look-up.
    hashed_suppressions: bool = False
    #: Whether it has webhook endpoints. It may stay set when the last two are deleted at the same
    #: time, and is never missing while there is one.
    has_webhooks: bool = False
    #: Where the service writes to the account's owner; the operator may leave it out.
    contact: str | None = None
    #: Signs the links in test mails by which recipients stop them. Only an account that the preview
    #: widget made has it; its contact is the address that was confirmed.
    widget_secret: str | None = field(default=None, repr=False)
    isolation: Isolation = Isolation.NONE
    #: Whether it is an operator's own account, whose keys may have the scopes of operators. Only
    #: the operator's command sets it.
    operates: bool = False
    #: What it may not send, or less, after too many bounces or complaints (`pause.py`). Here are
    #: those of its keys and templates too.
    pauses: "tuple[Pause, ...]" = ()
    #: The tenant of SES that its emails name. All that it sends from is associated before this is
    #: set, because SES refuses an email whose identity is not.
    tenant: str | None = None
    #: For how many days to keep the content of its emails; 0: not at all (`messages/kept.py`).
    keep: int = 0
    #: After how many days to delete the records of its emails; 0: never.
    record_days: int = 0
    #: From when on no record was deleted for its age. Older emails are in figures only.
    records_from: datetime | None = None
    #: The domain that receives answers to its emails, below one of its domains.
    reply_domain: str | None = None
    #: Whether its emails ask for answers there, unless a send says otherwise.
    replies: bool = False
    #: For how many days received mail is kept.
    received_days: int = RECEIVED_DAYS

    def shards_at(self, moment: datetime) -> int:
        """Return the number of shards for the id of a message that is created at a moment."""
        is_sharded = self.sharded_from is not None and moment >= self.sharded_from
        return self.shards if is_sharded else 1

    @property
    def limits(self) -> Limits:
        """Return the limits in force: the plan's, overridden by the account's own.

        Standard tiers are defined by the month; the day is a tenth of the month.
        """
        plan, own = PLAN_LIMITS[self.plan], self.overrides
        per_day = own.per_day
        if per_day is None and own.per_month is not None and self.plan is Plan.STANDARD:
            per_day = own.per_month // 10
        return Limits(
            per_minute=plan.per_minute if own.per_minute is None else own.per_minute,
            per_day=plan.per_day if per_day is None else per_day,
            per_month=plan.per_month if own.per_month is None else own.per_month,
            recipients_per_day=own.recipients_per_day,
        )

    @property
    def has_sender(self) -> bool:
        return self.default_sender is not None and self.senders.get(self.default_sender, False)

    def sender(self, requested: str | None) -> str:
        """Return the sender of an email sent with a live key (contract 2.1, `from`)."""
        default = self.default_sender
        if default is None or not self.has_sender:
            text = "The account has no verified default sender"
            if self.contact:
                text += f"; until then it sends to {self.contact} only, over HTTP and without from"
            raise ServiceError("no_verified_sender", f"{text}.")
        if requested is None or not self.plan.paid or requested == default:
            return default
        if self.senders.get(requested, False):
            return requested
        # As it was verified: to SES the case of an address identity matters.
        for address, verified in self.senders.items():
            if verified and mailbox_key(address) == mailbox_key(requested):
                return address
        raise _no_verified_sender(
            requested, f"is not a verified sender of this account; its default is {default}"
        )

    def check_sends_from(self, address: str) -> None:
        """Refuse a From address that the account may not use in an email that is sent as written.

        On a free plan that is every address but the default sender.
        """
        sender = self.sender(address)
        if sender == address:
            return
        if mailbox_key(sender) == mailbox_key(address):
            raise _no_verified_sender(address, f"was verified as {sender}; write it so")
        raise _no_verified_sender(address, f"is not {sender}, the only sender of a free plan")


def _no_verified_sender(address: str, fault: str) -> ServiceError:
    return ServiceError("no_verified_sender", f"{address} {fault}.", details={"from": address})


#: API keys that are not revoked, and revoked ones that stay in the list: emails name their key.
MAX_KEYS: Final = 100
MAX_REVOKED_KEYS: Final = 400
#: Management keys that members and keys may create in a day: owners get an email about each.
MAX_ADDED_MANAGEMENT_KEYS: Final = 50
#: Members, invited ones included.
MAX_MEMBERS: Final = 100
#: Templates with a draft, so all that were begun or edited in the dashboard.
MAX_TEMPLATES: Final = 200
#: The versions of one template that are kept, with the published one.
MAX_VERSIONS: Final = 100
#: Domains: one account cannot use up what SES allows for all, 10,000.
MAX_DOMAINS: Final = 20
#: Domains that an account may add in a day, removed ones included.
MAX_ADDED_DOMAINS: Final = 20
MAX_ENDPOINTS: Final = 10
#: Days for which the content of emails, and received mail, may be kept.
MAX_KEEP: Final = 90
#: After how many days the records of emails can be deleted. No email waits for so long.
MIN_RECORD_DAYS: Final = 90
MAX_RECORD_DAYS: Final = 3_650


def limit_exceeded(code: str, limit: int, things: str) -> ServiceError:
    """Return the error for an account that has so many things of a kind."""
    message = f"An account can have at most {limit} {things}."
    return ServiceError(code, message, details={"limit": limit})
