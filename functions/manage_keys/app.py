"""GET, POST and DELETE /v1/keys…: the API keys of an account."""

from typing import Any

from pillarbox.application.accounts.keys import KeyLimits
from pillarbox.domain.accounts.key import KEYS_READ, KEYS_WRITE
from pillarbox.http.accounts.replies import KeyList, NewKey, key_list
from pillarbox.http.accounts.wire import CreateKeyRequest
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import Manager, managing
from pillarbox.http.requests import read_known
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route("GET /v1/keys", managing(KEYS_READ), response=KeyList)
def list_keys(principal: Manager) -> dict[str, Any]:
    """List API keys.

    The keys of the account, the oldest first, also the last 400 revoked ones, and the presets for a
    new key under the account's plan.
    """
    account = principal.account
    keys = services().api_keys.of_account(account.account_id)
    uses = services().key_uses.last_uses(account.account_id)
    upgrade_url, server = services().upgrade_url, services().submission_server
    return key_list(keys, uses, account.plan, upgrade_url, server)


@route(
    "POST /v1/keys",
    managing(KEYS_WRITE),
    body=CreateKeyRequest,
    response=NewKey,
    status=201,
    creates_named=True,
)
def create_key(principal: Manager, body: CreateKeyRequest) -> dict[str, Any]:
    """Create an API key.

    Creates a live key. The response has its text, which nothing shows again. A key that another key
    creates has no right that this lacks, and is revoked with it. Only an owner of the account
    creates a management key, and owners get an email about it.

    Errors: `SCOPE_NOT_ALLOWED_FOR_TIER`, `key_limit_exceeded`.
    """
    account_id, keys = principal.account.account_id, services().api_keys
    with services().creations.beside(
        read_known(app.current_event),
        f"key of {account_id}",
        body.name,
        lambda: keys.ids_of(account_id, body.name),
    ):
        issued = keys.issue_live(
            account_id,
            body.name,
            body.preset,
            body.scopes or (),
            limits=KeyLimits(body.expires_at, tuple(body.sources or ())),
            creator=principal,
        )
    return NewKey.of(issued)


@route("DELETE /v1/keys/{key_id}", managing(KEYS_WRITE))
def revoke_key(principal: Manager, key_id: str) -> None:
    """Revoke an API key.

    The key stops working at once, for good, with those that it created. It stays in the list.
    """
    services().api_keys.revoke(key_id, principal)


load(lambda it: (it.caller_authentication, it.api_keys, it.key_uses))
lambda_handler = entrypoint(app, services, resend="resend.api_keys:api_key_routes")
