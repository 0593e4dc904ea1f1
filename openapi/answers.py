"""The shapes of answers: what `pillarbox.http.replies` writes (contract section 2)."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from pillarbox.application.history.queries import Bucket
from pillarbox.domain.message import EventKind, Status

type ErrorType = Literal[
    "invalid_request_error",
    "authentication_error",
    "authorization_error",
    "not_found",
    "idempotency_error",
    "rate_limit_error",
    "api_error",
    "service_unavailable",
]
type Total = Annotated[int, Field(ge=0, description="How many there are on all pages together.")]
type Skipped = Annotated[int, Field(ge=0, description="As asked for.")]
type PageSize = Annotated[int, Field(ge=1, le=100, description="As asked for.")]


class AnswerModel(BaseModel):
    """Names are in camelCase. A field without a default is always there."""

    model_config = ConfigDict(alias_generator=to_camel)


class ErrorBody(AnswerModel):
    """What went wrong."""

    code: str = Field(description="Stable: go by this.")
    message: str = Field(description="For people; may change.")
    type: ErrorType
    details: dict[str, object] = Field(default={}, description="Extra data of the code.")
    upgrade_url: str = Field(
        default="", alias="upgrade_url", description="Only with `upgrade_required`."
    )


class Error(AnswerModel):
    """The envelope of every error."""

    error: ErrorBody


class SendResult(AnswerModel):
    """The mail is accepted: it is recorded and will be delivered."""

    message_id: UUID = Field(description="For looking the message up later.")
    status: Literal["queued"]
    sender: str = Field(alias="from", description="The address that the mail is sent from.")


class BatchItem(AnswerModel):
    """What became of one message of a batch."""

    idx: int = Field(ge=0, description="The message's position in the request, from zero.")
    message_id: UUID | None = Field(description="Null when the message failed.")
    status: Literal["queued"] | None = Field(description="Null when the message failed.")
    sender: str | None = Field(alias="from", description="Null when the message failed.")
    error: ErrorBody | None = Field(description="Null when the message was accepted.")


class BatchResult(AnswerModel):
    """A result for each message, in order. Look at `error` of each."""

    results: list[BatchItem]


class Message(AnswerModel):
    """A message as listed."""

    message_id: UUID
    recipient_email: str = Field(description="The first `to`.")
    subject: str
    status: Status
    created_at: datetime
    updated_at: datetime
    error_message: str | None = Field(description="Why it failed, bounced or was complained of.")


class MessageEvent(AnswerModel):
    """Something that happened to a message or to one of its recipients."""

    type: EventKind
    at: datetime
    recipient: str = Field(default="", description="Absent: it concerns all recipients.")
    code: str = Field(default="", description="Stable and short, such as `mailbox_full`.")
    reason: str = Field(default="", description="What the provider or the remote server said.")


class MessageDetail(AnswerModel):
    """A message and what happened to it."""

    message_id: UUID
    status: Status
    recipient_email: str = Field(description="The first `to`.")
    subject: str
    from_name: str | None
    provider_message_id: str = Field(description="The provider's id; empty until it is sent.")
    error_message: str | None = Field(description="Why it failed, bounced or was complained of.")
    created_at: datetime
    updated_at: datetime
    sender: str = Field(alias="from", description="The address that the mail is sent from.")
    to: list[str]
    cc: list[str]
    bcc: list[str]
    events: list[MessageEvent] = Field(description="What happened to whom, when, and why.")


class MessagePage(AnswerModel):
    """A part of the list of messages."""

    items: list[Message]
    total: Total
    skip: Skipped
    limit: PageSize


class AnalyticsRow(AnswerModel):
    """The messages that were created in one hour or day, and what they ever reached."""

    timestamp: datetime = Field(description="When the hour or day begins, in UTC.")
    count: int = Field(ge=0, description="All accepted.")
    sent: int = Field(ge=0)
    delivered: int = Field(ge=0)
    bounced: int = Field(ge=0)
    complained: int = Field(ge=0)
    failed: int = Field(ge=0)


class TopError(AnswerModel):
    """An error and how many messages it befell."""

    code: str
    message: str
    count: int = Field(ge=1)


type Rate = Annotated[float, Field(ge=0, le=1, description="Of all messages; 0 without any.")]


class Analytics(AnswerModel):
    """Figures of the messages that were created within a window."""

    total_messages: int = Field(ge=0)
    delivery_rate: Rate
    bounce_rate: Rate
    complaint_rate: Rate
    window_start: datetime
    window_end: datetime
    bucket: Bucket
    volume: list[AnalyticsRow] = Field(
        description="A row for every hour or day of the window, in order."
    )
    top_errors: list[TopError] = Field(max_length=10, description="The most frequent first.")


class StarterTemplate(AnswerModel):
    """A built-in template."""

    slug: str
    name: str
    description: str
    variables: list[str] = Field(description="The names of its variables.")


class StarterPreview(AnswerModel):
    """A starter template as a mail would show it. Nothing was sent."""

    slug: str
    subject: str
    html: str
    sample_variables: dict[str, object] = Field(description="The values that it shows.")


class SavedTemplate(AnswerModel):
    """A saved template as listed."""

    id: UUID
    name: str
    subject: str
    category: str
    variables: list[str] = Field(description="The names that it refers to.")
    created_at: datetime
    updated_at: datetime


class SavedTemplateDetail(SavedTemplate):
    """A saved template with a preview."""

    preview_html: str = Field(
        alias="previewHtml",
        max_length=500,
        description="The first 500 characters of the HTML, with names in place of values.",
    )


class SavedTemplatePage(AnswerModel):
    """A part of the list of saved templates."""

    items: list[SavedTemplate]
    total: Total
    skip: Skipped
    limit: PageSize
