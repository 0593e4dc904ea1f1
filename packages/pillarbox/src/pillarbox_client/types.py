"""The shapes of requests, responses and webhook events, with the names of the API."""

# Written by `make openapi` from docs/openapi-keys.json.
# ruff: noqa: D205  descriptions of the document

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

AttachmentType: TypeAlias = Literal[
    "application/msword",
    "application/pdf",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/webp",
    "text/calendar",
    "text/csv",
    "text/plain",
]
"""A type of file that an email may have (RFC 6838), without parameters."""

Bucket: TypeAlias = Literal["hour", "day"]
"""The length of time that one row of analytics covers."""

Confirmation: TypeAlias = Literal["ask", "off"]
"""Whether a person must confirm each send of a key."""

DeliveryState: TypeAlias = Literal["waiting", "delivered", "failed"]
"""Whether the event arrived, another attempt follows, or none does."""

ErrorType: TypeAlias = Literal[
    "invalid_request_error",
    "authentication_error",
    "authorization_error",
    "not_found",
    "idempotency_error",
    "rate_limit_error",
    "api_error",
    "service_unavailable",
]
"""A kind of error."""

EventKind: TypeAlias = Literal[
    "delayed",
    "accepted",
    "uncertain",
    "sent",
    "failed",
    "bounced_transient",
    "delivered",
    "bounced",
    "complained",
]
"""What can happen to a message or to one of its recipients."""

Headers: TypeAlias = dict[str, str]
"""Header fields: In-Reply-To, References, List-Unsubscribe, List-Unsubscribe-Post, Auto-Submitted,
Precedence, Feedback-ID, and names that begin with X-. They have at most 4096 bytes in all. Only
X-… may have more than ASCII.
"""

KeyType: TypeAlias = Literal["preview", "live"]
"""The type of an API key."""

Plan: TypeAlias = Literal["free", "standard", "enterprise"]
"""The plan of an account."""

Preset: TypeAlias = Literal["send", "marketing", "analytics", "custom"]
"""A named set of permissions."""

SendRoute: TypeAlias = Literal["http", "batch", "smtp", "mcp", "notice"]
"""The ways in which a message can be accepted."""

SortBy: TypeAlias = Literal["created_at", "updated_at", "status"]
"""The field that a list of messages is sorted by, in descending order."""

StarterSlug: TypeAlias = Literal[
    "otp",
    "magic_link",
    "email_verify",
    "welcome",
    "password_reset",
    "password_changed",
    "team_invite",
    "trial_ending",
    "payment_receipt",
    "security_alert",
]
"""A starter template."""

Status: TypeAlias = Literal["pending", "sent", "delivered", "bounced", "complained", "failed"]
"""The latest known state of a message."""

Tags: TypeAlias = dict[str, str]
"""Names and values by which you find an email again. They are not delivered. They have at most 256
bytes in all. A value has no blank at either end.
"""

Variables: TypeAlias = dict[str, Any]
"""Values for a template, by name."""

WebhookType: TypeAlias = Literal[
    "email.accepted",
    "email.sent",
    "email.delivered",
    "email.delayed",
    "email.bounced",
    "email.complained",
    "email.failed",
    "suppression.added",
    "domain.verified",
    "domain.failed",
    "account.paused",
    "webhook.test",
]
"""The type of an event."""


class AgentLimits(TypedDict):
    """What the key of an agent may do."""

    recipients: list[str]
    """Addresses and domains that it may send to; `*` is every one."""
    confirmation: Confirmation
    """Whether a person must confirm each send."""
    perDay: int
    """How many emails it may send a day."""


class Analytics(TypedDict):
    """Figures of the messages that were created within a time range."""

    totalMessages: int
    deliveryRate: float
    """The fraction of all messages; 0 if there are none."""
    bounceRate: float
    """Permanent bounces only. A transient bounce is no sign of a bad address; it may even be an
    out-of-office reply to a message that was delivered.
    """
    complaintRate: float
    """The fraction of all messages; 0 if there are none."""
    windowStart: str
    windowEnd: str
    bucket: Bucket
    statuses: StatusCounts
    """How many of the messages have each status now: the `total` of their list with `status` and
    the same time range.
    """
    volume: list[AnalyticsRow]
    """A row for every hour or day of the time range, in order."""
    topErrors: list[TopError]
    """The most frequent errors first."""


