"""Convert domain objects to items of the table and back; no dict leaves the stores."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import (
    Item,
    from_milliseconds,
    from_text,
    to_item,
    to_milliseconds,
    to_text,
)
from pillarbox.domain.accounts.account import Account, Plan, Suspension
from pillarbox.domain.accounts.agent import AgentSettings, Confirmation
from pillarbox.domain.accounts.brand import Brand
from pillarbox.domain.accounts.key import ApiKey, KeyType, Preset
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.ids import created_at
from pillarbox.domain.messages.message import (
    Event,
    EventKind,
    Lease,
    Message,
    MessageOrigin,
    SendRoute,
)
from pillarbox.domain.templates.template import SavedTemplate


def account_item(account: Account) -> Item:
    """Write a new account."""
    return keys.account(account.account_id) | to_item(
        {
            "account": account.account_id,
            "name": account.name,
            "plan": account.plan.value,
            "created": to_text(account.created_at),
            "per_minute": account.overrides.per_minute,
            "per_day": account.overrides.per_day,
            "per_month": account.overrides.per_month,
            "recipients_per_day": account.overrides.recipients_per_day,
            "senders": account.senders,
            "default_sender": account.default_sender,
            "hold_uncertain": account.hold_uncertain or None,
            "shards": account.shards if account.shards > 1 else None,
            "sharded_from": to_text(account.sharded_from) if account.sharded_from else None,
            "hashed_suppressions": account.hashed_suppressions or None,
            "has_webhooks": account.has_webhooks or None,
            "suspended": to_text(account.suspension.at) if account.suspension else None,
            "suspended_for": account.suspension.reason if account.suspension else None,
            "contact": account.contact,
            "widget_secret": account.widget_secret,
        }
        | brand_attributes(account.brand)
    )


def account_of(item: Mapping[str, Any]) -> Account:
    """Read an account."""
    return Account(
        account_id=item["account"],
        name=item["name"],
        plan=Plan(item["plan"]),
        created_at=from_text(item["created"]),
        overrides=Limits(
            per_minute=item.get("per_minute"),
            per_day=item.get("per_day"),
            per_month=item.get("per_month"),
            recipients_per_day=item.get("recipients_per_day"),
        ),
        senders=item.get("senders", {}),
        default_sender=item.get("default_sender"),
        hold_uncertain=item.get("hold_uncertain", False),
        shards=item.get("shards", 1),
        sharded_from=from_text(item["sharded_from"]) if "sharded_from" in item else None,
        hashed_suppressions=item.get("hashed_suppressions", False),
        has_webhooks=item.get("has_webhooks", False),
        contact=item.get("contact"),
        widget_secret=item.get("widget_secret"),
        suspension=Suspension(from_text(item["suspended"]), item.get("suspended_for"))
        if "suspended" in item
        else None,
        brand=Brand(
            name=item.get("brand_name"),
            logo_url=item.get("brand_logo"),
            accent=item.get("brand_accent"),
            from_name=item.get("brand_from_name"),
        ),
    )


def brand_attributes(brand: Brand) -> dict[str, object]:
    """Return the attributes of an account's brand; None means that one is not there."""
    return {
        "brand_name": brand.name,
        "brand_logo": brand.logo_url,
        "brand_accent": brand.accent,
        "brand_from_name": brand.from_name,
    }


def key_item(key: ApiKey) -> Item:
    """Write an API key."""
    return keys.api_key(key.digest) | to_item(
        {
            "id": key.key_id,
            "account": key.account_id,
            "name": key.name,
            "type": key.type.value,
            "preset": key.preset.value if key.preset else None,
            "scopes": sorted(key.scopes),
            "digest": key.digest,
            "created": to_text(key.created_at),
            "revoked": to_text(key.revoked_at) if key.revoked_at else None,
            "self_service": key.self_service or None,
            "agent": _agent_attribute(key.agent) if key.agent else None,
        }
    )


def key_of(item: Mapping[str, Any]) -> ApiKey:
    """Read an API key."""
    return ApiKey(
        key_id=item["id"],
        account_id=item["account"],
        name=item["name"],
        type=KeyType(item["type"]),
        preset=Preset(item["preset"]) if "preset" in item else None,
        scopes=frozenset(item["scopes"]),
        digest=item["digest"],
        created_at=from_text(item["created"]),
        revoked_at=from_text(item["revoked"]) if "revoked" in item else None,
        self_service=item.get("self_service", False),
        agent=_agent_of(item["agent"]) if "agent" in item else None,
    )


def _agent_attribute(agent: AgentSettings) -> dict[str, object]:
    return {
        "to": agent.recipients,
        "confirmation": agent.confirmation.value,
        "per_day": agent.per_day,
    }


def _agent_of(attribute: Mapping[str, Any]) -> AgentSettings:
    return AgentSettings(
        recipients=tuple(attribute["to"]),
        confirmation=Confirmation(attribute["confirmation"]),
        per_day=attribute["per_day"],
    )


