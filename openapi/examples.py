"""Examples of requests and responses. What one of a response leaves out, `Schemas` adds."""

from typing import Any, Final

from pillarbox.domain.accounts.account import MAX_KEEP
from pillarbox.domain.messages.message import MEANINGS

_ID: Final = "019b7998-4c00-7000-8000-000000000001"
_AT: Final = "2026-01-01T12:00:00.000+00:00"
_LATER: Final = "2026-01-01T12:00:02.317+00:00"

_OTP: Final = {
    "to": "ada@customer.example",
    "starterTemplate": "otp",
    "variables": {"otp_code": "482913", "expiry_minutes": 10},
}
_HTML: Final = {
    "to": ["ada@customer.example"],
    "cc": ["accounts@customer.example"],
    "subject": "Your invoice",
    "html": '<p>Thank you!</p><img src="cid:logo" alt="Acme">',
    "attachments": [
        {
            "filename": "logo.png",
            "contentType": "image/png",
            "content": "iVBORw0KGgo=",
            "inline": True,
            "contentId": "logo",
        }
    ],
}
SENDS: Final = {
    "starter": {"summary": "By starter template", "value": _OTP},
    "saved": {
        "summary": "By saved template",
        "value": {
            "to": "ada@customer.example",
            "templateId": _ID,
            "variables": {"order": {"total": "49.00 EUR"}},
            "fromName": "Acme",
        },
    },
    "html": {"summary": "By HTML, with an inline image", "value": _HTML},
}
SENT: Final = {"messageId": _ID, "status": "queued", "from": "hello@acme.example"}
_FILE: Final = {
    "filename": "invoice.pdf",
    "contentType": "application/pdf",
    "size": 3145728,
    "sha256": "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef",
}
UPLOADS: Final = {"pdf": {"summary": "A file of 3 MB", "value": _FILE}}
UPLOAD: Final = {
    "attachmentId": _ID,
    "method": "PUT",
    "url": "https://bucket.s3.eu-west-1.amazonaws.com/…/upload?X-Amz-Algorithm=AWS4-HMAC-SHA256&…",
    "headers": {
        "Content-Type": "application/pdf",
        "Content-Length": "3145728",
        "x-amz-checksum-sha256": "X3C/GKCGAHAW6UiwSu07ghA6Nr6kF1W2zd+vEKzjxu8=",
        "x-amz-meta-filename": "invoice.pdf",
        "x-amz-meta-sha256": _FILE["sha256"],
    },
    "expiresAt": "2026-01-01T12:15:00.000+00:00",
    "usableUntil": "2026-01-02T12:00:00.000+00:00",
}
BATCHES: Final = {"two": {"summary": "Two emails", "value": {"messages": [_OTP, _HTML]}}}
BATCH_SENT: Final[dict[str, Any]] = {
    "results": [
        {"idx": 0, **SENT, "error": None},
        {
            "idx": 1,
            "error": {
                "code": "recipient_suppressed",
                "message": "One recipient of this email is refused: ada@customer.example:"
                " an earlier email to it bounced permanently;"
                " nothing was sent.",
                "type": "invalid_request_error",
                "details": {
                    "recipients": [{"address": "ada@customer.example", "reason": "bounced"}]
                },
            },
        },
    ]
}
_LISTED: Final = {
    "messageId": _ID,
    "recipientEmail": "ada@customer.example",
    "subject": "Your Acme code",
    "status": "delivered",
    "createdAt": _AT,
    "updatedAt": _LATER,
    "errorMessage": None,
    "tags": {"order": "10442"},
    "keyId": "key_qh4ybvcvbqzk4kq7x2m9",
    "starterTemplate": "otp",
    "templateId": None,
    "scheduledAt": None,
    "held": False,
    "awaitsOwner": False,
    "resendOf": None,
}
MESSAGES: Final = {"items": [_LISTED], "total": 1, "skip": 0, "limit": 50}
MESSAGE: Final = _LISTED | {
    "fromName": "Acme",
    "providerMessageId": "0102019b79984c00-1f0e",
    "messageIdHeader": "<0102019b79984c00-1f0e@eu-west-1.amazonses.com>",
    "from": "hello@acme.example",
    "to": ["ada@customer.example"],
    "cc": [],
    "bcc": [],
    "route": "http",
    "templateVersion": None,
    "requestId": "5b2f6c1e-93f4-4f0a-8d55-0c7c1f3a9b7e",
    "canceledAt": None,
    "kept": None,
    "events": [
        {"type": "accepted", "at": _AT},
        {"type": "sent", "at": "2026-01-01T12:00:00.412+00:00"},
        {"type": "delivered", "at": _LATER, "recipient": "ada@customer.example"},
    ],
}
_DUE: Final = "2026-01-02T09:00:00.000+00:00"
SCHEDULED_MESSAGE: Final = MESSAGE | {
    "status": "pending",
    "providerMessageId": "",
    "messageIdHeader": None,
    "scheduledAt": _DUE,
    "events": [{"type": "accepted", "at": _AT}],
}
CANCELED_MESSAGE: Final = SCHEDULED_MESSAGE | {
    "status": "failed",
    "errorMessage": MEANINGS["canceled"],
    "canceledAt": _LATER,
    "events": [
        {"type": "accepted", "at": _AT},
        {"type": "failed", "at": _LATER, "code": "canceled", "reason": MEANINGS["canceled"]},
    ],
}
HELD_CONTENT: Final[dict[str, Any]] = {
    "from": "post@shop.example",
    "fromName": None,
    "to": ["Ada <ada@customer.example>"],
    "cc": [],
    "bcc": [],
    "ownText": None,
    "subject": "Your order",
    "replyTo": None,
    "headers": {},
    "html": "<p>It is on its way.</p>",
    "text": "It is on its way.",
    "attachments": [{"filename": "invoice.pdf", "contentType": "application/pdf", "bytes": 18341}],
}
RELEASED_MESSAGE: Final = SCHEDULED_MESSAGE | {"scheduledAt": _LATER}
RESCHEDULED: Final = {
    "reschedule": {"summary": "Send it at another time", "value": {"scheduledAt": _DUE}}
}
RESENDS: Final = {
    "same": {"summary": "To the same recipients", "value": {}},
    "other": {"summary": "To another address", "value": {"to": "ada@home.example"}},
}
CONTENT: Final = {
    "messageId": _ID,
    "subject": "Your invoice",
    "html": "<p>Thank you!</p>",
    "text": "Thank you!",
    "attachments": [{"filename": "invoice.pdf", "contentType": "application/pdf", "size": 48211}],
    "size": 67344,
    "kept": "2026-01-08T12:00:00.412+00:00",
    "eml": {
        "url": "https://bucket.s3.eu-west-1.amazonaws.com/kept/7/…?X-Amz-Algorithm=…",
        "expiresAt": "2026-01-02T12:05:00.000+00:00",
    },
}
_STATUS_COUNTS: Final = {
    "pending": 0,
    "sent": 0,
    "delivered": 3,
    "bounced": 1,
    "complained": 0,
    "failed": 0,
}
ANALYTICS: Final = {
    "totalMessages": 4,
    "deliveryRate": 0.75,
    "bounceRate": 0.25,
    "complaintRate": 0.0,
    "windowStart": "2026-01-01T00:00:00.000+00:00",
    "windowEnd": "2026-01-02T00:00:00.000+00:00",
    "bucket": "day",
    "statuses": _STATUS_COUNTS,
    "secondsToSent": {"p50": 0.8, "p95": 2.263},
    "volume": [
        {
            "timestamp": "2026-01-01T00:00:00.000+00:00",
            "count": 4,
            "sent": 4,
            "delivered": 3,
            "bounced": 1,
            "complained": 0,
            "failed": 0,
            "statuses": _STATUS_COUNTS,
        }
    ],
    "topErrors": [{"code": "mailbox_unknown", "message": MEANINGS["mailbox_unknown"], "count": 1}],
}
RPC_REQUESTS: Final = {
    "list": {
        "summary": "List the tools",
        "value": {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
    },
    "call": {
        "summary": "Call a tool",
        "value": {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "get_email", "arguments": {"messageId": _ID}},
        },
    },
}
RPC_RESPONSE: Final = {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}
_STARTER: Final = {
    "slug": "otp",
    "name": "One-time passcode (six-digit code, short expiry)",
    "description": "A code to type in, and the time until it expires.",
    "variables": ["otp_code", "expiry_minutes", "app_name"],
}
CALLER: Final = {
    "id": "key_qh4ybvcvbqzkkbkzysxg",
    "name": "web",
    "ending": "0000",
    "type": "live",
    "preset": "send",
    "scopes": ["emails:read", "emails:send"],
    "createdAt": "2026-01-01T09:00:00.000+00:00",
    "lastUsedAt": "2026-01-31T11:02:07.113+00:00",
    "sources": [],
    "accountId": "qh4ybvcvbqzk",
    "plan": "free",
    "limits": [
        {
            "name": name,
            "limit": limit,
            "used": used,
            "remaining": limit - used,
            "resetsAt": f"2026-{end}:00.000+00:00",
        }
        for name, limit, used, end in (
            ("minute", 60, 1, "01-31T12:01"),
            ("day", 300, 14, "02-01T00:00"),
            ("recipients", 1_500, 15, "02-01T00:00"),
            ("month", 9_000, 412, "02-01T00:00"),
        )
    ],
}
STARTERS: Final = [_STARTER]
PREVIEWS: Final = {
    "samples": {"summary": "With samples only", "value": {}},
    "code": {"summary": "With a code", "value": {"variables": {"otp_code": "482913"}}},
}
PREVIEW: Final = {
    "slug": "otp",
    "subject": "Your Acme code",
    "html": "<!doctype html>…",
    "sampleVariables": {"otp_code": "482913", "expiry_minutes": 10, "app_name": "Acme"},
}
_SAVED: Final = {
    "id": _ID,
    "name": "Receipt",
    "subject": "Order {{ order.id }}",
    "category": "billing",
    "variables": ["order"],
    "createdAt": _AT,
    "updatedAt": _LATER,
}
TEMPLATES: Final = {"items": [_SAVED], "total": 1, "skip": 0, "limit": 20}
TEMPLATE: Final = _SAVED | {
    "previewHtml": "<p>Total: [order.total]</p>",
    "locales": ["de"],
    "keepDays": MAX_KEEP,
}

