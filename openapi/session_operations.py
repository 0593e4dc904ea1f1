"""The operations of signing in to the dashboard."""

from functools import partial
from typing import Final

from openapi.operation import COOKIE, Operation, example, session_operation
from pillarbox.domain.sign_in.proof_of_work import MAX_NUMBER
from pillarbox.http.sign_in.passkeys import (
    NewPasskey,
    NewPasskeyChallengeItem,
    PasskeyChallengeItem,
    PasskeyItem,
    PasskeyList,
    PasskeySignIn,
)
from pillarbox.http.sign_in.preview_keys import (
    ChallengeRequest,
    PreviewCodeRequest,
    PreviewKeyRequest,
    PreviewReport,
)
from pillarbox.http.sign_in.replies import (
    AccessItem,
    ChallengeOffer,
    FlowItem,
    LinkItem,
    PreviewKeyItem,
    RequestedCode,
    SessionList,
    SignUpItem,
)
from pillarbox.http.sign_in.sign_up import SignUpBody
from pillarbox.http.sign_in.wire import (
    CodeRequestBody,
    EndSessionsQuery,
    LinkRequest,
    SignInRequest,
    TokenRequest,
)

_operation: Final = partial(Operation, shared_function="sign_in", tag="Sessions")
_of_session: Final = partial(session_operation, shared_function="sign_in", tag="Sessions")
_of_passkeys: Final = partial(session_operation, shared_function="passkeys", tag="Passkeys")
_of_widget: Final = partial(_operation, shared_function="issue_preview_key", security=())
_REPORT: Final = f"{'0' * 12}.YWRhQHNob3AuZXhhbXBsZQ.{'0' * 32}"
_FLOW: Final = f"{'0' * 12}.{'0' * 64}.{'0' * 32}"
_SESSION_ID: Final = "4kq7x2m9r5tb"
_ACCOUNT: Final = {"id": "qh4ybvcvbqzk", "name": "Shop"}
_ACCESS: Final = {
    "token": "pbs_" + "0" * 68,
    "expiresIn": 900,
    "user": {"id": "8wz3n6c1v0jd", "email": "ada@shop.example", "operator": False}
    | {"passkeyNeeded": False},
    "account": _ACCOUNT | {"plan": "standard"},
    "role": "owner",
    "accounts": [_ACCOUNT | {"role": "owner"}],
    "invitations": [],
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

_SALT: Final = f"{'0' * 16}?expires=1767268800&for={'0' * 64}&"
_SIGNED: Final = {
    "algorithm": "SHA-256",
    "challenge": "0" * 64,
    "salt": _SALT,
    "signature": "0" * 64,
}

_PASSKEY_FLOW: Final = f"1767268800000.{'0' * 32}"
_CHALLENGE: Final = {
    "flow": _PASSKEY_FLOW,
    "challenge": "A" * 43,
    "rpId": "mail.shop.example",
}
_PASSKEY: Final = {
    "id": "0" * 64,
    "name": "Firefox on Linux",
    "current": False,
    "synced": True,
    "createdAt": _AT,
    "lastUsedAt": None,
    "stoppedAt": None,
}
_ANSWER: Final = {"flow": _PASSKEY_FLOW, "credentialId": "AAAA", "clientData": "AAAA"}

SESSIONS: Final = (
    _operation(
        id="request_code",
        route="POST /v1/session/codes",
        summary="Request a one-time code",
        description="Emails six or ten digits to the address, if it is a user's. The response is"
        " the same if it is not, and says whether newcomers get codes now. The code works for ten"
        " minutes and five attempts, together with"
        " `flow`. Codes that were requested before keep working.",
        security=(),
        body=CodeRequestBody,
        body_examples=example("code", "For an address", {"email": "ada@shop.example"}),
        response=RequestedCode,
        status=202,
        response_example={"flow": _FLOW, "newcomers": {"admitted": True, "until": None}},
        errors=("cross_site_request",),
    ),
    _operation(
        id="sign_in",
        route="POST /v1/session",
        summary="Sign in",
        description="Begins a session with a code or a one-time link. Only pages of this origin can"
        " call it.",
        security=(),
        sets_cookie=True,
        body=SignInRequest,
        body_examples=example("code", "By code", {"flow": _FLOW, "code": "482913"})
        | example("link", "By link", {"link": "0" * 32}),
        response=AccessItem,
        response_example=_ACCESS,
        errors=("invalid_code", "cross_site_request"),
    ),
    _operation(
        id="look_at_link",
        route="POST /v1/session/links",
        summary="Look at a one-time link",
        description="Returns whom the link would sign in, and who invites the user to which"
        " account, and leaves it unused. Only pages of this origin can call it.",
        security=(),
        body=LinkRequest,
        body_examples=example("link", "A link", {"link": "0" * 32}),
        response=LinkItem,
        response_example={"email": "ada@shop.example", "invitation": None},
        errors=("invalid_code", "cross_site_request"),
    ),
    _operation(
        id="create_access_token",
        route="POST /v1/session/token",
        summary="Get an access token",
        description="Exchanges the cookie for an access token for one account. Only pages of this"
        " origin can call it.",
        security=(COOKIE,),
        sets_cookie=True,
        body=TokenRequest,
        body_examples=example("default", "For the first account", {}),
        response=AccessItem,
        response_example=_ACCESS,
        errors=("rate_limit_exceeded",),
    ),
    _of_session(
        id="list_sessions",
        route="GET /v1/session",
        summary="List sessions",
        description="The sessions of the user, the newest first.",
        response=SessionList,
        response_example=_SESSIONS,
    ),
    _of_session(
        id="end_sessions",
        route="DELETE /v1/session",
        summary="Sign out",
        description="Ends this session, or with `all` every session of the user. Their access"
        " tokens stop working at once.",
        sets_cookie=True,
        query=EndSessionsQuery,
        errors=("session_not_found",),
    ),
    _of_session(
        id="end_session",
        route="DELETE /v1/session/{session_id}",
        summary="End a session",
        description="Ends one session of the user. Its access tokens stop working at once.",
    ),
    _operation(
        id="begin_passkey_sign_in",
        shared_function="passkeys",
        tag="Passkeys",
        route="POST /v1/session/passkeys/challenges",
        summary="Begin to sign in with a passkey",
        description="Returns a challenge for any passkey of this service. Nothing is said of a"
        " user.",
        security=(),
        response=PasskeyChallengeItem,
        response_example=_CHALLENGE,
        errors=("cross_site_request",),
    ),
    _operation(
        id="sign_in_with_passkey",
        shared_function="passkeys",
        tag="Passkeys",
        route="POST /v1/session/passkeys",
        summary="Sign in with a passkey",
        description="Begins a session with the answer of an authenticator that has verified its"
        " user. Only pages of this origin can call it.",
        security=(),
        sets_cookie=True,
        body=PasskeySignIn,
        body_examples=example(
            "default",
            "With the answer",
            _ANSWER | {"authenticatorData": "AAAA", "signature": "AAAA", "userHandle": "AAAA"},
        ),
        response=AccessItem,
        response_example=_ACCESS,
        errors=("invalid_passkey", "cross_site_request"),
    ),
    _of_passkeys(
        id="list_passkeys",
        route="GET /v1/passkeys",
        summary="List passkeys",
        description="The passkeys of the user, the oldest first.",
        response=PasskeyList,
        response_example={"items": [_PASSKEY]},
    ),
    _of_passkeys(
        id="begin_passkey",
        route="POST /v1/passkeys/challenges",
        summary="Begin to add a passkey",
        description="Returns a challenge for a new passkey, which this session can answer. The"
        " session must have begun within 15 minutes.",
        response=NewPasskeyChallengeItem,
        response_example=_CHALLENGE
        | {
            "userHandle": "OHd6M242YzF2MGpk",
            "email": "ada@shop.example",
            "existing": [{"id": "AAAA"}],
        },
        errors=("sign_in_required", "passkey_limit_exceeded"),
    ),
    _of_passkeys(
        id="add_passkey",
        route="POST /v1/passkeys",
        summary="Add a passkey",
        description="Stores what an authenticator has made for the challenge. The user gets an"
        " email, and the logs of the user's accounts an entry.",
        body=NewPasskey,
        body_examples=example(
            "default", "With the answer", _ANSWER | {"name": "My phone", "attestation": "AAAA"}
        ),
        response=PasskeyItem,
        status=201,
        response_example=_PASSKEY,
        errors=("sign_in_required", "passkey_limit_exceeded"),
    ),
    _of_passkeys(
        id="remove_passkey",
        route="DELETE /v1/passkeys/{passkey_id}",
        summary="Remove a passkey",
        description="The passkey signs the user in no more. Other sessions that began with it end."
        " The user gets an email.",
        errors=("sign_in_required",),
    ),
    _of_session(
        id="get_sign_up",
        shared_function="create_account",
        route="GET /v1/sign-up",
        summary="Ask whether you can sign up",
        description="Says whether the user of the session can create an account, with the proof of"
        " work that this needs.",
        response=SignUpItem,
        response_example={
            "status": "available",
            "challenge": _SIGNED | {"maxnumber": MAX_NUMBER},
            "account": None,
        },
    ),
    _of_session(
        id="sign_up",
        shared_function="create_account",
        route="POST /v1/sign-up",
        summary="Create an account",
        description="Creates an account with the user as its owner, or asks the operator for one."
        " A user can do so once. The proof is a challenge of `GET /api/v1/sign-up` with the number"
        " whose SHA-256, after the salt, is the challenge. It is valid for five minutes and works"
        " once.",
        body=SignUpBody,
        body_examples=example(
            "default",
            "With the number that was found",
            {"name": "Acme", "proof": _SIGNED | {"number": 4_711}},
        ),
        response=SignUpItem,
        status=201,
        response_example={
            "status": "created",
            "challenge": None,
            "account": {"id": "qh4ybvcvbqzk", "name": "Acme", "plan": "free"},
        },
        errors=("sign_up_closed", "rate_limit_exceeded"),
    ),
    _of_widget(
        id="request_preview_challenge",
        route="POST /v1/preview-keys/challenges",
        summary="Ask for the work that a code needs",
        description="Returns a challenge for the address, in the form of `GET /api/v1/sign-up`. It"
        " is valid for five minutes and works once.",
        body=ChallengeRequest,
        body_examples=example("default", "For an address", {"email": "ada@shop.example"}),
        response=ChallengeOffer,
        response_example={"challenge": _SIGNED | {"maxnumber": MAX_NUMBER}},
        errors=("preview_keys_closed",),
    ),
    _of_widget(
        id="request_preview_code",
        route="POST /v1/preview-keys/codes",
        summary="Request the code for a preview key",
        description="Emails six digits to the address. The code works for ten minutes and five"
        " attempts, together with `flow`. A new request ends the one before.",
        body=PreviewCodeRequest,
        body_examples=example(
            "default",
            "With the number that was found",
            {"email": "ada@shop.example", "proof": _SIGNED | {"number": 4_711}},
        ),
        response=FlowItem,
        status=202,
        response_example={"flow": _FLOW},
        errors=("cross_site_request", "preview_keys_closed", "rate_limit_exceeded"),
    ),
    _of_widget(
        id="issue_preview_key",
        route="POST /v1/preview-keys",
        summary="Get a preview key",
        description="Returns a key that sends starter templates as tests. It takes the place of the"
        " key that the address had before, which stops working.",
        body=PreviewKeyRequest,
        body_examples=example("default", "With the code", {"flow": _FLOW, "code": "482913"}),
        response=PreviewKeyItem,
        status=201,
        response_example={
            "key": "bx_preview_qh4ybvcvbqzk" + "0" * 40,
            "email": "ada@shop.example",
            "expiresInDays": 90,
        },
        errors=(
            "preview_keys_closed",
            "invalid_code",
            "rate_limit_exceeded",
            "account_suspended",
        ),
    ),
    _of_widget(
        id="report_preview_mail",
        route="POST /v1/preview-keys/reports",
        summary="Stop and report test mail",
        description="Stops the mail of all preview keys to the recipient of a test mail, and"
        " suspends the key that sent it. The token is in the link of the mail. A wrong token"
        " changes nothing and gets the same response.",
        body=PreviewReport,
        body_examples=example("default", "From a link", {"token": _REPORT}),
        status=204,
    ),
)
