"""The service's own email to people who have not agreed to get any, and when it pauses.

Such people are newcomers who ask for a code, those whom a member invites, and visitors who ask for
a preview key. A stranger chooses these addresses, so many may not exist. Whose emails bounce loses
them first: bounces count for a party, then a few of each party for the audience, and all of them
against all mail of the service.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from typing import Final

from pillarbox.domain.client_origin import block_of
from pillarbox.domain.sign_in.session import digest_of
from pillarbox.domain.wilson import exceeds

#: SES reviews an AWS account from this share of permanent bounces on.
MOST_BOUNCED: Final = 0.05
#: From so many bounces of a party on, if they are a fifth of its emails, it pauses. Further ones do
#: not count for the audience.
MOST_OF_PARTY: Final = 2
_SHARE_OF_PARTY: Final = 5
#: The name of the counts that compare all bounces with all mail of the service.
ALL: Final = "all"
_PARTY_LENGTH: Final = 16
#: Bounces of a day count until the end of the next one, in UTC.
DAYS: Final = 2
_DAY: Final = timedelta(days=1)


class Audience(StrEnum):
    """To whom such an email goes. Each pauses alone."""

    INVITED = "invited"
    NEWCOMERS = "newcomers"
    VISITORS = "visitors"


@dataclass(frozen=True, slots=True)
class Cause:
    """Why such an email is sent. The party is an account, or `network_party`; none: no one's."""

    audience: Audience
    party: str = ""

    @property
    def own(self) -> str:
        """The name of the party's counts."""
        return f"{self.audience}/{self.party}"

    @property
    def tags(self) -> dict[str, str]:
        """The tags of the message, by which its bounce is counted."""
        return {"audience": self.audience.value, "party": self.party}


def cause_of(tags: Mapping[str, str]) -> Cause | None:
    """Return the cause that a message's tags name; None if it is no such message."""
    if tags.keys() != {"audience", "party"}:
        return None
    return Cause(Audience(tags["audience"]), tags["party"])


def network_party(client: str) -> str:
    """Return the party of an IP address: a digest of its block; none for this machine's own."""
    block = block_of(client)
    return digest_of(block)[:_PARTY_LENGTH] if block else ""


@dataclass(frozen=True, slots=True)
class StrangerDay:
    """How many such emails were sent on a day in UTC, and how many of them bounced for good."""

    day: date
    sent: int
    bounced: int


def first_day(now: datetime) -> date:
    """Return the oldest day that counts."""
    return now.date() - (DAYS - 1) * _DAY


def endangers(bounced: int, sent: int) -> bool:
    """Return whether so many bounces show a share from which on SES reviews an AWS account."""
    return exceeds(bounced, sent, MOST_BOUNCED)


def is_reckless(bounced: int, sent: int) -> bool:
    """Return whether a party writes to too many who do not exist."""
    return bounced >= MOST_OF_PARTY and bounced * _SHARE_OF_PARTY >= sent


def paused_until(
    days: Sequence[StrangerDay],
    now: datetime,
    is_too_much: Callable[[int, int], bool] = endangers,
) -> datetime | None:
    """Return until when no such email is sent, if too many of the last days bounced; else None.

    Meanwhile none is sent, so the share falls only when a day no longer counts.
    """
    end: datetime | None = None
    for later in range(DAYS):
        first = first_day(now + later * _DAY)
        counted = [one for one in days if one.day >= first]
        bounced, sent = sum(one.bounced for one in counted), sum(one.sent for one in counted)
        if not is_too_much(bounced, sent):
            break
        end = next_day(now + later * _DAY)
    return end


def next_day(now: datetime) -> datetime:
    return datetime.combine(now.date() + _DAY, time(), now.tzinfo)
