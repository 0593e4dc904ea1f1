"""The log of an account: what operators of the service and its members did to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.key_policy import OPERATOR

#: Who changes accounts with the operator's command. AWS decides who may run it.
COMMAND: Final = OPERATOR
#: What the service does by itself.
SERVICE: Final = "service"
#: What a setting of an account can be. None means that it is not set, or the plan's.
type SettingValue = str | int | bool | None


class LogPart(StrEnum):
    """The two parts of a log: calls are apart, so that they crowd out no change."""

    CHANGES = "changes"
    CALLS = "calls"


class AccountAction(StrEnum):
    """What was done. The first four are for operators of the service alone."""

    APPROVED = "approved"
    CHANGED = "changed"
    SUSPENDED = "suspended"
    RESUMED = "resumed"
    API_CALLED = "api.called"
    KEY_CREATED = "key.created"
    KEY_REVOKED = "key.revoked"
    MEMBER_INVITED = "member.invited"
    MEMBER_JOINED = "member.joined"
    MEMBER_CHANGED = "member.changed"
    MEMBER_REMOVED = "member.removed"
    PASSKEY_ADDED = "passkey.added"
    PASSKEY_REMOVED = "passkey.removed"
    PASSKEY_STOPPED = "passkey.stopped"
    WEBHOOK_CREATED = "webhook.created"
    WEBHOOK_CHANGED = "webhook.changed"
    WEBHOOK_DELETED = "webhook.deleted"
    SENDING_RESUMED = "sending.resumed"
    ALERTS_CHANGED = "alerts.changed"
    DOMAIN_ADDED = "domain.added"
    DOMAIN_REMOVED = "domain.removed"
    DOMAIN_LOST = "domain.lost"
    DOMAIN_SHARED = "domain.shared"
    SENDER_ADDED = "sender.added"
    SENDER_REMOVED = "sender.removed"
    CONTENT_READ = "content.read"
    CONTENT_RESENT = "content.resent"
    RECEIVED_READ = "received.read"
    RECEIVING_BEGUN = "receiving.begun"
    RECEIVING_ENDED = "receiving.ended"
    KEEP_CHANGED = "keep.changed"
    RECORDS_CHANGED = "records.changed"

    @property
    def of_operators(self) -> bool:
        """Whether operators did it, whose addresses members of the account do not see."""
        return "." not in self

    @property
    def is_call(self) -> bool:
        """Whether it is noted for each try, also of what is refused or only read."""
        read = {AccountAction.CONTENT_READ, AccountAction.RECEIVED_READ}
        return self is AccountAction.API_CALLED or self in read


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One action. `reason` is for operators.

    `by` is the address of an operator or a member, the id of a key, `COMMAND` or `SERVICE`.
    """

    entry_id: str
    at: datetime
    by: str
    action: AccountAction
    #: The changed settings, with the value before and the value after.
    changes: Mapping[str, tuple[SettingValue, SettingValue]] = field(default_factory=dict)
    reason: str | None = None
    #: The key, member, endpoint or domain, as people know it. None: the account itself.
    subject: str | None = None
    #: How often it was done in the minute, if it is a call.
    count: int = 1


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
        "supportEmail": brand.support_email,
        "companyAddress": brand.company_address,
        "actionUrl": brand.action_url,
        "shards": account.shards,
        "operates": account.operates,
        "keepDays": account.keep,
        "recordDays": account.record_days,
        "replies": account.replies,
        "receivedDays": account.received_days,
    }


def differences(before: Account, after: Account) -> Mapping[str, tuple[SettingValue, SettingValue]]:
    old, new = settings_of(before), settings_of(after)
    return {name: (old[name], new[name]) for name in old if old[name] != new[name]}
