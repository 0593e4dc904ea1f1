"""/resend/api-keys…: an account's API keys in Resend's shape."""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import Final
from urllib.parse import unquote

from pillarbox.domain.accounts.key import (
    DOMAINS_READ,
    DOMAINS_WRITE,
    EMAILS_READ,
    EMAILS_SEND,
    KEYS_READ,
    KEYS_WRITE,
    SUPPRESSIONS_READ,
    SUPPRESSIONS_WRITE,
    TEMPLATES_READ,
    WEBHOOKS_READ,
    WEBHOOKS_WRITE,
    ApiKey,
    Preset,
)
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.errors import FieldError, ValidationFailed, cut
from pillarbox.domain.sign_in.session import MemberPrincipal
from pillarbox.http.app import App, build_app
from pillarbox.http.dialects import Fields
from pillarbox.http.messages.replies import Reply, reply, timestamp
from pillarbox.http.query import one_of
from pillarbox.http.requests import read_json
from pillarbox.http.resend.pages import Services, page_of
from pillarbox.http.resend.replies import deleted, read_bearer_caller, reply_resend_error
from pillarbox.http.wire import MAX_NAME, WireModel, optional_or, required, text, validate


class Permission(StrEnum):
    """What a key of Resend may do."""

    FULL = "full_access"
    SENDING = "sending_access"


#: The scopes of each. Full access is what the routes in this shape need.
SCOPES: Final = {
    Permission.SENDING: frozenset({EMAILS_SEND}),
    Permission.FULL: frozenset(
        {
            *(EMAILS_SEND, EMAILS_READ, TEMPLATES_READ, DOMAINS_READ, DOMAINS_WRITE, KEYS_READ),
            *(KEYS_WRITE, SUPPRESSIONS_READ, SUPPRESSIONS_WRITE, WEBHOOKS_READ, WEBHOOKS_WRITE),
        }
    ),
}
FIELDS: Final = Fields(
    {"name": "name", "permission": "permission"},
    refused={"domain_id": "a key sends from every domain of its account"},
)


class NewKeyRequest(WireModel):
    """A new key."""

    name = required(text(least=1))
    permission = optional_or(one_of(Permission), Permission.FULL)


def api_key_routes(services: Callable[[], Services]) -> App:
    """Return the resolver of these routes."""
    app = build_app(reply_resend_error)

    def caller(scope: str) -> Principal | MemberPrincipal:
        request = read_bearer_caller(app.current_event)
        return services().caller_authentication.manage(request, scope)

    @app.get("/resend/api-keys")
    def list_keys() -> Reply:
        account_id = caller(KEYS_READ).account.account_id
        uses = services().key_uses.last_uses(account_id)
        items = [
            _item(key, uses.get(key.key_id))
            for key in services().api_keys.of_account(account_id)
            if not key.revoked_at
        ]
        return reply(page_of(app.current_event, items))

    @app.post("/resend/api-keys")
    def create_key() -> Reply:
        creator = caller(KEYS_WRITE)
        body = validate(NewKeyRequest, FIELDS.translate(read_json(app.current_event)))
        account_id, scopes = creator.account.account_id, SCOPES[body.permission]
        issued = services().api_keys.issue_live(
            account_id, body.name, Preset.CUSTOM, scopes, creator=creator
        )
        return reply({"id": issued.record.key_id, "token": issued.text}, 201)

    @app.patch("/resend/api-keys/<key_id>")
    def change_key(key_id: str) -> Reply:
        caller(KEYS_WRITE)
        message = f"of {cut(unquote(key_id), MAX_NAME)} does not change: create another key"
        raise ValidationFailed(FieldError("name", message, "not_allowed"))

    @app.delete("/resend/api-keys/<key_id>")
    def revoke_key(key_id: str) -> Reply:
        principal, found = caller(KEYS_WRITE), unquote(key_id)
        services().api_keys.revoke(found, principal)
        return reply(deleted("api_key", found))

    return app


def _item(key: ApiKey, used_at: datetime | None) -> dict[str, object]:
    return {
        "id": key.key_id,
        "name": key.name,
        "created_at": timestamp(key.created_at),
        "last_used_at": timestamp(used_at) if used_at else None,
    }
