"""The operations on webhook endpoints and the deliveries to them."""

from functools import partial
from typing import Final

from openapi import examples
from openapi.operation import managing_operation
from pillarbox.application.webhooks.replays import REQUESTS_A_MINUTE
from pillarbox.domain.accounts.key import WEBHOOKS_READ, WEBHOOKS_WRITE
from pillarbox.http.query import DeliveriesQuery
from pillarbox.http.webhooks.replies import (
    DeliveryPage,
    QueuedEvent,
    ReplayedEvents,
    WebhookItem,
    WebhookList,
    WebhookWithSecret,
)
from pillarbox.http.webhooks.wire import (
    ChangeWebhookRequest,
    CreateWebhookRequest,
    ReplayWebhookRequest,
)

_operation: Final = partial(managing_operation, tag="Webhooks")
_read: Final = partial(_operation, shared_function="read_webhooks", scope=WEBHOOKS_READ)
_write: Final = partial(_operation, shared_function="write_webhooks", scope=WEBHOOKS_WRITE)
_LIMIT: Final = (
    f"An account can have {REQUESTS_A_MINUTE} tests and replays of single deliveries a minute;"
    " more are 429 `rate_limit_exceeded`."
)

WEBHOOKS: Final = (
    _read(
        id="list_webhooks",
        route="GET /v1/webhooks",
        summary="List webhook endpoints",
        description="All endpoints of the account, at most ten, without their secrets.",
        response=WebhookList,
        response_example=examples.WEBHOOKS,
        links={"get_webhook": {"endpoint_id": "$response.body#/items/0/id"}},
    ),
    _write(
        id="create_webhook",
        creates_named=True,
        route="POST /v1/webhooks",
        summary="Create a webhook endpoint",
        description="The response has the endpoint's secret. Save it: only this response and that"
        " of a rotation show it. An event bus or a bucket in your AWS account has no secret, but"
        " needs a `roleArn`, if the operator of the service lets events go there. Give the role the"
        " `trustPolicy` of the response; a test shows whether it works.",
        body=CreateWebhookRequest,
        body_examples=examples.NEW_WEBHOOKS,
        response=WebhookWithSecret,
        status=201,
        response_example=examples.WEBHOOK_WITH_SECRET,
        errors=("webhook_limit_exceeded", "rate_limit_exceeded", "route_not_found"),
        links={"test_webhook": {"endpoint_id": "$response.body#/id"}},
    ),
    _read(
        id="get_webhook",
        route="GET /v1/webhooks/{endpoint_id}",
        summary="Get a webhook endpoint",
        description="The endpoint without its secret, and whether its deliveries fail.",
        response=WebhookItem,
        response_example=examples.WEBHOOK,
    ),
    _write(
        id="change_webhook",
        route="PATCH /v1/webhooks/{endpoint_id}",
        summary="Change a webhook endpoint",
        description="A field that is left out does not change. `enabled: true` also works if the"
        " service disabled the endpoint. Then the deliveries that wait are sent, if they are at"
        " most 7 days old.",
        body=ChangeWebhookRequest,
        body_examples=examples.WEBHOOK_CHANGES,
        response=WebhookItem,
        response_example=examples.WEBHOOK,
        errors=("rate_limit_exceeded",),
    ),
    _write(
        id="delete_webhook",
        route="DELETE /v1/webhooks/{endpoint_id}",
        summary="Delete a webhook endpoint",
        description="Deletes the endpoint permanently. Deliveries that wait are not sent.",
    ),
    _write(
        id="rotate_webhook_secret",
        route="POST /v1/webhooks/{endpoint_id}/rotate",
        summary="Rotate the secret",
        description="Gives the endpoint a new secret. For 24 hours, events have a signature of the"
        " old secret too. Of more than four secrets in this time, the oldest end early.",
        response=WebhookWithSecret,
        response_example=examples.WEBHOOK_WITH_SECRET,
    ),
    _write(
        id="test_webhook",
        route="POST /v1/webhooks/{endpoint_id}/test",
        summary="Test a webhook endpoint",
        description="Sends an event `webhook.test` to the endpoint, even if its `types` lack it."
        f" {_LIMIT}",
        response=QueuedEvent,
        status=202,
        response_example=examples.QUEUED_TEST,
    ),
    _read(
        id="list_webhook_deliveries",
        route="GET /v1/webhooks/{endpoint_id}/deliveries",
        summary="List deliveries",
        description="What was sent to the endpoint in the last 30 days, with each attempt. The"
        " deliveries of the newest events come first.",
        query=DeliveriesQuery,
        response=DeliveryPage,
        response_example=examples.DELIVERIES,
        links={
            "replay_webhook_delivery": {
                "endpoint_id": "$request.path.endpoint_id",
                "delivery_id": "$response.body#/items/0/id",
            }
        },
    ),
    _write(
        id="replay_webhook_delivery",
        route="POST /v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/replay",
        summary="Replay a delivery",
        description=f"Sends the event again, with the same `webhook-id`. {_LIMIT}",
        response=QueuedEvent,
        status=202,
        response_example=examples.QUEUED_EVENT,
    ),
    _write(
        id="replay_webhook_events",
        route="POST /v1/webhooks/{endpoint_id}/replay",
        summary="Replay a time range",
        description="Sends the events of all emails again that were accepted within a time range,"
        " with the same `webhook-id`s. One request reads about 10,000 emails or events, those of"
        " the newest emails first. `nextTo` in the response is then the `to` of the next request."
        " An endpoint can have one such request a minute.",
        body=ReplayWebhookRequest,
        body_examples=examples.REPLAYS,
        response=ReplayedEvents,
        status=202,
        response_example=examples.REPLAYED,
    ),
)
