"""The shapes of received mail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pillarbox.http.messages.replies import View, taken_from

if TYPE_CHECKING:
    from pillarbox.domain.replies import Automatic, MailVerdict
    from pillarbox.http.json_types import Count, NextCursor, Timestamp, Uuid


class AnsweredEmail(View):
    """The email that a received mail answers."""

    message_id: Uuid
    tags: dict[str, str]
    """The tags of the email."""
    template: str | None
    """The id of its saved template, or the slug of its starter template."""


class ReceivedVerdicts(View):
    """What Amazon SES found when it received a mail; nothing of it is the sender's word."""

    spam: MailVerdict
    virus: MailVerdict
    spf: MailVerdict
    dkim: MailVerdict
    dmarc: MailVerdict


class ReceivedItem(View, name="ReceivedMail"):
    """A received mail in a list."""

    received_id: Uuid
    received_at: Timestamp
    from_: str = taken_from("sender")
    """The address in From. Anybody can write one: see `authenticated`."""
    from_name: str | None = taken_from("sender_name")
    to: str = taken_from("recipient")
    """The address of the account that it came to."""
    subject: str
    in_reply_to: AnsweredEmail | None = taken_from("answered")
    """Null if it answers no email of the account."""
    authenticated: bool
    """Whether the domain in `from` vouches for it."""
    verdicts: ReceivedVerdicts
    automatic: Automatic | None
    """What a program wrote: an absent person's `reply`, a `report` about delivery, or a `list`."""
    parsed: bool
    """False if its content could not be read; `raw` has it all the same."""
    size: Count
    """Of the raw mail, in bytes."""
    kept: Timestamp = taken_from("kept_until")
    """Until when it is kept."""


class ReceivedMailPage(View):
    """Received mail, the newest first."""

    items: list[ReceivedItem]
    next_cursor: NextCursor = taken_from("next")


class ReceivedFileItem(View, name="ReceivedFile"):
    """A file of a received mail."""

    filename: str | None = taken_from("file.filename")
    content_type: str = taken_from("file.content_type")
    """As its sender wrote it."""
    size: Count = taken_from("file.size")
    content_id: str | None = taken_from("file.content_id")
    inline: bool = taken_from("file.inline")
    """Whether the HTML may show it, as cid:<contentId>."""
    url: str
    """Downloads it, for everybody who has the link, for an hour."""


class CalendarReply(View):
    """What somebody answered to an invitation (RFC 5546)."""

    method: str
    uid: str | None
    attendee: str | None
    status: str | None
    """Such as `accepted`, `declined` and `tentative`."""


class ReceivedDetail(ReceivedItem, under="mail"):
    """A received mail with its content."""

    message_id_header: str | None = taken_from("mail.message_id_header")
    """The Message-ID that its sender gave it."""
    all_to: list[str] = taken_from("mail.to")
    """The addresses in To."""
    cc: list[str] = taken_from("mail.cc")
    reply_to: list[str] = taken_from("mail.reply_to")
    """The addresses in Reply-To."""
    reply: str | None = taken_from("content.reply")
    """What its writer wrote, without the quotation and the signature."""
    text: str | None = taken_from("content.text")
    html: str | None = taken_from("content.html")
    """Written by a stranger: show it in a frame without scripts."""
    cut: bool = taken_from("content.cut")
    """Whether one of the three is longer than the 256 KB that are here."""
    calendar: list[CalendarReply] = taken_from("content.calendar")
    attachments: list[ReceivedFileItem] = taken_from("files")
    """At most 50; `raw` has all."""
    raw: str = taken_from("raw_url")
    """Downloads the whole mail (RFC 5322), for everybody who has the link, for an hour."""
    links_until: Timestamp = taken_from("url_until")
