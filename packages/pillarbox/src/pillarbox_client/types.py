"""The shapes of requests, responses and webhook events, with the names of the API."""

# Written by `make openapi` from docs/openapi.json.
# ruff: noqa: D205  descriptions of the document

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

AccountAction: TypeAlias = Literal[
    "approved",
    "changed",
    "suspended",
    "resumed",
    "api.called",
    "key.created",
    "key.revoked",
    "member.invited",
    "member.joined",
    "member.changed",
    "member.removed",
    "passkey.added",
    "passkey.removed",
    "passkey.stopped",
    "webhook.created",
    "webhook.changed",
    "webhook.deleted",
    "sending.resumed",
    "alerts.changed",
    "domain.added",
    "domain.removed",
    "domain.lost",
    "domain.shared",
    "sender.added",
    "sender.removed",
    "content.read",
    "content.resent",
    "received.read",
    "receiving.begun",
    "receiving.ended",
    "keep.changed",
    "records.changed",
]
"""What was done to an account, or to what it has."""

AlertKind: TypeAlias = Literal[
    "sending", "volume", "domain", "quota", "endpoint", "agent", "unused_key"
]
"""What an alert is about. Owners may turn each off."""

AttachmentType: TypeAlias = str
"""A type of file that an email may have (RFC 6838): application/msword, application/pdf,
application/vnd.ms-excel, application/vnd.ms-powerpoint, application/vnd.openxmlformats-
officedocument.presentationml.presentation, application/vnd.openxmlformats-
officedocument.spreadsheetml.sheet, application/vnd.openxmlformats-
officedocument.wordprocessingml.document, image/gif, image/jpeg, image/png, image/webp,
text/calendar, text/csv, text/plain. A `charset` may follow, and the `method` of a calendar.
Without them a text in UTF-8 gets `charset=utf-8`, and a calendar gets the method of its METHOD
line.
"""

Automatic: TypeAlias = Literal["reply", "report", "list"]
"""What kind of program wrote a mail."""

Bucket: TypeAlias = Literal["hour", "day"]
"""The length of time that one row of analytics covers."""

Confirmation: TypeAlias = Literal["ask", "owner", "off"]
"""Who confirms each send of a key."""

DeliveryState: TypeAlias = Literal["waiting", "delivered", "failed"]
"""Whether the event arrived, another attempt follows, or none does."""

DomainState: TypeAlias = Literal["verified", "pending", "failed"]
"""Whether the account can send from a domain."""

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

Isolation: TypeAlias = Literal["none", "standard", "strict"]
"""When SES pauses an account by itself; `none`: only with all others."""

KeyType: TypeAlias = Literal["preview", "live"]
"""The type of an API key."""

LogPart: TypeAlias = Literal["changes", "calls"]
"""The two parts of a log: calls are apart, so that they crowd out no change."""

MailVerdict: TypeAlias = Literal["pass", "fail", "unknown"]
"""What Amazon SES found when it received a mail."""

PauseCause: TypeAlias = Literal["bounces", "complaints", "provider"]
"""Why there is a pause."""

PauseLevel: TypeAlias = Literal["warn", "brake", "stop"]
"""How strict a pause is, from the mildest on."""

PauseScope: TypeAlias = Literal["account", "key", "template"]
"""What a pause is about."""

Plan: TypeAlias = Literal["free", "standard", "enterprise"]
"""The plan of an account."""

Preset: TypeAlias = Literal["send", "marketing", "analytics", "custom"]
"""A named set of permissions."""

QueuedMail: TypeAlias = Literal["send", "hold", "drop"]
"""What happens to the emails that a suspended account has in the queue."""

Role: TypeAlias = Literal["owner", "developer", "author", "viewer"]
"""What a user is in an account."""

Samples: TypeAlias = dict[str, dict[str, Any]]
"""Values for previews, by the names of their sets: at most 64 KB."""

SendRoute: TypeAlias = Literal["http", "batch", "smtp", "mcp", "notice"]
"""The ways in which a message can be accepted."""

Severity: TypeAlias = Literal["error", "warning", "note"]
"""How bad a problem of a template is. Only an error stops its publication."""

SortBy: TypeAlias = Literal["created_at", "updated_at", "status"]
"""The field that a list of messages is sorted by, in descending order."""

SourceKind: TypeAlias = Literal["html", "mjml"]
"""The language of a template's source."""

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

TemplateLocales: TypeAlias = "dict[str, LocaleModel]"
"""Subject, body and text part for each locale, by its language tag (RFC 5646) in any case."""

Variables: TypeAlias = dict[str, Any]
"""Values for a template, by name."""

WebhookFormat: TypeAlias = Literal["pillarbox", "resend", "postmark"]
"""The shapes that payloads have. The signature is the same for all."""

WebhookType: TypeAlias = Literal[
    "email.accepted",
    "email.sent",
    "email.delivered",
    "email.delayed",
    "email.bounced",
    "email.complained",
    "email.failed",
    "email.received",
    "suppression.added",
    "domain.verified",
    "domain.failed",
    "account.paused",
    "webhook.test",
]
"""The type of an event."""