def template_item(template: SavedTemplate) -> Item:
    """Write a saved template without its references, which are written separately."""
    return keys.template(template.account_id, UUID(template.template_id)) | to_item(
        {
            "account": template.account_id,
            "id": template.template_id,
            "internal": template.internal or None,
            "created": to_text(template.created_at),
        }
        | template_source(template)
    )


def template_source(template: SavedTemplate) -> dict[str, object]:
    """Return the attributes of a saved template that its author changes."""
    return {
        "name": template.name,
        "subject": template.subject,
        "category": template.category,
        "html": template.html,
        "variables": template.variables,
        "required": template.required,
        "version": template.version,
        "updated": to_text(template.updated_at),
    }


def template_of(item: Mapping[str, Any]) -> SavedTemplate:
    """Read a saved template."""
    return SavedTemplate(
        account_id=item["account"],
        template_id=item["id"],
        name=item["name"],
        subject=item["subject"],
        category=item["category"],
        html=item["html"],
        variables=tuple(item["variables"]),
        required=tuple(item["required"]),
        internal=item.get("internal", False),
        version=item["version"],
        created_at=from_text(item["created"]),
        updated_at=from_text(item["updated"]),
        references=frozenset(item.get("references", ())),
    )


def message_item(message: Message) -> Item:
    """Write a newly accepted message."""
    return keys.message(message.account_id, message.message_id) | to_item(
        {
            "account": message.account_id,
            "hash": message.body_hash,
            "subject": message.subject,
            "from": message.sender,
            "from_name": message.from_name,
            "to": message.to,
            "cc": message.cc or None,
            "bcc": message.bcc or None,
            "rev": message.revision,
            "hashed": message.hashed_suppressions or None,
            "announced": message.announced or None,  # what announce_events filters by
        }
        | _origin_attributes(message.origin)
        | changing_attributes(message)
    )


def changing_attributes(message: Message) -> dict[str, object]:
    """Return the attributes of a message that change; None means that one must be absent."""
    lease = message.lease
    return {
        "status": message.status.value,
        "rank": message.rank,
        "updated": to_text(message.updated_at),
        "events": [_event_attribute(event) for event in message.events] or None,
        "provider_id": message.provider_message_id,
        "lease": _lease_attribute(lease) if lease else None,
        "attempt": message.attempt or None,
        "deaths": message.deaths or None,
    }


def message_of(item: Mapping[str, Any]) -> Message:
    """Read a message."""
    message_id = UUID(item["sk"])
    lease = item.get("lease")
    return Message(
        account_id=item["account"],
        message_id=message_id,
        created_at=created_at(message_id),
        body_hash=item["hash"],
        subject=item["subject"],
        sender=item["from"],
        from_name=item.get("from_name"),
        to=tuple(item["to"]),
        cc=tuple(item.get("cc", ())),
        bcc=tuple(item.get("bcc", ())),
        origin=_origin_of(item),
        events=tuple(map(_event_of, item.get("events", ()))),
        provider_message_id=item.get("provider_id"),
        lease=_lease_of(lease) if lease else None,
        attempt=item.get("attempt", 0),
        deaths=item.get("deaths", 0),
        revision=item["rev"],
        hashed_suppressions=item.get("hashed", False),
        announced=item.get("announced", False),
    )


def _origin_attributes(origin: MessageOrigin) -> dict[str, object]:
    return {
        "via": origin.route.value if origin.route else None,
        "key": origin.key_id,
        "starter": origin.starter_template,
        "template": origin.template_id,
        "version": origin.template_version,
        "request": origin.request_id,
        "tags": dict(origin.tags) or None,
    }


def _origin_of(item: Mapping[str, Any]) -> MessageOrigin:
    return MessageOrigin(
        route=SendRoute(item["via"]) if "via" in item else None,
        key_id=item.get("key"),
        starter_template=item.get("starter"),
        template_id=item.get("template"),
        template_version=item.get("version"),
        request_id=item.get("request"),
        tags=item.get("tags", {}),
    )


def lease_attribute(owner: str, taken_at: int, expires_at: int) -> dict[str, object]:
    """Return the stored form of a lease; times are in milliseconds."""
    return {"owner": owner, "taken": taken_at, "expires": expires_at}


def _lease_attribute(lease: Lease) -> dict[str, object]:
    return lease_attribute(
        lease.owner, to_milliseconds(lease.taken_at), to_milliseconds(lease.expires_at)
    )


def _lease_of(attribute: Mapping[str, Any]) -> Lease:
    return Lease(
        owner=attribute["owner"],
        taken_at=from_milliseconds(attribute["taken"]),
        expires_at=from_milliseconds(attribute["expires"]),
    )


def _event_attribute(event: Event) -> dict[str, object]:
    attribute = {
        "kind": event.kind.value,
        "at": to_text(event.at),
        "to": event.recipient,
        "code": event.code,
        "reason": event.reason,
    }
    return {name: value for name, value in attribute.items() if value is not None}


def _event_of(attribute: Mapping[str, Any]) -> Event:
    return Event(
        kind=EventKind(attribute["kind"]),
        at=from_text(attribute["at"]),
        recipient=attribute.get("to"),
        code=attribute.get("code"),
        reason=attribute.get("reason"),
    )
