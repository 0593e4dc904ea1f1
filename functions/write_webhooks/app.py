"""POST, PATCH and DELETE /v1/webhooks…: change an account's webhook endpoints, and replay."""

from uuid import UUID

from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.key import WEBHOOKS_WRITE
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.sign_in.session import MemberPrincipal
from pillarbox.http.app import App, build_app, entrypoint, routes
from pillarbox.http.callers import managing
from pillarbox.http.messages.replies import Reply, reply, reply_nothing
from pillarbox.http.requests import read_caller, read_known, read_uuid
from pillarbox.http.webhooks.replies import (
    QueuedEvent,
    ReplayedEvents,
    WebhookItem,
    WebhookWithSecret,
)
from pillarbox.http.webhooks.wire import (
    ChangeWebhookRequest,
    CreateWebhookRequest,
    ReplayWebhookRequest,
    read_changes,
    read_replay,
)
from pillarbox.http.wire import read_body
from pillarbox.wiring import load, services, utc_now

app = build_app()
route = routes(app)


@route(
    "POST /v1/webhooks",
    managing(WEBHOOKS_WRITE),
    body=CreateWebhookRequest,
    response=WebhookWithSecret,
    status=201,
    creates_named=True,
)
def create_webhook() -> Reply:
    """Create a webhook endpoint.

    The response has the endpoint's secret. Save it: only this response and that of a rotation show
    it. An event bus or a bucket in your AWS account has no secret, but needs a `roleArn`, if the
    operator of the service lets events go there. Give the role the `trustPolicy` of the response; a
    test shows whether it works.

    Errors: `webhook_limit_exceeded`, `rate_limit_exceeded`, `route_not_found`.
    """
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


@route(
    "PATCH /v1/webhooks/{endpoint_id}",
    managing(WEBHOOKS_WRITE),
    body=ChangeWebhookRequest,
    response=WebhookItem,
)
def change_webhook(endpoint_id: str) -> Reply:
    """Change a webhook endpoint.

    A field that is left out does not change. `enabled: true` also works if the service disabled the
    endpoint. Then the deliveries that wait are sent, if they are at most 7 days old.

    Errors: `rate_limit_exceeded`.
    """
    principal = _principal()
    found, changes = _id(endpoint_id), read_changes(app.current_event)
    account_id = principal.account.account_id
    state = services().webhooks.change(account_id, found, changes, by=principal.actor)
    return reply(WebhookItem.of(state))


@route("DELETE /v1/webhooks/{endpoint_id}", managing(WEBHOOKS_WRITE))
def delete_webhook(endpoint_id: str) -> Reply:
    """Delete a webhook endpoint.

    Deletes the endpoint permanently. Deliveries that wait are not sent.
    """
    principal = _principal()
    account_id = principal.account.account_id
    services().webhooks.delete(account_id, _id(endpoint_id), by=principal.actor)
    return reply_nothing()


@route(
    "POST /v1/webhooks/{endpoint_id}/rotate", managing(WEBHOOKS_WRITE), response=WebhookWithSecret
)
def rotate_webhook_secret(endpoint_id: str) -> Reply:
    """Rotate the secret.

    Gives the endpoint a new secret. For 24 hours, events have a signature of the old secret too. Of
    more than four secrets in this time, the oldest end early.
    """
    principal = _principal()
    account_id = principal.account.account_id
    state = services().webhooks.rotate(account_id, _id(endpoint_id), by=principal.actor)
    return reply(WebhookWithSecret.of(state))


@route(
    "POST /v1/webhooks/{endpoint_id}/test",
    managing(WEBHOOKS_WRITE),
    response=QueuedEvent,
    status=202,
)
def test_webhook(endpoint_id: str) -> Reply:
    """Test a webhook endpoint.

    Sends an event `webhook.test` to the endpoint, even if its `types` lack it. An account can have
    60 tests and replays of single deliveries a minute; more are 429 `rate_limit_exceeded`.
    """
    account_id = _account().account_id
    event = services().webhook_replays.test(account_id, _id(endpoint_id))
    return reply(QueuedEvent.of(event), 202)


@route(
    "POST /v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/replay",
    managing(WEBHOOKS_WRITE),
    response=QueuedEvent,
    status=202,
)
def replay_webhook_delivery(endpoint_id: str, delivery_id: str) -> Reply:
    """Replay a delivery.

    Sends the event again, with the same `webhook-id`. An account can have 60 tests and replays of
    single deliveries a minute; more are 429 `rate_limit_exceeded`.
    """
    account_id = _account().account_id
    event = services().webhook_replays.replay(account_id, _id(endpoint_id), delivery_id)
    return reply(QueuedEvent.of(event), 202)


@route(
    "POST /v1/webhooks/{endpoint_id}/replay",
    managing(WEBHOOKS_WRITE),
    body=ReplayWebhookRequest,
    response=ReplayedEvents,
    status=202,
)
def replay_webhook_events(endpoint_id: str) -> Reply:
    """Replay a time range.

    Sends the events of all emails again that were accepted within a time range, with the same
    `webhook-id`s. One request reads about 10,000 emails or events, those of the newest emails
    first. `nextTo` in the response is then the `to` of the next request. An endpoint can have one
    such request a minute.
    """
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
