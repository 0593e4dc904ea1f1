"""Choose which rows of an earlier state of the tables are restored, and compare two states."""

import json
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

#: A job of a younger message may still come, and would send it again.
_SETTLED: Final = timedelta(days=2)
MESSAGES: Final = "messages"
_MOST_SHOWN: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredKind:
    """A kind of rows that goes back if the tables lack it."""

    #: What the command calls it.
    name: str
    #: Why one that exists is not replaced; None if `--replace` may do it.
    not_replaced: str | None = None
    #: What a replaced row keeps, because other rows depend on it.
    kept: AbstractSet[str] = frozenset()


_KEY: Final = "a revoked key could become valid: create another key"
_LOG: Final = "an entry of a log never changes"
_MEMBER: Final = "a former role could come back: use `member add`"
_TEMPLATE: Final = "a template keeps its versions: publish an earlier one"

#: By the start of their keys (keys.py) the kinds that go back. Every other one is in `LEFT_OUT`.
RESTORED: Final[Mapping[str, RestoredKind]] = {
    "ACCT": RestoredKind(
        name="accounts",
        kept={
            *("shards", "sharded_from", "hashed_suppressions"),
            *("has_webhooks", "suspended", "suspended_for", "suspended_queue"),
            *("paused", "paused_since"),
        },
    ),
    "ALERT": RestoredKind(name="alerts", not_replaced="owners can choose again"),
    "ACCTS": RestoredKind(name="accounts", not_replaced="it only names an account"),
    "DOM": RestoredKind(name="domains"),
    "DOMAIN": RestoredKind(name="senderDomains", not_replaced="the hourly sweep corrects it"),
    "HOOK": RestoredKind(name="webhookEndpoints"),
    "KEY": RestoredKind(name="keys", not_replaced=_KEY),
    "KEYS": RestoredKind(name="keys", not_replaced=_KEY),
    "LOG": RestoredKind(name="logEntries", not_replaced=_LOG),
    "MSG": RestoredKind(name=MESSAGES, kept={"rev"}),
    "OF": RestoredKind(name="members", not_replaced=_MEMBER),
    "RECD": RestoredKind(name="receivedMails", not_replaced="a received mail never changes"),
    "RECV": RestoredKind(name="receivingDomains", not_replaced="use `domain receive`"),
    "REPLIES": RestoredKind(name="replyKeys", not_replaced="the present keys are newer"),
    "REDRIVES": RestoredKind(name="redrives", not_replaced=_LOG),
    "SIGNUPS": RestoredKind(name="signUps", not_replaced="decide about it again: use `signup`"),
    "SUP": RestoredKind(name="suppressions"),
    "TEAM": RestoredKind(name="members", not_replaced=_MEMBER),
    "TPL": RestoredKind(name="templates", not_replaced=_TEMPLATE),
    "TPLD": RestoredKind(name="templateDrafts", not_replaced=_TEMPLATE),
    "TPLV": RestoredKind(name="templateVersions", not_replaced="a version never changes"),
    "USED": RestoredKind(name="keyUses", not_replaced="the next email of the key corrects it"),
    "USER": RestoredKind(name="users", not_replaced="a former right of an operator could return"),
}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Rows that stay away: what the command calls them, and why."""

    name: str
    reason: str


_BRIEF: Final = "valid for minutes only"
_STATISTICS: Final = LeftOut("statistics", "made of the messages: use `stats rebuild`")
_INDEX: Final = LeftOut("searchEntries", "made of the messages: use `stats rebuild`")
_DELIVERIES: Final = LeftOut("webhookDeliveries", "perhaps posted since then: use `webhook replay`")
_WAITING: Final = LeftOut("waitingEmails", "perhaps sent or canceled since then")
_CURRENT: Final = LeftOut("presentState", "the service writes it again")
_UNASKED: Final = LeftOut(MESSAGES, "say --messages")
_YOUNG: Final = LeftOut(MESSAGES, "younger than two days: a job may still come")
_TOMBSTONE: Final = LeftOut("tombstones", "of messages that were never accepted")
_PENDING: Final = LeftOut(MESSAGES, "pending then, so the sweep would fail them: use a later time")
#: The kinds that stay away.
LEFT_OUT: Final[Mapping[str, LeftOut]] = {
    "ADDRESS": LeftOut("serviceAddress", "`deploy` writes it again"),
    "TENANT": LeftOut("sharedTenant", "`deploy` writes it again"),
    "CHAT": _CURRENT,
    "COUNT": LeftOut("codeCounts", _BRIEF),
    "DUE": _DELIVERIES,
    "DUES": _CURRENT,
    "LATER": _WAITING,
    "WAKE": _WAITING,
    "WAKES": _CURRENT,
    "FLOW": LeftOut("signIns", _BRIEF),
    "HOOKD": _DELIVERIES,
    "HOOKH": _CURRENT,
    "HOOKW": _DELIVERIES,
    "IDEM": LeftOut("claims", "the request may have been repeated since then"),
    "LINK": LeftOut("links", _BRIEF),
    "NAME": LeftOut("nameLeases", _BRIEF),
    "PASSKEY": LeftOut("passkeys", "perhaps removed since then: users add them again"),
    "POW": _CURRENT,
    "PREVIEW": LeftOut("signIns", _BRIEF),
    "PROBE": _CURRENT,
    "PROOF": LeftOut("proofs", _BRIEF),
    "PROVED": _CURRENT,
    "PULSE": _CURRENT,
    "QUOTA": LeftOut("quotas", "a former count would be wrong"),
    "RATE": _CURRENT,
    "RCPT": _INDEX,
    "REBUILD": _STATISTICS,
    "SEEN": _CURRENT,
    "SESS": LeftOut("sessions", "perhaps ended since then: users sign in again"),
    "STAT": _STATISTICS,
    "STRANGERS": _CURRENT,
    "TAG": _INDEX,
    "TELL": LeftOut("alertTimes", "the owners have been told since then"),
    "TELLS": _CURRENT,
}
#: The names that `--replace` takes.
REPLACED: Final = frozenset(one.name for one in RESTORED.values() if one.not_replaced is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerRow:
    """What decides whether a row is restored: its kind, whose it is, and its times."""

    #: The start of its key.
    kind: str
    #: Empty if it belongs to no single account.
    account_id: str
    #: The user whose record it is; None for other rows.
    user_id: str | None = None
    expires_at: datetime | None
    #: When the message was created; None for other rows.
    created_at: datetime | None
    #: Whether it is a message whose outcome was not known then.
    pending: bool = False
    #: Whether it only stands in the place of a message that was never accepted.
    withdrawn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What the operator wants to restore. No account means all of them."""

    accounts: AbstractSet[str]
    messages: bool
    now: datetime
    #: The members of the accounts, whose own records come back too.
    users: AbstractSet[str] = frozenset()

    def covers(self, row: FormerRow) -> bool:
        if not self.accounts:
            return True
        return row.account_id in self.accounts or row.user_id in self.users

    def left_out(self, row: FormerRow) -> LeftOut | None:
        """Return why the row stays away, also if the tables lack it; None if it goes back."""
        if row.kind == "MSG":
            return self.refused_message(row) if self.messages else _UNASKED
        return LEFT_OUT.get(row.kind)

    def wants(self, row: FormerRow) -> bool:
        """Return whether the row is restored if the tables lack it."""
        is_over = row.expires_at is not None and row.expires_at <= self.now
        return self.covers(row) and not is_over and self.left_out(row) is None

    def refused_message(self, row: FormerRow) -> LeftOut | None:
        """Return why the row of a message would be wrong today; None if it would not."""
        if row.withdrawn:
            return _TOMBSTONE
        if row.created_at is None or row.created_at > self.now - _SETTLED:
            return _YOUNG
        return _PENDING if row.pending else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """An attribute that two states of a row do not share; None if a state lacks it."""

    attribute: str
    now: str | None
    then: str | None


def differences(now: Mapping[str, Any], then: Mapping[str, Any]) -> Iterator[Difference]:
    """Yield what a replacement changes. Secrets are not shown, and long texts are cut."""
    for name in sorted({*now, *then}):
        if now.get(name) != then.get(name):
            yield Difference(attribute=name, now=_shown(name, now), then=_shown(name, then))


def _shown(name: str, row: Mapping[str, Any]) -> str | None:
    if name not in row:
        return None
    if "secret" in name or isinstance(row[name], bytes):
        return "(not shown)"
    value = sorted(row[name]) if isinstance(row[name], set) else row[name]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"
