"""Convert domain objects to items of the table and back; no dict leaves the stores."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import NEW, TIME, Item, to_item, to_text, to_ttl
from pillarbox.adapters.rows import (
    MILLISECONDS,
    TUPLE,
    UUID_TEXT,
    Codec,
    Column,
    Row,
    many,
    nested,
    one_of,
)
from pillarbox.domain.accounts.account import (
    MAX_KEEP,
    RECEIVED_DAYS,
    Account,
    Brand,
    Isolation,
    Plan,
    QueuedMail,
    Suspension,
)
from pillarbox.domain.accounts.key import AgentSettings, ApiKey, Confirmation, KeyType, Preset
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.ids import created_at
from pillarbox.domain.messages.message import (
    Event,
    EventKind,
    Labels,
    Lease,
    Message,
    MessageOrigin,
    SendRoute,
)
from pillarbox.domain.templates.template import SavedTemplate

if TYPE_CHECKING:
    from pillarbox.domain.accounts.pause import Pause
    from pillarbox.domain.messages.schedule import Schedule
    from pillarbox.domain.templates.locales import LocaleVariant

_MILLISECOND: Final = timedelta(milliseconds=1)
_LIMITS: Final = Row(Limits, "per_minute?", "per_day?", "per_month?", "recipients_per_day?")
_BRAND: Final = Row(
    Brand,
    name="brand_name?",
    logo_url="brand_logo?",
    accent="brand_accent?",
    from_name="brand_from_name?",
    support_email="brand_support?",
    company_address="brand_address?",
    action_url="brand_action?",
)
_SUSPENSION: Final = Row(
    Suspension,
    at=("suspended", TIME),
    reason="suspended_for?",
    queued=Column("suspended_queue", one_of(QueuedMail), absent=QueuedMail.SEND),
)
_ACCOUNT: Final = Row(
    Account,
    *("name", "default_sender?", "contact?", "widget_secret?", "tenant?"),
    account_id="account",
    plan=("plan", one_of(Plan)),
    created_at=("created", TIME),
    hold_uncertain=Column("hold_uncertain", absent=False),
    shards=Column("shards", absent=1),
    sharded_from=("sharded_from?", TIME),
    hashed_suppressions=Column("hashed_suppressions", absent=False),
    has_webhooks=Column("has_webhooks", absent=False),
    record_days=Column("record_days", absent=0),
    records_from=("records_from?", TIME),
    operates=Column("operates", absent=False),
    keep=Column("keep", absent=0),
    reply_domain="reply_domain?",
    replies=Column("replies", absent=False),
    received_days=Column("received_days", absent=RECEIVED_DAYS),
    isolation=Column("isolation", one_of(Isolation), absent=Isolation.NONE),
)
_AGENT: Final = Row(
    AgentSettings,
    "per_day",
    recipients=("to", TUPLE),
    confirmation=("confirmation", one_of(Confirmation)),
)
_KEY: Final = Row(
    ApiKey,
    *("name", "digest", "created_by?", "ending?"),
    key_id="id",
    account_id="account",
    type=("type", one_of(KeyType)),
    preset=("preset?", one_of(Preset)),
    scopes=("scopes", Codec(sorted, frozenset)),
    created_at=("created", TIME),
    revoked_at=("revoked?", TIME),
    self_service=Column("self_service", absent=False),
    agent=("agent?", nested(_AGENT)),
    expires_at=("expires_at?", TIME),
    sources=Column("sources", TUPLE, absent=()),
)


def _write_locales(locales: "Mapping[str, LocaleVariant]") -> dict[str, list[object]]:
    return {name: [*part] for name, part in locales.items()}


def _read_locales(stored: Mapping[str, list[Any]]) -> "dict[str, LocaleVariant]":
    from pillarbox.domain.templates.locales import LocaleVariant  # noqa: PLC0415  few have any

    return {
        name: LocaleVariant(subject, html, text, tuple(required))
        for name, (subject, html, text, required) in stored.items()
    }


#: What its author changes.
_TEMPLATE_SOURCE: Final[Row[dict[str, Any]]] = Row(
    dict,
    *("name", "subject", "category", "html", "version"),
    variables=("variables", TUPLE),
    required=("required", TUPLE),
    updated_at=("updated", TIME),
    text="text?",
    keep=Column("keep", absent=MAX_KEEP),
    locales=Column("locales", Codec(_write_locales, _read_locales), absent={}),
)
_TEMPLATE: Final = Row(
    SavedTemplate,
    account_id="account",
    template_id="id",
    internal=Column("internal", absent=False),
    created_at=("created", TIME),
)
_EVENT: Final = Row(
    Event,
    *("code?", "reason?"),
    kind=("kind", one_of(EventKind)),
    at=("at", TIME),
    recipient="to?",
)


@cache
def _schedules() -> Row["Schedule"]:
    from pillarbox.domain.messages.schedule import Schedule  # noqa: PLC0415  few emails wait

    return Row(
        Schedule,
        due_at=("due", MILLISECONDS),
        life=("life", Codec(lambda life: life // _MILLISECOND, lambda ms: ms * _MILLISECOND)),
        held=Column("held", absent=False),
    )


#: As `nested`, of a class that is imported when it is needed.
_SCHEDULE: Final = Codec(
    lambda schedule: nested(_schedules()).write(schedule),
    lambda stored: nested(_schedules()).read(stored),
)
_LEASE: Final = Row(
    Lease, "owner", taken_at=("taken", MILLISECONDS), expires_at=("expires", MILLISECONDS)
)
_ORIGIN: Final = Row(
    MessageOrigin,
    route=("via?", one_of(SendRoute)),
    key_id="key?",
    starter_template="starter?",
    template_id="template?",
    template_version="version?",
    shape="shape?",
    request_id="request?",
    scheduled_at=("asked?", MILLISECONDS),
    held=Column("hold", absent=False),
    resend_of=("resend_of?", UUID_TEXT),
    for_owner=Column("for_owner", absent=False),
)
#: Each field has a column of its name.
_LABELS: Final = Row(
    Labels, **{name: Column(name, absent=default) for name, default in asdict(Labels()).items()}
)
_CHANGING: Final[Row[dict[str, Any]]] = Row(
    dict,
    events=Column("events", many(nested(_EVENT)), absent=()),
    provider_message_id="provider_id?",
    lease=("lease?", nested(_LEASE)),
    schedule=("schedule?", _SCHEDULE),
    attempt=Column("attempt", absent=0),
    deaths=Column("deaths", absent=0),
)
_MESSAGE: Final = Row(
    Message,
    *("subject", "from_name?"),
    account_id="account",
    body_hash="hash",
    sender="from",
    to=("to", TUPLE),
    cc=Column("cc", TUPLE, absent=()),
    bcc=Column("bcc", TUPLE, absent=()),
    revision="rev",
    hashed_suppressions=Column("hashed", absent=False),
    announced=Column("announced", absent=False),  # what announce_events filters by
    keep=Column("keep", absent=0),
    unkept=Column("unkept", absent=False),
)
lease_attribute: Final = _LEASE.write
key_of: Final = _KEY.read
#: The attributes that changes of an account or a template set; None means that one is not there.
brand_attributes: Final = _BRAND.write
limit_attributes: Final = _LIMITS.write
template_source: Final = _TEMPLATE_SOURCE.write
#: The attribute of a tombstone.
_WITHDRAWN: Final = "withdrawn"
#: The condition that no record has a key.
NO_RECORD: Final = f"{NEW} OR attribute_exists({_WITHDRAWN})"


def account_item(account: Account) -> Item:
    attributes = _ACCOUNT.write(account) | _LIMITS.write(account.overrides)
    if account.pauses:
        from pillarbox.adapters.dynamodb.accounts.pauses import pause_attributes  # noqa: PLC0415

        attributes |= pause_attributes(account.pauses)
    if account.suspension:
        attributes |= _SUSPENSION.write(account.suspension)
    attributes |= brand_attributes(account.brand) | {"senders": account.senders}
    return keys.account(account.account_id) | to_item(attributes)


def account_of(item: Mapping[str, Any]) -> Account:
    pauses: tuple[Pause, ...] = ()
    if "paused" in item:
        from pillarbox.adapters.dynamodb.accounts.pauses import pauses_of  # noqa: PLC0415  few have

        pauses = pauses_of(item)
    return _ACCOUNT.read(
        item,
        overrides=_LIMITS.read(item),
        senders=item.get("senders", {}),
        pauses=pauses,
        suspension=_SUSPENSION.read(item) if "suspended" in item else None,
        brand=_BRAND.read(item),
    )


def key_item(key: ApiKey) -> Item:
    return keys.api_key(key.digest) | to_item(_KEY.write(key))


def template_item(template: SavedTemplate) -> Item:
    """Write a saved template without its references, which are written separately."""
    return keys.template(template.account_id, UUID(template.template_id)) | to_item(
        _TEMPLATE.write(template) | template_source(template)
    )


def template_of(item: Mapping[str, Any]) -> SavedTemplate:
    references = frozenset(item.get("references", ()))
    return _TEMPLATE.read(item, **_TEMPLATE_SOURCE.read(item), references=references)


def message_item(message: Message) -> Item:
    origin = _ORIGIN.write(message.origin) | _LABELS.write(message.origin.labels)
    return keys.message(message.account_id, message.message_id) | to_item(
        _MESSAGE.write(message) | origin | changing_attributes(message)
    )


def changing_attributes(message: Message) -> dict[str, object]:
    """Return the attributes of a message that change; None means that one must be absent."""
    return _CHANGING.write(message) | {
        "status": message.status.value,
        "rank": message.rank,
        "updated": to_text(message.updated_at),
    }


def message_of(item: Mapping[str, Any]) -> Message:
    message_id = UUID(item["sk"])
    return _MESSAGE.read(
        item,
        message_id=message_id,
        created_at=created_at(message_id),
        origin=_ORIGIN.read(item, labels=_LABELS.read(item)),
        **_CHANGING.read(item),
    )


def accepted_message(item: Mapping[str, Any] | None) -> Message | None:
    """Read a message; None if there is none, or only a tombstone."""
    return None if item is None or is_tombstone(item) else message_of(item)


def is_tombstone(item: Mapping[str, Any]) -> bool:
    """Return whether an item stands in the place of a message that was never accepted."""
    return _WITHDRAWN in item


def tombstone_item(account_id: str, message_id: UUID, until: datetime) -> Item:
    """Write what stands in the place of a message that must not be accepted any more."""
    attributes = {_WITHDRAWN: True, "expires_at": to_ttl(until)}
    return keys.message(account_id, message_id) | to_item(attributes)


def schedule_values(schedule: "Schedule") -> dict[str, object]:
    """Return the value of a condition on a schedule."""
    return {":schedule": _SCHEDULE.write(schedule)}