class Account(TypedDict):
    """The account of the session. A setting is null if it was never set."""

    id: str
    name: str
    plan: Plan
    createdAt: str
    limits: list[LimitState]
    """What all keys together may send."""
    brandName: str | None
    logoUrl: str | None
    accent: str | None
    """A colour such as `#0a7d5a`."""
    fromName: str | None
    """The sender's display name."""
    supportEmail: str | None
    """Where recipients get help."""
    companyAddress: str | None
    """The postal address."""
    actionUrl: str | None
    """The link of the button of `welcome`."""
    defaultSender: str | None
    contact: str | None
    """Where the service writes to the account's owner. Without a default sender the account sends
    to this address only.
    """
    keepDays: int
    """How long the content of emails is kept; 0: not."""
    recordDays: int
    """When records are deleted; 0: never."""
    replies: bool
    """Whether answers come back to emails whose send does not say so."""
    replyDomain: str | None
    """Where they come; null: no domain of the account receives."""
    receivedDays: int
    """How long received mail is kept."""
    pauses: list[PauseItem]
    """What sends less or nothing now, and warnings."""


class AccountLog(TypedDict):
    """A part of the account's log, the newest first."""

    items: list[LogItem]
    nextCursor: str | None
    """Null at the end."""


class AccountPage(TypedDict):
    """A part of the list of accounts, sorted by id."""

    items: list[ListedAccount]
    nextCursor: str | None
    """For the parameter `cursor`; null at the end."""


class AddDomainRequest(TypedDict):
    """A domain to send from."""

    domain: str
    """Such as `shop.example`."""
    mailFrom: NotRequired[str | None]
    """The label of its MAIL FROM domain, if the domain is new to SES: `bounce` for
    `bounce.shop.example`, and `mail` by default.
    """


class AddSenderRequest(TypedDict):
    """An address to send from."""

    address: str
    """An address of a verified domain or of a subdomain of it."""


class AddSuppressionsRequest(TypedDict):
    """Give either `address` or `addresses`."""

    address: NotRequired[str | None]
    """An address."""
    addresses: NotRequired[list[str] | None]
    """Addresses, each alone or as `Name <address>`."""


class AddedSuppressions(TypedDict):
    """The suppressions of the given addresses. An earlier one keeps its reason."""

    items: list[Suppression]
    refused: list[RefusedAddress]
    """Those of `addresses` that were left out."""


class AgentLimits(TypedDict):
    """What the key of an agent may do."""

    recipients: list[str]
    """Addresses and domains that it may send to; `*` is every one."""
    confirmation: Confirmation
    """Who confirms each send: the agent's user, an owner, or none of them."""
    perDay: int
    """How many emails it may send a day."""


class AlertDetail(TypedDict):
    """How the owners of the account hear of what happens in it."""

    mail: bool
    """Whether the owners and the contact get emails."""
    chat: str | None
    """The host of the chat's webhook and the last four characters of its URL, which is a secret;
    null if there is none.
    """
    chatAllowed: bool
    """False if the operator of the service switched webhooks off."""
    lastPost: ChatPostItem | None
    """The last post to the chat; null if there was none."""
    off: list[AlertKind]
    """What they do not want to hear of."""


class Analytics(TypedDict):
    """Figures of the messages that were created within a time range."""

    totalMessages: int
    deliveryRate: float
    """The fraction of what was sent; 0 if nothing was."""
    bounceRate: float
    """Permanent bounces only. A transient bounce is no sign of a bad address; it may even be an
    out-of-office reply to a message that was delivered.
    """
    complaintRate: float
    """The fraction of what was sent; 0 if nothing was."""
    windowStart: str
    windowEnd: str
    bucket: Bucket
    statuses: StatusCounts
    """How many of the messages have each status now: the `total` of their list with `status` and
    the same time range.
    """
    secondsToSent: SecondsToSent
    volume: list[AnalyticsRow]
    """A row for every hour or day of the time range, in order."""
    topErrors: list[TopError]
    """Most frequent first."""


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


class AnsweredEmail(TypedDict):
    """The email that a received mail answers."""

    messageId: str
    tags: dict[str, str]
    """The tags of the email."""
    template: str | None
    """The id of its saved template, or the slug of its starter template."""


class ApprovalBody(TypedDict):
    """An approval. Without a plan, that of all new accounts counts."""

    plan: NotRequired[Plan | None]
    """The plan of the account."""


class Attachment(TypedDict):
    """A file in an email, with its content or by the id of its upload. The content is not kept
    after the delivery.
    """

    attachmentId: NotRequired[str | None]
    """The id of an uploaded file, from `POST /api/v1/attachments`. It replaces `filename`,
    `contentType` and `content`.
    """
    filename: NotRequired[str | None]
    """A plain name: no path, no colon, no invisible character, no dot or blank at the end, no
    device of Windows such as CON, and no extension that SES refuses (.exe, .js, .bat, .lnk,
    .hta, …).
    """
    contentType: NotRequired[AttachmentType | None]
    """The type of the file (RFC 6838), without parameters. Without it, the file's extension
    decides.
    """
    content: NotRequired[str | None]
    """The file's bytes in base64 (RFC 4648 section 4), padded."""
    inline: NotRequired[bool | None]
    """Whether the HTML shows the file, as cid:<contentId>. False by default."""
    contentId: NotRequired[str | None]
    """Required if `inline` is true, else not allowed. Unique in an email."""


class BatchResult(TypedDict):
    """A result for each message, in the order of the request. Check `error` of each."""

    results: list[BatchItem]


class CalendarReply(TypedDict):
    """What somebody answered to an invitation (RFC 5546)."""

    method: str
    uid: str | None
    attendee: str | None
    status: str | None
    """Such as `accepted`, `declined` and `tentative`."""


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
    expiresAt: str | None
    """From when on it does not work; null: it stays."""
    sources: list[str]
    """The blocks of addresses that it works from; none: from everywhere."""
    revokedAt: str | None
    """Null while the key works."""
    accountId: str
    plan: Plan
    limits: list[LimitState]
    """The account's limits, which its keys share; a preview key has others. An agent's key shows
    its own limit where that has less left.
    """


