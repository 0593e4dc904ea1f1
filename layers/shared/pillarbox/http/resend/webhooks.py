"""/resend/webhooks…: an account's webhook endpoints in Resend's shape, with payloads in it."""

from collections.abc import Callable
from typing import Final
from urllib.parse import unquote
from uuid import UUID

from pillarbox.application.webhooks.endpoints import EndpointState
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
from pillarbox.http.app import App, build_app, routes
from pillarbox.http.callers import Manager
from pillarbox.http.dialects import Fields
from pillarbox.http.messages.replies import timestamp
from pillarbox.http.query import LIMIT
from pillarbox.http.requests import read_json
from pillarbox.http.resend.pages import Services, bearers, listed, page_of
from pillarbox.http.resend.replies import Shown, deleted, reply_resend_error
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
    app = build_app(reply_resend_error)
    route = routes(app, services)

    @route("GET /resend/webhooks", bearers(WEBHOOKS_READ))
    def list_webhooks(caller: Manager) -> Shown:
        states = services().webhook_queries.of_account(caller.account.account_id)
        return page_of(app.current_event, [*map(_item, states)])

    @route("GET /resend/webhooks/{endpoint_id}", bearers(WEBHOOKS_READ))
    def get_webhook(caller: Manager, endpoint_id: UUID) -> Shown:
        state = services().webhook_queries.get(caller.account.account_id, endpoint_id)
        return {"object": "webhook", "signing_secret": None} | _item(state)

    @route("GET /resend/webhooks/{endpoint_id}/events", bearers(WEBHOOKS_READ), query=EventsQuery)
    def list_events(caller: Manager, endpoint_id: UUID, query: EventsQuery) -> Shown:
        page = services().webhook_queries.newest_deliveries(
            caller.account.account_id, endpoint_id, query.limit, query.older_than
        )
        return listed(map(_event, page.items), more=page.next is not None)

    return app


def writing_routes(services: Callable[[], Services]) -> App:
    app = build_app(reply_resend_error)
    route = routes(app, services)

    @route("POST /resend/webhooks", bearers(WEBHOOKS_WRITE), status=201)
    def create_webhook(caller: Manager) -> Shown:
        account_id, by = caller.account.account_id, caller.actor
        body = validate(CreateWebhookRequest, _translated(NEW, read_json(app.current_event)))
        state = services().webhooks.create(
            account_id, body.url, body.types, by=by, shape=WebhookFormat.RESEND
        )
        return _with_secret(state)

    @route("PATCH /resend/webhooks/{endpoint_id}", bearers(WEBHOOKS_WRITE))
    def change_webhook(caller: Manager, endpoint_id: UUID) -> Shown:
        fields = _translated(CHANGES, read_json(app.current_event))
        fields.pop("id", None)
        changes = validate(ChangeWebhookRequest, fields).changes
        account_id = caller.account.account_id
        services().webhooks.change(account_id, endpoint_id, changes, by=caller.actor)
        return {"object": "webhook", "id": str(endpoint_id)}

    @route("POST /resend/webhooks/{endpoint_id}/signing-secret/rotate", bearers(WEBHOOKS_WRITE))
    def rotate_secret(caller: Manager, endpoint_id: UUID) -> Shown:
        account_id = caller.account.account_id
        return _with_secret(services().webhooks.rotate(account_id, endpoint_id, by=caller.actor))

    @route(
        "POST /resend/webhooks/{endpoint_id}/events/{event_id}/replay",
        bearers(WEBHOOKS_WRITE),
        status=202,
    )
    def replay_event(caller: Manager, endpoint_id: UUID, event_id: str) -> Shown:
        account_id = caller.account.account_id
        event = services().webhook_replays.replay(account_id, endpoint_id, unquote(event_id))
        return {"object": "webhook_event", "id": event.delivery_id}

    @route("DELETE /resend/webhooks/{endpoint_id}", bearers(WEBHOOKS_WRITE))
    def delete_webhook(caller: Manager, endpoint_id: UUID) -> Shown:
        account_id = caller.account.account_id
        services().webhooks.delete(account_id, endpoint_id, by=caller.actor)
        return deleted("webhook", str(endpoint_id))

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
