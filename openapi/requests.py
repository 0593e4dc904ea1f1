"""The shapes of requests: the schemas of the wire models, with texts and rules added.

A model gives names, types and lengths. Its docstring is its description, unless `RULES` has
another. The tables here add a description of each field and the rules that only validators know,
because pydantic does not write those into a schema.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pillarbox.application.validation import MAX_NAME
from pillarbox.domain.accounts.account import MAX_KEEP, MIN_RECORD_DAYS
from pillarbox.domain.accounts.alert import AlertKind
from pillarbox.domain.accounts.key import ACCOUNT_ID_LENGTH, KEY_ID, OPERATOR_SCOPES, SCOPES
from pillarbox.domain.accounts.key_terms import MAX_SOURCES
from pillarbox.domain.messages.attachment import (
    ALLOWED_TYPES,
    CONTENT_TYPE_PATTERN,
    FILENAME_PATTERN,
    MAX_ATTACHMENTS,
)
from pillarbox.domain.messages.mail import (
    MAX_HEADERS,
    MAX_HEADERS_BYTES,
    MAX_HTML,
    MAX_RECIPIENTS,
    MAX_TEXT,
)
from pillarbox.domain.messages.mail import NAMES as HEADER_NAMES
from pillarbox.domain.messages.message import MAX_TAGS, MAX_TAGS_BYTES, MAX_VALUE, TAG_NAME
from pillarbox.domain.templates.draft import MAX_SOURCE
from pillarbox.domain.webhooks.aws_target import ROLE_PREFIX
from pillarbox.domain.webhooks.endpoint import ALL_TYPES, SELECTABLE_TYPES
from pillarbox.http.accounts.wire import (
    MAX_ADDRESSES,
    AddDomainRequest,
    AddSenderRequest,
    AddSuppressionsRequest,
    ChangeAccountRequest,
    ChangeAlertsRequest,
    ChangeMemberRequest,
    CreateKeyRequest,
    DomainLinkRequest,
    InviteMemberRequest,
    LogQuery,
    ResumeRequest,
    SuppressionsQuery,
)
from pillarbox.http.messages.changes import RescheduleRequest, ResendRequest
from pillarbox.http.messages.history_query import SLUG, AnalyticsQuery, MessagesQuery
from pillarbox.http.messages.uploads import SHA256, UploadRequest
from pillarbox.http.messages.wire import (
    LOCALE_PATTERN,
    MAX_LOCALE,
    UNSUBSCRIBE_URL,
    AttachmentModel,
    RenderStarterRequest,
    SendBatchRequest,
    SendEmailRequest,
    UnsubscribeModel,
)
from pillarbox.http.operator.creation import CreateAccountRequest
from pillarbox.http.operator.wire import (
    AccountsQuery,
    DeletionQuery,
    OperateAccountRequest,
    OwnLimits,
    RatesQuery,
    RedriveRequest,
    SuspendRequest,
)
from pillarbox.http.query import DeliveriesQuery, TemplatesQuery, VersionsQuery
from pillarbox.http.sign_in.passkeys import NewPasskey, PasskeySignIn
from pillarbox.http.sign_in.preview_keys import (
    ChallengeRequest,
    PreviewCodeRequest,
    PreviewKeyRequest,
    PreviewReport,
)
from pillarbox.http.sign_in.sign_up import ApprovalBody, ProofBody, SignUpBody
from pillarbox.http.sign_in.wire import (
    CodeRequestBody,
    EndSessionsQuery,
    LinkRequest,
    SignInRequest,
    TokenRequest,
)
from pillarbox.http.templates.wire import (
    MAX_LOCALES,
    MAX_SETS,
    CreateTemplateRequest,
    LocaleModel,
    RenderTemplateRequest,
    RestoreVersionRequest,
    SaveDraftRequest,
    TestTemplateRequest,
)
from pillarbox.http.webhooks.wire import (
    MAX_TYPES,
    ChangeWebhookRequest,
    CreateWebhookRequest,
    ReplayWebhookRequest,
)
from pillarbox.http.wire import WireModel
from pillarbox.rendering.starters import all_starters

#: What both answers of an authenticator have.
_OF_PASSKEYS: Final = {
    "credentialId": {"description": "The `id` of the credential, in base64url."},
    "clientData": {"description": "`response.clientDataJSON`, in base64url."},
}
#: `pillarbox.domain.messages.header_text` as a regular expression of ECMA-262.
HEADER_TEXT: Final = r"^[^\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]*$"
#: RFC 4648 section 4 with zero trailing bits, as `is_canonical_base64` of domain/messages checks.
BASE64: Final = (
    "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$"
)
CONTENT_ID: Final = "^[!-;=?-~]+$"

ADDRESS: Final = {"type": "string", "format": "email"}
_MOMENT: Final = {"format": "date-time", "examples": ["2026-01-02T09:00:00+00:00"]}
_ADDRESSES: Final = {"type": "array", "items": ADDRESS, "maxItems": MAX_RECIPIENTS}

_OFFSET: Final = "A time without an offset is UTC."

#: Schemas that generated clients show as types with these names.
NAMED: Final[Mapping[str, Mapping[str, Any]]] = {
    "AttachmentType": {
        "description": "A type of file that an email may have (RFC 6838): "
        + ", ".join(sorted(ALLOWED_TYPES))
        + ". A `charset` may follow, and the `method` of a calendar. Without them a text in UTF-8"
        " gets `charset=utf-8`, and a calendar gets the method of its METHOD line.",
        "type": "string",
        "pattern": CONTENT_TYPE_PATTERN,
    },
    "Samples": {
        "description": "Values for previews, by the names of their sets: at most 64 KB.",
        "type": "object",
        "maxProperties": MAX_SETS,
        "propertyNames": {"minLength": 1, "maxLength": MAX_NAME},
        "additionalProperties": {"type": "object"},
    },
    "StarterSlug": {
        "description": "A starter template.",
        "type": "string",
        "enum": [starter.slug for starter in all_starters()],
    },
    "TemplateLocales": {
        "description": "Subject, body and text part for each locale, by its language tag (RFC 5646)"
        " in any case.",
        "type": "object",
        "maxProperties": MAX_LOCALES,
        "propertyNames": {"pattern": LOCALE_PATTERN, "maxLength": MAX_LOCALE},
        "additionalProperties": {"$ref": "#/components/schemas/LocaleModel"},
    },
    "Tags": {
        "description": "Names and values by which you find an email again. They are not delivered."
        f" They have at most {MAX_TAGS_BYTES} bytes in all. A value has no blank at either end.",
        "type": "object",
        "maxProperties": MAX_TAGS,
        "propertyNames": {"pattern": TAG_NAME},
        "additionalProperties": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_VALUE,
            "pattern": HEADER_TEXT,
        },
        "examples": [{"order": "10442"}],
    },
    "Headers": {
        "description": f"Header fields: {', '.join(HEADER_NAMES)}, and names that begin with X-."
        f" They have at most {MAX_HEADERS_BYTES} bytes in all. Only X-… may have more than ASCII.",
        "type": "object",
        "maxProperties": MAX_HEADERS,
        "propertyNames": {"pattern": f"^({'|'.join(HEADER_NAMES)}|[Xx]-[A-Za-z0-9_-]{{1,62}})$"},
        "additionalProperties": {"type": "string", "minLength": 1, "pattern": HEADER_TEXT},
        "examples": [{"X-Entity-Ref-ID": "receipt-10442"}],
    },
    "Variables": {
        "description": "Values for a template, by name.",
        "type": "object",
        "additionalProperties": True,
    },
}
STARTER_SLUG: Final = {"$ref": "#/components/schemas/StarterSlug"}
_ATTACHMENT_TYPE: Final = {"$ref": "#/components/schemas/AttachmentType"}
_LOCALES: Final = {"$ref": "#/components/schemas/TemplateLocales"}
_TAGS: Final = {"$ref": "#/components/schemas/Tags"}
_HEADERS: Final = {"$ref": "#/components/schemas/Headers"}
_VARIABLES: Final = {"$ref": "#/components/schemas/Variables"}
_SOURCE: Final = {"maxLength": MAX_SOURCE}
_WEBHOOK_FORMAT: Final = {
    "description": "The shape of the payloads. `pillarbox` is the default; `resend` is that of"
    " Resend's webhooks, for receivers that were written for it. The types are chosen by our names."
    " The signature is the same."
}
_WEBHOOK_URL: Final = {
    "description": "An https: URL on a public host, with port 443 or one from 1024 on. With"
    " `roleArn`: the ARN of an event bus, or `s3://BUCKET/PREFIX/`. It stays of its kind.",
    "format": "uri",
    "pattern": "^(https://|s3://|arn:)",
    "examples": ["https://shop.example/hooks", "s3://shop-events/mail/"],
}
_WEBHOOK_ROLE: Final = {
    "description": "For an event bus or a bucket in your AWS account: a role in it that may put"
    f" events there, whose name begins with `{ROLE_PREFIX}`. Its trust policy is the `trustPolicy`"
    " of the endpoint.",
    "examples": [f"arn:aws:iam::111122223333:role/{ROLE_PREFIX}"],
}


def _webhook_types(types: Iterable[str], description: str) -> Mapping[str, Any]:
    """Return a list of types, or of the one that means all."""
    names = sorted(types)
    return {
        "description": description,
        "items": {"type": "string", "enum": [ALL_TYPES, *names]},
        "allOf": [
            {
                "anyOf": [
                    {"title": "all", "items": {"const": ALL_TYPES}},
                    {"title": "a list", "items": {"enum": names}},
                ]
            }
        ],
        "minItems": 1,
        "maxItems": MAX_TYPES,
    }


_WEBHOOK_TYPES: Final = _webhook_types(
    SELECTABLE_TYPES,
    f'`["{ALL_TYPES}"]`, which means all types except `email.accepted`, or a list of types.',
)

_SKIP: Final = {"description": "How many items to skip."}
_LIMIT: Final = {"description": "The maximum number of items."}
_CURSOR: Final = {"description": "The `nextCursor` of the page before."}
_KEY: Final = (
    "Only messages that the API key with this id sent: the `keyId` of a message, not the key"
    " itself. An id that the account does not have has no messages."
)
_TEMPLATE: Final = (
    "Only messages from the saved template with this id, or from the starter template with this"
    " slug. One that the account does not have has no messages."
)
_TEMPLATE_ID: Final = {
    "anyOf": [
        {"type": "string", "format": "uuid"},
        {"type": "string", "pattern": f"^{SLUG}$"},
    ],
    "examples": ["password_reset"],
}

#: Model -> field -> texts and rules, which are merged over the field's schema.
FIELDS: Final[Mapping[type[WireModel], Mapping[str, Mapping[str, Any]]]] = {
    SendEmailRequest: {
        "to": {
            "description": "One address or several. `to`, `cc` and `bcc` have at most"
            f" {MAX_RECIPIENTS} recipients together.",
            "anyOf": [ADDRESS, _ADDRESSES | {"minItems": 1}],
            "examples": ["ada@customer.example"],
        },
        "starterTemplate": {"description": "A built-in template.", **STARTER_SLUG},
        "templateId": {
            "description": "A saved template. Not for preview keys.",
            "format": "uuid",
        },
        "html": {
            "description": "The HTML body, at most 2 MB in UTF-8. Requires `subject`. Not for"
            " preview keys.",
            "maxLength": MAX_HTML,
        },
        "variables": {
            "description": "The values for the template: at most 256 KB and 8 levels. `GET"
            " /api/v1/starter-templates` says which ones a starter needs and may have. In `html`,"
            " `text` and `subject` of your own each `{{ name }}` of a given value is replaced.",
            **_VARIABLES,
        },
        "subject": {
            "description": "Required with `html` and with `text` alone. It replaces the subject of"
            " a template.",
            "pattern": HEADER_TEXT,
        },
        "fromName": {
            "description": "The sender's display name. It does not only consist of blanks and"
            " invisible characters.",
            "pattern": HEADER_TEXT,
        },
        "from": {
            "description": "A verified sender of the account, alone or as `Name <address>`. Free"
            " plans ignore the address.",
            "pattern": HEADER_TEXT,
            "examples": ["hello@acme.example", "Acme <hello@acme.example>"],
        },
        "text": {
            "description": "The text part, at most 1 MB in UTF-8. Without it, one is made from the"
            " HTML. It goes with all three modes, or alone with `subject`. Not for keys that send"
            " tests.",
            "maxLength": MAX_TEXT,
        },
        "locale": {
            "description": "Only with `templateId`: a language tag (RFC 5646). `de-CH` takes the"
            " template's `de-CH`, else its `de`, else its default.",
            "pattern": LOCALE_PATTERN,
            "examples": ["de-CH"],
        },
        "cc": {"description": "Carbon copies.", **_ADDRESSES},
        "bcc": {"description": "Blind copies.", **_ADDRESSES},
        "replyTo": {
            "description": "The address for replies, alone or as `Name <address>`.",
            "pattern": HEADER_TEXT,
            "examples": ["help@acme.example", "Support <help@acme.example>"],
        },
        "brandName": {"description": "Shown at the top of templates.", "pattern": HEADER_TEXT},
        "logoUrl": {
            "description": "An https: URL. The service never fetches it.",
            "format": "uri",
            "pattern": "^https://",
        },
        "attachments": {
            "description": "Each file has at most 5 MB and all together at most 10 MB, decoded.",
            "maxItems": MAX_ATTACHMENTS,
        },
        "tags": {"description": "Names and values by which you find the email again.", **_TAGS},
        "headers": {
            "description": "Header fields of your own, by name. Over SMTP these and most others"
            " are delivered as they are.",
            **_HEADERS,
        },
        "unsubscribe": {
            "description": "Writes List-Unsubscribe, and with `oneClick` List-Unsubscribe-Post, in"
            " place of these names in `headers`."
        },
        "scheduledAt": {
            "description": "When to send it: ISO 8601 with an offset, at least a minute and at most"
            " 30 days ahead. Then key, account, sender and suppressions are checked again. Not for"
            " preview keys, and not with uploaded files.",
            **_MOMENT,
        },
        "hold": {
            "description": "Whether it waits until somebody releases it, for at most 7 days. Not"
            " with `scheduledAt`, for preview keys or with uploaded files."
        },
        "keep": {
            "description": "For how many days to keep the content after the hand-over: at most"
            " `keepDays` of the account, which is 0 unless an owner has changed it. With 0 nothing"
            " is kept."
        },
    },
    RescheduleRequest: {
        "scheduledAt": {
            "description": "ISO 8601 with an offset, at least a minute and at most 30 days ahead.",
            **_MOMENT,
        },
    },
    ResendRequest: {
        "to": {
            "description": "Another address. Without it, the recipients are the same.",
            "format": "email",
        },
    },
    UnsubscribeModel: {
        "url": {
            "description": "An https: URL, or a mailto: URL.",
            "pattern": UNSUBSCRIBE_URL,
            "examples": ["https://shop.example/unsubscribe?id=1"],
        },
        "oneClick": {
            "description": "Whether the URL unsubscribes by a POST that mail programs send for"
            " their user (RFC 8058). It needs an https: URL."
        },
    },
    UploadRequest: {
        "filename": {"description": "As in a send.", "pattern": FILENAME_PATTERN},
        "contentType": {
            "description": "As in a send; without it, the file's extension decides.",
            **_ATTACHMENT_TYPE,
        },
        "size": {"description": "The number of the file's bytes, at most 5 MB."},
        "sha256": {
            "description": "The SHA-256 of the file's bytes, in hex.",
            "pattern": SHA256,
        },
    },
    AttachmentModel: {
        "attachmentId": {
            "description": "The id of an uploaded file, from `POST /api/v1/attachments`. It"
            " replaces `filename`, `contentType` and `content`.",
            "format": "uuid",
        },
        "filename": {
            "description": "A plain name: no path, no colon, no invisible character, no dot or"
            " blank at the end, no device of Windows such as CON, and no extension that SES refuses"
            " (.exe, .js, .bat, .lnk, .hta, …).",
            "pattern": FILENAME_PATTERN,
        },
        "contentType": {
            "description": "The type of the file (RFC 6838), without parameters. Without it, the"
            " file's extension decides.",
            **_ATTACHMENT_TYPE,
        },
        "content": {
            "description": "The file's bytes in base64 (RFC 4648 section 4), padded.",
            "contentEncoding": "base64",
            "pattern": BASE64,
        },
        "inline": {
            "description": "Whether the HTML shows the file, as cid:<contentId>. False by default."
        },
        "contentId": {
            "description": "Required if `inline` is true, else not allowed. Unique in an email.",
            "minLength": 1,
            "pattern": CONTENT_ID,
        },
    },
    SendBatchRequest: {
        "messages": {
            "description": "At most 1,000 recipients together. Each message is accepted or refused"
            " separately.",
            "items": {"$ref": "#/components/schemas/SendEmailRequest"},
            "maxItems": 100,
        },
    },
    RenderStarterRequest: {
        "variables": {"description": "They replace samples of the template.", **_VARIABLES},
        "brandName": {
            "description": "Shown instead of the account's brand.",
            "pattern": HEADER_TEXT,
        },
        "logoUrl": {
            "description": "An https: URL. Shown instead of the account's logo.",
            "format": "uri",
            "pattern": "^https://",
        },
    },
    MessagesQuery: {
        "from": {
            "description": f"Only messages created at or after this time. {_OFFSET}",
            "format": "date-time",
        },
        "to": {
            "description": "Only messages created before this time, which is after `from`.",
            "format": "date-time",
        },
        "status": {"description": "Only messages with this status."},
        "skip": _SKIP,
        "limit": _LIMIT,
        "sortBy": {"description": "The field to sort by, in descending order."},
        "recipient": {
            "description": "Only messages with this address in to, cc or bcc, or with a final `*`"
            " those with an address that begins so. Case does not matter; write a + as %2B. Of"
            " messages to one address the newest 1,000 are found, and `total` is at most 1,000."
            " A start that finds more is refused.",
            "examples": ["ann@example.com", "ann*"],
        },
        "tag": {
            "description": "Only messages with this tag: its name, a colon and its whole value. The"
            " newest 1,000 are found. With `status`, `recipient` or another order than"
            " `created_at`, a search by recipient or tag may find at most 200 messages in the time"
            " range; more are refused with `too_many_matches`.",
            "examples": ["order:10442"],
        },
        "keyId": {
            "description": f"{_KEY} A search by recipient or tag with `keyId` or `template` may"
            " find at most 200 messages.",
            "pattern": f"^{KEY_ID}$",
        },
        "template": {
            "description": f"{_TEMPLATE} Together with `keyId`, one of them may have at most 200"
            " messages in the time range; more are refused with `too_many_matches`.",
            **_TEMPLATE_ID,
        },
        "error": {
            "description": "Only messages whose current failure has this code, such as a `code` of"
            " `topErrors`. Not together with `status`, nor with another order than `created_at`.",
            "examples": ["mailbox_full"],
        },
    },
    AnalyticsQuery: {
        "from": {
            "description": f"The start of the time range, inclusive. {_OFFSET}",
            "examples": ["2026-01-01T00:00:00Z"],
        },
        "to": {
            "description": "The end of the time range, exclusive and after `from`.",
            "examples": ["2026-02-01T00:00:00Z"],
        },
        "bucket": {"description": "The length of time that one row of `volume` covers."},
        "keyId": {
            "description": _KEY,
            "pattern": f"^{KEY_ID}$",
        },
        "template": {
            "description": f"{_TEMPLATE} Not together with `keyId`.",
            **_TEMPLATE_ID,
        },
    },
    TemplatesQuery: {
        "skip": _SKIP,
        "limit": _LIMIT,
    },
    DeliveriesQuery: {
        "limit": _LIMIT,
        "cursor": _CURSOR,
    },
    CodeRequestBody: {"email": ADDRESS | {"description": "Where the code is to go."}},
    SignInRequest: {
        "flow": {"description": "The `flow` of the request for the code."},
        "code": {"description": "The digits of the email: six, or ten after many requests."},
        "link": {"description": "The text of a one-time link, in place of flow and code."},
    },
    PasskeySignIn: {
        "flow": {"description": "That of the challenge."},
        **_OF_PASSKEYS,
        "authenticatorData": {"description": "`response.authenticatorData`, in base64url."},
        "signature": {"description": "`response.signature`, in base64url."},
        "userHandle": {"description": "`response.userHandle`, in base64url."},
    },
    NewPasskey: {
        "flow": {"description": "That of the challenge."},
        "name": {"description": "A name for the user.", "pattern": HEADER_TEXT, "maxLength": 64},
        **_OF_PASSKEYS,
        "attestation": {"description": "`response.attestationObject`, in base64url."},
    },
    LinkRequest: {"link": {"description": "The text after the `#` of the link."}},
    TokenRequest: {
        "accountId": {
            "description": "The id of one of the user's accounts. By default the one whose member"
            " the user is longest."
        },
    },
    ChallengeRequest: {"email": {"description": "Where the code is to go."}},
    PreviewCodeRequest: {
        "email": {"description": "Where the code is to go."},
        "proof": {"description": "The challenge for this address, solved."},
    },
    PreviewKeyRequest: {
        "flow": {"description": "As the response to the request for a code has it."},
        "code": {"description": "The six digits of the email."},
    },
    PreviewReport: {"token": {"description": "What follows `#` in the link of the test mail."}},
    ApprovalBody: {"plan": {"description": "The plan of the account."}},
    SignUpBody: {
        "name": {"description": "The account's name.", "pattern": HEADER_TEXT, "maxLength": 128},
        "proof": {"description": "The challenge that was solved."},
    },
    ProofBody: {
        "algorithm": {"description": "`SHA-256`."},
        "challenge": {"description": "As received."},
        "number": {"description": "The number that was found."},
        "salt": {"description": "As received."},
        "signature": {"description": "As received."},
    },
    DeletionQuery: {"dropPending": {"description": "Whether emails that wait are never sent."}},
    EndSessionsQuery: {"all": {"description": "Whether all sessions of the user end."}},
    AddDomainRequest: {
        "domain": {"description": "Such as `shop.example`."},
        "mailFrom": {
            "description": "The label of its MAIL FROM domain, if the domain is new to SES:"
            " `bounce` for `bounce.shop.example`, and `mail` by default."
        },
    },
    DomainLinkRequest: {"token": {"description": "What follows `#` in the link."}},
    AddSenderRequest: {
        "address": {"description": "An address of a verified domain or of a subdomain of it."}
    },
    CreateKeyRequest: {
        "name": {"description": "A name for people.", "pattern": HEADER_TEXT, "maxLength": 128},
        "preset": {"description": "A set of permissions."},
        "scopes": {
            "description": "The permissions of the key, with the preset `custom` alone.",
            "items": {"type": "string", "enum": sorted(SCOPES | OPERATOR_SCOPES)},
        },
        "expiresAt": {"description": "From when on it does not work; without it, it stays."},
        "sources": {
            "description": "The blocks of addresses (CIDR) that it works from; without it, all.",
            "maxItems": MAX_SOURCES,
            "examples": [["192.0.2.0/24"]],
        },
    },
    LogQuery: {
        "part": {"description": "Changes, or calls, which are noted also if they are refused."},
        "key": {"description": "The id of a key: only what came from it."},
        "limit": {"description": "The number of entries."},
        "cursor": _CURSOR,
    },
    SuppressionsQuery: {
        "search": {"description": "How each address begins, in any letter case."},
        "limit": {"description": "The number of suppressions."},
        "cursor": _CURSOR,
    },
    AccountsQuery: {
        "search": {"description": "A part of the name, or the start of the id."},
        "limit": {"description": "The number of accounts."},
        "cursor": {
            "description": "The `nextCursor` of the page before.",
            "pattern": f"^[0-9a-hjkmnp-tv-z]{{{ACCOUNT_ID_LENGTH}}}$",
        },
    },
    OwnLimits: {
        "perMinute": {"description": "Emails per minute."},
        "perDay": {"description": "Emails per day of UTC."},
        "perMonth": {"description": "Emails per month of UTC."},
        "recipientsPerDay": {"description": "Recipients per day of UTC."},
    },
    CreateAccountRequest: {
        "name": {"description": "A name for people.", "pattern": HEADER_TEXT, "maxLength": 128},
        "plan": {"description": "The account's plan."},
        "contact": {"description": "Where the service writes to the account's owner."},
    },
    OperateAccountRequest: {
        "plan": {"description": "The account's plan."},
        "ownLimits": {"description": "All limits of its own, in place of those that it has."},
    },
    RatesQuery: {
        "days": {"description": "The time that is counted, up to now."},
        "by": {"description": "What the accounts are ranked by."},
    },
    RedriveRequest: {"limit": {"description": "The most dead letters to move; 300 by default."}},
    SuspendRequest: {
        "reason": {"description": "A note that only operators see.", "pattern": HEADER_TEXT}
    },
    AddSuppressionsRequest: {
        "address": {"description": "An address.", "format": "email"},
        "addresses": {
            "description": "Addresses, each alone or as `Name <address>`.",
            "maxItems": MAX_ADDRESSES,
        },
    },
    InviteMemberRequest: {
        "email": {"description": "The user's address.", "format": "email"},
        "role": {"description": "The role in the account."},
    },
    ResumeRequest: {
        "scope": {"description": "What is paused."},
        "id": {
            "description": "The `id` of the pause, as `GET /api/v1/account` shows it; not for the"
            " account."
        },
        "cause": {
            "description": "What was wrong and is corrected. The account's log shows it.",
            "pattern": HEADER_TEXT,
        },
    },
    ChangeAlertsRequest: {
        "mail": {"description": "Whether the owners and the contact get emails."},
        "chatUrl": {
            "description": "The incoming webhook of a room in Slack or Teams; not shown again.",
            "pattern": "^(https://.*)?$",
        },
        "off": {"description": "What they do not want to hear of.", "maxItems": len(AlertKind)},
    },
    ChangeMemberRequest: {"role": {"description": "The new role in the account."}},
    ChangeAccountRequest: {
        "name": {"description": "The account's name.", "pattern": HEADER_TEXT, "maxLength": 128},
        "brandName": {"description": "Shown at the top of templates.", "pattern": HEADER_TEXT},
        "logoUrl": {"description": "An https: URL of an image.", "pattern": "^(https://.*)?$"},
        "accent": {
            "description": "A colour that is visible on light and dark backgrounds.",
            "pattern": "^(#[0-9a-fA-F]{6})?$",
            "examples": ["#0a7d5a"],
        },
        "fromName": {"description": "The sender's display name.", "pattern": HEADER_TEXT},
        "supportEmail": {
            "description": "Where recipients of starters get help: an address, or a web or"
            " `mailto:` URL.",
            "examples": ["support@shop.example"],
        },
        "companyAddress": {
            "description": "The postal address that starters show.",
            "pattern": HEADER_TEXT,
        },
        "actionUrl": {
            "description": "The link of the button of `welcome`.",
            "pattern": "^(https?://.*)?$",
        },
        "keepDays": {
            "description": "For how many days to keep the content of emails from now on, for"
            " owners, developers and keys with `emails:content`; 0: not at all. A lower number is"
            " in force for older emails too."
        },
        "recordDays": {
            "description": "After how many days to delete the records of emails for good, with"
            f" addresses, subjects and tags: {MIN_RECORD_DAYS} or more; 0: never. Figures stay."
        },
    },
    VersionsQuery: {
        "limit": _LIMIT,
        "cursor": _CURSOR,
    },
    CreateTemplateRequest: {
        "name": {"description": "For people."},
        "category": {"description": "A label for sorting."},
        "starterTemplate": {"description": "The starter to begin with.", **STARTER_SLUG},
        "html": {"description": "HTML to begin with.", **_SOURCE},
    },
    SaveDraftRequest: {
        "name": {"description": "For people."},
        "subject": {"description": "Text with plain references such as `{{ name }}`."},
        "category": {"description": "A label for sorting."},
        "kind": {"description": "The language of `source`."},
        "source": {"description": "The body. It may have faults until it is published.", **_SOURCE},
        "text": {
            "description": "The text part, with plain references as in the subject. An empty one"
            " removes it; without the field it stays.",
            **_SOURCE,
        },
        "keepDays": {
            "description": "For at most how many days to keep the content of its emails: never"
            f" more than `keepDays` of the account. {MAX_KEEP} is no limit of its own. Without the"
            " field they stay."
        },
        "locales": {
            "description": "Without the field they stay. A send with the locale `de-CH` takes"
            " `de-CH`, else `de`, else the fields above.",
            **_LOCALES,
        },
        "samples": {"$ref": "#/components/schemas/Samples"},
    },
    LocaleModel: {
        "subject": {"description": "Text with plain references."},
        "source": {"description": "The body, in the language of `kind`.", **_SOURCE},
        "text": {"description": "The text part, with plain references.", **_SOURCE},
    },
    RestoreVersionRequest: {"version": {"description": "The number of the version."}},
    RenderTemplateRequest: {
        "kind": {"description": "The language of `source`."},
        "subject": {"description": "Text with plain references."},
        "source": {"description": "The body.", **_SOURCE},
        "text": {"description": "The text part, with plain references.", **_SOURCE},
        "default": {
            "description": "If this is for a locale, the template without one: variables that only"
            " one of the two has are problems."
        },
        "variables": {
            "description": "The values to show: at most 256 KB and 8 levels.",
            **_VARIABLES,
        },
        "templateId": {
            "description": "The template whose recent sends to compare with what the source needs.",
            "format": "uuid",
        },
    },
    TestTemplateRequest: {
        "to": {"description": "The address of a member of the account.", "format": "email"},
        "locale": {
            "description": "The locale of the draft to send, as in a send.",
            "pattern": LOCALE_PATTERN,
        },
        "variables": {
            "description": "The values to send: at most 256 KB and 8 levels.",
            **_VARIABLES,
        },
    },
    CreateWebhookRequest: {
        "url": _WEBHOOK_URL,
        "types": _WEBHOOK_TYPES,
        "format": _WEBHOOK_FORMAT,
        "roleArn": _WEBHOOK_ROLE,
    },
    ChangeWebhookRequest: {
        "url": _WEBHOOK_URL,
        "types": _WEBHOOK_TYPES,
        "enabled": {"description": "Whether events are sent."},
        "format": _WEBHOOK_FORMAT,
        "roleArn": _WEBHOOK_ROLE,
    },
    ReplayWebhookRequest: {
        "from": {
            "description": f"Only emails accepted at or after this time. {_OFFSET}",
            "format": "date-time",
            "examples": ["2026-01-01T00:00:00Z"],
        },
        "to": {
            "description": "Only emails accepted before this time, which is after `from`. By"
            " default now.",
            "format": "date-time",
        },
        "types": _webhook_types(
            (name for name in SELECTABLE_TYPES if name.startswith("email.")),
            "The types to send again, of those that begin with `email.`. By default those of the"
            " endpoint.",
        ),
    },
}


def _one_of(
    branches: Mapping[str, tuple[str, ...]],
    fields: Iterable[str],
    **shapes: Any,  # noqa: ANN401  JSON
) -> Mapping[str, Any]:
    """Return the rule that some fields are given, of one branch, and the others are not.

    Args:
        branches: title -> the fields that are given.
        fields: those of which the other branches' are null.
        shapes: the schemas of fields that are no texts.
    """
    return {
        "allOf": [
            {
                "anyOf": [
                    {
                        "title": title,
                        "required": list(given),
                        "properties": {
                            name: shapes.get(name, {"type": "string"})
                            if name in given
                            else {"type": "null"}
                            for name in dict.fromkeys((*fields, *given))
                        },
                    }
                    for title, given in branches.items()
                ]
            }
        ]
    }


#: Rules between fields. They are within `allOf`, so that client generators still see one object.
#: No two branches of an `anyOf` fit the same value. It is not `oneOf`, because linters see only
#: branches that require the same fields as exclusive.
RULES: Final[Mapping[type[WireModel], Mapping[str, Any]]] = {
    SendEmailRequest: {
        "description": "Give exactly one of `starterTemplate`, `templateId` and `html`, or `text`"
        " alone with `subject`. Null means the same as leaving a field out.",
        **_one_of(
            {
                "by starter template": ("starterTemplate",),
                "by saved template": ("templateId",),
                "by HTML": ("html", "subject"),
                "by text": ("text", "subject"),
            },
            ("starterTemplate", "templateId", "html"),
        ),
    },
    AttachmentModel: {
        "description": "A file in an email, with its content or by the id of its upload. The"
        " content is not kept after the delivery.",
        "allOf": [
            {
                "anyOf": [
                    {
                        "title": "with its content",
                        "required": ["filename", "content"],
                        "properties": {
                            "attachmentId": {"type": "null"},
                            "filename": {"type": "string"},
                            "content": {"type": "string"},
                        },
                    },
                    {
                        "title": "uploaded before",
                        "required": ["attachmentId"],
                        "properties": {
                            "attachmentId": {"type": "string"},
                            "filename": {"type": "null"},
                            "contentType": {"type": "null"},
                            "content": {"type": "null"},
                        },
                    },
                ]
            },
            {
                "anyOf": [
                    {
                        "title": "shown by the HTML",
                        "required": ["inline", "contentId"],
                        "properties": {
                            "inline": {"type": "boolean", "const": True},
                            "contentId": {"type": "string"},
                        },
                    },
                    {
                        "title": "listed by the mail client",
                        "properties": {
                            "inline": {"type": "boolean", "const": False},
                            "contentId": {"type": "null"},
                        },
                    },
                ]
            },
        ],
    },
    SendBatchRequest: {"description": "Up to 100 emails."},
    RenderStarterRequest: {"description": "Values for the preview."},
    SignInRequest: {
        **_one_of({"by code": ("flow", "code"), "by link": ("link",)}, ("flow", "code", "link")),
    },
    AddSuppressionsRequest: {
        **_one_of(
            {"one": ("address",), "many": ("addresses",)},
            ("address", "addresses"),
            addresses={"type": "array", "items": {}},
        ),
    },
}


def enriched(model: type[WireModel], schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a model with the texts and rules from the tables.

    Raises:
        KeyError: a field has no entry in the table, or an entry has no field.
    """
    properties = schema["properties"]
    entries = FIELDS[model]
    if unknown := entries.keys() - properties.keys():
        raise KeyError(f"{model.__name__} has no {unknown}")
    schema["properties"] = {
        name: merged(plain, entries[name]) for name, plain in properties.items()
    }
    described = {} if model.in_query else {"description": model.__doc__}
    return {**schema, **described, **RULES.get(model, {})}


def merged(plain: dict[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Merge an entry into the schema of a field; its rules do not apply to null."""
    texts = {name: entry[name] for name in ("description", "examples") if name in entry}
    rules = {name: value for name, value in entry.items() if name not in texts}
    if "$ref" in rules:
        named = {"$ref": rules["$ref"]}
        return ({"anyOf": [named, {"type": "null"}]} if "anyOf" in plain else named) | texts
    branches = plain.get("anyOf", [])
    if {"type": "null"} not in branches:
        if "anyOf" in rules:
            plain = {}
        return plain | rules | texts
    (value,) = (branch for branch in branches if branch != {"type": "null"})
    return {"anyOf": [value | rules, {"type": "null"}]} | texts