_ENDPOINT_ID: Final = "019b7998-4c00-7000-8000-000000000003"
_EVENT_ID: Final = "5f2b7c1e-93f4-5f0a-8d55-0c7c1f3a9b7e"
_DELIVERY_ID: Final = f"1767268802317-{_EVENT_ID}"
WEBHOOK: Final = {
    "id": _ENDPOINT_ID,
    "url": "https://shop.example/hooks",
    "types": ["email.bounced", "email.complained"],
    "enabled": True,
    "format": "pillarbox",
    "createdAt": _AT,
}
WEBHOOK_WITH_SECRET: Final = WEBHOOK | {
    "secret": "whsec_ZXhhbXBsZSBleGFtcGxlIGV4YW1wbGUgZXhhbXBsZSE="
}
WEBHOOKS: Final = {"items": [WEBHOOK]}
NEW_WEBHOOKS: Final = {
    "bounces": {
        "summary": "For bounces and complaints",
        "value": {"url": WEBHOOK["url"], "types": WEBHOOK["types"]},
    },
    "all": {
        "summary": "For all types except email.accepted",
        "value": {"url": WEBHOOK["url"], "types": ["*"]},
    },
    "bucket": {
        "summary": "Into a bucket of yours",
        "value": {
            "url": "s3://shop-events/mail/",
            "roleArn": "arn:aws:iam::111122223333:role/pillarbox-events",
            "types": ["*"],
        },
    },
}
WEBHOOK_CHANGES: Final = {
    "enable": {"summary": "Enable it again", "value": {"enabled": True}},
    "types": {"summary": "Other types", "value": {"types": ["*"]}},
}
QUEUED_EVENT: Final = {"id": _DELIVERY_ID, "eventId": _EVENT_ID, "type": "email.bounced"}
QUEUED_TEST: Final = QUEUED_EVENT | {"type": "webhook.test"}
DELIVERIES: Final = {
    "items": [
        {
            **QUEUED_EVENT,
            "messageId": _ID,
            "at": _LATER,
            "status": "waiting",
            "attempts": [
                {
                    "at": "2026-01-01T12:00:03.108+00:00",
                    "statusCode": 503,
                    "milliseconds": 41,
                    "error": "try later",
                }
            ],
            "nextAttemptAt": "2026-01-01T12:00:08.470+00:00",
        }
    ],
}
REPLAYS: Final = {
    "bounces": {
        "summary": "The bounces of a day",
        "value": {
            "from": "2026-01-01T00:00:00Z",
            "to": "2026-01-02T00:00:00Z",
            "types": ["email.bounced"],
        },
    }
}
REPLAYED: Final = {"queued": 12, "nextTo": None}

