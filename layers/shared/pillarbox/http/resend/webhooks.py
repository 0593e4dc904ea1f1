"""/resend/webhooks…: an account's webhook endpoints in Resend's shape, with payloads in it."""

from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

from pillarbox.application.webhooks.endpoints import EndpointState
from pillarbox.application.webhooks.ports import EndpointChanges
from pillarbox.domain.accounts.key import WEBHOOKS_READ, WEBHOOKS_WRITE
from pillarbox.domain.errors import FieldError, Json, ValidationFailed
from pillarbox.domain.webhooks.endpoint import (
    ALL_TYPES,
    SELECTABLE_TYPES,
    DeliveryState,
    WebhookDelivery,
    WebhookFormat,
    WebhookType,
)
from pillarbox.http.app import App, build_app
from pillarbox.http.dialects import Fields
from pillarbox.http.messages.replies import Reply, reply, timestamp
from pillarbox.http.query import LIMIT, read_query
from pillarbox.http.requests import read_json, read_uuid
from pillarbox.http.resend.pages import Services, listed, page_of
from pillarbox.http.resend.replies import deleted, read_bearer_caller, reply_resend_error
from pillarbox.http.webhooks.payload import TYPES
from pillarbox.http.webhooks.wire import ChangeWebhookRequest, CreateWebhookRequest
from pillarbox.http.wire import WireModel, optional, text, validate, with_default

NEW: Final = Fields({"endpoint": "url", "events": "types"})
#: The SDK for Python writes the id into the body too.
CHANGES: Final = Fields({**NEW.carried, "status": "enabled", "webhook_id": "id"})
_STATUSES: Final = {"enabled": True, "disabled": False}
_EVENT_STATUSES: Final = {
    DeliveryState.WAITING: "pending",
    DeliveryState.DELIVERED: "success",
    DeliveryState.FAILED: "failed",
}
#: In characters, as of the id of a delivery.
_MAX_CURSOR: Final = 256
#: What each of Resend's types of events is here.
EVENTS: Final = {
    theirs: sorted(one for one in SELECTABLE_TYPES if TYPES.get(one, one) == theirs)
    for theirs in {TYPES.get(one, one.value) for one in SELECTABLE_TYPES}
}


class EventsQuery(WireModel):
    """The parameters of the events that an endpoint received, the newest first."""

    in_query = True
    limit = with_default(LIMIT, 20)
    older_than = optional(text(least=1, most=_MAX_CURSOR), name="after")


def reading_routes(services: Callable[[], Services]) -> App:
    """Return the resolver of the routes that read."""
    app = build_app(reply_resend_error)

    def account() -> str:
        request = read_bearer_caller(app.current_event)
        principal = services().caller_authentication.manage(request, WEBHOOKS_READ)
        return principal.account.account_id

    @app.get("/resend/webhooks")
    def list_webhooks() -> Reply:
        states = services().webhook_queries.of_account(account())
        return reply(page_of(app.current_event, [*map(_item, states)]))

    @app.get("/resend/webhooks/<endpoint_id>")
    def get_webhook(endpoint_id: str) -> Reply:
        account_id = account()
        state = services().webhook_queries.get(account_id, read_uuid(endpoint_id, "id"))
        return reply({"object": "webhook", "signing_secret": None} | _item(state))

    @app.get("/resend/webhooks/<endpoint_id>/events")
    def list_events(endpoint_id: str) -> Reply:
        account_id, found = account(), read_uuid(endpoint_id, "id")
        query = read_query(app.current_event, EventsQuery)
        page = services().webhook_queries.newest_deliveries(
            account_id, found, query.limit, query.older_than
        )
        return reply(listed(map(_event, page.items), more=page.next is not None))

    return app


