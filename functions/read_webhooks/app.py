"""GET /v1/webhooks…: show an account's webhook endpoints, and the deliveries to them."""

from typing import Any
from uuid import UUID

from pillarbox.domain.accounts.key import WEBHOOKS_READ
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import Manager, managing
from pillarbox.http.query import DeliveriesQuery
from pillarbox.http.webhooks.replies import DeliveryPage, WebhookItem, WebhookList
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route("GET /v1/webhooks", managing(WEBHOOKS_READ), response=WebhookList)
def list_webhooks(principal: Manager) -> dict[str, Any]:
    """List webhook endpoints.

    All endpoints of the account, at most ten, without their secrets.
    """
    return WebhookList.of(items=services().webhook_queries.of_account(principal.account.account_id))


@route("GET /v1/webhooks/{endpoint_id}", managing(WEBHOOKS_READ), response=WebhookItem)
def get_webhook(principal: Manager, endpoint_id: UUID) -> dict[str, Any]:
    """Get a webhook endpoint.

    The endpoint without its secret, and whether its deliveries fail.
    """
    account_id = principal.account.account_id
    return WebhookItem.of(services().webhook_queries.get(account_id, endpoint_id))


@route(
    "GET /v1/webhooks/{endpoint_id}/deliveries",
    managing(WEBHOOKS_READ),
    query=DeliveriesQuery,
    response=DeliveryPage,
)
def list_webhook_deliveries(
    principal: Manager, endpoint_id: UUID, query: DeliveriesQuery
) -> dict[str, Any]:
    """List deliveries.

    What was sent to the endpoint in the last 30 days, with each attempt. The deliveries of the
    newest events come first.
    """
    account_id = principal.account.account_id
    page = services().webhook_queries.newest_deliveries(
        account_id, endpoint_id, query.limit, query.cursor
    )
    return DeliveryPage.of(page)


load(lambda it: (it.caller_authentication, it.webhook_queries))
lambda_handler = entrypoint(app, services, resend="resend.webhooks:reading_routes")
