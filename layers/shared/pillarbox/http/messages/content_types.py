"""The shape of the response with the kept content of a message."""

from typing import Annotated, TypedDict

from pydantic import Field

from pillarbox.http.messages.reply_types import Timestamp, Uuid


class ContentFile(TypedDict):
    """A file in the kept content of a message."""

    filename: str | None
    contentType: str
    size: Annotated[int, Field(description="In bytes, decoded.")]


class ContentLink(TypedDict):
    """A link that downloads the message, for everybody who has it."""

    url: str
    expiresAt: Timestamp


class MessageContent(TypedDict):
    """The kept content of a message."""

    messageId: Uuid
    subject: str
    html: Annotated[
        str | None, Field(description="Null if there is none, or it is larger than 512 KB.")
    ]
    text: Annotated[
        str | None, Field(description="Null if there is none, or it is larger than 512 KB.")
    ]
    attachments: list[ContentFile]
    size: Annotated[int, Field(description="Of the whole message, in bytes.")]
    kept: Annotated[Timestamp, Field(description="Until when it is kept.")]
    eml: Annotated[ContentLink, Field(description="The whole message as a file (RFC 5322).")]
