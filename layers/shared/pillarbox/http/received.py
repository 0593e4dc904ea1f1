"""The shapes of received mail: ours, and those of Resend and Postmark.

The names are those of Resend's SDKs (Python 2.52, Node 6.38) and of Postmark's for Node (5.1).
"""

from __future__ import annotations

import re
from base64 import b64encode
from email.utils import format_datetime
from typing import TYPE_CHECKING, Final

from pillarbox.domain.replies import MailVerdict, ReceivedFile, ReceivedMail
from pillarbox.http.messages.replies import View, taken_from, timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pillarbox.application.receiving_ports import ReadMail
    from pillarbox.domain.replies import Automatic
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


#: In octets, of all files of a mail: the files of larger ones are links alone.
_MAX_INLINE: Final = 1024 * 1024


def resend_listed(mail: ReceivedMail) -> dict[str, object]:
    return {
        "id": str(mail.received_id),
        "created_at": timestamp(mail.received_at),
        "from": _named(mail),
        "to": list(mail.to),
        "cc": list(mail.cc),
        "bcc": [],
        "reply_to": list(mail.reply_to),
        "received_for": [mail.recipient],
        "message_id": mail.message_id_header or "",
        "subject": mail.subject,
        "attachments": [_resend_file(*each) for each in enumerate(mail.files)],
    }


def _named(mail: ReceivedMail) -> str:
    """Return the sender as a field of a header; its name, a stranger's, looks like no address."""
    name = re.sub(r'[\x00-\x20"<>@\\]+', " ", mail.sender_name or "").strip()
    if re.search(r"[(),.:;\[\]]", name):
        name = f'"{name}"'
    return f"{name} <{mail.sender}>" if name else mail.sender


def resend_detail(read: ReadMail) -> dict[str, object]:
    """Return a mail as Resend shows it, and `reply`, which Resend does not have."""
    return resend_listed(read.mail) | {
        "object": "email",
        "text": read.content.text,
        "html": read.content.html,
        "reply": read.content.reply,
        "headers": _header_fields(read.mail),
        "raw": {"download_url": read.raw_url, "expires_at": timestamp(read.url_until)},
    }


def resend_files(read: ReadMail) -> Sequence[dict[str, object]]:
    return [
        _resend_file(number, linked.file)
        | {"download_url": linked.url, "expires_at": timestamp(read.url_until)}
        for number, linked in enumerate(read.files)
    ]


def _resend_file(number: int, file: ReceivedFile) -> dict[str, object]:
    return {
        "id": str(number),
        "filename": file.filename,
        "content_type": file.content_type,
        "content_disposition": "inline" if file.inline else "attachment",
        "content_id": file.content_id,
        "size": file.size,
    }


def postmark_listed(mail: ReceivedMail) -> dict[str, object]:
    return _postmark(mail) | {"Status": "Processed"}


def postmark_detail(read: ReadMail) -> dict[str, object]:
    """Return a mail as Postmark shows it, with links in place of its files."""
    files = [_postmark_file(linked.file, linked.url) for linked in read.files]
    more = {"Status": "Processed", "BlockedReason": "", "Attachments": files}
    return _postmark(read.mail) | _postmark_content(read) | more


def postmark_event(read: ReadMail) -> dict[str, object]:
    """Return what Postmark's inbound webhook posts: small files are in it."""
    inline = sum(linked.file.size for linked in read.files) <= _MAX_INLINE
    files = [
        _postmark_file(each.file, each.url, each.read() if inline and each.read else None)
        for each in read.files
    ]
    return _postmark(read.mail) | _postmark_content(read) | {"Attachments": files}


def _postmark(mail: ReceivedMail) -> dict[str, object]:
    return {
        "From": mail.sender,
        "FromName": mail.sender_name or "",
        "FromFull": _mailbox(mail.sender, mail.sender_name or ""),
        "To": ", ".join(mail.to),
        "ToFull": [_mailbox(address) for address in mail.to],
        "Cc": ", ".join(mail.cc),
        "CcFull": [_mailbox(address) for address in mail.cc],
        "Bcc": "",
        "BccFull": [],
        "ReplyTo": ", ".join(mail.reply_to),
        "OriginalRecipient": mail.recipient,
        "Subject": mail.subject,
        "Date": format_datetime(mail.received_at),
        "MailboxHash": _mailbox_hash(mail.recipient),
        "Tag": mail.answered.tags.get("tag", "") if mail.answered else "",
        "MessageID": str(mail.received_id),
        "MessageStream": "inbound",
        "Attachments": [_postmark_file(file) for file in mail.files],
    }


def _postmark_content(read: ReadMail) -> dict[str, object]:
    return {
        "TextBody": read.content.text or "",
        "HtmlBody": read.content.html or "",
        "StrippedTextReply": read.content.reply or "",
        "Headers": [
            {"Name": name, "Value": value} for name, value in _header_fields(read.mail).items()
        ],
    }


def _postmark_file(
    file: ReceivedFile, url: str = "", content: bytes | None = None
) -> dict[str, object]:
    return {
        "Name": file.filename or "",
        "Content": b64encode(content or b"").decode(),
        "ContentType": file.content_type,
        "ContentLength": file.size,
        "ContentID": file.content_id or "",
        "ContentUrl": url,
    }


def _mailbox(address: str, name: str = "") -> dict[str, str]:
    return {"Email": address, "Name": name, "MailboxHash": _mailbox_hash(address)}


def _mailbox_hash(address: str) -> str:
    return address.rpartition("@")[0].partition("+")[2]


def _header_fields(mail: ReceivedMail) -> Mapping[str, str]:
    """Return what the service found, as header fields; only Message-ID is the sender's word.

    The fields of the mail itself are in its raw text alone.
    """
    verdicts, answered = mail.verdicts, mail.answered
    results = (("spf", verdicts.spf), ("dkim", verdicts.dkim), ("dmarc", verdicts.dmarc))
    known = [f"{name}={v}" for name, v in results if v is not MailVerdict.UNKNOWN]
    found = {
        "Message-ID": mail.message_id_header,
        "X-Spam-Status": "Yes" if verdicts.spam is MailVerdict.FAIL else "No",
        "Authentication-Results": "; ".join(["amazonses.com", *(known or ["none"])]),
        "X-Pillarbox-Authenticated": "yes" if mail.authenticated else "no",
        "X-Pillarbox-Automatic": mail.automatic,
        "X-Pillarbox-In-Reply-To": str(answered.message_id) if answered else None,
    }
    return {name: value for name, value in found.items() if value}
