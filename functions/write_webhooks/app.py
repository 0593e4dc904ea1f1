"""POST, PATCH and DELETE /v1/webhooks…: change an account's webhook endpoints, and replay."""

from uuid import UUID

from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.key import WEBHOOKS_WRITE
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.sign_in.session import MemberPrincipal
from pillarbox.http.app import App, build_app, entrypoint
from pillarbox.http.messages.replies import Reply, reply, reply_nothing
from pillarbox.http.requests import read_caller, read_known, read_uuid
from pillarbox.http.webhooks.replies import (
    QueuedEvent,
    ReplayedEvents,
    WebhookItem,
    WebhookWithSecret,
)
from pillarbox.http.webhooks.wire import CreateWebhookRequest, read_changes, read_replay
from pillarbox.http.wire import read_body
from pillarbox.wiring import load, services, utc_now

app = build_app()


@app.post("/v1/webhooks")
def create_webhook() -> Reply:
    principal = _principal()
    body = read_body(app.current_event, CreateWebhookRequest)
    account_id, webhooks = principal.account.account_id, services().webhooks
    with services().creations.beside(
        read_known(app.current_event),
        f"webhook of {account_id}",
        body.url,
        lambda: webhooks.ids_of(account_id, body.url),
    ):
        state = webhooks.create(
            account_id,
            body.url,
            body.types,
            by=principal.actor,
            shape=body.format,
            role_arn=body.role_arn,
        )
    return reply(WebhookWithSecret.of(state), 201)


@app.patch("/v1/webhooks/<endpoint_id>")
def change_webhook(endpoint_id: str) -> Reply:
    principal = _principal()
    found, changes = _id(endpoint_id), read_changes(app.current_event)
    account_id = principal.account.account_id
    state = services().webhooks.change(account_id, found, changes, by=principal.actor)
    return reply(WebhookItem.of(state))


@app.delete("/v1/webhooks/<endpoint_id>")
def delete_webhook(endpoint_id: str) -> Reply:
    principal = _principal()
    account_id = principal.account.account_id
    services().webhooks.delete(account_id, _id(endpoint_id), by=principal.actor)
    return reply_nothing()


@app.post("/v1/webhooks/<endpoint_id>/rotate")
def rotate_secret(endpoint_id: str) -> Reply:
    principal = _principal()
    account_id = principal.account.account_id
    state = services().webhooks.rotate(account_id, _id(endpoint_id), by=principal.actor)
    return reply(WebhookWithSecret.of(state))


@app.post("/v1/webhooks/<endpoint_id>/test")
def test_webhook(endpoint_id: str) -> Reply:
    account_id = _account().account_id
    event = services().webhook_replays.test(account_id, _id(endpoint_id))
    return reply(QueuedEvent.of(event), 202)


@app.post("/v1/webhooks/<endpoint_id>/deliveries/<delivery_id>/replay")
def replay_delivery(endpoint_id: str, delivery_id: str) -> Reply:
    account_id = _account().account_id
    event = services().webhook_replays.replay(account_id, _id(endpoint_id), delivery_id)
    return reply(QueuedEvent.of(event), 202)


@app.post("/v1/webhooks/<endpoint_id>/replay")
def replay_events(endpoint_id: str) -> Reply:
    account = _account()
    found, request = _id(endpoint_id), read_replay(app.current_event, utc_now())
    replays = services().webhook_replays
    result = replays.replay_all(account.account_id, found, request, account.shards)
    return reply(ReplayedEvents.of(result), 202)


def _id(endpoint_id: str) -> UUID:
    return read_uuid(endpoint_id, "endpoint_id")


def _account() -> Account:
    return _principal().account


def _principal() -> Principal | MemberPrincipal:
    request = read_caller(app.current_event)
    return services().caller_authentication.manage(request, WEBHOOKS_WRITE)


def _resend() -> App:
    from pillarbox.http.resend.webhooks import writing_routes  # noqa: PLC0415  few requests

    return writing_routes(services)


load(lambda it: (it.caller_authentication, it.webhooks))
lambda_handler = entrypoint(app, {"/resend/": _resend})
