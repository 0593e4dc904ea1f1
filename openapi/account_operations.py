"""The operations on the account of a session: its keys, members, suppressions and settings."""

from functools import partial
from typing import Any, Final

from openapi.operation import SESSION, example, managing_operation
from pillarbox.domain.accounts.key import (
    ACCOUNT_READ,
    ACCOUNT_WRITE,
    KEYS_READ,
    KEYS_WRITE,
    MEMBERS_READ,
    MEMBERS_WRITE,
    SUPPRESSIONS_READ,
    SUPPRESSIONS_WRITE,
)
from pillarbox.domain.accounts.scope_words import SCOPE_WORDS
from pillarbox.http.accounts.replies import (
    AccountDetail,
    AccountLog,
    AddedSuppressions,
    AlertDetail,
    AlertTestResult,
    KeyList,
    MemberItem,
    MemberList,
    NewKey,
    SuppressionPage,
)
from pillarbox.http.accounts.wire import (
    AddSuppressionsRequest,
    ChangeAccountRequest,
    ChangeAlertsRequest,
    ChangeMemberRequest,
    CreateKeyRequest,
    InviteMemberRequest,
    LogQuery,
    ResumeRequest,
    SuppressionsQuery,
)

_AT: Final = "2026-01-01T12:00:00.000+00:00"
_SEND: Final = ["emails:read", "emails:send"]
_KEY: Final = {
    "id": "key_qh4ybvcvbqzk4kq7x2m9",
    "name": "web",
    "ending": "0000",
    "type": "live",
    "preset": "send",
    "scopes": _SEND,
    "agent": None,
    "createdAt": _AT,
    "lastUsedAt": None,
    "expiresAt": None,
    "sources": [],
    "revokedAt": None,
}
_KEYS: Final = {
    "items": [_KEY | {"createdBy": "ada@shop.example"}],
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
    "messageId": None,
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
    "by": None,
    "subject": None,
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
    "logoUrl": None,
    "accent": "#0a7d5a",
    "fromName": None,
    "supportEmail": "support@shop.example",
    "companyAddress": "1 Quay Street, Bristol",
    "actionUrl": "https://shop.example",
    "defaultSender": "post@shop.example",
    "contact": "ada@shop.example",
    "keepDays": 0,
    "recordDays": 0,
    "pauses": [
        {
            "scope": "template",
            "id": "welcome",
            "level": "stop",
            "cause": "bounces",
            "since": _AT,
            "until": None,
            "resumable": True,
        }
    ],
}


_of_keys: Final = partial(managing_operation, tag="API keys", shared_function="manage_keys")
_of_members: Final = partial(managing_operation, tag="Members", shared_function="manage_members")
_of_account: Final = partial(managing_operation, tag="Account", shared_function="manage_account")
_of_suppressions: Final = partial(_of_account, tag="Suppressions")