class AnalyticsRow(TypedDict):
    """The messages that were created in one hour or day, and the statuses they ever reached."""

    timestamp: str
    """The start of the hour or day, in UTC."""
    count: int
    """All accepted messages."""
    sent: int
    delivered: int
    bounced: int
    """Permanent bounces only."""
    complained: int
    failed: int
    statuses: StatusCounts


class Attachment(TypedDict):
    """A file in an email. It is not kept after the delivery."""

    filename: str
    """A plain name: no path, no colon, no invisible character, no dot or blank at the end, no
    device of Windows such as CON, and no extension that SES refuses (.exe, .js, .bat, .lnk,
    .hta, …).
    """
    contentType: NotRequired[AttachmentType | None]
    """The type of the file (RFC 6838), without parameters. Without it, the file's extension
    decides.
    """
    content: str
    """The file's bytes in base64 (RFC 4648 section 4), padded."""
    inline: NotRequired[bool]
    """Whether the HTML shows the file, as cid:<contentId>. False by default."""
    contentId: NotRequired[str | None]
    """Required if `inline` is true, else not allowed. Unique in an email."""


class BatchResult(TypedDict):
    """A result for each message, in the order of the request. Check `error` of each."""

    results: list[BatchItem]


class CallerDetail(TypedDict):
    """The API key of the request, and the limits that apply to what it sends."""

    id: str
    name: str
    ending: str | None
    """The last four characters of its text, to tell keys apart; null for a key that was made
    before they were stored.
    """
    type: KeyType
    preset: Preset | None
    """Null for a preview key."""
    scopes: list[str]
    """The permissions of the key."""
    agent: AgentLimits | None
    """Null if it is no agent's key."""
    createdAt: str
    lastUsedAt: str | None
    """When it last sent a message, to within about an hour."""
    revokedAt: str | None
    """Null while the key works."""
    accountId: str
    plan: Plan
    limits: list[LimitState]
    """The account's limits, which its keys share; a preview key has others. An agent's key shows
    its own limit where that has less left.
    """


class ChangeWebhookRequest(TypedDict):
    """Changes to an endpoint. Null changes nothing."""

    url: NotRequired[str | None]
    """An https: URL on a public host, with port 443 or one from 1024 on."""
    types: NotRequired[
        list[
            Literal[
                "*",
                "account.paused",
                "domain.failed",
                "domain.verified",
                "email.accepted",
                "email.bounced",
                "email.complained",
                "email.delayed",
                "email.delivered",
                "email.failed",
                "email.sent",
                "suppression.added",
            ]
        ]
        | None
    ]
    """`["*"]`, which means all types except `email.accepted`, or a list of types."""
    enabled: NotRequired[bool | None]
    """Whether events are sent."""


class CreateWebhookRequest(TypedDict):
    """A new endpoint."""

    url: str
    """An https: URL on a public host, with port 443 or one from 1024 on."""
    types: list[
        Literal[
            "*",
            "account.paused",
            "domain.failed",
            "domain.verified",
            "email.accepted",
            "email.bounced",
            "email.complained",
            "email.delayed",
            "email.delivered",
            "email.failed",
            "email.sent",
            "suppression.added",
        ]
    ]
    """`["*"]`, which means all types except `email.accepted`, or a list of types."""


class DomainData(TypedDict):
    """The `data` of `domain.verified` and `domain.failed`."""

    domain: str


class DomainEvent(TypedDict):
    """The provider verified a sender domain of the account, or no longer does."""

    type: Literal["domain.verified", "domain.failed"]
    timestamp: str
    data: DomainData


class EmailEvent(TypedDict):
    """Something happened to an email, or to one of its recipients."""

    type: Literal[
        "email.accepted",
        "email.sent",
        "email.delivered",
        "email.delayed",
        "email.bounced",
        "email.complained",
        "email.failed",
    ]
    timestamp: str
    data: EmailEventData