class ChangeAccountRequest(TypedDict):
    """Changes to the account. Null changes nothing, and an empty text removes it."""

    name: NotRequired[str | None]
    """The account's name."""
    brandName: NotRequired[str | None]
    """Shown at the top of templates."""
    logoUrl: NotRequired[str | None]
    """An https: URL of an image."""
    accent: NotRequired[str | None]
    """A colour that is visible on light and dark backgrounds."""
    fromName: NotRequired[str | None]
    """The sender's display name."""
    supportEmail: NotRequired[str | None]
    """Where recipients of starters get help: an address, or a web or `mailto:` URL."""
    companyAddress: NotRequired[str | None]
    """The postal address that starters show."""
    actionUrl: NotRequired[str | None]
    """The link of the button of `welcome`."""
    keepDays: NotRequired[int | None]
    """For how many days to keep the content of emails from now on, for owners, developers and keys
    with `emails:content`; 0: not at all. A lower number is in force for older emails too.
    """
    recordDays: NotRequired[int | None]
    """After how many days to delete the records of emails for good, with addresses, subjects and
    tags: 90 or more; 0: never. Figures stay.
    """
    replies: NotRequired[bool | None]
    """Whether answers come back to emails whose send does not say so (`replies`). It needs a
    domain that receives; until then it has no effect.
    """
    receivedDays: NotRequired[int | None]
    """For how many days to keep received mail from now on."""


class ChangeAlertsRequest(TypedDict):
    """What the owners hear of. Null changes nothing, and an empty `chatUrl` removes it."""

    mail: NotRequired[bool | None]
    """Whether the owners and the contact get emails."""
    chatUrl: NotRequired[str | None]
    """The incoming webhook of a room in Slack or Teams; not shown again."""
    off: NotRequired[list[AlertKind] | None]
    """What they do not want to hear of."""


class ChangeDomainRequest(TypedDict):
    """What a domain receives."""

    receive: NotRequired[str | None]
    """The label below the domain that receives answers: `in` for `in.shop.example`. Its MX record
    is among the records then. An empty text switches receiving off.
    """
    receiveNames: NotRequired[list[str] | None]
    """Names that get mail which answers no email, such as `support`: at most 20."""


class ChangeMemberRequest(TypedDict):
    """Another role."""

    role: Role
    """The new role in the account."""


class ChangeWebhookRequest(TypedDict):
    """Changes to an endpoint. Null changes nothing."""

    url: NotRequired[str | None]
    """An https: URL on a public host, with port 443 or one from 1024 on. With `roleArn`: the ARN
    of an event bus, or `s3://BUCKET/PREFIX/`. It stays of its kind.
    """
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
                "email.received",
                "email.sent",
                "suppression.added",
            ]
        ]
        | None
    ]
    """`["*"]`, which means all types except `email.accepted`, or a list of types."""
    enabled: NotRequired[bool | None]
    """Whether events are sent."""
    format: NotRequired[WebhookFormat | None]
    """The shape of the payloads. `pillarbox` is the default; `resend` is that of Resend's
    webhooks, for receivers that were written for it; `postmark` has `email.received` as
    Postmark's inbound webhook. The types are chosen by our names. The signature is the same.
    """
    roleArn: NotRequired[str | None]
    """For an event bus or a bucket in your AWS account: a role in it that may put events there,
    whose name begins with `pillarbox-events`. Its trust policy is the `trustPolicy` of the
    endpoint.
    """


class ChangedSetting(TypedDict):
    """A setting, or a role, before and after a change. Null if it is not set, or the plan's."""

    name: str
    before: str | int | bool | None
    after: str | int | bool | None


class ChatPostItem(TypedDict):
    """How a post to the chat went."""

    at: str
    error: str | None
    """Why it failed; null if it did not."""


class CheckedDnsRecord(TypedDict):
    """A DNS record with what DNS says now."""

    purpose: str
    """`OWNERSHIP` lets this account use the domain, and `DKIM` lets it send. The others make it
    more likely that mail arrives.
    """
    type: str
    """`CNAME`, `MX` or `TXT`."""
    host: str
    """The full name, without a dot at its end."""
    value: str
    """An `MX` has its preference first."""
    dns: DnsAnswer


class ChosenAccount(TypedDict):
    """The account of an access token."""

    id: str
    name: str
    plan: Plan


class ContentFile(TypedDict):
    """A file in the kept content of a message."""

    filename: str | None
    contentType: str
    size: int
    """In bytes, decoded."""


class ContentLink(TypedDict):
    """A link that downloads the message, for everybody who has it."""

    url: str
    expiresAt: str


class CreateAccountRequest(TypedDict):
    """A new account, without senders and keys."""

    name: str
    """A name for people."""
    plan: Plan
    """The account's plan."""
    contact: NotRequired[str | None]
    """Where the service writes to the account's owner."""


class CreateKeyRequest(TypedDict):
    """A new API key."""

    name: str
    """A name for people."""
    preset: Preset
    """A set of permissions."""
    scopes: NotRequired[
        list[
            Literal[
                "account:read",
                "account:write",
                "accounts:read",
                "accounts:write",
                "domains:read",
                "domains:write",
                "drafts:read",
                "drafts:write",
                "emails:content",
                "emails:read",
                "emails:send",
                "keys:read",
                "keys:write",
                "marketing:campaigns:read",
                "marketing:campaigns:write",
                "marketing:contacts:read",
                "marketing:contacts:write",
                "members:read",
                "members:write",
                "received:read",
                "senders:write",
                "suppressions:read",
                "suppressions:write",
                "templates:read",
                "templates:write",
                "webhooks:read",
                "webhooks:write",
            ]
        ]
        | None
    ]
    """The permissions of the key, with the preset `custom` alone."""
    expiresAt: NotRequired[str | None]
    """From when on it does not work; without it, it stays."""
    sources: NotRequired[list[str] | None]
    """The blocks of addresses (CIDR) that it works from; without it, all."""


