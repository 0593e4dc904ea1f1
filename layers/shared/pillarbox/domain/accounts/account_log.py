"""The log of an account: what operators of the service did to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from pillarbox.domain.accounts.account import Account

#: Who changes accounts with the operator's command. AWS decides who may run it.
COMMAND: Final = "operator"
#: What a setting of an account can be. None means that it is not set, or the plan's.
type SettingValue = str | int | bool | None


class AccountAction(StrEnum):
    """What an operator did."""

    APPROVED = "approved"
    CHANGED = "changed"
    SUSPENDED = "suspended"
    RESUMED = "resumed"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One action. `by` is the address of an operator, or `COMMAND`; `reason` is for operators."""

    entry_id: str
    at: datetime
    by: str
    action: AccountAction
    #: The changed settings, with the value before and the value after.
    changes: Mapping[str, tuple[SettingValue, SettingValue]] = field(default_factory=dict)
    reason: str | None = None


def settings_of(account: Account) -> Mapping[str, SettingValue]:
    """Return what an operator can set of an account, by the names that the log has."""
    own, brand = account.overrides, account.brand
    return {
        "name": account.name,
        "plan": account.plan.value,
        "perMinute": own.per_minute,
        "perDay": own.per_day,
        "perMonth": own.per_month,
        "recipientsPerDay": own.recipients_per_day,
        "holdUncertain": account.hold_uncertain,
        "contact": account.contact,
        "brandName": brand.name,
        "logoUrl": brand.logo_url,
        "accent": brand.accent,
        "fromName": brand.from_name,
        "shards": account.shards,
    }


def differences(before: Account, after: Account) -> Mapping[str, tuple[SettingValue, SettingValue]]:
    """Return the settings in which two states of an account differ."""
    old, new = settings_of(before), settings_of(after)
    return {name: (old[name], new[name]) for name in old if old[name] != new[name]}