class EmailEventData(TypedDict):
    """The `data` of the types `email.*`; `revision` grows with each change of the email."""

    messageId: str
    status: Status
    recipient: str | None
    recipientStatus: Status | None
    to: list[str]
    subject: str
    templateId: str | None
    starterTemplate: str | None
    tags: dict[str, str]
    error: WebhookError | None
    revision: int


class EndpointData(TypedDict):
    """The endpoint that got the event."""

    endpointId: str


class ErrorBody(TypedDict):
    """What went wrong."""

    code: str
    """A stable code for programs."""
    message: str
    """A text for people. It may change."""
    type: ErrorType
    details: NotRequired[dict[str, Any]]
    """Data that depends on the code."""
    upgrade_url: NotRequired[str]
    """Only with `upgrade_required`."""


class ErrorResponse(TypedDict):
    """The body of every error response."""

    error: ErrorBody


class LimitState(TypedDict):
    """A limit of sending, and what is left of it."""

    name: Literal["minute", "day", "recipients", "month"]
    """The window in UTC that counts accepted messages; `recipients` counts their recipients in a
    day. The field `RateLimit` has the same names.
    """
    limit: int | None
    """Null if there is no limit."""
    used: int
    remaining: int | None
    """Null if there is no limit."""
    resetsAt: str
    """When the window ends and all is left again."""


class Message(TypedDict):
    """A message in a list."""

    messageId: str
    recipientEmail: str
    """The first address in `to`."""
    subject: str
    status: Status
    createdAt: str
    updatedAt: str
    errorMessage: str | None
    """Why the message failed, bounced or led to a complaint."""
    tags: dict[str, str]
    """The tags of the send request."""
    keyId: str | None
    """The API key that sent the message."""
    starterTemplate: str | None
    templateId: str | None


class MessageEvent(TypedDict):
    """An event of a message or of one of its recipients."""

    type: EventKind
    at: str
    recipient: NotRequired[str]
    """Absent if the event concerns all recipients."""
    code: NotRequired[str]
    """A stable short code, such as `mailbox_full`."""
    reason: NotRequired[str]
    """The words of the provider or the remote server."""


class MessagePage(TypedDict):
    """One page of a list."""

    items: list[Message]
    total: int
    """The number of items on all pages together."""
    skip: int
    """As requested."""
    limit: int
    """As requested."""


class PausedData(TypedDict):
    """The `data` of `account.paused`: what sends less or nothing, and why.  `id` is that of the
    key or the template, or the slug of a starter template. With the level `warn` everything is
    sent; with `brake` a tenth of the limit of a minute is left; with `stop` nothing is
    accepted. `until` is null if a person has to end it.
    """

    endpointId: str
    scope: Literal["account", "key", "template"]
    id: str | None
    level: Literal["warn", "brake", "stop"]
    cause: Literal["bounces", "complaints", "provider", "operator"]
    until: str | None


class PausedEvent(TypedDict):
    """The account, a key or a template sends less or nothing, or may soon."""

    type: Literal["account.paused"]
    timestamp: str
    data: PausedData


class QueuedWebhookEvent(TypedDict):
    """An event that will be sent to the endpoint."""

    id: str
    """The id of its delivery."""
    eventId: str
    """The header `webhook-id` of each attempt."""
    type: WebhookType


class RenderStarterRequest(TypedDict):
    """Values for the preview."""

    variables: NotRequired[Variables | None]
    """They replace samples of the template."""
    brandName: NotRequired[str | None]
    """Shown instead of the account's brand."""
    logoUrl: NotRequired[str | None]
    """An https: URL. Shown instead of the account's logo."""


class RpcErrorBody(TypedDict):
    """What is wrong with a message. The error of a tool is in the tool's result."""

    code: int
    """A code of JSON-RPC or MCP, such as -32601."""
    message: str
    data: NotRequired[dict[str, Any]]


class RpcRequest(TypedDict):
    """A request, or a notification if it has no id (JSON-RPC 2.0)."""

    jsonrpc: Literal["2.0"]
    id: NotRequired[str | int]
    """The response repeats it."""
    method: str
    """Such as `tools/list` or `tools/call`."""
    params: NotRequired[dict[str, Any]]
    """What the method needs."""