class CreateTemplateRequest(TypedDict):
    """A new template, with a starter, some HTML or a few words as its draft."""

    name: str
    """For people."""
    category: str
    """A label for sorting."""
    starterTemplate: NotRequired[StarterSlug | None]
    """The starter to begin with."""
    html: NotRequired[str | None]
    """HTML to begin with."""


class CreateWebhookRequest(TypedDict):
    """A new endpoint."""

    url: str
    """An https: URL on a public host, with port 443 or one from 1024 on. With `roleArn`: the ARN
    of an event bus, or `s3://BUCKET/PREFIX/`. It stays of its kind.
    """
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
            "email.received",
            "email.sent",
            "suppression.added",
        ]
    ]
    """`["*"]`, which means all types except `email.accepted`, or a list of types."""
    format: NotRequired[WebhookFormat | None]
    """The shape of the payloads. `pillarbox` is the default; `resend` is that of Resend's
    webhooks, for receivers that were written for it; `postmark` has `email.received` as
    Postmark's inbound webhook. The types are chosen by our names. The signature is the same.
    """
    roleArn: NotRequired[str | None]
    """For an event bus or a bucket in your AWS account: a role in it that may put events there,
    whose name begins with `pillarbox-events`. Its trust policy is the `trustPolicy` of the
    endpoint.
    """


class DeletionState(TypedDict):
    """How far the deletion of an account is."""

    id: str
    done: bool
    """If not, repeat the request: the deletion goes on."""
    items: int
    """How many records this request deleted."""


class DnsAnswer(TypedDict):
    """What DNS says now."""

    status: Literal["present", "missing", "differs", "unknown"]
    """`unknown`: DNS did not answer in time."""
    values: list[str]
    """The values that DNS has."""
    advice: str
    """What to do if DNS has another value; else empty."""


class DnsRecord(TypedDict):
    """A DNS record that the domain needs."""

    purpose: str
    """`OWNERSHIP` lets this account use the domain, and `DKIM` lets it send. The others make it
    more likely that mail arrives.
    """
    type: str
    """`CNAME`, `MX` or `TXT`."""
    host: str
    """The full name, without a dot at its end."""
    value: str
    """An `MX` has its preference first."""


class Domain(TypedDict):
    """A domain of the account with the DNS records that it needs."""

    domain: str
    status: DomainState
    mailFrom: str
    """The label of its MAIL FROM domain."""
    createdAt: str
    checkedAt: str
    """When the provider was asked about it."""
    linkExpiresAt: str | None
    """Until when a link to its DNS records works; null if there is none."""
    receives: str | None
    """The domain below it that receives answers; null: none."""
    receiveNames: list[str]
    """The names there that get mail which answers no email."""
    records: list[DnsRecord]


class DomainData(TypedDict):
    """The `data` of `domain.verified` and `domain.failed`."""

    domain: str


class DomainDetail(TypedDict):
    """A domain of the account with its DNS records, and what DNS says of each now."""

    domain: str
    status: DomainState
    mailFrom: str
    """The label of its MAIL FROM domain."""
    createdAt: str
    checkedAt: str
    """When the provider was asked about it."""
    linkExpiresAt: str | None
    """Until when a link to its DNS records works; null if there is none."""
    receives: str | None
    """The domain below it that receives answers; null: none."""
    receiveNames: list[str]
    """The names there that get mail which answers no email."""
    records: list[CheckedDnsRecord]


class DomainEvent(TypedDict):
    """The provider verified a sender domain of the account, or no longer does."""

    type: Literal["domain.verified", "domain.failed"]
    timestamp: str
    data: DomainData


class DomainLinkItem(TypedDict):
    """A new link to the DNS records of a domain. Only this response has it."""

    url: str
    """It shows the records without signing in."""
    expiresAt: str


class DomainList(TypedDict):
    """All domains of the account, sorted by name."""

    items: list[Domain]


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
    messageIdHeader: str | None
    to: list[str]
    subject: str
    templateId: str | None
    starterTemplate: str | None
    tags: dict[str, str]
    scheduledAt: str | None
    held: bool
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


class InviteMemberRequest(TypedDict):
    """A new member."""

    email: str
    """The user's address."""
    role: Role
    """The role in the account."""


class Key(TypedDict):
    """An API key in the list of its account."""

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
    expiresAt: str | None
    """From when on it does not work; null: it stays."""
    sources: list[str]
    """The blocks of addresses that it works from; none: from everywhere."""
    revokedAt: str | None
    """Null while the key works."""
    createdBy: str | None
    """The member or the key that made it, or `operator`; null if that is not known."""


class KeyList(TypedDict):
    """The keys of an account, the oldest first, and what a new one may be."""

    items: list[Key]
    presets: list[KeyPreset]
    permissions: list[PermissionItem]
    """All that a key of an account can have."""
    upgradeUrl: str
    """The page about paid plans."""
    smtp: SmtpServer | None
    """Null if the service has no SMTP relay."""


