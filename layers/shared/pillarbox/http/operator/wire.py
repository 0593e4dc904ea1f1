"""Read the requests of the service's operators, which the contract does not have."""

from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.application.history.ranking import RankBy
from pillarbox.application.validation import MAX_LIMIT, MAX_NAME
from pillarbox.domain.accounts.account import NO_LIMITS, Isolation, Plan
from pillarbox.domain.accounts.key import ACCOUNT_ID_LENGTH
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.ids import is_token
from pillarbox.http.query import LIMIT, number_in_query, one_of
from pillarbox.http.wire import (
    FLAG,
    HEADER_TEXT,
    WireModel,
    after,
    invalid,
    model,
    optional,
    optional_or,
    required,
    text,
    whole_number,
    with_default,
)

_LIMIT_OR_NONE: Final = whole_number(least=0, most=MAX_LIMIT)
#: Dead letters that one request moves: well within the gateway's time.
MAX_MOVED: Final = 300


def _check_cursor(value: str) -> str:
    if not is_token(value, ACCOUNT_ID_LENGTH):
        raise invalid("invalid_cursor", "must be the nextCursor of a page")
    return value


class AccountsQuery(WireModel):
    """The accounts of the service."""

    in_query = True
    search = optional(text(least=1, most=MAX_NAME))
    """A part of the name, or the start of the id."""
    limit = with_default(LIMIT, 25)
    """The number of accounts."""
    cursor = optional(after(text(), _check_cursor), pattern=r"^[0-9a-hjkmnp-tv-z]{12}$")
    """The `nextCursor` of the page before."""


class DeletionQuery(WireModel):
    """What happens to emails of the account that wait."""

    in_query = True
    drop_pending = with_default(FLAG, default=False)
    """Whether emails that wait are never sent."""


class OwnLimits(WireModel):
    """The limits of an account; null is the plan's limit."""

    per_minute = optional(_LIMIT_OR_NONE)
    """Emails per minute."""
    per_day = optional(_LIMIT_OR_NONE)
    """Emails per day of UTC."""
    per_month = optional(_LIMIT_OR_NONE)
    """Emails per month of UTC."""
    recipients_per_day = optional(_LIMIT_OR_NONE)
    """Recipients per day of UTC."""


class OperateAccountRequest(WireModel):
    """Changes to an account. Null changes nothing."""

    plan = optional(one_of(Plan))
    """The account's plan."""
    own_limits = optional(model(OwnLimits))
    """All limits of its own, in place of those that it has."""
    isolation = optional(one_of(Isolation))
    """Whether the account has a reputation of its own at SES, as a tenant, and when SES pauses it:
    at grave findings (`standard`) or any (`strict`)."""

    @property
    def changes(self) -> AccountChanges:
        """What changes in its record alone."""
        own = self.own_limits
        limits = NO_LIMITS if own is None else Limits(**vars(own))
        return AccountChanges(plan=self.plan, limits=limits, plan_limits=own is not None)


class SuspendRequest(WireModel):
    """Why the account is suspended."""

    reason = required(text(least=1, most=MAX_NAME), pattern=HEADER_TEXT)
    """A note that only operators see."""


class RatesQuery(WireModel):
    """What is counted of which time."""

    in_query = True
    days = with_default(number_in_query(least=1, most=31), 1)
    """The time that is counted, up to now."""
    by = with_default(one_of(RankBy), RankBy.VOLUME)
    """What the accounts are ranked by."""

    def since(self, now: datetime) -> datetime:
        """Return the full hour with which the time begins: it needs fewer reads than a part."""
        return (now - timedelta(days=self.days)).replace(minute=0, second=0, microsecond=0)


class RedriveRequest(WireModel):
    """How much to move."""

    limit = optional_or(whole_number(least=1, most=MAX_MOVED), MAX_MOVED)
    """The most dead letters to move; 300 by default."""