class RpcResponse(TypedDict):
    """The response to a request: a result or an error."""

    jsonrpc: Literal["2.0"]
    id: str | int | None
    """Null if the request has none to repeat."""
    result: NotRequired[dict[str, Any]]
    error: NotRequired[RpcErrorBody]


class SavedTemplate(TypedDict):
    """A saved template in a list."""

    id: str
    name: str
    subject: str
    category: str
    variables: list[str]
    """The names that the template refers to."""
    createdAt: str
    updatedAt: str


class SavedTemplateDetail(TypedDict):
    """A saved template with a preview."""

    id: str
    name: str
    subject: str
    category: str
    variables: list[str]
    """The names that the template refers to."""
    createdAt: str
    updatedAt: str
    previewHtml: str
    """The first 500 characters of the HTML, with names in place of values."""


class SavedTemplatePage(TypedDict):
    """One page of a list."""

    items: list[SavedTemplate]
    total: int
    """The number of items on all pages together."""
    skip: int
    """As requested."""
    limit: int
    """As requested."""


class SendBatchRequest(TypedDict):
    """Up to 100 emails."""

    messages: list[SendEmailRequest]
    """At most 1,000 recipients together. Each message is accepted or refused separately."""


class StarterPreview(TypedDict):
    """A starter template as an email would show it. Nothing is sent."""

    slug: str
    subject: str
    html: str
    sampleVariables: dict[str, Any]
    """The values that the preview shows."""


class StarterTemplate(TypedDict):
    """A built-in template."""

    slug: str
    name: str
    description: str
    variables: list[str]
    """The names of its variables."""


class StatusCounts(TypedDict):
    """How many messages have each status now. Each message counts once."""

    pending: int
    sent: int
    delivered: int
    bounced: int
    complained: int
    failed: int


class SuppressionData(TypedDict):
    """The `data` of `suppression.added`."""

    address: str
    reason: str
    messageId: str | None


class SuppressionEvent(TypedDict):
    """The account no longer sends to an address."""

    type: Literal["suppression.added"]
    timestamp: str
    data: SuppressionData


class TestEvent(TypedDict):
    """A user tests the endpoint."""

    type: Literal["webhook.test"]
    timestamp: str
    data: EndpointData


class TopError(TypedDict):
    """An error and the number of messages that have it."""

    code: str
    message: str
    count: int


class UnsubscribeModel(TypedDict):
    """The header fields by which mail programs show a button to unsubscribe."""

    url: str
    """An https: URL, or a mailto: URL."""
    oneClick: NotRequired[bool]
    """Whether the URL unsubscribes by a POST that mail programs send for their user (RFC 8058). It
    needs an https: URL.
    """


class Webhook(TypedDict):
    """An endpoint: an address of your application that receives events."""

    id: str
    url: str
    types: list[str]
    """The types of events that it receives: `["*"]`, or a list."""
    enabled: bool
    """Whether events are sent: neither you nor the service disabled it."""
    createdAt: str
    failingSince: str | None
    """The first failure after the last success. Null if the last one succeeded."""
    disabledAt: str | None
    """When the service disabled it. Enable it to have events sent again."""
    disabledReason: str | None
    """`failing`: only failures for 5 days. `gone`: it answered 410."""


class WebhookAttempt(TypedDict):
    """One POST to the endpoint."""

    at: str
    statusCode: int | None
    """Null if there was no response."""
    milliseconds: int
    error: str | None
    """Why it failed, or the start of an error response. Null if it succeeded."""


class WebhookDelivery(TypedDict):
    """The delivery of an event to the endpoint."""

    id: str
    """The delivery's id, for a replay."""
    eventId: str
    """The header `webhook-id` of each attempt."""
    type: WebhookType
    messageId: str | None
    """Null if the event is of no single message."""
    at: str
    """When the event happened."""
    status: DeliveryState
    attempts: list[WebhookAttempt]
    """The oldest first."""
    nextAttemptAt: str | None
    """When the next attempt is, if one follows."""


