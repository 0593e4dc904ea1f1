"""The examples of the service's operators."""

from functools import partial
from typing import Any, Final

from openapi.account_operations import ACCOUNT_EXAMPLE, LOG_ITEM
from openapi.operation import example

_AT: Final = "2026-01-01T12:00:00.000+00:00"
_LISTED: Final = {
    "id": "qh4ybvcvbqzk",
    "name": "Shop",
    "plan": "standard",
    "createdAt": _AT,
    "limits": [
        {
            "name": "month",
            "limit": 15_000,
            "used": 482,
            "remaining": 14_518,
            "resetsAt": "2026-02-01T00:00:00.000+00:00",
        }
    ],
}
_ACCOUNT: Final = ACCOUNT_EXAMPLE | {
    **_LISTED,
    "senders": ["hello@shop.example"],
    "contact": "ada@shop.example",
    "shards": 1,
    "holdUncertain": False,
    "isolation": "none",
    "ownLimits": {"perMinute": None, "perDay": 5_000, "perMonth": None, "recipientsPerDay": None},
    "log": [LOG_ITEM | {"by": "root@pillarbox.example", "reason": None}],
}
_CREATED: Final = {"id": "qh4ybvcvbqzk", "name": "Shop", "plan": "free"}
_RATES: Final = {
    "totalMessages": 490,
    "sent": 482,
    "delivered": 470,
    "bounced": 9,
    "complained": 1,
    "unconfirmed": 2,
    "deliveryRate": 0.9751,
    "bounceRate": 0.0187,
    "complaintRate": 0.0021,
}
_RATED: Final = {"id": "qh4ybvcvbqzk", "name": "Shop", "plan": "standard", "suspendedAt": None}
_REDRIVE: Final = {
    "id": "019f9db3-d140-7b3c-8d6d-000000000000",
    "at": _AT,
    "by": "root@pillarbox.example",
    "queue": "jobs",
    "moved": 4,
}
_QUEUE: Final = {
    "name": "jobs",
    "waiting": 3,
    "inFlight": 1,
    "delayed": 0,
    "oldestSeconds": 2.0,
    "dead": 4,
}
_SUSPENDED: Final = _ACCOUNT | {
    "suspendedAt": _AT,
    "suspensionReason": "bounces",
    "queuedMail": "send",
}


_of_operators: Final[partial[dict[str, Any]]] = partial(
    dict, tag="Operator", budgets=("operators",)
)

OPERATOR: Final = (
    _of_operators(id="list_accounts", response_example={"items": [_LISTED], "nextCursor": None}),
    _of_operators(
        id="create_operated_account",
        body_examples=example("account", "An account", {"name": "Shop", "plan": "free"}),
        response_example=_CREATED,
    ),
    _of_operators(id="get_operated_account", response_example=_ACCOUNT),
    _of_operators(
        id="change_operated_account",
        body_examples=example("plan", "Another plan", {"plan": "standard"})
        | example("isolation", "A reputation of its own", {"isolation": "strict"})
        | example("limits", "A limit of its own", {"ownLimits": {"perDay": 5_000}}),
        response_example=_ACCOUNT,
    ),
    _of_operators(
        id="delete_operated_account",
        response_example={"id": "qh4ybvcvbqzk", "done": True, "items": 482},
    ),
    _of_operators(
        id="suspend_account",
        body_examples=example("reason", "A reason", {"reason": "bounces"}),
        response_example=_SUSPENDED,
    ),
    _of_operators(id="resume_account", response_example=_ACCOUNT),
    _of_operators(
        id="get_rates",
        response_example={
            "windowStart": "2025-12-31T12:00:00.000+00:00",
            "windowEnd": _AT,
            "allAccounts": _RATES,
            "total": 1,
            "items": [_RATES | _RATED],
        },
    ),
    _of_operators(id="list_queues", response_example={"items": [_QUEUE], "redrives": [_REDRIVE]}),
    _of_operators(
        id="redrive_queue",
        body_examples=example("all", "As many as possible", {}),
        response_example={"queue": "jobs", "moved": 4},
    ),
    _of_operators(
        id="list_sign_ups",
        response_example={
            "items": [{"email": "ada@shop.example", "name": "Shop", "createdAt": _AT}]
        },
    ),
    _of_operators(
        id="approve_sign_up",
        body_examples=example("default", "With the usual plan", {})
        | example("plan", "With another plan", {"plan": "standard"}),
        response_example=_CREATED,
    ),
    _of_operators(id="refuse_sign_up"),
    _of_operators(
        id="run_checks",
        response_example={
            "items": [
                {
                    "check": "queues",
                    "verdict": "fail",
                    "message": "jobs: 4 dead letters.",
                    "remedy": "Fix what the functions' logs report, then: pillarbox queue redrive"
                    " jobs",
                }
            ]
        },
    ),
)
