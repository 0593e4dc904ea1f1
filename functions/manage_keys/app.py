"""GET, POST and DELETE /v1/keys…: the API keys of an account."""

from pillarbox.application.accounts.keys import KeyLimits
from pillarbox.domain.accounts.key import KEYS_READ, KEYS_WRITE
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.sign_in.session import MemberPrincipal
from pillarbox.http.accounts.replies import KeyList, NewKey, key_list
from pillarbox.http.accounts.wire import CreateKeyRequest
from pillarbox.http.app import App, build_app, entrypoint, routes
from pillarbox.http.callers import managing
from pillarbox.http.messages.replies import Reply, reply, reply_nothing
from pillarbox.http.requests import read_caller, read_known
from pillarbox.http.wire import read_body
from pillarbox.wiring import load, services

app = build_app()
route = routes(app)


@route("GET /v1/keys", managing(KEYS_READ), response=KeyList)
def list_keys() -> Reply:
    """List API keys.

    The keys of the account, the oldest first, also the last 400 revoked ones, and the presets for a
    new key under the account's plan.
    """
    account = _principal(KEYS_READ).account
    keys = services().api_keys.of_account(account.account_id)
    uses = services().key_uses.last_uses(account.account_id)
    upgrade_url, server = services().upgrade_url, services().submission_server
    return reply(key_list(keys, uses, account.plan, upgrade_url, server))


@route(
    "POST /v1/keys",
    managing(KEYS_WRITE),
    body=CreateKeyRequest,
    response=NewKey,
    status=201,
    creates_named=True,
)
def create_key() -> Reply:
    """Create an API key.

    Creates a live key. The response has its text, which nothing shows again. A key that another key
    creates has no right that this lacks, and is revoked with it. Only an owner of the account
    creates a management key, and owners get an email about it.

    Errors: `SCOPE_NOT_ALLOWED_FOR_TIER`, `key_limit_exceeded`.
    """
    principal = _principal(KEYS_WRITE)
    body = read_body(app.current_event, CreateKeyRequest)
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
    return reply(NewKey.of(issued), 201)


@route("DELETE /v1/keys/{key_id}", managing(KEYS_WRITE))
def revoke_key(key_id: str) -> Reply:
    """Revoke an API key.

    The key stops working at once, for good, with those that it created. It stays in the list.
    """
    services().api_keys.revoke(key_id, _principal(KEYS_WRITE))
    return reply_nothing()


def _principal(scope: str) -> Principal | MemberPrincipal:
    return services().caller_authentication.manage(read_caller(app.current_event), scope)


def _resend() -> App:
    from pillarbox.http.resend.api_keys import api_key_routes  # noqa: PLC0415  few requests

    return api_key_routes(services)


load(lambda it: (it.caller_authentication, it.api_keys, it.key_uses))
lambda_handler = entrypoint(app, {"/resend/": _resend})
