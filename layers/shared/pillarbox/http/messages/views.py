"""The shapes of messages, their figures, limits and templates (contract sections 2 and 4)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from pillarbox.domain.accounts.key import owner_required
from pillarbox.domain.messages.message import MEANINGS, EventKind, Status
from pillarbox.http.messages.replies import View, scheduled_at, taken_from

if TYPE_CHECKING:
    from typing import Annotated, Literal

    from pydantic import Field

    from pillarbox.application.history.queries import Analytics, Bucket, MessageCounts
    from pillarbox.application.sending.rehearsal import Rehearsal
    from pillarbox.domain.messages.message import Message, SendRoute
    from pillarbox.http.json_types import Count, FromOne, IfSet, Rate, Timestamp, Uuid

    type Seconds = Annotated[float | None, Field(ge=0)]

#: In characters, of each part of a content: six bytes of JSON each, and Lambda answers 6 MB.
_MAX_SHOWN: Final = 400_000


def _error_message(message: Message) -> str | None:
    error = message.error
    return (error.reason or error.code) if error else None


def _kept_until(message: Message) -> datetime | None:
    from pillarbox.domain.messages.kept import kept_until  # noqa: PLC0415  few accounts keep any

    return kept_until(message) if message.keep else None


class MessageItem(View, name="Message"):
    """A message in a list."""

    message_id: Uuid
    recipient_email: str = taken_from(lambda message: message.to[0])
    """The first address in `to`."""
    subject: str
    status: Status
    created_at: Timestamp
    updated_at: Timestamp
    error_message: str | None = taken_from(_error_message)
    """Why the message failed, bounced or led to a complaint."""
    tags: dict[str, str] = taken_from("origin.labels.tags")
    """The tags of the send request."""
    key_id: str | None = taken_from("origin.key_id")
    """The API key that sent the message."""
    starter_template: str | None = taken_from("origin.starter_template")
    template_id: Uuid | None = taken_from("origin.template_id")
    scheduled_at: Timestamp | None = taken_from(scheduled_at)
    """When it is or was due; null for a message that was sent at once, or is held."""
    held: bool
    """Whether it waits for its release."""
    awaits_owner: bool
    """Whether only an owner can release it."""
    resend_of: Uuid | None = taken_from("origin.resend_of")
    """The message that it repeats."""


class MessageEvent(View):
    """An event of a message or of one of its recipients."""

    type: EventKind = taken_from("kind")
    at: Timestamp
    recipient: IfSet[str]
    """Absent if the event concerns all recipients."""
    code: IfSet[str]
    """A stable short code, such as `mailbox_full`."""
    reason: IfSet[str]
    """The words of the provider or the remote server."""


def _events(message: Message) -> list[object]:
    return [MessageEvent.of(type=EventKind.ACCEPTED, at=message.created_at), *message.events]


class MessageDetail(View):
    """A message and its events."""

    message_id: Uuid
    status: Status
    recipient_email: str = taken_from(lambda message: message.to[0])
    """The first address in `to`."""
    subject: str
    from_name: str | None
    provider_message_id: str = taken_from(lambda message: message.provider_message_id or "")
    """SES's id; empty until it is sent."""
    error_message: str | None = taken_from(_error_message)
    """Why the message failed, bounced or led to a complaint."""
    created_at: Timestamp
    updated_at: Timestamp
    message_id_header: str | None
    """The delivered Message-ID."""
    from_: str = taken_from("sender")
    """The address that the email is sent from."""
    to: list[str]
    cc: list[str]
    bcc: list[str]
    route: SendRoute | None = taken_from("origin.route")
    """How the message came in. This and the next five are null for a message that was accepted
    before they were recorded."""
    key_id: str | None = taken_from("origin.key_id")
    """The API key that sent the message."""
    starter_template: str | None = taken_from("origin.starter_template")
    template_id: Uuid | None = taken_from("origin.template_id")
    template_version: FromOne | None = taken_from("origin.template_version")
    """Counts the changes of the saved template, from 1."""
    request_id: str | None = taken_from("origin.request_id")
    """The X-Request-Id of the response that accepted the message."""
    tags: dict[str, str] = taken_from("origin.labels.tags")
    """The tags of the send request."""
    scheduled_at: Timestamp | None = taken_from(scheduled_at)
    """When it is or was due; null for a message that was sent at once, or is held."""
    held: bool
    """Whether it waits for its release."""
    awaits_owner: bool
    """Whether only an owner can release it."""
    canceled_at: Timestamp | None
    """When it was canceled; null if it was not."""
    kept: Timestamp | None = taken_from(_kept_until)
    """Until when its content is kept; null: not."""
    resend_of: Uuid | None = taken_from("origin.resend_of")
    """The message that it repeats."""
    events: list[MessageEvent] = taken_from(_events)
    """Each event with its time and its reason."""


