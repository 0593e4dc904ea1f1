"""The examples of signing in to the dashboard."""

from functools import partial
from typing import Any, Final

from openapi.operation import example
from pillarbox.domain.sign_in.sign_up import MAX_NUMBER

_of_sessions: Final[partial[dict[str, Any]]] = partial(dict, tag="Sessions")
_of_passkeys: Final[partial[dict[str, Any]]] = partial(dict, tag="Passkeys")
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
}
_ANSWER: Final = {"flow": _PASSKEY_FLOW, "credentialId": "AAAA", "clientData": "AAAA"}

SESSIONS: Final = (
    _of_sessions(
        id="request_code",
        budgets=("codes",),
        body_examples=example("code", "For an address", {"email": "ada@shop.example"}),
        response_example={"flow": _FLOW, "newcomers": {"admitted": True, "until": None}},
    ),
    _of_sessions(
        id="sign_in",
        budgets=("codes",),
        body_examples=example("code", "By code", {"flow": _FLOW, "code": "482913"})
        | example("link", "By link", {"link": "0" * 32}),
        response_example=_ACCESS,
    ),
    _of_sessions(
        id="look_at_link",
        budgets=("requests",),
        body_examples=example("link", "A link", {"link": "0" * 32}),
        response_example={"email": "ada@shop.example", "invitation": None},
    ),
    _of_sessions(
        id="create_access_token",
        budgets=("tokens",),
        body_examples=example("default", "For the first account", {}),
        response_example=_ACCESS,
    ),
    _of_sessions(id="list_sessions", response_example=_SESSIONS),
    _of_sessions(id="end_sessions", budgets=("requests",)),
    _of_sessions(id="end_session", budgets=("requests",)),
    _of_sessions(
        id="begin_passkey_sign_in",
        budgets=("requests",),
        tag="Passkeys",
        response_example=_CHALLENGE,
    ),
    _of_sessions(
        id="sign_in_with_passkey",
        budgets=("passkeys",),
        tag="Passkeys",
        body_examples=example(
            "default",
            "With the answer",
            _ANSWER | {"authenticatorData": "AAAA", "signature": "AAAA", "userHandle": "AAAA"},
        ),
        response_example=_ACCESS,
    ),
    _of_passkeys(id="list_passkeys", response_example={"items": [_PASSKEY]}),
    _of_passkeys(
        id="begin_passkey",
        budgets=("requests",),
        response_example=_CHALLENGE
        | {
            "userHandle": "OHd6M242YzF2MGpk",
            "email": "ada@shop.example",
            "existing": [{"id": "AAAA"}],
        },
    ),
    _of_passkeys(
        id="add_passkey",
        budgets=("passkeys",),
        body_examples=example(
            "default", "With the answer", _ANSWER | {"name": "My phone", "attestation": "AAAA"}
        ),
        response_example=_PASSKEY,
    ),
    _of_passkeys(id="remove_passkey", budgets=("requests",)),
    _of_sessions(
        id="get_sign_up",
        response_example={
            "status": "available",
            "challenge": _SIGNED | {"maxnumber": MAX_NUMBER},
        },
    ),
    _of_sessions(
        id="sign_up",
        budgets=("accounts",),
        body_examples=example(
            "default",
            "With the number that was found",
            {"name": "Acme", "proof": _SIGNED | {"number": 4_711}},
        ),
        response_example={
            "status": "created",
            "account": {"id": "qh4ybvcvbqzk", "name": "Acme", "plan": "free"},
        },
    ),
    _of_sessions(
        id="request_preview_challenge",
        budgets=("requests",),
        body_examples=example("default", "For an address", {"email": "ada@shop.example"}),
        response_example={"challenge": _SIGNED | {"maxnumber": MAX_NUMBER}},
    ),
    _of_sessions(
        id="request_preview_code",
        budgets=("codes",),
        body_examples=example(
            "default",
            "With the number that was found",
            {"email": "ada@shop.example", "proof": _SIGNED | {"number": 4_711}},
        ),
        response_example={"flow": _FLOW},
    ),
    _of_sessions(
        id="issue_preview_key",
        budgets=("codes",),
        body_examples=example("default", "With the code", {"flow": _FLOW, "code": "482913"}),
        response_example={
            "key": "bx_preview_qh4ybvcvbqzk" + "0" * 40,
            "email": "ada@shop.example",
            "expiresInDays": 90,
        },
    ),
    _of_sessions(
        id="report_preview_mail",
        budgets=("requests",),
        body_examples=example("default", "From a link", {"token": _REPORT}),
    ),
)
