"""The operations of the service's operators."""

from typing import Any, Final

from openapi.account_operations import LOG_ITEM
from openapi.operation import SESSION, Operation
from pillarbox.domain.role import OPERATE
from pillarbox.http.operator import AccountsQuery, OperateAccountRequest, SuspendRequest
from pillarbox.http.operator_types import AccountPage, OperatedAccount

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
_SUSPENDED: Final = _ACCOUNT | {"suspendedAt": _AT, "suspensionReason": "bounces"}


def _operation(
    method: str,
    path: str,
    *texts: str,
    errors: tuple[str, ...] = (),
    **parts: Any,  # noqa: ANN401  fields of an operation
) -> Operation:
    operation_id, summary, description = texts
    of_path = ("route_not_found",) if "{" in path else ()
    return Operation(
        id=operation_id,
        shared_function="operate",
        method=method,
        path=path,
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
        "get",
        "/v1/operator/accounts",
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
        "get",
        "/v1/operator/accounts/{account_id}",
        "get_operated_account",
        "Get an account",
        "An account with its plan, its limits and its log.",
        response=OperatedAccount,
        response_example=_ACCOUNT,
        errors=("account_not_found",),
    ),
    _operation(
        "patch",
        "/v1/operator/accounts/{account_id}",
        "change_operated_account",
        "Change an account's plan or limits",
        "The change counts from the account's next request on, and is written to its log. API keys"
        " keep their permissions.",
        body=OperateAccountRequest,
        body_examples={
            "plan": {"summary": "Another plan", "value": {"plan": "standard"}},
            "limits": {"summary": "A limit of its own", "value": {"limits": {"perDay": 5_000}}},
        },
        response=OperatedAccount,
        response_example=_ACCOUNT,
        errors=("account_not_found",),
    ),
    _operation(
        "post",
        "/v1/operator/accounts/{account_id}/suspension",
        "suspend_account",
        "Suspend an account",
        "Every request of the account's keys and members is refused from now on. Emails that were"
        " accepted before are still delivered.",
        body=SuspendRequest,
        body_examples={"reason": {"summary": "A reason", "value": {"reason": "bounces"}}},
        response=OperatedAccount,
        response_example=_SUSPENDED,
        errors=("account_not_found",),
    ),
    _operation(
        "delete",
        "/v1/operator/accounts/{account_id}/suspension",
        "resume_account",
        "Resume an account",
        "Ends a suspension. API keys work again, except revoked ones.",
        response=OperatedAccount,
        response_example=_ACCOUNT,
        errors=("account_not_found",),
    ),
)
