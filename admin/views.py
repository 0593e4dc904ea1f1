"""Convert domain objects to the JSON that the command shows."""

import re
from datetime import UTC, datetime

from pillarbox.application.accounts.keys import IssuedKey
from pillarbox.application.accounts.ports import Suppression
from pillarbox.application.accounts.senders import AccountSender
from pillarbox.domain.account import Account
from pillarbox.domain.errors import Json
from pillarbox.domain.key import ApiKey
from pillarbox.domain.quota import Limits
from pillarbox.domain.template import SavedTemplate

type View = dict[str, Json]


def account_view(account: Account) -> View:
    """Return an account. `limits` are in force; `ownLimits` override the plan's."""
    return {
        "accountId": account.account_id,
        "name": account.name,
        "plan": account.plan.value,
        "limits": _limits_view(account.limits),
        "ownLimits": _limits_view(account.overrides),
        "defaultSender": account.default_sender,
        "senders": [*sorted(account.senders)],
        "brand": {
            "name": account.brand.name,
            "logoUrl": account.brand.logo_url,
            "accent": account.brand.accent,
            "fromName": account.brand.from_name,
        },
        "holdUncertain": account.hold_uncertain,
        "shards": account.shards,
        "shardedFrom": _time(account.sharded_from) if account.sharded_from else None,
        "createdAt": _time(account.created_at),
    }


def issued_key_view(issued: IssuedKey) -> View:
    """Return a new key with its text."""
    record = issued.record
    return {
        "keyId": record.key_id,
        "key": issued.text,
        "prefix": record.type.prefix,
        "scopes": [*sorted(record.scopes)],
        "name": record.name,
        "accountId": record.account_id,
    }


def key_view(key: ApiKey) -> View:
    """Return a key without its text, which is not stored."""
    return {
        "keyId": key.key_id,
        "name": key.name,
        "type": key.type.value,
        "preset": key.preset.value if key.preset else None,
        "prefix": key.type.prefix,
        "selfService": key.self_service,
        "scopes": [*sorted(key.scopes)],
        "createdAt": _time(key.created_at),
        "revokedAt": _time(key.revoked_at) if key.revoked_at else None,
    }


def sender_view(sender: AccountSender) -> View:
    """Return a sender. Its status is `verified` or `pending`."""
    return {
        "address": sender.address,
        "status": "verified" if sender.verified else "pending",
        "default": sender.default,
    }


def template_view(template: SavedTemplate) -> View:
    """Return a saved template without its body: contract 2.7 and fields for operators."""
    return {
        "id": template.template_id,
        "name": template.name,
        "subject": template.subject,
        "category": template.category,
        "variables": [*template.variables],
        "required": [*template.required],
        "internal": template.internal,
        "references": [*sorted(template.references)],
        "createdAt": _time(template.created_at),
        "updatedAt": _time(template.updated_at),
    }


def suppression_view(suppression: Suppression) -> View:
    """Return a suppression. `messageId` is the message that bounced or got a complaint."""
    return {
        "address": suppression.address,
        "reason": suppression.reason,
        "createdAt": _time(suppression.at),
        "messageId": str(suppression.message_id) if suppression.message_id else None,
    }


def label(name: str) -> str:
    """Return the label of a field: `Default sender` for `defaultSender`."""
    return re.sub("[A-Z]", lambda letter: f" {letter[0].lower()}", name).capitalize()


def to_text(value: Json) -> str:
    """Return a value as text without control characters, which could control the terminal."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(to_text, value)) or "-"
        case dict():
            return ", ".join(f"{label(name)} {to_text(part)}" for name, part in value.items())
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in str(value))


def _limits_view(limits: Limits) -> View:
    return {
        "perMinute": limits.per_minute,
        "perDay": limits.per_day,
        "perMonth": limits.per_month,
    }


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")