class KeyPreset(TypedDict):
    """A named set of permissions for a new key, under the account's plan."""

    preset: Preset
    scopes: list[str]
    """What the key gets; for `custom` what it can get."""
    refusedScopes: list[str]
    """Those that the plan does not allow."""
    allowed: bool
    """Whether the plan allows the preset."""
    reason: str | None
    """Why scopes are refused."""


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


class ListedAccount(TypedDict):
    """An account of the service."""

    id: str
    name: str
    plan: Plan
    createdAt: str
    suspendedAt: str | None
    """Null if it is not suspended."""
    limits: list[LimitState]
    """The limits in force."""


class LocaleItem(TypedDict):
    """What a template has for one locale."""

    subject: str
    source: str
    text: str | None
    """The text part. Null makes one of the HTML at each send."""


class LocaleModel(TypedDict):
    """What a template has for one locale."""

    subject: str
    """Text with plain references."""
    source: str
    """The body, in the language of `kind`."""
    text: NotRequired[str | None]
    """The text part, with plain references."""


class LogItem(TypedDict):
    """What was done to the account, or to what it has."""

    id: str
    at: str
    action: AccountAction
    by: str | None
    """The address of a member, the id of a key, `operator` for the operator's command or `service`
    for the service itself. Members do not see which operator it was: null.
    """
    subject: str | None
    """The key, member, endpoint or domain; null for the account itself."""
    count: int
    """How often, if it is a call: equal ones of a minute."""
    changes: list[ChangedSetting]


class Member(TypedDict):
    """A user with a role in the account."""

    id: str
    email: str
    role: Role
    pending: bool
    """Whether it has yet to agree. Until then it has no rights."""
    current: bool
    """Whether it is the user of the request."""
    createdAt: str
    """When it was invited last, or added."""


class MemberList(TypedDict):
    """The members of the account, the oldest first."""

    items: list[Member]


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
    scheduledAt: str | None
    """When it is or was due; null for a message that was sent at once, or is held."""
    held: bool
    """Whether it waits for its release."""
    awaitsOwner: bool
    """Whether only an owner can release it."""
    resendOf: str | None
    """The message that it repeats."""


class MessageContent(TypedDict):
    """The kept content of a message."""

    messageId: str
    subject: str
    html: str | None
    """Null if there is none, or it is larger than 512 KB."""
    text: str | None
    """Null if there is none, or it is larger than 512 KB."""
    attachments: list[ContentFile]
    size: int
    """Of the whole message, in bytes."""
    kept: str
    """Until when it is kept."""
    eml: ContentLink
    """The whole message as a file (RFC 5322)."""


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


class NewKey(TypedDict):
    """A new API key. Only this response has its text."""

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
    expiresAt: str | None
    """From when on it does not work; null: it stays."""
    sources: list[str]
    """The blocks of addresses that it works from; none: from everywhere."""
    revokedAt: str | None
    """Null while the key works."""
    key: str
    """Save it now: it is shown only once."""


class OperateAccountRequest(TypedDict):
    """Changes to an account. Null changes nothing."""

    plan: NotRequired[Plan | None]
    """The account's plan."""
    ownLimits: NotRequired[OwnLimits | None]
    """All limits of its own, in place of those that it has."""
    isolation: NotRequired[Isolation | None]
    """Whether the account has a reputation of its own at SES, as a tenant, and when SES pauses it:
    at grave findings (`standard`) or any (`strict`).
    """


class OperatedAccount(TypedDict):
    """An account, as an operator sees it."""

    id: str
    name: str
    plan: Plan
    createdAt: str
    limits: list[LimitState]
    """What all keys together may send."""
    brandName: str | None
    logoUrl: str | None
    accent: str | None
    """A colour such as `#0a7d5a`."""
    fromName: str | None
    """The sender's display name."""
    supportEmail: str | None
    """Where recipients get help."""
    companyAddress: str | None
    """The postal address."""
    actionUrl: str | None
    """The link of the button of `welcome`."""
    defaultSender: str | None
    contact: str | None
    """Where the service writes to its owner."""
    keepDays: int
    """How long the content of emails is kept; 0: not."""
    recordDays: int
    """When records are deleted; 0: never."""
    replies: bool
    """Whether answers come back to emails whose send does not say so."""
    replyDomain: str | None
    """Where they come; null: no domain of the account receives."""
    receivedDays: int
    """How long received mail is kept."""
    pauses: list[PauseItem]
    """What sends less or nothing now, and warnings."""
    suspendedAt: str | None
    """Null if it is not suspended."""
    suspensionReason: str | None
    queuedMail: QueuedMail | None
    """What happens to its emails that were accepted before; null if it is not suspended."""
    senders: list[str]
    shards: int
    """Over how many partitions its emails are spread."""
    shardedFrom: str | None
    """Since or from when on; null for one partition."""
    holdUncertain: bool
    """Whether an email fails that SES may have sent; otherwise it is sent again."""
    isolation: Isolation
    """Whether SES pauses the account alone, and when."""
    tenant: str | None
    """Its tenant at SES."""
    ownLimits: OwnLimitValues
    log: list[OperatorLogItem]
    """The last 50, the newest first."""


class OperatorLogItem(TypedDict):
    """What was done to the account, as operators see it: with the operator's address."""

    id: str
    at: str
    action: AccountAction
    by: str | None
    """The address of a member, the id of a key, `operator` for the operator's command or `service`
    for the service itself. Members do not see which operator it was: null.
    """
    subject: str | None
    """The key, member, endpoint or domain; null for the account itself."""
    count: int
    """How often, if it is a call: equal ones of a minute."""
    changes: list[ChangedSetting]
    reason: str | None
    """Members of the account do not see it."""


