"""Convert domain objects to the JSON that the command shows."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from admin.use_cases.dead_letters import ExaminedLetter
from pillarbox.application.accounts.senders import AccountSender
from pillarbox.application.templates.preview import Problem
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.agent import AgentSettings
from pillarbox.domain.accounts.issued_key import IssuedKey
from pillarbox.domain.accounts.key import ApiKey
from pillarbox.domain.accounts.quota import Limits, WindowUsage
from pillarbox.domain.accounts.suppression import Suppression
from pillarbox.domain.errors import Json
from pillarbox.domain.messages.message import Event, Message
from pillarbox.domain.templates.template import SavedTemplate

type View = dict[str, Json]

_MINUTE: Final = timedelta(minutes=1)


def account_view(account: Account) -> View:
    """Return an account. `limits` are in force; `ownLimits` override the plan's."""
    limits, own = account.limits, account.overrides
    return {
        "accountId": account.account_id,
        "name": account.name,
        "plan": account.plan.value,
        "limits": _limits_view(limits, limits.of("recipients")),
        "ownLimits": _limits_view(own, own.recipients_per_day),
        "defaultSender": account.default_sender,
        "senders": [*sorted(account.senders)],
        "contact": account.contact,
        "brand": {
            "name": account.brand.name,
            "logoUrl": account.brand.logo_url,
            "accent": account.brand.accent,
            "fromName": account.brand.from_name,
        },
        "holdUncertain": account.hold_uncertain,
        "shards": account.shards,
        "shardedFrom": time_text(account.sharded_from) if account.sharded_from else None,
        "suspendedAt": time_text(account.suspension.at) if account.suspension else None,
        "suspensionReason": account.suspension.reason if account.suspension else None,
        "createdAt": time_text(account.created_at),
    }


def usage_view(usage: WindowUsage) -> View:
    """Return a quota window. `left` is null if the window has no limit."""
    return {
        "window": usage.window,
        "used": usage.used,
        "limit": usage.limit,
        "left": usage.left,
        "ends": time_text(usage.ends),
    }


def issued_key_view(issued: IssuedKey) -> View:
    """Return a new key with its text."""
    record = issued.record
    agent: View = {"agent": _agent_view(record.agent)} if record.agent else {}
    return agent | {
        "keyId": record.key_id,
        "key": issued.text,
        "prefix": record.type.prefix,
        "scopes": [*sorted(record.scopes)],
        "name": record.name,
        "accountId": record.account_id,
    }


def dead_letter_view(examined: ExaminedLetter, now: datetime) -> View:
    """Return what is known of a dead letter."""
    letter, message = examined.letter, examined.message
    return {
        "queueMessageId": letter.queue_message_id,
        "accountId": letter.account_id,
        "messageId": str(letter.message_id) if letter.message_id else None,
        "endpointId": letter.endpoint_id,
        "task": letter.task,
        "template": examined.template,
        "bytes": letter.size,
        "receives": letter.receive_count,
        "sentAt": time_text(letter.sent_at),
        "ageMinutes": max((now - letter.sent_at) // _MINUTE, 0),
        "status": message.status.value if message else None,
        "reason": examined.reason,
    }


def _agent_view(agent: AgentSettings | None) -> View | None:
    """Return the limits of an agent's key."""
    if agent is None:
        return None
    return {
        "recipients": [*agent.recipients],
        "confirmation": agent.confirmation.value,
        "perDay": agent.per_day,
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
        "agent": _agent_view(key.agent),
        "createdAt": time_text(key.created_at),
        "revokedAt": time_text(key.revoked_at) if key.revoked_at else None,
    }


def used_key_view(key: ApiKey, last_used_at: datetime | None) -> View:
    """Return a key with the time of its last use, to within an hour."""
    return key_view(key) | {"lastUsedAt": time_text(last_used_at) if last_used_at else None}


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
        "version": template.version,
        "references": [*sorted(template.references)],
        "createdAt": time_text(template.created_at),
        "updatedAt": time_text(template.updated_at),
    }


def problem_view(problem: Problem) -> View:
    """Return a problem of a template; `line` is that of the file."""
    return {
        "line": problem.line,
        "severity": problem.severity.value,
        "code": problem.code,
        "message": problem.message,
        "suggestion": problem.suggestion,
    }


def suppression_view(suppression: Suppression) -> View:
    """Return a suppression. `messageId` is the message that bounced or got a complaint."""
    return {
        "address": suppression.address,
        "reason": suppression.reason,
        "createdAt": time_text(suppression.at),
        "messageId": str(suppression.message_id) if suppression.message_id else None,
    }


def message_row(message: Message) -> View:
    """Return what a list of messages shows of one."""
    return {
        "messageId": str(message.message_id),
        "createdAt": time_text(message.created_at),
        "status": message.status.value,
        "to": [*message.recipients],
        "subject": message.subject,
    }


def message_view(message: Message) -> View:
    """Return a message without its events. `providerMessageId` is SES's."""
    error, origin = message.error, message.origin
    return {
        "messageId": str(message.message_id),
        "accountId": message.account_id,
        "status": message.status.value,
        "error": (error.code or error.kind.value) if error else None,
        "createdAt": time_text(message.created_at),
        "updatedAt": time_text(message.updated_at),
        "from": message.sender,
        "fromName": message.from_name,
        "to": [*message.to],
        "cc": [*message.cc],
        "bcc": [*message.bcc],
        "subject": message.subject,
        "route": origin.route,
        "keyId": origin.key_id,
        "starterTemplate": origin.starter_template,
        "templateId": origin.template_id,
        "templateVersion": origin.template_version,
        "requestId": origin.request_id,
        "tags": dict(origin.tags),
        "providerMessageId": message.provider_message_id,
        "attempts": message.attempt,
        "leasedUntil": time_text(message.lease.expires_at) if message.lease else None,
    }


def event_view(event: Event) -> View:
    """Return an event of a message, or of one of its recipients."""
    return {
        "at": time_text(event.at),
        "event": event.kind.value,
        "recipient": event.recipient,
        "code": event.code,
        "reason": event.reason,
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


def _limits_view(limits: Limits, recipients_per_day: int | None) -> View:
    return {
        "perMinute": limits.per_minute,
        "perDay": limits.per_day,
        "perMonth": limits.per_month,
        "recipientsPerDay": recipients_per_day,
    }


def time_text(moment: datetime) -> str:
    """Return a moment in UTC, to the millisecond."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")
