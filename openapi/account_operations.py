"""The examples of the account of a session: its keys, members, suppressions and settings."""

from functools import partial
from typing import Any, Final

from openapi.examples import STARTERS, WEBHOOKS
from openapi.operation import example
from pillarbox.domain.accounts.key_terms import SCOPE_WORDS

_AT: Final = "2026-01-01T12:00:00.000+00:00"
_SEND: Final = ["emails:read", "emails:send"]
_KEY: Final = {
    "id": "key_qh4ybvcvbqzk4kq7x2m9",
    "name": "web",
    "ending": "0000",
    "type": "live",
    "preset": "send",
    "scopes": _SEND,
    "createdAt": _AT,
    "sources": [],
}
_KEYS: Final = {
    "items": [_KEY | {"createdBy": "ada@shop.example"}],
    "presets": [
        {
            "preset": "send",
            "scopes": _SEND,
            "refusedScopes": [],
            "allowed": True,
        },
        {
            "preset": "analytics",
            "scopes": [
                "emails:read",
                "marketing:campaigns:read",
                "marketing:contacts:read",
                "templates:read",
            ],
            "refusedScopes": ["marketing:campaigns:read"],
            "allowed": False,
            "reason": "The free plan does not allow marketing:campaigns:read.",
        },
    ],
    "permissions": [
        {"scope": scope, "allows": SCOPE_WORDS[scope]} for scope in ("emails:send", "emails:read")
    ],
    "upgradeUrl": "https://pillarbox.example/upgrade",
    "smtp": {"host": "smtp.pillarbox.example", "port": 587},
}
_SUPPRESSION: Final = {
    "address": "ada@customer.example",
    "erased": False,
    "reason": "manual",
    "createdAt": _AT,
}
_MEMBER: Final = {
    "id": "8wz3n6c1v0jd",
    "email": "ada@shop.example",
    "role": "owner",
    "pending": False,
    "current": True,
    "createdAt": _AT,
}
LOG_ITEM: Final = {
    "id": "019b7a2e-3f80-7c41-9d5e-0a1b2c3d4e5f",
    "at": _AT,
    "action": "changed",
    "count": 1,
    "changes": [{"name": "plan", "before": "free", "after": "standard"}],
}
_LIMIT: Final = {"remaining": 59, "resetsAt": "2026-01-01T12:01:00.000+00:00"}
ACCOUNT_EXAMPLE: Final = {
    "id": "qh4ybvcvbqzk",
    "name": "Shop",
    "plan": "free",
    "createdAt": _AT,
    "limits": [{"name": "minute", "limit": 60, "used": 1} | _LIMIT],
    "brandName": "Shop",
    "accent": "#0a7d5a",
    "supportEmail": "support@shop.example",
    "companyAddress": "1 Quay Street, Bristol",
    "actionUrl": "https://shop.example",
    "defaultSender": "post@shop.example",
    "contact": "ada@shop.example",
    "keepDays": 0,
    "recordDays": 0,
    "replies": False,
    "receivedDays": 30,
    "pauses": [
        {
            "scope": "template",
            "id": "welcome",
            "level": "stop",
            "cause": "bounces",
            "since": _AT,
            "resumable": True,
        }
    ],
}


_of_keys: Final[partial[dict[str, Any]]] = partial(dict, tag="API keys")
_of_members: Final[partial[dict[str, Any]]] = partial(dict, tag="Members")
_of_account: Final[partial[dict[str, Any]]] = partial(dict, tag="Account")
_of_suppressions: Final[partial[dict[str, Any]]] = partial(dict, tag="Suppressions")

KEYS: Final = (
    _of_keys(id="list_keys", response_example=_KEYS),
    _of_keys(
        id="create_key",
        budgets=("keys",),
        body_examples=example("preset", "A preset", {"name": "web", "preset": "send"})
        | example(
            "custom", "Chosen scopes", {"name": "ci", "preset": "custom", "scopes": ["emails:send"]}
        ),
        response_example=_KEY | {"key": f"bx_live_qh4ybvcvbqzk{'0' * 40}"},
    ),
    _of_keys(id="revoke_key", budgets=("requests",)),
)