KEYS: Final = (
    _of_keys(
        route="GET /v1/keys",
        id="list_keys",
        summary="List API keys",
        description="The keys of the account, the oldest first, also the last 400 revoked ones, and"
        " the presets for a new key under the account's plan.",
        scope=KEYS_READ,
        response=KeyList,
        response_example=_KEYS,
    ),
    _of_keys(
        route="POST /v1/keys",
        id="create_key",
        creates_named=True,
        summary="Create an API key",
        description="Creates a live key. The response has its text, which nothing shows again. A"
        " key that another key creates has no right that this lacks, and is revoked with it. Only"
        " an owner of the account creates a management key, and owners get an email about it.",
        scope=KEYS_WRITE,
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
    _of_keys(
        route="DELETE /v1/keys/{key_id}",
        id="revoke_key",
        summary="Revoke an API key",
        description="The key stops working at once, for good, with those that it created. It stays"
        " in the list.",
        scope=KEYS_WRITE,
    ),
)

SUPPRESSIONS: Final = (
    _of_suppressions(
        route="GET /v1/suppressions",
        id="list_suppressions",
        summary="List suppressions",
        description="The addresses that the account does not send to, sorted by address.",
        scope=SUPPRESSIONS_READ,
        query=SuppressionsQuery,
        response=SuppressionPage,
        response_example={"items": [_SUPPRESSION], "nextCursor": None},
    ),
    _of_suppressions(
        route="POST /v1/suppressions",
        id="add_suppressions",
        summary="Add suppressions",
        description="Suppresses an address, or many at once: of these, the valid ones are added and"
        " the others are returned. An earlier suppression keeps its reason.",
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
        errors=("rate_limit_exceeded",),
    ),
    _of_suppressions(
        route="DELETE /v1/suppressions/{address}",
        id="remove_suppression",
        summary="Remove a suppression",
        description="The account can send to the address again. It also leaves Amazon SES's own"
        " list.",
        scope=SUPPRESSIONS_WRITE,
        errors=("suppression_not_found", "rate_limit_exceeded"),
    ),
)

MEMBERS: Final = (
    _of_members(
        route="GET /v1/members",
        id="list_members",
        summary="List members",
        description="The users with a role in the account, the oldest first.",
        scope=MEMBERS_READ,
        response=MemberList,
        response_example={"items": [_MEMBER]},
    ),
    _of_members(
        route="POST /v1/members",
        id="invite_member",
        summary="Invite a member",
        description="Emails a link that signs the user in once, within seven days; later it signs"
        " in with a code. Then it is asked whether it joins the account. Until then the member is"
        " `pending`, and has no rights. An address that is `pending` is invited again, as far as"
        " the limits of invitations allow.",
        scope=MEMBERS_WRITE,
        body=InviteMemberRequest,
        body_examples=example(
            "developer", "A developer", {"email": "bob@shop.example", "role": "developer"}
        ),
        response=MemberItem,
        status=201,
        response_example=_MEMBER
        | {"email": "bob@shop.example", "role": "developer", "pending": True, "current": False},
        errors=("member_exists", "member_limit_exceeded"),
    ),
    _of_members(
        route="PATCH /v1/members/{member_id}",
        id="change_member",
        summary="Change a member's role",
        description="The new role counts from the member's next request on.",
        scope=MEMBERS_WRITE,
        body=ChangeMemberRequest,
        body_examples=example("viewer", "A viewer", {"role": "viewer"}),
        response=MemberItem,
        response_example=_MEMBER | {"role": "viewer", "current": False},
        errors=("last_owner",),
    ),
    _of_members(
        route="DELETE /v1/members/{member_id}",
        id="remove_member",
        summary="Remove a member",
        description="The member's access tokens for the account do not work from the next request"
        " on.",
        scope=MEMBERS_WRITE,
        errors=("last_owner",),
    ),
    _of_members(
        route="POST /v1/invitations/{account_id}",
        id="accept_invitation",
        security=(SESSION,),
        takes_account=False,
        summary="Join an account",
        description="Makes the user of the session a member of an account that invites it. The next"
        " access token can be for this account.",
        response=MemberItem,
        response_example=_MEMBER | {"role": "developer"},
    ),
    _of_members(
        route="DELETE /v1/invitations/{account_id}",
        id="decline_invitation",
        security=(SESSION,),
        takes_account=False,
        summary="Decline an invitation",
        description="Ends the invitation of the user of the session to an account.",
    ),
)

_ALERTS: Final[dict[str, Any]] = {
    "mail": True,
    "chat": None,
    "chatAllowed": True,
    "lastPost": None,
    "off": [],
}

ACCOUNT: Final = (
    _of_account(
        route="GET /v1/account",
        id="get_account",
        summary="Get the account",
        description="The account with its plan, its limits and what is left of them, and its"
        " brand.",
        scope=ACCOUNT_READ,
        response=AccountDetail,
        response_example=ACCOUNT_EXAMPLE,
    ),
    _of_account(
        route="PATCH /v1/account",
        id="change_account",
        summary="Change the account",
        description="A field that is left out does not change, and an empty text removes a"
        " setting. Plan and limits are the operator's.",
        scope=ACCOUNT_WRITE,
        body=ChangeAccountRequest,
        body_examples=example(
            "brand", "A brand", {"brandName": "Shop", "accent": "#0a7d5a", "logoUrl": ""}
        )
        | example("keep", "Keep the content of emails for a week", {"keepDays": 7}),
        response=AccountDetail,
        response_example=ACCOUNT_EXAMPLE,
    ),
    _of_account(
        route="POST /v1/account/resume",
        id="resume_sending",
        security=(SESSION,),
        takes_account=False,
        summary="End a pause",
        description="Ends a pause of the account, a key or a template, and names what caused it. An"
        " owner can do that once in 30 days for each of them; afterwards the operator can. What was"
        " sent before does not count any more.",
        scope=ACCOUNT_WRITE,
        body=ResumeRequest,
        body_examples=example(
            "template",
            "A template",
            {
                "scope": "template",
                "id": "welcome",
                "cause": "A bot signed up other people. The form has a captcha now.",
            },
        ),
        response=AccountDetail,
        response_example=ACCOUNT_EXAMPLE,
        errors=("sending_paused",),
    ),
    _of_account(
        route="GET /v1/account/alerts",
        id="get_alerts",
        scope=ACCOUNT_WRITE,
        summary="Get the alerts",
        description="What the owners of the account hear of, and how. At first they get an email"
        " about everything.",
        response=AlertDetail,
        response_example=_ALERTS,
    ),
    _of_account(
        route="PATCH /v1/account/alerts",
        id="change_alerts",
        scope=ACCOUNT_WRITE,
        summary="Change the alerts",
        description="Turns kinds of alerts on or off, and sets the incoming webhook of a room in"
        " Slack or Teams. Its URL is checked like that of a webhook endpoint.",
        body=ChangeAlertsRequest,
        body_examples=example(
            "room",
            "A room, and no word of quotas",
            {"chatUrl": "https://hooks.slack.com/services/T0/B0/xyz9", "off": ["quota"]},
        ),
        response=AlertDetail,
        response_example=_ALERTS | {"chat": "hooks.slack.com/…xyz9", "off": ["quota"]},
        errors=("rate_limit_exceeded",),
    ),
    _of_account(
        route="POST /v1/account/alerts/test",
        id="test_alerts",
        security=(SESSION,),
        takes_account=False,
        scope=ACCOUNT_WRITE,
        summary="Send a test alert",
        description="Posts a test to the chat, and sends one by email in a minute or two.",
        response=AlertTestResult,
        response_example={"mail": True, "post": {"at": _AT, "error": None}},
        errors=("rate_limit_exceeded",),
    ),
    _of_account(
        route="GET /v1/account/log",
        id="get_account_log",
        summary="Get the account's log",
        description="What operators of the service did to the account: changes of its plan, its"
        " limits and other settings, and suspensions. Who created, changed and removed its keys,"
        " members, webhook endpoints, senders and domains. `part=calls` shows the calls of keys"
        " that may change something, and who read content, for 400 days. With `key` it is what that"
        " key did and those that come from it; a part may then be short and have a next one.",
        scope=ACCOUNT_READ,
        response=AccountLog,
        query=LogQuery,
        errors=("key_not_found",),
        response_example={"items": [LOG_ITEM], "nextCursor": None},
    ),
)
