"""The JSON of each response (contract sections 2, 4 and 7), as `replies.py` writes it.

The OpenAPI document is generated from these types: docstrings and `Field` hold what it says.
At run time nothing imports this module, so no function loads it or, because of it, pydantic.
"""

from typing import Annotated, Literal, NotRequired, TypedDict

from pydantic import Field, WithJsonSchema

from pillarbox.application.history.queries import Bucket
from pillarbox.domain.messages.message import EventKind, SendRoute, Status

type Uuid = Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})]
type Timestamp = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
type Count = Annotated[int, Field(ge=0)]
type Rate = Annotated[
    float, Field(ge=0, le=1, description="The fraction of what was sent; 0 if nothing was.")
]
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


class ErrorBody(TypedDict):
    """What went wrong."""

    code: Annotated[str, Field(description="A stable code for programs.")]
    message: Annotated[str, Field(description="A text for people. It may change.")]
    type: ErrorType
    details: NotRequired[
        Annotated[dict[str, object], Field(description="Data that depends on the code.")]
    ]
    upgrade_url: NotRequired[Annotated[str, Field(description="Only with `upgrade_required`.")]]


class ErrorEnvelope(TypedDict):
    """The body of every error response."""

    error: ErrorBody


_OnlyForOwner = Annotated[
    Literal[True],
    Field(description="Only if the key belongs to an agent whose emails an owner releases."),
]

# `from` is a keyword of Python, so these types cannot be written as classes.
SendResult = TypedDict(
    "SendResult",
    {
        "messageId": Annotated[Uuid, Field(description="Use it to look the message up.")],
        "status": Literal["queued"],
        "from": Annotated[str, Field(description="The address that the email is sent from.")],
        "scheduledAt": NotRequired[
            Annotated[Timestamp, Field(description="Only with `scheduledAt` in the request.")]
        ],
        "held": NotRequired[
            Annotated[Literal[True], Field(description="Only if it waits for its release.")]
        ],
        "awaitsOwner": NotRequired[_OnlyForOwner],
    },
)
SendResult.__doc__ = "The email is accepted: it is recorded and will be delivered."


class UploadDetail(TypedDict):
    """The request with which to upload a file, and the id that a send names."""

    attachmentId: Uuid
    method: Literal["PUT"]
    url: Annotated[str, Field(description="Where to send the file. The URL is a secret.")]
    headers: Annotated[
        dict[str, str],
        Field(description="Send exactly these. Another type, size, hash or name is refused."),
    ]
    expiresAt: Annotated[Timestamp, Field(description="Until when the URL takes the file.")]
    usableUntil: Annotated[Timestamp, Field(description="Until when sends may name the file.")]


BatchResultItem = TypedDict(
    "BatchResultItem",
    {
        "idx": Annotated[
            int, Field(ge=0, description="The position of the message in the request, from zero.")
        ],
        "messageId": Annotated[Uuid | None, Field(description="Null if the message was refused.")],
        "status": Annotated[
            Literal["queued"] | None, Field(description="Null if the message was refused.")
        ],
        "from": Annotated[str | None, Field(description="Null if the message was refused.")],
        "error": Annotated[
            ErrorBody | None, Field(description="Null if the message was accepted.")
        ],
        "scheduledAt": NotRequired[
            Annotated[Timestamp, Field(description="Only with `scheduledAt` in the message.")]
        ],
        "held": NotRequired[
            Annotated[Literal[True], Field(description="Only if it waits for its release.")]
        ],
        "awaitsOwner": NotRequired[_OnlyForOwner],
    },
)
BatchResultItem.__doc__ = "The result for one message of a batch."


class BatchResult(TypedDict):
    """A result for each message, in the order of the request. Check `error` of each."""

    results: list[BatchResultItem]


type NextCursor = Annotated[
    str | None, Field(description="For the parameter `cursor`; null at the end.")
]


class ItemPage[Item](TypedDict):
    """One page of a list."""

    items: list[Item]
    total: Annotated[Count, Field(description="The number of items on all pages together.")]
    skip: Annotated[Count, Field(description="As requested.")]
    limit: Annotated[int, Field(ge=1, le=100, description="As requested.")]


