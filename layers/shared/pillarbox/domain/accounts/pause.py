"""Pauses: what an account, a key or a template may still send after too many bounces or complaints.

All pauses of an account are in its record, which every send reads. So they cost a send no read,
starter templates can have one too, and who sets a pause needs no right to change keys.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from pillarbox.domain.accounts.quota import Limits, QuotaExceeded
from pillarbox.domain.errors import Json, ServiceError

#: The starter templates whose emails somebody waits for to get in. They are the last to stop.
CODE_TEMPLATES: Final = frozenset({"otp", "magic_link", "password_reset"})
#: An account has at most so many, which are two kilobytes.
MAX_PAUSES: Final = 20
#: A brake leaves this part of the minute's limit.
BRAKE: Final = 10
#: What a minute's limit is taken to be if there is none.
_USUAL_PER_MINUTE: Final = 600


class PauseScope(StrEnum):
    """What a pause is about."""

    ACCOUNT = "account"
    KEY = "key"
    TEMPLATE = "template"


_NARROWEST_FIRST: Final = (PauseScope.TEMPLATE, PauseScope.KEY, PauseScope.ACCOUNT)


class PauseLevel(StrEnum):
    """How strict a pause is, from the mildest on."""

    #: The owners are told, and everything is sent.
    WARN = "warn"
    #: A tenth of the limit of a minute is left.
    BRAKE = "brake"
    #: Nothing is accepted.
    STOP = "stop"

    @property
    def rank(self) -> int:
        return [*PauseLevel].index(self)


class PauseCause(StrEnum):
    """Why there is a pause."""

    BOUNCES = "bounces"
    COMPLAINTS = "complaints"
    #: SES paused the account's tenant, and decides when that ends.
    PROVIDER = "provider"


#: Cause -> the words for people.
_REASONS: Final = {
    PauseCause.BOUNCES: "too many of its emails bounced",
    PauseCause.COMPLAINTS: "too many recipients reported its emails as spam",
    PauseCause.PROVIDER: "Amazon SES paused it",
}


#: Scope, id, and whether SES decides when it ends.
type PauseKey = tuple[PauseScope, str, bool]


#: The key of the pause that SES decides on.
PROVIDER_KEY: Final[PauseKey] = (PauseScope.ACCOUNT, "", True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """A pause of a scope. It stays in the record when it is over, for what follows from it."""

    scope: PauseScope
    #: The id of the key or the saved template, or the slug of the starter; "" for the account.
    id: str = ""
    level: PauseLevel
    cause: PauseCause
    since: datetime
    #: None until a person, or for `PROVIDER` SES, ends it.
    until: datetime | None = None
    #: Emails that were accepted before do not count any more: a person ended a pause then.
    counts_from: datetime | None = None
    #: When the scope was stopped for the last time before.
    stopped_before: datetime | None = None
    #: When an owner ended a stop of the scope.
    owner_resumed: datetime | None = None

    @property
    def key(self) -> PauseKey:
        """What it is about, and who ends it: an account has one pause of each key."""
        return self.scope, self.id, self.cause is PauseCause.PROVIDER

    def is_current(self, now: datetime) -> bool:
        return self.until is None or now < self.until

    def counts_since(self, now: datetime) -> datetime | None:
        """Return from when on emails of the scope count: its window starts again after a stop."""
        if self.level is PauseLevel.STOP and self.until and not self.is_current(now):
            return max(self.until, self.counts_from or self.until)
        return self.counts_from

    @property
    def last_stop(self) -> datetime | None:
        """When the scope was stopped for the last time."""
        return self.since if self.level is PauseLevel.STOP else self.stopped_before

    def level_for(self, template: str | None) -> PauseLevel:
        """Return how strict it is for an email with a template; codes go on at a brake's rate."""
        spared = template in CODE_TEMPLATES and self.scope is not PauseScope.ACCOUNT
        is_stop = self.level is PauseLevel.STOP
        return PauseLevel.BRAKE if spared and is_stop else self.level

    @property
    def reason(self) -> str:
        """Say why, for people."""
        return _REASONS[self.cause]


@dataclass(frozen=True, slots=True)
class PauseSummary:
    """What webhooks say of a pause; what it does not have is None."""

    scope: str
    id: str | None
    level: str
    cause: str
    until: str | None

    @classmethod
    def of(cls, pause: Pause) -> "PauseSummary":
        until = _end(pause)
        return cls(pause.scope.value, pause.id or None, pause.level.value, pause.cause.value, until)

    @classmethod
    def parse(cls, text: str) -> "PauseSummary":
        scope, about, level, cause, until = (part or None for part in text.split(" "))
        return cls(scope or "", about, level or "", cause or "", until)

    @property
    def text(self) -> str:
        return " ".join((self.scope, self.id or "", self.level, self.cause, self.until or ""))


#: That the operator suspended the account.
SUSPENSION: Final = PauseSummary("account", None, "stop", "operator", None)


def find_pause(
    pauses: Iterable[Pause], *, key_id: str | None, template: str | None, now: datetime
) -> Pause | None:
    """Return the strictest pause of an email that brakes or stops it, if there is one.

    Args:
        template: the id of its saved template, or the slug of its starter.
    """
    ids = {PauseScope.ACCOUNT: "", PauseScope.KEY: key_id, PauseScope.TEMPLATE: template}
    current = [
        pause
        for pause in pauses
        if pause.id == ids[pause.scope]
        and pause.level is not PauseLevel.WARN
        and pause.is_current(now)
    ]
    return max(current, key=lambda pause: pause.level_for(template).rank, default=None)


def with_pause(pauses: Iterable[Pause], pause: Pause) -> tuple[Pause, ...]:
    """Return an account's pauses with one that replaces the earlier one of its key.

    The record has room for so many. Warnings make room first, then what is narrower, then what ends
    by itself, then the oldest.
    """
    others = [other for other in pauses if other.key != pause.key]
    others.sort(
        key=lambda one: (
            one.level is not PauseLevel.WARN,
            _NARROWEST_FIRST.index(one.scope),
            one.until is None,
            one.since,
        )
    )
    return (*others[-(MAX_PAUSES - 1) :], pause)


def brake_limits(limits: Limits) -> Limits:
    """Return what a brake leaves of a sender's limits."""
    per_minute = _USUAL_PER_MINUTE if limits.per_minute is None else limits.per_minute
    return Limits(
        per_minute=min(max(per_minute // BRAKE, 1), per_minute), per_day=None, per_month=None
    )


def sending_paused(pause: Pause) -> ServiceError:
    """Return the refusal of an email that a stop is about."""
    until = f"until {pause.until:%Y-%m-%d %H:%M} UTC" if pause.until else "until somebody ends that"
    return ServiceError(
        "sending_paused",
        f"Sending is paused for this {pause.scope.value} {until}, because {pause.reason}.",
        details=_details(pause),
    )


def slowed_down(pause: Pause, exceeded: QuotaExceeded) -> ServiceError:
    """Return the refusal of an email that a brake leaves no room for in this minute."""
    per_minute = exceeded.limits.per_minute or 0
    return ServiceError(
        "rate_limit_exceeded",
        f"This {pause.scope.value} may send {per_minute} messages per minute now, because"
        f" {pause.reason}.",
        details={"limit_per_minute": per_minute, **_details(pause)},
        headers=exceeded.headers,
    )


def _details(pause: Pause) -> dict[str, Json]:
    return {"scope": pause.scope.value, "until": _end(pause)}


def _end(pause: Pause) -> str | None:
    return pause.until.astimezone(UTC).isoformat(timespec="milliseconds") if pause.until else None
