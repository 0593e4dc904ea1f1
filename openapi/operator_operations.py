"""The operations of the service's operators."""

from typing import Any, Final

from openapi.account_operations import LOG_ITEM
from openapi.operation import SESSION, Operation, example
from pillarbox.domain.sign_in.role import OPERATE
from pillarbox.http.operator.reply_types import (
    AccountPage,
    CheckList,
    MovedLetters,
    OperatedAccount,
    QueueList,
    RatesResult,
)
from pillarbox.http.operator.wire import (
    AccountsQuery,
    OperateAccountRequest,
    RatesQuery,
    RedriveRequest,
    SuspendRequest,
)
from pillarbox.http.sign_in.reply_types import ChosenAccount
from pillarbox.http.sign_in.sign_up import ApprovalBody
from pillarbox.http.sign_in.sign_up_types import PendingList

_AT: Final = "2026-01-01T12:00:00.000+00:00"
_LISTED: Final = {
    "id": "qh4ybvcvbqzk",
    "name": "Shop",
    "plan": "standard",
    "createdAt": _AT,
    "suspendedAt": None,
    "usedThisMonth": 482,
    "monthlyLimit": 15_000,
}
_ACCOUNT: Final = _LISTED | {
    "suspensionReason": None,
    "contact": "ada@shop.example",
    "defaultSender": "post@shop.example",
    "shards": 1,
    "limits": [
        {
            "name": "month",
            "limit": 15_000,
            "used": 482,
            "remaining": 14_518,
            "resetsAt": "2026-02-01T00:00:00.000+00:00",
        }
    ],
    "ownLimits": {"perMinute": None, "perDay": 5_000, "perMonth": None, "recipientsPerDay": None},
    "log": [LOG_ITEM | {"by": "root@pillarbox.example", "reason": None}],
}
_RATES: Final = {
    "emails": 482,
    "delivered": 470,
    "bounced": 9,
    "complained": 1,
    "bounceRate": 0.0187,
    "complaintRate": 0.0021,
}
_RATED: Final = {"id": "qh4ybvcvbqzk", "name": "Shop", "plan": "standard", "suspended": False}
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
_SUSPENDED: Final = _ACCOUNT | {"suspendedAt": _AT, "suspensionReason": "bounces"}


def _operation(
    route: str,
    *texts: str,
    function: str = "operate",
    errors: tuple[str, ...] = (),
    **parts: Any,  # noqa: ANN401  fields of an operation
) -> Operation:
    operation_id, summary, description = texts
    of_path = ("route_not_found",) if "{" in route else ()
    return Operation(
        id=operation_id,
        shared_function=function,
        route=route,
        tag="Operator",
        summary=summary,
        description=description,
        security=(SESSION,),
        scope=OPERATE,
        errors=("session_required", *errors, *of_path),
        **parts,
    )


OPERATOR: Final = (
    _operation(
        "GET /v1/operator/accounts",
        "list_accounts",
        "List accounts",
        "All accounts of the service, sorted by id, or those whose name contains the text of"
        " `search` or whose id begins with it. A page of a search may have fewer accounts than"
        " `limit`, or none, while `nextCursor` is not null: a page reads 2,000 accounts at most.",
        query=AccountsQuery,
        response=AccountPage,
        response_example={"items": [_LISTED], "nextCursor": None},
    ),
    _operation(
        "GET /v1/operator/accounts/{account_id}",
        "get_operated_account",
        "Get an account",
        "An account with its plan, its limits and its log.",
        response=OperatedAccount,
        response_example=_ACCOUNT,
        errors=("account_not_found",),
    ),
    _operation(
        "PATCH /v1/operator/accounts/{account_id}",
        "change_operated_account",
        "Change an account's plan or limits",
        "The change counts from the account's next request on, and is written to its log. API keys"
        " keep their permissions.",
        body=OperateAccountRequest,
        body_examples=example("plan", "Another plan", {"plan": "standard"})
        | example("limits", "A limit of its own", {"limits": {"perDay": 5_000}}),
        response=OperatedAccount,
        response_example=_ACCOUNT,
        errors=("account_not_found",),
    ),
    _operation(
        "POST /v1/operator/accounts/{account_id}/suspension",
        "suspend_account",
        "Suspend an account",
        "Every request of the account's keys and members is refused from now on. Emails that were"
        " accepted before are still delivered.",
        body=SuspendRequest,
        body_examples=example("reason", "A reason", {"reason": "bounces"}),
        response=OperatedAccount,
        response_example=_SUSPENDED,
        errors=("account_not_found",),
    ),
    _operation(
        "DELETE /v1/operator/accounts/{account_id}/suspension",
        "resume_account",
        "Resume an account",
        "Ends a suspension. API keys work again, except revoked ones.",
        response=OperatedAccount,
        response_example=_ACCOUNT,
        errors=("account_not_found",),
    ),
    _operation(
        "GET /v1/operator/rates",
        "get_rates",
        "Get the rates of all accounts",
        "What the accounts sent in the last days, and those with the most emails, bounces or"
        " complaints. Each account takes about six reads of the statistics.",
        query=RatesQuery,
        response=RatesResult,
        response_example={
            "since": "2025-12-31T12:00:00.000+00:00",
            "until": _AT,
            "total": _RATES,
            "accounts": 1,
            "items": [_RATES | _RATED],
        },
    ),
    _operation(
        "GET /v1/operator/queues",
        "list_queues",
        "List the queues",
        "The messages in each queue and its dead letters, how long the oldest one has waited, and"
        " which dead letters operators moved back.",
        response=QueueList,
        response_example={"items": [_QUEUE], "redrives": [_REDRIVE]},
    ),
    _operation(
        "POST /v1/operator/queues/{queue}/redrive",
        "redrive_queue",
        "Move dead letters back",
        "Moves dead letters into their queue. Fix the cause of the failures first. This is safe at"
        " any time: finished emails are not sent again, and processed events change nothing.",
        body=RedriveRequest,
        body_examples=example("all", "As many as possible", {}),
        response=MovedLetters,
        response_example={"queue": "jobs", "moved": 4},
    ),
    _operation(
        "GET /v1/operator/sign-ups",
        "list_sign_ups",
        "List the users who ask for an account",
        "Those that wait for an operator, because `SignUp` is `approved`.",
        function="create_account",
        response=PendingList,
        response_example={"items": [{"email": "ada@shop.example", "name": "Shop", "askedAt": _AT}]},
    ),
    _operation(
        "POST /v1/operator/sign-ups/{address}",
        "approve_sign_up",
        "Create the account that a user asks for",
        "The user becomes its owner and gets an email.",
        function="create_account",
        body=ApprovalBody,
        body_examples=example("default", "With the usual plan", {})
        | example("plan", "With another plan", {"plan": "standard"}),
        response=ChosenAccount,
        status=201,
        response_example={"id": "qh4ybvcvbqzk", "name": "Shop", "plan": "free"},
    ),
    _operation(
        "DELETE /v1/operator/sign-ups/{address}",
        "refuse_sign_up",
        "Refuse an account to a user",
        "The dashboard tells the user. The request can still be approved.",
        function="create_account",
    ),
    _operation(
        "GET /v1/operator/checks",
        "run_checks",
        "Check the service",
        "Whether SES lets the service send and reports its events, whether messages failed or wait"
        " too long, and whether one account can use up SES's quota. `pillarbox doctor` checks"
        " more.",
        response=CheckList,
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
