"""The operations on the account of a session: its keys, members, suppressions and settings."""

from typing import Any, Final

from openapi.operation import Operation, example, session_operation
from pillarbox.domain.sign_in.role import (
    ACCOUNT_READ,
    ACCOUNT_WRITE,
    KEYS_MANAGE,
    MEMBERS_READ,
    MEMBERS_WRITE,
    SUPPRESSIONS_READ,
    SUPPRESSIONS_WRITE,
)
from pillarbox.http.accounts.reply_types import (
    AccountDetail,
    AccountLog,
    AddedSuppressions,
    KeyList,
    MemberItem,
    MemberList,
    NewKey,
    SuppressionPage,
)
from pillarbox.http.accounts.wire import (
    AddSuppressionsRequest,
    ChangeAccountRequest,
    ChangeMemberRequest,
    CreateKeyRequest,
    InviteMemberRequest,
    SuppressionsQuery,
)

_AT: Final = "2026-01-01T12:00:00.000+00:00"
_SEND: Final = ["emails:read", "emails:send"]
_KEY: Final = {
    "id": "key_qh4ybvcvbqzk4kq7x2m9",
    "name": "web",
    "type": "live",
    "preset": "send",
    "scopes": _SEND,
    "agent": False,
    "createdAt": _AT,
    "lastUsedAt": None,
    "revokedAt": None,
}
_KEYS: Final = {
    "items": [_KEY],
    "presets": [
        {
            "preset": "send",
            "scopes": _SEND,
            "refusedScopes": [],
            "allowed": True,
            "reason": None,
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
    "upgradeUrl": "https://pillarbox.example/upgrade",
    "smtp": {"host": "smtp.pillarbox.example", "port": 587},
}
_SUPPRESSION: Final = {
    "address": "ada@customer.example",
    "erased": False,
    "reason": "manual",
    "at": _AT,
    "messageId": None,
}
_MEMBER: Final = {
    "id": "8wz3n6c1v0jd",
    "email": "ada@shop.example",
    "role": "owner",
    "current": True,
    "addedAt": _AT,
}
LOG_ITEM: Final = {
    "id": "019b7a2e-3f80-7c41-9d5e-0a1b2c3d4e5f",
    "at": _AT,
    "action": "changed",
    "changes": [{"name": "plan", "before": "free", "after": "standard"}],
}
_LIMIT: Final = {"remaining": 59, "resetsAt": "2026-01-01T12:01:00.000+00:00"}
_ACCOUNT: Final = {
    "id": "qh4ybvcvbqzk",
    "name": "Shop",
    "plan": "free",
    "createdAt": _AT,
    "limits": [{"name": "minute", "limit": 60, "used": 1} | _LIMIT],
    "brandName": "Shop",
    "logoUrl": None,
    "accent": "#0a7d5a",
    "fromName": None,
    "defaultSender": "post@shop.example",
}


def _operation(
    function: str,
    route: str,
    *texts: str,
    scope: str,
    errors: tuple[str, ...] = (),
    **parts: Any,  # noqa: ANN401  fields of an operation
) -> Operation:
    operation_id, summary, description = texts
    of_path = ("route_not_found",) if "{" in route else ()
    return session_operation(
        id=operation_id,
        shared_function=function,
        route=route,
        tag=_TAGS[route.split("/")[2]],
        summary=summary,
        description=description,
        scope=scope,
        errors=("account_suspended", *errors, *of_path),
        **parts,
    )


_TAGS: Final = {
    "keys": "API keys",
    "members": "Members",
    "account": "Account",
    "suppressions": "Suppressions",
}

KEYS: Final = (
    _operation(
        "manage_keys",
        "GET /v1/keys",
        "list_keys",
        "List API keys",
        "The keys of the account, the oldest first, also the last 400 revoked ones, and the presets"
        " for a new key under the account's plan.",
        scope=KEYS_MANAGE,
        response=KeyList,
        response_example=_KEYS,
    ),
    _operation(
        "manage_keys",
        "POST /v1/keys",
        "create_key",
        "Create an API key",
        "Creates a live key. The response has its text, which nothing shows again.",
        scope=KEYS_MANAGE,
        body=CreateKeyRequest,
        body_examples=example("preset", "A preset", {"name": "web", "preset": "send"})
        | example(
            "custom", "Chosen scopes", {"name": "ci", "preset": "custom", "scopes": ["emails:send"]}
        ),
        response=NewKey,
        status=201,
        response_example=_KEY | {"key": f"bx_live_qh4ybvcvbqzk{'0' * 40}"},
        errors=("SCOPE_NOT_ALLOWED_FOR_TIER", "key_limit_exceeded"),
    ),
    _operation(
        "manage_keys",
        "DELETE /v1/keys/{key_id}",
        "revoke_key",
        "Revoke an API key",
        "The key stops working at once, for good. It stays in the list.",
        scope=KEYS_MANAGE,
        errors=("key_not_found",),
    ),
)

SUPPRESSIONS: Final = (
    _operation(
        "manage_account",
        "GET /v1/suppressions",
        "list_suppressions",
        "List suppressions",
        "The addresses that the account does not send to, sorted by address.",
        scope=SUPPRESSIONS_READ,
        query=SuppressionsQuery,
        response=SuppressionPage,
        response_example={"items": [_SUPPRESSION], "nextCursor": None},
    ),
    _operation(
        "manage_account",
        "POST /v1/suppressions",
        "add_suppressions",
        "Add suppressions",
        "Suppresses an address, or many at once: of these, the valid ones are added and the others"
        " are returned. An earlier suppression keeps its reason.",
        scope=SUPPRESSIONS_WRITE,
        body=AddSuppressionsRequest,
        body_examples=example("one", "An address", {"address": "ada@customer.example"})
        | example(
            "many",
            "Many addresses",
            {"addresses": ["ada@customer.example", "bob@customer.example"]},
        ),
        response=AddedSuppressions,
        status=201,
        response_example={"items": [_SUPPRESSION], "refused": []},
    ),
    _operation(
        "manage_account",
        "DELETE /v1/suppressions/{address}",
        "remove_suppression",
        "Remove a suppression",
        "The account can send to the address again.",
        scope=SUPPRESSIONS_WRITE,
        errors=("suppression_not_found",),
    ),
)

MEMBERS: Final = (
    _operation(
        "manage_members",
        "GET /v1/members",
        "list_members",
        "List members",
        "The users with a role in the account, the oldest first.",
        scope=MEMBERS_READ,
        response=MemberList,
        response_example={"items": [_MEMBER]},
    ),
    _operation(
        "manage_members",
        "POST /v1/members",
        "invite_member",
        "Invite a member",
        "Adds a member, and emails it a link that signs it in once, within seven days. Later it"
        " signs in with a code.",
        scope=MEMBERS_WRITE,
        body=InviteMemberRequest,
        body_examples=example(
            "developer", "A developer", {"email": "bob@shop.example", "role": "developer"}
        ),
        response=MemberItem,
        status=201,
        response_example=_MEMBER
        | {"email": "bob@shop.example", "role": "developer", "current": False},
        errors=("member_exists", "member_limit_exceeded"),
    ),
    _operation(
        "manage_members",
        "PATCH /v1/members/{member_id}",
        "change_member",
        "Change a member's role",
        "The new role counts from the member's next request on.",
        scope=MEMBERS_WRITE,
        body=ChangeMemberRequest,
        body_examples=example("viewer", "A viewer", {"role": "viewer"}),
        response=MemberItem,
        response_example=_MEMBER | {"role": "viewer", "current": False},
        errors=("member_not_found", "last_owner"),
    ),
    _operation(
        "manage_members",
        "DELETE /v1/members/{member_id}",
        "remove_member",
        "Remove a member",
        "The member's access tokens for the account do not work from the next request on.",
        scope=MEMBERS_WRITE,
        errors=("member_not_found", "last_owner"),
    ),
)

ACCOUNT: Final = (
    _operation(
        "manage_account",
        "GET /v1/account",
        "get_account",
        "Get the account",
        "The account with its plan, its limits and what is left of them, and its brand.",
        scope=ACCOUNT_READ,
        response=AccountDetail,
        response_example=_ACCOUNT,
    ),
    _operation(
        "manage_account",
        "PATCH /v1/account",
        "change_account",
        "Change the account",
        "What is left out stays as it is, and an empty text removes a setting. Plan and limits are"
        " the operator's.",
        scope=ACCOUNT_WRITE,
        body=ChangeAccountRequest,
        body_examples=example(
            "brand", "A brand", {"brandName": "Shop", "accent": "#0a7d5a", "logoUrl": ""}
        ),
        response=AccountDetail,
        response_example=_ACCOUNT,
    ),
    _operation(
        "manage_account",
        "GET /v1/account/log",
        "get_account_log",
        "Get the account's log",
        "What operators of the service did to the account: changes of its plan, its limits and"
        " other settings, and suspensions.",
        scope=ACCOUNT_READ,
        response=AccountLog,
        response_example={"items": [LOG_ITEM]},
    ),
)
