"""The operations of signing in to the dashboard."""

from typing import Final

from openapi.operation import COOKIE, SESSION, Operation
from pillarbox.domain.proof_of_work import MAX_NUMBER
from pillarbox.http.session_types import AccessItem, FlowItem, SessionList
from pillarbox.http.sessions import (
    CodeRequestBody,
    EndSessionsQuery,
    SignInRequest,
    TokenRequest,
)
from pillarbox.http.sign_up import SignUpBody
from pillarbox.http.sign_up_types import SignUpItem

_TAG: Final = "Sessions"
_FUNCTION: Final = "sign_in"
_ACCOUNTS: Final = "create_account"
_FLOW: Final = f"{'0' * 12}.{'0' * 64}.{'0' * 32}"
_SESSION_ID: Final = "4kq7x2m9r5tb"
_ACCOUNT: Final = {"id": "qh4ybvcvbqzk", "name": "Shop"}
_ACCESS: Final = {
    "token": "pbs_" + "0" * 68,
    "expiresIn": 900,
    "user": {"id": "8wz3n6c1v0jd", "email": "ada@shop.example", "operator": False},
    "account": _ACCOUNT | {"plan": "standard"},
    "role": "owner",
    "accounts": [_ACCOUNT | {"role": "owner"}],
}
_AT: Final = "2026-01-01T12:00:00.000+00:00"
_SESSIONS: Final = {
    "items": [
        {
            "id": _SESSION_ID,
            "current": True,
            "userAgent": "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0",
            "createdAt": _AT,
            "lastUsedAt": _AT,
            "expiresAt": "2026-01-31T12:00:00.000+00:00",
        }
    ]
}

_SALT: Final = f"{'0' * 24}?expires=1767268800&for={'0' * 64}&"
_SIGNED: Final = {
    "algorithm": "SHA-256",
    "challenge": "0" * 64,
    "salt": _SALT,
    "signature": "0" * 64,
}

SESSIONS: Final = (
    Operation(
        id="request_code",
        shared_function=_FUNCTION,
        method="post",
        path="/v1/session/codes",
        tag=_TAG,
        summary="Request a one-time code",
        description="Emails six digits to the address, if it is a user's. The response is the same"
        " if it is not. The code works for ten minutes and five attempts, together with `flow`. A"
        " new request ends the one before.",
        security=(),
        body=CodeRequestBody,
        body_examples={
            "code": {"summary": "For an address", "value": {"email": "ada@shop.example"}}
        },
        response=FlowItem,
        status=202,
        response_example={"flow": _FLOW},
    ),
    Operation(
        id="sign_in",
        shared_function=_FUNCTION,
        method="post",
        path="/v1/session",
        tag=_TAG,
        summary="Sign in",
        description="Begins a session with a code or a one-time link. Only pages of this origin can"
        " call it.",
        security=(),
        sets_cookie=True,
        body=SignInRequest,
        body_examples={
            "code": {"summary": "By code", "value": {"flow": _FLOW, "code": "482913"}},
            "link": {"summary": "By link", "value": {"link": "0" * 32}},
        },
        response=AccessItem,
        response_example=_ACCESS,
        errors=("invalid_code", "cross_site_request"),
    ),
    Operation(
        id="create_access_token",
        shared_function=_FUNCTION,
        method="post",
        path="/v1/session/token",
        tag=_TAG,
        summary="Get an access token",
        description="Exchanges the cookie for an access token for one account. Only pages of this"
        " origin can call it.",
        security=(COOKIE,),
        sets_cookie=True,
        body=TokenRequest,
        body_examples={"default": {"summary": "For the first account", "value": {}}},
        response=AccessItem,
        response_example=_ACCESS,
    ),
    Operation(
        id="list_sessions",
        shared_function=_FUNCTION,
        method="get",
        path="/v1/session",
        tag=_TAG,
        summary="List sessions",
        description="The sessions of the user, the newest first.",
        security=(SESSION,),
        response=SessionList,
        response_example=_SESSIONS,
        errors=("session_required",),
    ),
    Operation(
        id="end_sessions",
        shared_function=_FUNCTION,
        method="delete",
        path="/v1/session",
        tag=_TAG,
        summary="Sign out",
        description="Ends this session, or with `all` every session of the user. Their access"
        " tokens stop working at once.",
        security=(SESSION,),
        sets_cookie=True,
        query=EndSessionsQuery,
        errors=("session_required", "session_not_found"),
    ),
    Operation(
        id="end_session",
        shared_function=_FUNCTION,
        method="delete",
        path="/v1/session/{session_id}",
        tag=_TAG,
        summary="End a session",
        description="Ends one session of the user. Its access tokens stop working at once.",
        security=(SESSION,),
        errors=("session_required", "session_not_found", "route_not_found"),
    ),
    Operation(
        id="get_sign_up",
        shared_function=_ACCOUNTS,
        method="get",
        path="/v1/sign-up",
        tag=_TAG,
        summary="Ask whether you can sign up",
        description="Says whether the user of the session can create an account, with the proof of"
        " work that this needs.",
        security=(SESSION,),
        response=SignUpItem,
        response_example={
            "status": "available",
            "challenge": _SIGNED | {"maxnumber": MAX_NUMBER},
            "account": None,
        },
        errors=("session_required",),
    ),
    Operation(
        id="sign_up",
        shared_function=_ACCOUNTS,
        method="post",
        path="/v1/sign-up",
        tag=_TAG,
        summary="Create an account",
        description="Creates an account with the user as its owner, or asks the operator for one."
        " A user can do so once. The proof is a challenge of `GET /v1/sign-up` with the number"
        " whose SHA-256, after the salt, is the challenge. It is valid for five minutes and works"
        " once.",
        security=(SESSION,),
        body=SignUpBody,
        body_examples={
            "default": {
                "summary": "With the number that was found",
                "value": {"name": "Acme", "proof": _SIGNED | {"number": 4_711}},
            }
        },
        response=SignUpItem,
        status=201,
        response_example={
            "status": "created",
            "challenge": None,
            "account": {"id": "qh4ybvcvbqzk", "name": "Acme", "plan": "free"},
        },
        errors=("session_required", "sign_up_closed", "rate_limit_exceeded"),
    ),
)
