"""POST, PATCH and DELETE /v1/webhooks…: change an account's webhook endpoints, and replay."""

from typing import Any
from uuid import UUID

from pillarbox.domain.accounts.key import WEBHOOKS_WRITE
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import Manager, managing
from pillarbox.http.requests import read_known
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
)
from pillarbox.wiring import load, services, utc_now

app = build_app()
route = routes(app, services)


@route(
    "POST /v1/webhooks",
    managing(WEBHOOKS_WRITE),
    body=CreateWebhookRequest,
    response=WebhookWithSecret,
    status=201,
    creates_named=True,
)
def create_webhook(principal: Manager, body: CreateWebhookRequest) -> dict[str, Any]:
    """Create a webhook endpoint.

    The response has the endpoint's secret. Save it: only this response and that of a rotation show
    it. An event bus or a bucket in your AWS account has no secret, but needs a `roleArn`, if the
    operator of the service lets events go there. Give the role the `trustPolicy` of the response; a
    test shows whether it works.

    Errors: `webhook_limit_exceeded`, `rate_limit_exceeded`, `route_not_found`.
    """
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
    return WebhookWithSecret.of(state)


@route(
    "PATCH /v1/webhooks/{endpoint_id}",
    managing(WEBHOOKS_WRITE),
    body=ChangeWebhookRequest,
    response=WebhookItem,
)
def change_webhook(
    principal: Manager, endpoint_id: UUID, body: ChangeWebhookRequest
) -> dict[str, Any]:
    """Change a webhook endpoint.

    A field that is left out does not change. `enabled: true` also works if the service disabled the
    endpoint. Then the deliveries that wait are sent, if they are at most 7 days old.

    Errors: `rate_limit_exceeded`.
    """
    account_id = principal.account.account_id
    state = services().webhooks.change(account_id, endpoint_id, body.changes, by=principal.actor)
    return WebhookItem.of(state)


@route("DELETE /v1/webhooks/{endpoint_id}", managing(WEBHOOKS_WRITE))
def delete_webhook(principal: Manager, endpoint_id: UUID) -> None:
    """Delete a webhook endpoint.

    Deletes the endpoint permanently. Deliveries that wait are not sent.
    """
    account_id = principal.account.account_id
    services().webhooks.delete(account_id, endpoint_id, by=principal.actor)


@route(
    "POST /v1/webhooks/{endpoint_id}/rotate", managing(WEBHOOKS_WRITE), response=WebhookWithSecret
)
def rotate_webhook_secret(principal: Manager, endpoint_id: UUID) -> dict[str, Any]:
    """Rotate the secret.

    Gives the endpoint a new secret. For 24 hours, events have a signature of the old secret too. Of
    more than four secrets in this time, the oldest end early.
    """
    account_id = principal.account.account_id
    state = services().webhooks.rotate(account_id, endpoint_id, by=principal.actor)
    return WebhookWithSecret.of(state)


@route(
    "POST /v1/webhooks/{endpoint_id}/test",
    managing(WEBHOOKS_WRITE),
    response=QueuedEvent,
    status=202,
)
def test_webhook(principal: Manager, endpoint_id: UUID) -> dict[str, Any]:
    """Test a webhook endpoint.

    Sends an event `webhook.test` to the endpoint, even if its `types` lack it. An account can have
    60 tests and replays of single deliveries a minute; more are 429 `rate_limit_exceeded`.
    """
    account_id = principal.account.account_id
    event = services().webhook_replays.test(account_id, endpoint_id)
    return QueuedEvent.of(event)


@route(
    "POST /v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/replay",
    managing(WEBHOOKS_WRITE),
    response=QueuedEvent,
    status=202,
)
def replay_webhook_delivery(
    principal: Manager, endpoint_id: UUID, delivery_id: str
) -> dict[str, Any]:
    """Replay a delivery.

    Sends the event again, with the same `webhook-id`. An account can have 60 tests and replays of
    single deliveries a minute; more are 429 `rate_limit_exceeded`.
    """
    account_id = principal.account.account_id
    event = services().webhook_replays.replay(account_id, endpoint_id, delivery_id)
    return QueuedEvent.of(event)


@route(
    "POST /v1/webhooks/{endpoint_id}/replay",
    managing(WEBHOOKS_WRITE),
    body=ReplayWebhookRequest,
    response=ReplayedEvents,
    status=202,
)
def replay_webhook_events(
    principal: Manager, endpoint_id: UUID, body: ReplayWebhookRequest
) -> dict[str, Any]:
    """Replay a time range.

    Sends the events of all emails again that were accepted within a time range, with the same
    `webhook-id`s. One request reads about 10,000 emails or events, those of the newest emails
    first. `nextTo` in the response is then the `to` of the next request. An endpoint can have one
    such request a minute.
    """
    account, request = principal.account, body.to_domain(utc_now())
    replays = services().webhook_replays
    result = replays.replay_all(account.account_id, endpoint_id, request, account.shards)
    return ReplayedEvents.of(result)


load(lambda it: (it.caller_authentication, it.webhooks, it.webhook_replays))
lambda_handler = entrypoint(app, services, resend="resend.webhooks:writing_routes")