class OwnLimitValues(TypedDict):
    """The limits of an account that replace the plan's."""

    perMinute: int | None
    """Null for the plan's limit."""
    perDay: int | None
    """Null for the plan's limit."""
    perMonth: int | None
    """Null for the plan's limit."""
    recipientsPerDay: int | None
    """Null for the plan's limit."""


class OwnLimits(TypedDict):
    """The limits of an account; null is the plan's limit."""

    perMinute: NotRequired[int | None]
    """Emails per minute."""
    perDay: NotRequired[int | None]
    """Emails per day of UTC."""
    perMonth: NotRequired[int | None]
    """Emails per month of UTC."""
    recipientsPerDay: NotRequired[int | None]
    """Recipients per day of UTC."""


class PauseItem(TypedDict):
    """A pause of the account, a key or a template, or a warning that there may soon be one."""

    scope: PauseScope
    id: str | None
    """The key, or the template by its id or slug; null for the account."""
    level: PauseLevel
    """`warn`: everything is sent. `brake`: a tenth of the limit of a minute is left. `stop`:
    nothing is accepted, except codes unless it is the account's.
    """
    cause: PauseCause
    since: str
    until: str | None
    """When it ends; null if somebody has to end it."""
    resumable: bool
    """Whether an owner may end it now."""


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


class PendingList(TypedDict):
    """The users who wait for the operator, the oldest request first."""

    items: list[PendingSignUp]


class PendingSignUp(TypedDict):
    """A user who asks for an account."""

    email: str
    name: str
    """Of the account."""
    createdAt: str


class PermissionItem(TypedDict):
    """What a permission allows."""

    scope: str
    allows: str
    """It completes the sentence "The key may …"."""


class PublishedTemplate(TypedDict):
    """The template that sends use from now on."""

    id: str
    version: int
    variables: list[str]
    locales: list[str]
    """Those that it has beside the default."""
    updatedAt: str
    problems: list[TemplateProblem]
    """`variable_not_sent` for each variable that it needs and that recent sends did not give."""


class QueuedWebhookEvent(TypedDict):
    """An event that will be sent to the endpoint."""

    id: str
    """The id of its delivery."""
    eventId: str
    """The header `webhook-id` of each attempt."""
    type: WebhookType


class ReceivedEvent(TypedDict):
    """The account received a mail; the data are those of `GET /api/v1/received/{received_id}`."""

    type: Literal["email.received"]
    timestamp: str
    data: ReceivedDetail


class ReceivedFile(TypedDict):
    """A file of a received mail."""

    filename: str | None
    contentType: str
    """As its sender wrote it."""
    size: int
    contentId: str | None
    inline: bool
    """Whether the HTML may show it, as cid:<contentId>."""
    url: str
    """Downloads it, for everybody who has the link, for an hour."""


class ReceivedMailPage(TypedDict):
    """Received mail, the newest first."""

    items: list[ReceivedMail]
    nextCursor: str | None
    """For the parameter `cursor`; null at the end."""


class ReceivedVerdicts(TypedDict):
    """What Amazon SES found when it received a mail; nothing of it is the sender's word."""

    spam: MailVerdict
    virus: MailVerdict
    spf: MailVerdict
    dkim: MailVerdict
    dmarc: MailVerdict


class RefusedAddress(TypedDict):
    """An address that is not valid."""

    idx: int
    """The position in `addresses`, from zero."""
    message: str


class RenderStarterRequest(TypedDict):
    """Values for the preview."""

    variables: NotRequired[Variables | None]
    """They replace samples of the template."""
    brandName: NotRequired[str | None]
    """Shown instead of the account's brand."""
    logoUrl: NotRequired[str | None]
    """An https: URL. Shown instead of the account's logo."""


class RenderTemplateRequest(TypedDict):
    """A source and values."""

    kind: SourceKind
    """The language of `source`."""
    subject: str
    """Text with plain references."""
    source: str
    """The body."""
    text: NotRequired[str | None]
    """The text part, with plain references."""
    default: NotRequired[LocaleModel | None]
    """If this is for a locale, the template without one: variables that only one of the two has
    are problems.
    """
    variables: NotRequired[Variables | None]
    """The values to show: at most 256 KB and 8 levels."""
    templateId: NotRequired[str | None]
    """The template whose recent sends to compare with what the source needs."""


class RenderedTemplate(TypedDict):
    """An email as a send would be, and what is wrong with its template."""

    subject: str
    html: str | None
    """Null if there is an error."""
    text: str | None
    """The text part of the email."""
    bytes: int
    """Of the HTML in UTF-8."""
    variables: list[TemplateVariable]
    problems: list[TemplateProblem]


class RescheduleRequest(TypedDict):
    """A new time for a message that waits for one."""

    scheduledAt: str
    """ISO 8601 with an offset, at least a minute and at most 30 days ahead."""


class ResendRequest(TypedDict):
    """To whom to send a message again. Without an address: to the same recipients."""

    to: NotRequired[str | None]
    """Another address. Without it, the recipients are the same."""


class RestoreVersionRequest(TypedDict):
    """The version that becomes the draft."""

    version: int
    """The number of the version."""


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


class SaveDraftRequest(TypedDict):
    """A whole draft."""

    name: str
    """For people."""
    subject: str
    """Text with plain references such as `{{ name }}`."""
    category: str
    """A label for sorting."""
    kind: SourceKind
    """The language of `source`."""
    source: str
    """The body. It may have faults until it is published."""
    text: NotRequired[str | None]
    """The text part, with plain references as in the subject. An empty one removes it; without the
    field it stays.
    """
    keepDays: NotRequired[int | None]
    """For at most how many days to keep the content of its emails: never more than `keepDays` of
    the account. 90 is no limit of its own. Without the field they stay.
    """
    locales: NotRequired[TemplateLocales | None]
    """Without the field they stay. A send with the locale `de-CH` takes `de-CH`, else `de`, else
    the fields above.
    """
    samples: NotRequired[Samples | None]


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
    locales: list[str]
    """The locales that it has beside the default."""
    keepDays: int
    """The most days to keep the content for."""


