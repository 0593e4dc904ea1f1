"""Domain objects as the command shows them."""

import re
from datetime import UTC, datetime

from pillarbox.application.accounts.keys import IssuedKey
from pillarbox.application.accounts.ports import Suppression
from pillarbox.application.accounts.senders import Sender
from pillarbox.domain.account import Account
from pillarbox.domain.errors import Json
from pillarbox.domain.key import ApiKey
from pillarbox.domain.quota import Limits
from pillarbox.domain.template import SavedTemplate

type View = dict[str, Json]


def account_view(account: Account) -> View:
    """An account; `limits` are those in force, `ownLimits` the ones set over the plan's."""
    return {
        "accountId": account.account_id,
        "name": account.name,
        "plan": account.plan.value,
        "limits": _limits(account.limits),
        "ownLimits": _limits(account.overrides),
        "defaultSender": account.default_sender,
        "senders": [*sorted(account.senders)],
        "holdUncertain": account.hold_uncertain,
        "createdAt": _time(account.created_at),
    }


def issued_key_view(issued: IssuedKey) -> View:
    """A key that was just made, with its text."""
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
    """A key as it is kept: without its text."""
    return {
        "keyId": key.key_id,
        "name": key.name,
        "type": key.type.value,
        "preset": key.preset.value if key.preset else None,
        "prefix": key.type.prefix,
        "scopes": [*sorted(key.scopes)],
        "createdAt": _time(key.created_at),
        "revokedAt": _time(key.revoked_at) if key.revoked_at else None,
    }


def sender_view(sender: Sender) -> View:
    """A sender; its status is `verified` or `pending`."""
    return {
        "address": sender.address,
        "status": "verified" if sender.verified else "pending",
        "default": sender.default,
    }


def template_view(template: SavedTemplate) -> View:
    """A saved template without its body (contract 2.7, and what an operator sees beyond)."""
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
    """A suppression; `messageId` is the mail that bounced or was complained of."""
    return {
        "address": suppression.address,
        "reason": suppression.reason,
        "createdAt": _time(suppression.at),
        "messageId": str(suppression.message_id) if suppression.message_id else None,
    }


def label(name: str) -> str:
    """A field's name for people: `defaultSender` is Default sender."""
    return re.sub("[A-Z]", lambda letter: f" {letter[0].lower()}", name).capitalize()


def written(value: Json) -> str:
    """A value for people; nothing in it can steer a terminal."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(written, value)) or "-"
        case dict():
            return ", ".join(f"{label(name)} {written(part)}" for name, part in value.items())
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in str(value))


def _limits(limits: Limits) -> View:
    return {
        "perMinute": limits.per_minute,
        "perDay": limits.per_day,
        "perMonth": limits.per_month,
    }


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")