def writing_routes(services: Callable[[], Services]) -> App:
    """Return the resolver of the routes that write."""
    app = build_app(reply_resend_error)

    def caller() -> tuple[str, str]:
        request = read_bearer_caller(app.current_event)
        principal = services().caller_authentication.manage(request, WEBHOOKS_WRITE)
        return principal.account.account_id, principal.actor

    @app.post("/resend/webhooks")
    def create_webhook() -> Reply:
        account_id, by = caller()
        body = validate(CreateWebhookRequest, _translated(NEW, read_json(app.current_event)))
        state = services().webhooks.create(
            account_id, body.url, body.types, by=by, shape=WebhookFormat.RESEND
        )
        return reply(_with_secret(state), 201)

    @app.patch("/resend/webhooks/<endpoint_id>")
    def change_webhook(endpoint_id: str) -> Reply:
        (account_id, by), found = caller(), read_uuid(endpoint_id, "id")
        fields = _translated(CHANGES, read_json(app.current_event))
        fields.pop("id", None)
        body = validate(ChangeWebhookRequest, fields)
        changes = EndpointChanges(
            url=body.url,
            types=None if body.types is None else frozenset(body.types),
            enabled=body.enabled,
        )
        services().webhooks.change(account_id, found, changes, by=by)
        return reply({"object": "webhook", "id": str(found)})

    @app.post("/resend/webhooks/<endpoint_id>/signing-secret/rotate")
    def rotate_secret(endpoint_id: str) -> Reply:
        (account_id, by), found = caller(), read_uuid(endpoint_id, "id")
        return reply(_with_secret(services().webhooks.rotate(account_id, found, by=by)))

    @app.post("/resend/webhooks/<endpoint_id>/events/<event_id>/replay")
    def replay_event(endpoint_id: str, event_id: str) -> Reply:
        (account_id, _), found = caller(), read_uuid(endpoint_id, "id")
        event = services().webhook_replays.replay(account_id, found, unquote(event_id))
        return reply({"object": "webhook_event", "id": event.delivery_id}, 202)

    @app.delete("/resend/webhooks/<endpoint_id>")
    def delete_webhook(endpoint_id: str) -> Reply:
        (account_id, by), found = caller(), read_uuid(endpoint_id, "id")
        services().webhooks.delete(account_id, found, by=by)
        return reply(deleted("webhook", str(found)))

    return app


def _translated(fields: Fields, body: Json) -> dict[str, Json]:
    ours = fields.translate(body)
    if isinstance(types := ours.get("types"), list):
        ours["types"] = [*dict.fromkeys(one for each in enumerate(types) for one in _types(*each))]
    if "enabled" in ours:
        status = ours["enabled"]
        if not isinstance(status, str) or status not in _STATUSES:
            message = f"must be one of {', '.join(_STATUSES)}"
            raise ValidationFailed(FieldError("status", message, "invalid_choice"))
        ours["enabled"] = _STATUSES[status]
    return ours


def _types(position: int, event: Json) -> list[WebhookType]:
    if not isinstance(event, str) or event not in EVENTS:
        message = f"must be one of {', '.join(sorted(EVENTS))}"
        raise ValidationFailed(FieldError(f"events.{position}", message, "unknown_type"))
    return EVENTS[event]


def _id_of(state: EndpointState) -> str:
    return state.endpoint.endpoint_id


def _event(delivery: WebhookDelivery) -> dict[str, object]:
    event = delivery.event
    return {
        "id": event.delivery_id,
        "type": TYPES.get(event.type, event.type),
        "created_at": timestamp(event.at),
        "status": _EVENT_STATUSES[delivery.state],
    }


def _with_secret(state: EndpointState) -> dict[str, object]:
    # Resend's shape has no role, so the endpoint has a secret.
    secret = state.endpoint.secrets[0].text
    return {"object": "webhook", "id": _id_of(state), "signing_secret": secret}


def _item(state: EndpointState) -> dict[str, object]:
    endpoint = state.endpoint
    chosen = SELECTABLE_TYPES if ALL_TYPES in endpoint.types else endpoint.types
    return {
        "id": endpoint.endpoint_id,
        "endpoint": endpoint.url,
        "events": sorted({TYPES.get(WebhookType(one), one) for one in chosen}),
        "status": "enabled" if state.enabled else "disabled",
        "created_at": timestamp(endpoint.created_at),
    }