class SavedTemplatePage(TypedDict):
    """One page of a list."""

    items: list[SavedTemplate]
    total: int
    """The number of items on all pages together."""
    skip: int
    """As requested."""
    limit: int
    """As requested."""


class SecondsToSent(TypedDict):
    """Within how long half, and 95 of 100, of the messages were sent. Null if none was.  From the
    acceptance until the provider had the message. Right to a fifth, and never too low.
    """

    p50: float | None
    p95: float | None


class SendBatchRequest(TypedDict):
    """Up to 100 emails."""

    messages: list[SendEmailRequest]
    """At most 1,000 recipients together. Each message is accepted or refused separately."""


class Sender(TypedDict):
    """An address that the account sends from."""

    address: str
    verified: bool
    default: bool
    """Whether emails without `from` have it."""


class SenderList(TypedDict):
    """All senders of the account, sorted by address."""

    items: list[Sender]


class SmtpServer(TypedDict):
    """Where programs submit emails over SMTP: with STARTTLS, as user `apikey` with the key."""

    host: str
    port: int


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


class Suppression(TypedDict):
    """An address that the account does not send to."""

    address: str
    """In lower case, or a hash if the address was erased."""
    erased: bool
    """Whether `address` is a hash."""
    reason: str
    """`bounced`, `complained` or `manual`."""
    createdAt: str
    messageId: str | None
    """The message that caused it."""


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


class SuppressionPage(TypedDict):
    """A part of the list, sorted by address."""

    items: list[Suppression]
    nextCursor: str | None
    """For the parameter `cursor`; null at the end."""


class SuspendRequest(TypedDict):
    """Why the account is suspended."""

    reason: str
    """A note that only operators see."""


class TemplateDraft(TypedDict):
    """A draft."""

    id: str
    name: str
    subject: str
    category: str
    kind: SourceKind
    revision: int
    """Give it as `If-Match`."""
    version: int
    """The version that it was made from. 0 if there is none."""
    changed: bool
    """Whether it differs from that version."""
    changes: int
    """How many revisions it is after it."""
    updatedBy: str
    """The address of a user, or `operator`."""
    updatedAt: str
    publishedVersion: int | None
    """The version that sends use. Null if there is none."""
    source: str
    text: str | None
    """The text part. Null makes one of the HTML at each send."""
    keepDays: int
    """For at most how many days to keep the content of its emails: never more than `keepDays` of
    the account.
    """
    locales: dict[str, LocaleItem]
    """By the language tag, in small letters."""
    samples: dict[str, dict[str, Any]]
    """Values for previews, by the names of their sets."""


class TemplateDraftList(TypedDict):
    """The saved drafts, those of the newest templates first."""

    items: list[TemplateDraftSummary]


class TemplateDraftSummary(TypedDict):
    """A draft as listed."""

    id: str
    name: str
    subject: str
    category: str
    kind: SourceKind
    revision: int
    """Give it as `If-Match`."""
    version: int
    """The version that it was made from. 0 if there is none."""
    changed: bool
    """Whether it differs from that version."""
    changes: int
    """How many revisions it is after it."""
    updatedBy: str
    """The address of a user, or `operator`."""
    updatedAt: str


class TemplateProblem(TypedDict):
    """Something that an author should know."""

    severity: Severity
    code: str
    message: str
    field: str
    """`source`, `subject`, `text` or `variables`."""
    line: int | None
    """Of the source."""
    suggestion: str | None
    """The nearest form that is allowed."""


class TemplateVariable(TypedDict):
    """A path that the source refers to. `[]` marks a list: the rest applies to each entry."""

    path: str
    line: int | None
    """Null if only the subject uses it."""
    required: bool
    default: Any
    """Null if there is none."""
    type: Literal["text", "list", "url"]
    """A guess from its use."""


class TemplateVersion(TypedDict):
    """A version with its source, and the HTML that was made of it."""

    version: int
    published: bool
    """Whether sends use it."""
    name: str
    subject: str
    category: str
    kind: SourceKind
    publishedBy: str
    """The address of a user, or `operator`."""
    publishedAt: str
    source: str
    text: str | None
    """The text part. Null makes one of the HTML at each send."""
    keepDays: int
    """For at most how many days to keep the content of its emails: never more than `keepDays` of
    the account.
    """
    locales: dict[str, LocaleItem]
    """By the language tag, in small letters."""
    html: str


class TemplateVersionPage(TypedDict):
    """Versions, the newest first."""

    items: list[TemplateVersionSummary]
    nextCursor: str | None
    """For the parameter `cursor`; null at the end."""


class TemplateVersionSummary(TypedDict):
    """A version as listed."""

    version: int
    published: bool
    """Whether sends use it."""
    name: str
    subject: str
    category: str
    kind: SourceKind
    publishedBy: str
    """The address of a user, or `operator`."""
    publishedAt: str


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
    oneClick: NotRequired[bool | None]
    """Whether the URL unsubscribes by a POST that mail programs send for their user (RFC 8058). It
    needs an https: URL.
    """


