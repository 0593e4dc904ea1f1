"""The accounts that a local stack starts with, one for each kind of key."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from local.ses.store import Mailbox
from pillarbox.adapters.dynamodb.records import account_item, key_item
from pillarbox.domain.account import Account, Plan
from pillarbox.domain.identity import new_token
from pillarbox.domain.key import (
    ACCOUNT_ID_LENGTH,
    PRESET_SCOPES,
    PREVIEW_SCOPES,
    ApiKey,
    KeyType,
    Preset,
    digest_of_key,
    new_key_text,
)
from pillarbox.wiring import table

#: The default sender of the accounts that have one.
SENDER: Final = "hello@shop.example"

_ACCOUNTS: Final = {
    "live": ("Shop", Plan.STANDARD, KeyType.LIVE),
    "live_free": ("Hobby", Plan.FREE, KeyType.LIVE),
    "preview": ("Preview", Plan.FREE, KeyType.PREVIEW),
}


@dataclass(frozen=True, slots=True)
class Seeded:
    """What was made, by name: keys as a client sends them, and the ids of their accounts."""

    keys: dict[str, str]
    accounts: dict[str, str]


def seed(mailbox: Mailbox, preview_sender: str) -> Seeded:
    """Make the accounts and their keys, and let SES know the senders."""
    mailbox.create_identity(SENDER)
    mailbox.create_identity(preview_sender)
    seeded = Seeded({}, {})
    now = datetime.now(UTC)
    for role, (name, plan, key_type) in _ACCOUNTS.items():
        live = key_type is KeyType.LIVE
        account = Account(
            account_id=new_token(ACCOUNT_ID_LENGTH),
            name=name,
            plan=plan,
            created_at=now,
            senders={SENDER: True} if live else {},
            default_sender=SENDER if live else None,
        )
        text = new_key_text(account.account_id, key_type)
        key = ApiKey(
            key_id=new_token(ACCOUNT_ID_LENGTH),
            account_id=account.account_id,
            name=f"{name}'s first key",
            type=key_type,
            preset=Preset.SEND if live else None,
            scopes=PRESET_SCOPES[Preset.SEND] if live else PREVIEW_SCOPES,
            digest=digest_of_key(text),
            created_at=now,
        )
        table().put(account_item(account))
        table().put(key_item(key))
        seeded.keys[role] = text
        seeded.accounts[role] = account.account_id
    return seeded
