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
from pillarbox.domain.errors import FieldError, ValidationFailed, cut
from pillarbox.http.app import App, build_app, routes
from pillarbox.http.callers import Manager
from pillarbox.http.dialects import Fields
from pillarbox.http.messages.replies import timestamp
from pillarbox.http.query import one_of
from pillarbox.http.requests import read_json
from pillarbox.http.resend.pages import Services, bearers, page_of
from pillarbox.http.resend.replies import Shown, deleted, reply_resend_error
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
    app = build_app(reply_resend_error)
    route = routes(app, services)

    @route("GET /resend/api-keys", bearers(KEYS_READ))
    def list_keys(caller: Manager) -> Shown:
        account_id = caller.account.account_id
        uses = services().key_uses.last_uses(account_id)
        items = [
            _item(key, uses.get(key.key_id))
            for key in services().api_keys.of_account(account_id)
            if not key.revoked_at
        ]
        return page_of(app.current_event, items)

    @route("POST /resend/api-keys", bearers(KEYS_WRITE), status=201)
    def create_key(creator: Manager) -> Shown:
        body = validate(NewKeyRequest, FIELDS.translate(read_json(app.current_event)))
        account_id, scopes = creator.account.account_id, SCOPES[body.permission]
        issued = services().api_keys.issue_live(
            account_id, body.name, Preset.CUSTOM, scopes, creator=creator
        )
        return {"id": issued.record.key_id, "token": issued.text}

    @route("PATCH /resend/api-keys/{key_id}", bearers(KEYS_WRITE))
    def change_key(_: Manager, key_id: str) -> Shown:
        message = f"of {cut(unquote(key_id), MAX_NAME)} does not change: create another key"
        raise ValidationFailed(FieldError("name", message, "not_allowed"))

    @route("DELETE /resend/api-keys/{key_id}", bearers(KEYS_WRITE))
    def revoke_key(caller: Manager, key_id: str) -> Shown:
        services().api_keys.revoke(unquote(key_id), caller)
        return deleted("api_key", unquote(key_id))

    return app


def _item(key: ApiKey, used_at: datetime | None) -> dict[str, object]:
    return {
        "id": key.key_id,
        "name": key.name,
        "created_at": timestamp(key.created_at),
        "last_used_at": timestamp(used_at) if used_at else None,
    }
