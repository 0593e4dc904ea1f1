"""Write the response with the kept content of a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pillarbox.http.messages.replies import timestamp

if TYPE_CHECKING:
    from pillarbox.application.kept import ReadContent
    from pillarbox.http.messages.content_types import MessageContent


def message_content(content: ReadContent) -> MessageContent:
    """Return the parts of a message, and the link to all of it."""
    mail = content.mail
    return {
        "messageId": str(content.message.message_id),
        "subject": content.message.subject,
        "html": mail.html,
        "text": mail.text,
        "attachments": [
            {"filename": one.filename, "contentType": one.content_type, "size": one.size}
            for one in mail.files
        ],
        "size": mail.size,
        "kept": timestamp(content.until),
        "eml": {"url": content.url, "expiresAt": timestamp(content.url_until)},
    }