def message_detail(message: Message, region: str) -> dict[str, Any]:
    """Return a message with its events (contract 2.5); `region` is the one of SES."""
    return MessageDetail.of(message, message_id_header=message.message_id_header(region))


class _Page(View):
    """One page of a list."""

    items: list[Any]
    total: Count
    """The number of items on all pages together."""
    skip: Count
    """As requested."""
    limit: Annotated[int, Field(ge=1, le=100)]
    """As requested."""


class MessagePage(_Page):
    """One page of a list."""

    items: list[MessageItem]


class HeldFile(View):
    """A file in an email that waits."""

    filename: str
    content_type: str
    bytes: Count = taken_from("size")


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


class HeldContent(View):
    """What an email is that waits for an owner. One of which a part is not shown stays held."""

    from_: str = taken_from("mail.sender")
    from_name: str | None = taken_from("mail.from_name")
    to: list[str] = taken_from(lambda held: held.mail.named(held.mail.to))
    """Addresses with their names, as in cc and bcc."""
    cc: list[str] = taken_from(lambda held: held.mail.named(held.mail.cc))
    bcc: list[str] = taken_from(lambda held: held.mail.named(held.mail.bcc))
    subject: str = taken_from("mail.subject")
    reply_to: str | None = taken_from("mail.replies_to")
    headers: dict[str, str] = taken_from(lambda held: dict(held.mail.headers))
    html: str | None = taken_from(
        lambda held: held.html if 0 < len(held.html) <= _MAX_SHOWN else None
    )
    """Null if there is none, or if it has more than 400,000 characters."""
    text: str = taken_from(lambda held: _cut(held.text))
    """The text of the HTML, or the text alone, up to 400,000 characters."""
    own_text: str | None = taken_from(lambda held: _cut(held.own_text or None))
    """A text part of its own beside the HTML."""
    attachments: list[HeldFile] = taken_from("mail.files")


def check_shown(rehearsal: Rehearsal) -> None:
    """Refuse to release a message of which `HeldContent` shows a part only."""
    parts = (rehearsal.html, rehearsal.text, rehearsal.mail.text or "")
    if any(len(part) > _MAX_SHOWN for part in parts):
        raise owner_required(
            "The email is too long to be shown, so it cannot be released. Cancel it."
        )


class StatusCounts(View):
    """How many messages have each status now. Each message counts once."""

    pending: Count
    sent: Count
    delivered: Count
    bounced: Count
    complained: Count
    failed: Count


def _status_counts(counts: MessageCounts) -> dict[str, Any]:
    return StatusCounts.of(**{status: counts.by_status[status] for status in Status})


class AnalyticsRow(View):
    """The messages that were created in one hour or day, and the statuses they ever reached."""

    timestamp: Timestamp
    """The start of the hour or day, in UTC."""
    count: Count
    """All accepted messages."""
    sent: Count = taken_from(lambda counts: counts.reached[Status.SENT])
    delivered: Count = taken_from(lambda counts: counts.reached[Status.DELIVERED])
    bounced: Count = taken_from(lambda counts: counts.reached[Status.BOUNCED])
    """Permanent bounces only."""
    complained: Count = taken_from(lambda counts: counts.reached[Status.COMPLAINED])
    failed: Count = taken_from(lambda counts: counts.reached[Status.FAILED])
    statuses: StatusCounts = taken_from(_status_counts)


class TopError(View):
    """An error and the number of messages that have it."""

    code: str
    message: str
    count: FromOne


