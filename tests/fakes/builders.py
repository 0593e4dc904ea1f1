"""The things that tests are about, made with as little as a test wants to say of them."""

import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from pillarbox.application.ports import Claim
from pillarbox.domain.account import Account, Plan
from pillarbox.domain.attachment import Attachment
from pillarbox.domain.ids import created_at, new_id, new_token
from pillarbox.domain.key import (
    PRESET_SCOPES,
    PREVIEW_SCOPES,
    ApiKey,
    KeyType,
    Preset,
    digest_of_key,
    new_key_text,
)
from pillarbox.domain.mail import HtmlBody, Job, Mail, SendRequest
from pillarbox.domain.message import Event, EventKind, Message
from pillarbox.domain.quota import Limits
from pillarbox.domain.template import SavedTemplate

NOW = datetime(2026, 3, 14, 15, 9, 26, 535_000, UTC)
SENDER = "hello@shop.example"
PREVIEW_SENDER = "preview@pillarbox.example"
UPGRADE_URL = "https://pillarbox.example/upgrade"
ACCOUNT = "acct00000001"
HASH = "a" * 64
OTHER_HASH = "b" * 64
DIGEST = "d" * 64
UNLIMITED = Limits(per_minute=None, per_day=None, per_month=None)


def at(seconds: float) -> datetime:
    """So many seconds after NOW."""
    return NOW + timedelta(seconds=seconds)


def account(account_id: str = ACCOUNT, **changes: Any) -> Account:
    """A Standard account with one verified sender."""
    plain = Account(
        account_id=account_id,
        name="Shop",
        plan=Plan.STANDARD,
        created_at=NOW,
        senders={SENDER: True},
        default_sender=SENDER,
    )
    return replace(plain, **changes)


def api_key(text: str, account_id: str = ACCOUNT, **changes: Any) -> ApiKey:
    """A live key that may send."""
    plain = ApiKey(
        key_id=str(new_id(NOW)),
        account_id=account_id,
        name="web",
        type=KeyType.LIVE,
        preset=Preset.SEND,
        scopes=PRESET_SCOPES[Preset.SEND],
        digest=digest_of_key(text),
        created_at=NOW,
    )
    return replace(plain, **changes)


def preview_key(text: str, account_id: str = ACCOUNT) -> ApiKey:
    """A preview key."""
    return api_key(text, account_id, type=KeyType.PREVIEW, preset=None, scopes=PREVIEW_SCOPES)


def key_text(account_id: str = ACCOUNT, key_type: KeyType = KeyType.LIVE) -> str:
    """The text of a new key."""
    return new_key_text(account_id, key_type)


def template(template_id: UUID, account_id: str = ACCOUNT, **changes: Any) -> SavedTemplate:
    """A saved template that needs a name."""
    plain = SavedTemplate(
        account_id=account_id,
        template_id=str(template_id),
        name="Greeting",
        subject="Hello {{ name }}",
        category="general",
        html="<p>Hello {{ name }}</p>",
        variables=("name",),
        required=("name",),
        internal=False,
        created_at=NOW,
        updated_at=NOW,
    )
    return replace(plain, **changes)


def request(**changes: Any) -> SendRequest:
    """A send of raw HTML to one recipient."""
    plain = SendRequest(
        body_hash=HASH, to=("ann@example.com",), html="<p>Hello</p>", subject="Hello"
    )
    return replace(plain, **changes)


def starter_request(**changes: Any) -> SendRequest:
    """A send of a one-time passcode to one recipient."""
    return request(
        **{
            "html": None,
            "subject": None,
            "starter_template": "otp",
            "variables": {"otp_code": "482913"},
        }
        | changes
    )


def attachment(size: int = 3, **changes: Any) -> Attachment:
    """A text file of so many bytes."""
    content = base64.b64encode(b"x" * size).decode()
    return replace(Attachment("notes.txt", "text/plain", content), **changes)


def mail(**changes: Any) -> Mail:
    """A mail of raw HTML to one recipient."""
    plain = Mail(
        sender=SENDER,
        from_name="Shop",
        to=("ann@example.com",),
        cc=(),
        bcc=(),
        reply_to=None,
        subject="Hello",
        body=HtmlBody(html="<p>Hello</p>"),
    )
    return replace(plain, **changes)


def message(account_id: str = ACCOUNT, message_id: UUID | None = None, **changes: Any) -> Message:
    """The record of an accepted mail to one recipient."""
    identifier = message_id or new_id(NOW)
    plain = Message(
        account_id=account_id,
        message_id=identifier,
        created_at=created_at(identifier),
        body_hash=HASH,
        subject="Hello",
        sender=SENDER,
        from_name="Shop",
        to=("ann@example.com",),
        cc=(),
        bcc=(),
    )
    return replace(plain, **changes)


def job(of: Message, **changes: Any) -> Job:
    """The job of a message, with its mail in it."""
    plain = Job(
        account_id=of.account_id,
        message_id=of.message_id,
        body_hash=of.body_hash,
        queued_at=of.created_at,
        deadline=of.created_at + timedelta(hours=24),
        mail=mail(to=of.to, cc=of.cc, bcc=of.bcc),
    )
    return replace(plain, **changes)


def claim(**changes: Any) -> Claim:
    """A claim that nobody has taken."""
    plain = Claim(
        account_id=ACCOUNT,
        digest=DIGEST,
        owner=new_token(16),
        body_hash=HASH,
        generation=new_id(NOW),
    )
    return replace(plain, **changes)


def event(kind: EventKind, seconds: float = 0, recipient: str | None = None) -> Event:
    """An event so many seconds after NOW."""
    return Event(kind=kind, at=at(seconds), recipient=recipient)