RECEIVED: Final = {
    "receivedId": "019b7998-4c00-7000-8000-000000000004",
    "receivedAt": "2026-01-01T12:20:00.000+00:00",
    "from": "ada@customer.example",
    "fromName": "Ada",
    "to": f"r.{'a' * 42}@in.shop.example",
    "subject": "Re: Your order 10442",
    "inReplyTo": {
        "messageId": "019b7998-4c00-7000-8000-000000000001",
        "tags": {"order": "10442"},
        "template": "payment_receipt",
    },
    "authenticated": True,
    "verdicts": dict.fromkeys(("spam", "virus", "spf", "dkim", "dmarc"), "pass"),
    "automatic": None,
    "parsed": True,
    "size": 4112,
    "kept": "2026-01-31T12:20:00.000+00:00",
}
RECEIVED_CONTENT: Final = RECEIVED | {
    "messageIdHeader": "<1@customer.example>",
    "allTo": [RECEIVED["to"]],
    "cc": [],
    "replyTo": [],
    "reply": "Please send it to my office.",
    "text": "Please send it to my office.\n\nOn 1 Jan 2026 Shop wrote:\n> It is on its way.\n",
    "html": None,
    "cut": False,
    "calendar": [],
    "attachments": [],
    "raw": "https://pillarbox-spool.s3.eu-west-1.amazonaws.com/answers/30/…",
    "linksUntil": "2026-01-02T13:20:00.000+00:00",
}
