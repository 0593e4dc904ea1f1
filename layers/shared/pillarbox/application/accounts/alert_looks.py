"""What the sweep looks for each hour that nothing else notices: quotas and unused keys.

It does not look at the accounts of visitors who try the service with the preview widget: they
expect no more mail, and their keys end by themselves.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.alert import Alert, AlertKind
from pillarbox.domain.accounts.key import EMAILS_SEND, ApiKey
from pillarbox.domain.accounts.quota import QuotaState, Window, WindowUsage

#: In percent of a limit.
MUCH: Final = 80
#: An owner hears of a key when it was not used for so long, and again each time as long after.
UNUSED: Final = timedelta(days=90)
#: Passes in so long a time after that raise the alert: one a day does, and a pass may fail.
_RECENT: Final = timedelta(days=2)
#: The hour, in UTC, of the pass that looks at the keys. No key is urgent.
KEYS_HOUR: Final = 6
_LONG: Final[Mapping[Window, str]] = {
    "day": "emails of a day",
    "recipients": "recipients of a day",
    "month": "emails of a month",
}


@dataclass(frozen=True, slots=True)
class QuotaLook:
    """Raises an alert when most of a day's or a month's quota is used, once in each of them."""

    usage: Callable[[Account], QuotaState]
    raise_alert: Callable[[str, Alert], None]

    def look(self, account: Account) -> None:
        """Read what is used, if the account has such a limit."""
        if account.widget_secret or all(account.limits.of(window) is None for window in _LONG):
            return
        for usage in self.usage(account).windows:
            limit, words = usage.limit, _LONG.get(usage.window)
            if limit and words and usage.used * 100 >= limit * MUCH:
                self.raise_alert(account.account_id, _quota_alert(usage, limit, words))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedKeysLook:
    """Raises an alert about keys that work, and that nothing was sent with for 90 days."""

    ids_of: Callable[[str], Iterable[str]]
    last_uses: Callable[[str], Mapping[str, datetime]]
    key_of: Callable[[str, str], ApiKey | None]
    raise_alert: Callable[[str, Alert], None]
    clock: Clock

    def look(self, account: Account) -> None:
        """Read the uses of the keys, and the keys that may be unused, once a day."""
        now = self.clock()
        if account.widget_secret or now.hour != KEYS_HOUR:
            return
        uses = self.last_uses(account.account_id)
        for key_id in self.ids_of(account.account_id):
            used_at = uses.get(key_id)
            if used_at is not None and _unused_since(used_at, now) is None:
                continue
            key = self.key_of(account.account_id, key_id)
            # Only sending is recorded.
            if key is None or EMAILS_SEND not in key.scopes or not key.works(lambda: now):
                continue
            at = _unused_since(used_at or key.created_at, now)
            if at is not None:
                self.raise_alert(account.account_id, _key_alert(key, used_at, at))


def _unused_since(since: datetime, now: datetime) -> datetime | None:
    """Return when a multiple of the time was over without a use, if that is a moment ago."""
    times, beyond = divmod(now - since, UNUSED)
    return since + times * UNUSED if times and beyond < _RECENT else None


def _quota_alert(usage: WindowUsage, limit: int, words: str) -> Alert:
    is_used = usage.used >= limit
    title = f"The quota of {words} is {'used up' if is_used else f'{MUCH} % used'}"
    return Alert(
        kind=AlertKind.QUOTA,
        # The end of a quota is news even to those who heard of its last fifth.
        name=f"{usage.window}{' end' if is_used else ''}",
        at=usage.starts,
        title=title,
        paragraphs=(
            f"{usage.used} of {limit} {words} are used. What is above the limit is refused.",
            f"Counting begins anew on {usage.ends:%-d %B %Y, %H:%M} UTC.",
        ),
        about=f"Limit: {limit} {words}",
    )


def _key_alert(key: ApiKey, used_at: datetime | None, at: datetime) -> Alert:
    last = f"was last used on {used_at:%-d %B %Y}" if used_at else "was never used"
    return Alert(
        kind=AlertKind.UNUSED_KEY,
        name=key.key_id,
        at=at,
        title="An API key is not used",
        paragraphs=(
            f"The key \u201c{key.name}\u201d {last}, and still works.",
            "If no program needs it, revoke it in the dashboard.",
        ),
        about=f"API key: {key.key_id}",
    )