TagsOfMessage = Annotated[dict[str, str], Field(description="The tags of the send request.")]

ScheduledAt = Annotated[
    Timestamp | None,
    Field(
        description="When it is or was due; null for a message that was sent at once, or is held."
    ),
]
Held = Annotated[bool, Field(description="Whether it waits for its release.")]
AwaitsOwner = Annotated[bool, Field(description="Whether only an owner can release it.")]

ResendOf = Annotated[Uuid | None, Field(description="The message that it repeats.")]
KeyOfMessage = Annotated[str | None, Field(description="The API key that sent the message.")]


class MessageItem(TypedDict):
    """A message in a list."""

    messageId: Uuid
    recipientEmail: Annotated[str, Field(description="The first address in `to`.")]
    subject: str
    status: Status
    createdAt: Timestamp
    updatedAt: Timestamp
    errorMessage: Annotated[
        str | None, Field(description="Why the message failed, bounced or led to a complaint.")
    ]
    tags: TagsOfMessage
    keyId: KeyOfMessage
    starterTemplate: str | None
    templateId: Uuid | None
    scheduledAt: ScheduledAt
    held: Held
    awaitsOwner: AwaitsOwner
    resendOf: ResendOf


class HeldFile(TypedDict):
    """A file in an email that waits."""

    filename: str
    contentType: str
    bytes: Count


_HeldFrom = TypedDict("_HeldFrom", {"from": str})


class HeldContent(_HeldFrom, TypedDict):
    """What an email is that waits for an owner. One of which a part is not shown stays held."""

    fromName: str | None
    to: Annotated[list[str], Field(description="Addresses with their names, as in cc and bcc.")]
    cc: list[str]
    bcc: list[str]
    subject: str
    replyTo: str | None
    headers: dict[str, str]
    html: Annotated[
        str | None,
        Field(description="Null if there is none, or if it has more than 400,000 characters."),
    ]
    text: Annotated[
        str, Field(description="The text of the HTML, or the text alone, up to 400,000 characters.")
    ]
    ownText: Annotated[str | None, Field(description="A text part of its own beside the HTML.")]
    attachments: list[HeldFile]


class MessageEvent(TypedDict):
    """An event of a message or of one of its recipients."""

    type: EventKind
    at: Timestamp
    recipient: NotRequired[
        Annotated[str, Field(description="Absent if the event concerns all recipients.")]
    ]
    code: NotRequired[
        Annotated[str, Field(description="A stable short code, such as `mailbox_full`.")]
    ]
    reason: NotRequired[
        Annotated[str, Field(description="The words of the provider or the remote server.")]
    ]


MessageDetail = TypedDict(
    "MessageDetail",
    {
        "messageId": Uuid,
        "status": Status,
        "recipientEmail": Annotated[str, Field(description="The first address in `to`.")],
        "subject": str,
        "fromName": str | None,
        "providerMessageId": Annotated[str, Field(description="SES's id; empty until it is sent.")],
        "errorMessage": Annotated[
            str | None, Field(description="Why the message failed, bounced or led to a complaint.")
        ],
        "createdAt": Timestamp,
        "updatedAt": Timestamp,
        "messageIdHeader": Annotated[str | None, Field(description="The delivered Message-ID.")],
        "from": Annotated[str, Field(description="The address that the email is sent from.")],
        "to": list[str],
        "cc": list[str],
        "bcc": list[str],
        "route": Annotated[
            SendRoute | None,
            Field(
                description="How the message came in. This and the next five are null for a message"
                " that was accepted before they were recorded."
            ),
        ],
        "keyId": KeyOfMessage,
        "starterTemplate": str | None,
        "templateId": Uuid | None,
        "templateVersion": Annotated[
            int | None,
            Field(description="Counts the changes of the saved template, from 1.", ge=1),
        ],
        "requestId": Annotated[
            str | None,
            Field(description="The X-Request-Id of the response that accepted the message."),
        ],
        "tags": TagsOfMessage,
        "scheduledAt": ScheduledAt,
        "held": Held,
        "awaitsOwner": AwaitsOwner,
        "canceledAt": Annotated[
            Timestamp | None, Field(description="When it was canceled; null if it was not.")
        ],
        "kept": Annotated[
            Timestamp | None, Field(description="Until when its content is kept; null: not.")
        ],
        "resendOf": ResendOf,
        "events": Annotated[
            list[MessageEvent], Field(description="Each event with its time and its reason.")
        ],
    },
)
MessageDetail.__doc__ = "A message and its events."


