"""Builders of test data with defaults, so that a test names only what it is about."""

import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from pillarbox.domain.accounts.account import Account, Plan
from pillarbox.domain.accounts.key import (
    PRESET_SCOPES,
    PREVIEW_SCOPES,
    ApiKey,
    KeyType,
    Preset,
    digest_of_key,
    new_key_text,
)
from pillarbox.domain.accounts.quota import Amount, Limits
from pillarbox.domain.ids import created_at, new_id
from pillarbox.domain.messages.attachment import Attachment
from pillarbox.domain.messages.mail import HtmlBody, Job, Mail, SendRequest
from pillarbox.domain.messages.message import Event, EventKind, Message, MessageOrigin, SendRoute
from pillarbox.domain.replies import Answered, MailVerdict, ReceivedFile, ReceivedMail, Verdicts
from pillarbox.domain.templates.template import SavedTemplate
from pillarbox.settings import Place, Settings, all_settings

NOW = datetime(2026, 3, 14, 15, 9, 26, 535_000, UTC)
SENDER = "hello@shop.example"
PREVIEW_SENDER = "preview@pillarbox.example"
UPGRADE_URL = "https://pillarbox.example/upgrade"
ACCOUNT = "acct00000001"
OTHER_ACCOUNT = "acct00000002"
HASH = "a" * 64
OTHER_HASH = "b" * 64
DIGEST = "d" * 64
#: Variable of a queue's URL -> the queue's logical id in the template.
QUEUES = {
    row.variable: row.output.removesuffix("Url")
    for row in all_settings()
    if row.variable.endswith(("_QUEUE_URL", "_DEAD_LETTERS_URL"))
}
UNLIMITED = Limits(per_minute=None, per_day=None, per_month=None)


def environment(place: Place = "functions", **values: str) -> dict[str, str]:
    """Return every variable that a place has to set, from the table of settings.

    Args:
        place: who sets them.
        values: attribute of `Settings` -> value, for these and for others. A URL that is not
            given is one where nothing answers, and any other setting is its own name.

    Raises:
        AttributeError: there is no such setting.
    """
    required = {
        row.variable: ("http://127.0.0.1:9/1/" if row.variable.endswith("_URL") else "")
        + row.variable.lower().replace("_", "-")
        for row in all_settings()
        if row.default is None and place in row.set_by
    }
    given = {getattr(Settings, name).variable: value for name, value in values.items()}
    own = {
        Settings.preview_sender.variable: PREVIEW_SENDER,
        Settings.upgrade_url.variable: UPGRADE_URL,
    }
    return required | own | given


def messages(count: int, recipients: int = 1) -> Amount:
    """Return what messages take from a quota, each with this many recipients."""
    return Amount(count, count * recipients)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def account(account_id: str = ACCOUNT, **changes: Any) -> Account:
    """Return a Standard account with one verified sender."""
    default = Account(
        account_id=account_id,
        name="Shop",
        plan=Plan.STANDARD,
        created_at=NOW,
        senders={SENDER: True},
        default_sender=SENDER,
    )
    return replace(default, **changes)


def api_key(text: str, account_id: str = ACCOUNT, **changes: Any) -> ApiKey:
    default = ApiKey(
        key_id=str(new_id(NOW)),
        account_id=account_id,
        name="web",
        type=KeyType.LIVE,
        preset=Preset.SEND,
        scopes=PRESET_SCOPES[Preset.SEND],
        digest=digest_of_key(text),
        created_at=NOW,
    )
    return replace(default, **changes)


def preview_key(text: str) -> ApiKey:
    return api_key(text, type=KeyType.PREVIEW, preset=None, scopes=PREVIEW_SCOPES)


def key_text(account_id: str = ACCOUNT, key_type: KeyType = KeyType.LIVE) -> str:
    return new_key_text(account_id, key_type)


def template(template_id: UUID, account_id: str = ACCOUNT, **changes: Any) -> SavedTemplate:
    """Return a saved template with the required variable `name`."""
    default = SavedTemplate(
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
    return replace(default, **changes)


def request(**changes: Any) -> SendRequest:
    default = SendRequest(
        body_hash=HASH, to=("ann@example.com",), html="<p>Hello</p>", subject="Hello"
    )
    return replace(default, **changes)


def starter_request(**changes: Any) -> SendRequest:
    """Return a request to send a one-time passcode to one recipient."""
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
    """Return a text file of a size in bytes."""
    content = base64.b64encode(b"x" * size).decode()
    return replace(Attachment("notes.txt", "text/plain", content), **changes)


def mail(**changes: Any) -> Mail:
    """Return an email with HTML to one recipient."""
    default = Mail(
        sender=SENDER,
        from_name="Shop",
        to=("ann@example.com",),
        subject="Hello",
        body=HtmlBody(html="<p>Hello</p>"),
    )
    return replace(default, **changes)


def message(account_id: str = ACCOUNT, message_id: UUID | None = None, **changes: Any) -> Message:
    """Return the record of an accepted email to one recipient."""
    identifier = message_id or new_id(NOW)
    default = Message(
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
        origin=MessageOrigin(route=SendRoute.HTTP, key_id="key-1", request_id="request-1"),
    )
    return replace(default, **changes)


def job(message: Message, **changes: Any) -> Job:
    default = Job(
        account_id=message.account_id,
        message_id=message.message_id,
        body_hash=message.body_hash,
        queued_at=message.created_at,
        deadline=message.created_at + timedelta(hours=24),
        mail=mail(to=message.to, cc=message.cc, bcc=message.bcc),
    )
    return replace(default, **changes)


def event(kind: EventKind, seconds: float = 0, recipient: str | None = None) -> Event:
    return Event(kind=kind, at=at(seconds), recipient=recipient)


def received(account_id: str = ACCOUNT, **changes: Any) -> ReceivedMail:
    """Return the record of an answer that came just now, with two files."""
    received_id = new_id(datetime.now(UTC))
    passed = dict.fromkeys(("spam", "virus", "spf", "dkim"), MailVerdict.PASS)
    default = ReceivedMail(
        account_id=account_id,
        received_id=received_id,
        received_at=created_at(received_id),
        size=4_112,
        days=30,
        parsed=True,
        recipient="support+4711@in.shop.example",
        sender="ada@customer.example",
        sender_name="Ada",
        subject="Re: Your order",
        message_id_header="<1@customer.example>",
        answered=Answered(message_id=new_id(NOW), tags={"tag": "receipt"}),
        verdicts=Verdicts(**passed),
        authenticated=True,
        automatic=None,
        files=(
            ReceivedFile(filename="a.txt", content_type="text/plain", size=3),
            ReceivedFile(
                filename=None, content_type="image/png", size=4, content_id="logo", inline=True
            ),
        ),
        to=("support+4711@in.shop.example",),
        cc=("bob@customer.example",),
        reply_to=("ada@home.example",),
    )
    return replace(default, **changes)