SUPPRESSIONS: Final = (
    _of_suppressions(
        id="list_suppressions", response_example={"items": [_SUPPRESSION], "nextCursor": None}
    ),
    _of_suppressions(
        id="add_suppressions",
        budgets=("slow",),
        body_examples=example("one", "An address", {"address": "ada@customer.example"})
        | example(
            "many",
            "Many addresses",
            {"addresses": ["ada@customer.example", "bob@customer.example"]},
        ),
        response_example={"items": [_SUPPRESSION], "refused": []},
    ),
    _of_suppressions(id="remove_suppression", budgets=("slow",)),
)

MEMBERS: Final = (
    _of_members(id="list_members", response_example={"items": [_MEMBER]}),
    _of_members(
        id="invite_member",
        budgets=("invitations",),
        body_examples=example(
            "developer", "A developer", {"email": "bob@shop.example", "role": "developer"}
        ),
        response_example=_MEMBER
        | {"email": "bob@shop.example", "role": "developer", "pending": True, "current": False},
    ),
    _of_members(
        id="change_member",
        budgets=("requests",),
        body_examples=example("viewer", "A viewer", {"role": "viewer"}),
        response_example=_MEMBER | {"role": "viewer", "current": False},
    ),
    _of_members(id="remove_member", budgets=("requests",)),
    _of_members(
        id="accept_invitation",
        budgets=("requests",),
        response_example=_MEMBER | {"role": "developer"},
    ),
    _of_members(id="decline_invitation", budgets=("requests",)),
)

_ALERTS: Final[dict[str, Any]] = {
    "mail": True,
    "chatAllowed": True,
    "off": [],
}

_NAMED: Final = {"id": "019b7998-4c00-7000-8000-000000000002", "name": "Order confirmation"}
ACCOUNT: Final = (
    _of_account(
        id="get_overview",
        response_example={
            "account": ACCOUNT_EXAMPLE,
            "emails": 1,
            "keys": [{"id": _KEY["id"], "name": "web", "revokedAt": None}],
            "starterTemplates": STARTERS,
            "templates": [_NAMED],
            "webhooks": WEBHOOKS["items"],
        },
    ),
    _of_account(id="get_account", response_example=ACCOUNT_EXAMPLE),
    _of_account(
        id="change_account",
        budgets=("requests",),
        body_examples=example(
            "brand", "A brand", {"brandName": "Shop", "accent": "#0a7d5a", "logoUrl": ""}
        )
        | example("keep", "Keep the content of emails for a week", {"keepDays": 7}),
        response_example=ACCOUNT_EXAMPLE,
    ),
    _of_account(
        id="resume_sending",
        budgets=("requests",),
        body_examples=example(
            "template",
            "A template",
            {
                "scope": "template",
                "id": "welcome",
                "cause": "A bot signed up other people. The form has a captcha now.",
            },
        ),
        response_example=ACCOUNT_EXAMPLE,
    ),
    _of_account(id="get_alerts", response_example=_ALERTS),
    _of_account(
        id="change_alerts",
        budgets=("slow",),
        body_examples=example(
            "room",
            "A room, and no word of quotas",
            {"chatUrl": "https://hooks.slack.com/services/T0/B0/xyz9", "off": ["quota"]},
        ),
        response_example=_ALERTS | {"chat": "hooks.slack.com/…xyz9", "off": ["quota"]},
    ),
    _of_account(
        id="test_alerts",
        budgets=("slow",),
        response_example={"mail": True, "post": {"at": _AT, "error": None}},
    ),
    _of_account(id="get_account_log", response_example={"items": [LOG_ITEM], "nextCursor": None}),
)