class SecondsToSent(View):
    """Within how long half, and 95 of 100, of the messages were sent. Null if none was.

    From the acceptance until the provider had the message. Right to a fifth, and never too low.
    """

    p50: Seconds = taken_from(lambda analytics: _seconds(analytics.sent_within(0.5)))
    p95: Seconds = taken_from(lambda analytics: _seconds(analytics.sent_within(0.95)))


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


class AnalyticsResult(View, name="Analytics"):
    """Figures of the messages that were created within a time range."""

    total_messages: Count = taken_from("total.count")
    delivery_rate: Rate = taken_from(lambda analytics: analytics.total.rate(Status.DELIVERED))
    bounce_rate: Rate = taken_from(lambda analytics: analytics.total.rate(Status.BOUNCED))
    """Permanent bounces only. A transient bounce is no sign of a bad address; it may even be an
    out-of-office reply to a message that was delivered."""
    complaint_rate: Rate = taken_from(lambda analytics: analytics.total.rate(Status.COMPLAINED))
    window_start: Timestamp
    window_end: Timestamp
    bucket: Bucket
    statuses: StatusCounts = taken_from(lambda analytics: _status_counts(analytics.total))
    """How many of the messages have each status now: the `total` of their list with `status` and
    the same time range."""
    seconds_to_sent: SecondsToSent = taken_from(lambda analytics: analytics)
    volume: list[AnalyticsRow]
    """A row for every hour or day of the time range, in order."""
    top_errors: Annotated[list[TopError], Field(max_length=10)]
    """Most frequent first."""


def analytics_result(
    analytics: Analytics, since: datetime, until: datetime, bucket: Bucket
) -> dict[str, Any]:
    """Return the figures of a time range (contract 2.8).

    The rows of `volume` start at full hours or days of UTC, so the first may start before `since`.
    """
    return AnalyticsResult.of(
        analytics,
        window_start=since,
        window_end=until,
        bucket=bucket,
        volume=[
            AnalyticsRow.of(counts, timestamp=datetime.fromtimestamp(start / 1000, UTC))
            for start, counts in analytics.volume.items()
        ],
        top_errors=[
            {"code": code, "message": _meaning(code), "count": count}
            for code, count in analytics.errors
        ],
    )


def _meaning(code: str) -> str:
    return MEANINGS.get(code) or code.replace("_", " ").capitalize() + "."


class LimitState(View):
    """A limit of sending, and what is left of it."""

    name: Literal["minute", "day", "recipients", "month"] = taken_from("window")
    """The window in UTC that counts accepted messages; `recipients` counts their recipients in a
    day. The field `RateLimit` has the same names."""
    limit: Count | None
    """Null if there is no limit."""
    used: Count
    remaining: Count | None = taken_from("left")
    """Null if there is no limit."""
    resets_at: Timestamp = taken_from("ends")
    """When the window ends and all is left again."""


class StarterItem(View, name="StarterTemplate"):
    """A built-in template."""

    slug: str
    name: str
    description: str
    variables: list[str] = taken_from(lambda starter: [one.name for one in starter.variables])
    """The names of its variables."""


class RenderedStarterItem(View, name="StarterPreview"):
    """A starter template as an email would show it. Nothing is sent."""

    slug: str
    subject: str
    html: str
    sample_variables: dict[str, object] = taken_from("values")
    """The values that the preview shows."""


class TemplateItem(View, name="SavedTemplate"):
    """A saved template in a list."""

    id: Uuid = taken_from("template_id")
    name: str
    subject: str
    category: str
    variables: list[str]
    """The names that the template refers to."""
    created_at: Timestamp
    updated_at: Timestamp


class SavedTemplatePage(_Page):
    """One page of a list."""

    items: list[TemplateItem]


class TemplateDetail(TemplateItem, name="SavedTemplateDetail"):
    """A saved template with a preview."""

    preview_html: Annotated[str, Field(max_length=500)]
    """The first 500 characters of the HTML, with names in place of values."""
    locales: list[str] = taken_from(lambda template: list(template.locales))
    """The locales that it has beside the default."""
    keep_days: Annotated[int, Field(ge=0)] = taken_from("keep")
    """The most days to keep the content for."""
