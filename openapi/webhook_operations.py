"""The examples of webhook endpoints and the deliveries to them."""

from functools import partial
from typing import Any, Final

from openapi import examples

_of_webhooks: Final[partial[dict[str, Any]]] = partial(dict, tag="Webhooks")

WEBHOOKS: Final = (
    _of_webhooks(
        id="list_webhooks",
        response_example=examples.WEBHOOKS,
        links={"get_webhook": {"endpoint_id": "$response.body#/items/0/id"}},
    ),
    _of_webhooks(
        id="create_webhook",
        budgets=("slow",),
        body_examples=examples.NEW_WEBHOOKS,
        response_example=examples.WEBHOOK_WITH_SECRET,
        links={"test_webhook": {"endpoint_id": "$response.body#/id"}},
    ),
    _of_webhooks(id="get_webhook", response_example=examples.WEBHOOK),
    _of_webhooks(
        id="change_webhook",
        budgets=("slow",),
        body_examples=examples.WEBHOOK_CHANGES,
        response_example=examples.WEBHOOK,
    ),
    _of_webhooks(id="delete_webhook", budgets=("requests",)),
    _of_webhooks(
        id="rotate_webhook_secret",
        budgets=("requests",),
        response_example=examples.WEBHOOK_WITH_SECRET,
    ),
    _of_webhooks(id="test_webhook", budgets=("post",), response_example=examples.QUEUED_TEST),
    _of_webhooks(
        id="list_webhook_deliveries",
        response_example=examples.DELIVERIES,
        links={
            "replay_webhook_delivery": {
                "endpoint_id": "$request.path.endpoint_id",
                "delivery_id": "$response.body#/items/0/id",
            }
        },
    ),
    _of_webhooks(
        id="replay_webhook_delivery", budgets=("post",), response_example=examples.QUEUED_EVENT
    ),
    _of_webhooks(
        id="replay_webhook_events",
        budgets=("replayed",),
        body_examples=examples.REPLAYS,
        response_example=examples.REPLAYED,
    ),
)
