"""The operations on webhook endpoints and the deliveries to them."""

from functools import partial
from typing import Final

from openapi import examples
from openapi.operation import KEY_OR_SESSION, Operation
from pillarbox.application.webhooks.replays import REQUESTS_A_MINUTE
from pillarbox.domain.accounts.key import WEBHOOKS_READ, WEBHOOKS_WRITE
from pillarbox.http.query import DeliveriesQuery
from pillarbox.http.webhooks.reply_types import (
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

_operation: Final = partial(Operation, tag="Webhooks", security=KEY_OR_SESSION)
_NOT_FOUND: Final = ("webhook_not_found", "route_not_found")
_LIMIT: Final = (
    f"An account can have {REQUESTS_A_MINUTE} tests and replays of single deliveries a minute;"
    " more are 429 `rate_limit_exceeded`."
)

WEBHOOKS: Final = (
    _operation(
        id="list_webhooks",
        shared_function="read_webhooks",
        method="get",
        path="/v1/webhooks",
        summary="List webhook endpoints",
        description="All endpoints of the account, at most ten, without their secrets.",
        scope=WEBHOOKS_READ,
        response=WebhookList,
        response_example=examples.WEBHOOKS,
        links={"get_webhook": {"webhook_id": "$response.body#/items/0/id"}},
    ),
    _operation(
        id="create_webhook",
        shared_function="write_webhooks",
        method="post",
        path="/v1/webhooks",
        summary="Create a webhook endpoint",
        description="The response has the endpoint's secret. Save it: only this response and that"
        " of a rotation show it.",
        scope=WEBHOOKS_WRITE,
        body=CreateWebhookRequest,
        body_examples=examples.NEW_WEBHOOKS,
        response=WebhookWithSecret,
        status=201,
        response_example=examples.WEBHOOK_WITH_SECRET,
        errors=("webhook_limit_exceeded", "route_not_found"),
        links={"test_webhook": {"webhook_id": "$response.body#/id"}},
    ),
    _operation(
        id="get_webhook",
        shared_function="read_webhooks",
        method="get",
        path="/v1/webhooks/{webhook_id}",
        summary="Get a webhook endpoint",
        description="The endpoint without its secret, and whether its deliveries fail.",
        scope=WEBHOOKS_READ,
        response=WebhookItem,
        response_example=examples.WEBHOOK,
        errors=_NOT_FOUND,
    ),
    _operation(
        id="change_webhook",
        shared_function="write_webhooks",
        method="patch",
        path="/v1/webhooks/{webhook_id}",
        summary="Change a webhook endpoint",
        description="What is left out stays as it is. `enabled: true` also works if the service"
        " disabled the endpoint. Then the deliveries that wait are sent, if they are at most 7 days"
        " old.",
        scope=WEBHOOKS_WRITE,
        body=ChangeWebhookRequest,
        body_examples=examples.WEBHOOK_CHANGES,
        response=WebhookItem,
        response_example=examples.WEBHOOK,
        errors=_NOT_FOUND,
    ),
    _operation(
        id="delete_webhook",
        shared_function="write_webhooks",
        method="delete",
        path="/v1/webhooks/{webhook_id}",
        summary="Delete a webhook endpoint",
        description="Deletes the endpoint permanently. Deliveries that wait are not sent.",
        scope=WEBHOOKS_WRITE,
        errors=_NOT_FOUND,
    ),
    _operation(
        id="rotate_webhook_secret",
        shared_function="write_webhooks",
        method="post",
        path="/v1/webhooks/{webhook_id}/rotate",
        summary="Rotate the secret",
        description="Gives the endpoint a new secret. For 24 hours, events have a signature of the"
        " old secret too. Of more than four secrets in this time, the oldest end early.",
        scope=WEBHOOKS_WRITE,
        response=WebhookWithSecret,
        response_example=examples.WEBHOOK_WITH_SECRET,
        errors=_NOT_FOUND,
    ),
    _operation(
        id="test_webhook",
        shared_function="write_webhooks",
        method="post",
        path="/v1/webhooks/{webhook_id}/test",
        summary="Test a webhook endpoint",
        description="Sends an event `webhook.test` to the endpoint, even if its `types` lack it."
        f" {_LIMIT}",
        scope=WEBHOOKS_WRITE,
        response=QueuedEvent,
        status=202,
        response_example=examples.QUEUED_TEST,
        errors=_NOT_FOUND,
    ),
    _operation(
        id="list_webhook_deliveries",
        shared_function="read_webhooks",
        method="get",
        path="/v1/webhooks/{webhook_id}/deliveries",
        summary="List deliveries",
        description="What was sent to the endpoint in the last 30 days, with each attempt. The"
        " deliveries of the newest events come first.",
        scope=WEBHOOKS_READ,
        query=DeliveriesQuery,
        response=DeliveryPage,
        response_example=examples.DELIVERIES,
        errors=_NOT_FOUND,
        links={
            "replay_webhook_delivery": {
                "webhook_id": "$request.path.webhook_id",
                "delivery_id": "$response.body#/items/0/id",
            }
        },
    ),
    _operation(
        id="replay_webhook_delivery",
        shared_function="write_webhooks",
        method="post",
        path="/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/replay",
        summary="Replay a delivery",
        description=f"Sends the event again, with the same `webhook-id`. {_LIMIT}",
        scope=WEBHOOKS_WRITE,
        response=QueuedEvent,
        status=202,
        response_example=examples.QUEUED_EVENT,
        errors=(*_NOT_FOUND, "delivery_not_found"),
    ),
    _operation(
        id="replay_webhook_events",
        shared_function="write_webhooks",
        method="post",
        path="/v1/webhooks/{webhook_id}/replay",
        summary="Replay a time range",
        description="Sends the events of all emails again that were accepted within a time range,"
        " with the same `webhook-id`s. One request reads about 10,000 emails or events, those of"
        " the newest emails first. `next` in the response is then the `to` of the next request. An"
        " endpoint can have one such request a minute.",
        scope=WEBHOOKS_WRITE,
        body=ReplayWebhookRequest,
        body_examples=examples.REPLAYS,
        response=ReplayedEvents,
        status=202,
        response_example=examples.REPLAYED,
        errors=_NOT_FOUND,
    ),
)