class WebhookDeliveryPage(TypedDict):
    """Deliveries of the last 30 days, those of the newest events first."""

    items: list[WebhookDelivery]
    nextCursor: str | None
    """For the parameter `cursor`; null at the end."""


class WebhookError(TypedDict):
    """Why an email was delayed, bounced or failed."""

    code: str | None
    message: str | None
    permanent: bool


class WebhookList(TypedDict):
    """All endpoints of the account, the oldest first."""

    items: list[Webhook]


class WebhookReplay(TypedDict):
    """The events that will be sent again."""

    queued: int
    """How many events."""
    nextTo: str | None
    """The `to` of the next request, if events of the range are left."""


class WebhookWithSecret(TypedDict):
    """An endpoint with its new secret. No other response shows the secret: save it now."""

    id: str
    url: str
    types: list[str]
    """The types of events that it receives: `["*"]`, or a list."""
    enabled: bool
    """Whether events are sent: neither you nor the service disabled it."""
    createdAt: str
    failingSince: str | None
    """The first failure after the last success. Null if the last one succeeded."""
    disabledAt: str | None
    """When the service disabled it. Enable it to have events sent again."""
    disabledReason: str | None
    """`failing`: only failures for 5 days. `gone`: it answered 410."""
    secret: str
    """The secret that signs the events (Standard Webhooks)."""


BatchItem = TypedDict(
    "BatchItem",
    {
        "idx": int,
        "messageId": str | None,
        "status": Literal["queued"] | None,
        "from": str | None,
        "error": ErrorBody | None,
    },
)
"""The result for one message of a batch."""

MessageDetail = TypedDict(
    "MessageDetail",
    {
        "messageId": str,
        "status": Status,
        "recipientEmail": str,
        "subject": str,
        "fromName": str | None,
        "providerMessageId": str,
        "errorMessage": str | None,
        "createdAt": str,
        "updatedAt": str,
        "from": str,
        "to": list[str],
        "cc": list[str],
        "bcc": list[str],
        "route": SendRoute | None,
        "keyId": str | None,
        "starterTemplate": str | None,
        "templateId": str | None,
        "templateVersion": int | None,
        "requestId": str | None,
        "tags": dict[str, str],
        "events": list[MessageEvent],
    },
)
"""A message and its events."""

ReplayWebhookRequest = TypedDict(
    "ReplayWebhookRequest",
    {
        "from": str,
        "to": NotRequired[str | None],
        "types": NotRequired[
            list[
                Literal[
                    "*",
                    "email.accepted",
                    "email.bounced",
                    "email.complained",
                    "email.delayed",
                    "email.delivered",
                    "email.failed",
                    "email.sent",
                ]
            ]
            | None
        ],
    },
)
"""A time range of emails, and types of their events."""

SendEmailRequest = TypedDict(
    "SendEmailRequest",
    {
        "to": str | list[str],
        "starterTemplate": NotRequired[StarterSlug | None],
        "templateId": NotRequired[str | None],
        "html": NotRequired[str | None],
        "text": NotRequired[str | None],
        "variables": NotRequired[Variables | None],
        "subject": NotRequired[str | None],
        "fromName": NotRequired[str | None],
        "from": NotRequired[str | None],
        "cc": NotRequired[list[str] | None],
        "bcc": NotRequired[list[str] | None],
        "replyTo": NotRequired[str | None],
        "brandName": NotRequired[str | None],
        "logoUrl": NotRequired[str | None],
        "attachments": NotRequired[list[Attachment] | None],
        "tags": NotRequired[Tags | None],
        "headers": NotRequired[Headers | None],
        "unsubscribe": NotRequired[UnsubscribeModel | None],
    },
)
"""Give exactly one of `starterTemplate`, `templateId` and `html`. Null means the same as leaving a
field out.
"""

SendResult = TypedDict(
    "SendResult",
    {
        "messageId": str,
        "status": Literal["queued"],
        "from": str,
    },
)
"""The email is accepted: it is recorded and will be delivered."""

WebhookEvent: TypeAlias = EmailEvent | SuppressionEvent | DomainEvent | PausedEvent | TestEvent
"""What a webhook delivers."""