class StatusCounts(TypedDict):
    """How many messages have each status now. Each message counts once."""

    pending: Count
    sent: Count
    delivered: Count
    bounced: Count
    complained: Count
    failed: Count


class AnalyticsRow(TypedDict):
    """The messages that were created in one hour or day, and the statuses they ever reached."""

    timestamp: Annotated[Timestamp, Field(description="The start of the hour or day, in UTC.")]
    count: Annotated[Count, Field(description="All accepted messages.")]
    sent: Count
    delivered: Count
    bounced: Annotated[Count, Field(description="Permanent bounces only.")]
    complained: Count
    failed: Count
    statuses: StatusCounts


class TopError(TypedDict):
    """An error and the number of messages that have it."""

    code: str
    message: str
    count: Annotated[int, Field(ge=1)]


class SecondsToSent(TypedDict):
    """Within how long half, and 95 of 100, of the messages were sent. Null if none was.

    From the acceptance until the provider had the message. Right to a fifth, and never too low.
    """

    p50: Annotated[float | None, Field(ge=0)]
    p95: Annotated[float | None, Field(ge=0)]


class AnalyticsResult(TypedDict):
    """Figures of the messages that were created within a time range."""

    totalMessages: Count
    deliveryRate: Rate
    bounceRate: Annotated[
        Rate,
        Field(
            description="Permanent bounces only. A transient bounce is no sign of a bad address; it"
            " may even be an out-of-office reply to a message that was delivered."
        ),
    ]
    complaintRate: Rate
    windowStart: Timestamp
    windowEnd: Timestamp
    bucket: Bucket
    statuses: Annotated[
        StatusCounts,
        Field(
            description="How many of the messages have each status now: the `total` of their list"
            " with `status` and the same time range."
        ),
    ]
    secondsToSent: SecondsToSent
    volume: Annotated[
        list[AnalyticsRow],
        Field(description="A row for every hour or day of the time range, in order."),
    ]
    topErrors: Annotated[list[TopError], Field(max_length=10, description="Most frequent first.")]


class LimitState(TypedDict):
    """A limit of sending, and what is left of it."""

    name: Annotated[
        Literal["minute", "day", "recipients", "month"],
        Field(
            description="The window in UTC that counts accepted messages; `recipients` counts their"
            " recipients in a day. The field `RateLimit` has the same names."
        ),
    ]
    limit: Annotated[Count | None, Field(description="Null if there is no limit.")]
    used: Count
    remaining: Annotated[Count | None, Field(description="Null if there is no limit.")]
    resetsAt: Annotated[Timestamp, Field(description="When the window ends and all is left again.")]


class StarterItem(TypedDict):
    """A built-in template."""

    slug: str
    name: str
    description: str
    variables: Annotated[list[str], Field(description="The names of its variables.")]


class RenderedStarterItem(TypedDict):
    """A starter template as an email would show it. Nothing is sent."""

    slug: str
    subject: str
    html: str
    sampleVariables: Annotated[
        dict[str, object], Field(description="The values that the preview shows.")
    ]


class TemplateItem(TypedDict):
    """A saved template in a list."""

    id: Uuid
    name: str
    subject: str
    category: str
    variables: Annotated[list[str], Field(description="The names that the template refers to.")]
    createdAt: Timestamp
    updatedAt: Timestamp


class TemplateDetail(TemplateItem):
    """A saved template with a preview."""

    previewHtml: Annotated[
        str,
        Field(
            max_length=500,
            description="The first 500 characters of the HTML, with names in place of values.",
        ),
    ]
    locales: Annotated[list[str], Field(description="The locales that it has beside the default.")]
    keepDays: Annotated[int, Field(ge=0, description="The most days to keep the content for.")]


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
