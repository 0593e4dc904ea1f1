"""The operations of the service's operators."""

from functools import partial
from typing import Final

from openapi.account_operations import ACCOUNT_EXAMPLE, LOG_ITEM
from openapi.operation import KEY_OR_SESSION, example, session_operation
from pillarbox.domain.accounts.key import ACCOUNTS_READ, ACCOUNTS_WRITE
from pillarbox.domain.sign_in.session import OPERATE
from pillarbox.http.operator.creation import CreateAccountRequest
from pillarbox.http.operator.replies import (
    AccountPage,
    CheckList,
    DeletionState,
    MovedLetters,
    OperatedAccount,
    QueueList,
    RatesResult,
)
from pillarbox.http.operator.wire import (
    AccountsQuery,
    DeletionQuery,
    OperateAccountRequest,
    RatesQuery,
    RedriveRequest,
    SuspendRequest,
)
from pillarbox.http.sign_in.replies import ChosenAccount, PendingList
from pillarbox.http.sign_in.sign_up import ApprovalBody

_AT: Final = "2026-01-01T12:00:00.000+00:00"
_LISTED: Final = {
    "id": "qh4ybvcvbqzk",
    "name": "Shop",
    "plan": "standard",
    "createdAt": _AT,
    "suspendedAt": None,
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
    "suspensionReason": None,
    "contact": "ada@shop.example",
    "shards": 1,
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
    "dropped": None,
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


_operation: Final = partial(
    session_operation, tag="Operator", shared_function="operate", scope=OPERATE
)
_read: Final = partial(_operation, scope=ACCOUNTS_READ, security=KEY_OR_SESSION)
_write: Final = partial(_operation, scope=ACCOUNTS_WRITE, security=KEY_OR_SESSION)
_of_sign_ups: Final = partial(_operation, shared_function="create_account")

OPERATOR: Final = (
    _read(
        route="GET /v1/operator/accounts",
        id="list_accounts",
        summary="List accounts",
        description="All accounts of the service, sorted by id, or those whose name contains the"
        " text of `search` or whose id begins with it. A page of a search may have fewer accounts"
        " than `limit`, or none, while `nextCursor` is not null: a page reads 2,000 accounts at"
        " most.",
        query=AccountsQuery,
        response=AccountPage,
        response_example={"items": [_LISTED], "nextCursor": None},
    ),
    _write(
        route="POST /v1/operator/accounts",
        id="create_operated_account",
        creates_named=True,
        shared_function="create_account",
        summary="Create an account",
        description="Creates an account without senders, keys and members. The name need not be"
        " unique.",
        body=CreateAccountRequest,
        body_examples=example("account", "An account", {"name": "Shop", "plan": "free"}),
        response=ChosenAccount,
        status=201,
        response_example=_CREATED,
    ),
    _read(
        route="GET /v1/operator/accounts/{account_id}",
        id="get_operated_account",
        summary="Get an account",
        description="An account with its plan, its limits and its log.",
        response=OperatedAccount,
        response_example=_ACCOUNT,
    ),
    _write(
        route="PATCH /v1/operator/accounts/{account_id}",
        id="change_operated_account",
        summary="Change an account's plan, limits or isolation",
        description="The change counts from the account's next request on, and that of plan or"
        " limits is written to its log. API keys keep their permissions. Another isolation takes"
        " some calls of SES: repeat the request if the service is busy.",
        body=OperateAccountRequest,
        body_examples=example("plan", "Another plan", {"plan": "standard"})
        | example("isolation", "A reputation of its own", {"isolation": "strict"})
        | example("limits", "A limit of its own", {"ownLimits": {"perDay": 5_000}}),
        response=OperatedAccount,
        response_example=_ACCOUNT,
    ),
    _write(
        route="DELETE /v1/operator/accounts/{account_id}",
        id="delete_operated_account",
        shared_function="delete_account",
        summary="Delete an account",
        description="Deletes an account and all its messages, statistics, templates, suppressions"
        " and keys. Nothing of it can be restored, except from a backup of the tables. The account"
        " must be suspended for two minutes, and no email of it may wait. A request deletes for 20"
        " seconds: repeat it until `done` is true. After that the account is not found.",
        query=DeletionQuery,
        response=DeletionState,
        response_example={"id": "qh4ybvcvbqzk", "done": True, "items": 482},
    ),
    _write(
        route="POST /v1/operator/accounts/{account_id}/suspension",
        id="suspend_account",
        summary="Suspend an account",
        description="Every request of the account's keys and members is refused from now on. Emails"
        " that were accepted before are still delivered.",
        body=SuspendRequest,
        body_examples=example("reason", "A reason", {"reason": "bounces"}),
        response=OperatedAccount,
        response_example=_SUSPENDED,
    ),
    _write(
        route="DELETE /v1/operator/accounts/{account_id}/suspension",
        id="resume_account",
        summary="Resume an account",
        description="Ends a suspension. API keys work again, except revoked ones.",
        response=OperatedAccount,
        response_example=_ACCOUNT,
    ),
    _operation(
        route="GET /v1/operator/rates",
        id="get_rates",
        summary="Get the rates of all accounts",
        description="What the accounts sent in the last days, and those with the most emails,"
        " bounces or complaints. Each account takes about six reads of the statistics.",
        query=RatesQuery,
        response=RatesResult,
        response_example={
            "windowStart": "2025-12-31T12:00:00.000+00:00",
            "windowEnd": _AT,
            "allAccounts": _RATES,
            "total": 1,
            "items": [_RATES | _RATED],
        },
    ),
    _operation(
        route="GET /v1/operator/queues",
        id="list_queues",
        summary="List the queues",
        description="The messages in each queue and its dead letters, how long the oldest one has"
        " waited, and which dead letters operators moved back.",
        response=QueueList,
        response_example={"items": [_QUEUE], "redrives": [_REDRIVE]},
    ),
    _operation(
        route="POST /v1/operator/queues/{queue}/redrive",
        id="redrive_queue",
        summary="Move dead letters back",
        description="Moves dead letters into their queue. Fix the cause of the failures first. This"
        " is safe at any time: finished emails are not sent again, and processed events change"
        " nothing.",
        body=RedriveRequest,
        body_examples=example("all", "As many as possible", {}),
        response=MovedLetters,
        response_example={"queue": "jobs", "moved": 4},
    ),
    _of_sign_ups(
        route="GET /v1/operator/sign-ups",
        id="list_sign_ups",
        summary="List the users who ask for an account",
        description="Those that wait for an operator, because `SignUp` is `approved`.",
        response=PendingList,
        response_example={
            "items": [{"email": "ada@shop.example", "name": "Shop", "createdAt": _AT}]
        },
    ),
    _of_sign_ups(
        route="POST /v1/operator/sign-ups/{address}",
        id="approve_sign_up",
        summary="Create the account that a user asks for",
        description="The user becomes its owner and gets an email.",
        body=ApprovalBody,
        body_examples=example("default", "With the usual plan", {})
        | example("plan", "With another plan", {"plan": "standard"}),
        response=ChosenAccount,
        status=201,
        response_example=_CREATED,
    ),
    _of_sign_ups(
        route="DELETE /v1/operator/sign-ups/{address}",
        id="refuse_sign_up",
        summary="Refuse an account to a user",
        description="The dashboard tells the user. The request can still be approved.",
    ),
    _operation(
        route="GET /v1/operator/checks",
        id="run_checks",
        summary="Check the service",
        description="Whether SES lets the service send and reports its events, whether messages"
        " failed or wait too long, and whether one account can use up SES's quota. `pillarbox"
        " doctor` checks more.",
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