class UploadDetail(TypedDict):
    """The request with which to upload a file, and the id that a send names."""

    attachmentId: str
    method: Literal["PUT"]
    url: str
    """Where to send the file. The URL is a secret."""
    headers: dict[str, str]
    """Send exactly these. Another type, size, hash or name is refused."""
    expiresAt: str
    """Until when the URL takes the file."""
    usableUntil: str
    """Until when sends may name the file."""


class UploadRequest(TypedDict):
    """A file in words, without its bytes."""

    filename: str
    """As in a send."""
    contentType: NotRequired[AttachmentType | None]
    """As in a send; without it, the file's extension decides."""
    size: int
    """The number of the file's bytes, at most 5 MB."""
    sha256: str
    """The SHA-256 of the file's bytes, in hex."""


class Webhook(TypedDict):
    """An endpoint: an address of your application, or a bus or a bucket in your AWS account."""

    id: str
    url: str
    types: list[str]
    """The types of events that it receives: `["*"]`, or a list."""
    enabled: bool
    """Whether events are sent: neither you nor the service disabled it."""
    format: WebhookFormat
    """The shape of its payloads: ours, or that of Resend or Postmark."""
    roleArn: str | None
    """The role that puts the events into AWS. Null for an https URL."""
    trustPolicy: str | None
    """The trust policy, as JSON, that the role needs. The external id in it is the endpoint's id.
    Null for an https URL.
    """
    createdAt: str
    failingSince: str | None
    """The first failure after the last success. Null if the last one succeeded."""
    disabledAt: str | None
    """When the service disabled it. Enable it to have events sent again."""
    disabledReason: str | None
    """`failing`: only failures for 5 days. `gone`: it answered 410."""


class WebhookAttempt(TypedDict):
    """One POST to the endpoint, or one try to put the event into AWS."""

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
    format: WebhookFormat
    """The shape of its payloads: ours, or that of Resend or Postmark."""
    roleArn: str | None
    """The role that puts the events into AWS. Null for an https URL."""
    trustPolicy: str | None
    """The trust policy, as JSON, that the role needs. The external id in it is the endpoint's id.
    Null for an https URL.
    """
    createdAt: str
    failingSince: str | None
    """The first failure after the last success. Null if the last one succeeded."""
    disabledAt: str | None
    """When the service disabled it. Enable it to have events sent again."""
    disabledReason: str | None
    """`failing`: only failures for 5 days. `gone`: it answered 410."""
    secret: str | None
    """The secret that signs the events (Standard Webhooks). Null for an endpoint in AWS, which has
    none.
    """


AnswerRequest = TypedDict(
    "AnswerRequest",
    {
        "text": NotRequired[str | None],
        "html": NotRequired[str | None],
        "from": NotRequired[str | None],
    },
)
"""What to answer: a text, HTML or both."""

BatchItem = TypedDict(
    "BatchItem",
    {
        "idx": int,
        "messageId": str | None,
        "status": Literal["queued"] | None,
        "from": str | None,
        "error": ErrorBody | None,
        "scheduledAt": NotRequired[str],
        "held": NotRequired[Literal[True]],
        "awaitsOwner": NotRequired[Literal[True]],
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
        "messageIdHeader": str | None,
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
        "scheduledAt": str | None,
        "held": bool,
        "awaitsOwner": bool,
        "canceledAt": str | None,
        "kept": str | None,
        "resendOf": str | None,
        "events": list[MessageEvent],
    },
)
"""A message and its events."""

ReceivedDetail = TypedDict(
    "ReceivedDetail",
    {
        "receivedId": str,
        "receivedAt": str,
        "from": str,
        "fromName": str | None,
        "to": str,
        "subject": str,
        "inReplyTo": AnsweredEmail | None,
        "authenticated": bool,
        "verdicts": ReceivedVerdicts,
        "automatic": Automatic | None,
        "parsed": bool,
        "size": int,
        "kept": str,
        "messageIdHeader": str | None,
        "allTo": list[str],
        "cc": list[str],
        "replyTo": list[str],
        "reply": str | None,
        "text": str | None,
        "html": str | None,
        "cut": bool,
        "calendar": list[CalendarReply],
        "attachments": list[ReceivedFile],
        "raw": str,
        "linksUntil": str,
    },
)
"""A received mail with its content."""

ReceivedMail = TypedDict(
    "ReceivedMail",
    {
        "receivedId": str,
        "receivedAt": str,
        "from": str,
        "fromName": str | None,
        "to": str,
        "subject": str,
        "inReplyTo": AnsweredEmail | None,
        "authenticated": bool,
        "verdicts": ReceivedVerdicts,
        "automatic": Automatic | None,
        "parsed": bool,
        "size": int,
        "kept": str,
    },
)
"""A received mail in a list."""

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
        "locale": NotRequired[str | None],
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
        "scheduledAt": NotRequired[str | None],
        "hold": NotRequired[bool | None],
        "keep": NotRequired[int | None],
        "replies": NotRequired[bool | None],
    },
)
"""Give exactly one of `starterTemplate`, `templateId` and `html`, or `text` alone with `subject`.
Null means the same as leaving a field out.
"""

SendResult = TypedDict(
    "SendResult",
    {
        "messageId": str,
        "status": Literal["queued"],
        "from": str,
        "scheduledAt": NotRequired[str],
        "held": NotRequired[Literal[True]],
        "awaitsOwner": NotRequired[Literal[True]],
    },
)
"""The email is accepted: it is recorded and will be delivered."""

WebhookEvent: TypeAlias = (
    EmailEvent | ReceivedEvent | SuppressionEvent | DomainEvent | PausedEvent | TestEvent
)
"""What a webhook delivers."""
