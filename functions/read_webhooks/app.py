"""GET /v1/webhooks…: show an account's webhook endpoints, and the deliveries to them."""

from pillarbox.domain.accounts.key import WEBHOOKS_READ
from pillarbox.http.app import App, build_app, entrypoint, routes
from pillarbox.http.callers import managing
from pillarbox.http.messages.replies import Reply, reply
from pillarbox.http.query import DeliveriesQuery, read_query
from pillarbox.http.requests import read_caller, read_uuid
from pillarbox.http.webhooks.replies import DeliveryPage, WebhookItem, WebhookList
from pillarbox.wiring import load, services

app = build_app()
route = routes(app)


@route("GET /v1/webhooks", managing(WEBHOOKS_READ), response=WebhookList)
def list_webhooks() -> Reply:
    """List webhook endpoints.

    All endpoints of the account, at most ten, without their secrets.
    """
    return reply(WebhookList.of(items=services().webhook_queries.of_account(_account_id())))


@route("GET /v1/webhooks/{endpoint_id}", managing(WEBHOOKS_READ), response=WebhookItem)
def get_webhook(endpoint_id: str) -> Reply:
    """Get a webhook endpoint.

    The endpoint without its secret, and whether its deliveries fail.
    """
    account_id = _account_id()
    found = read_uuid(endpoint_id, "endpoint_id")
    return reply(WebhookItem.of(services().webhook_queries.get(account_id, found)))


@route(
    "GET /v1/webhooks/{endpoint_id}/deliveries",
    managing(WEBHOOKS_READ),
    query=DeliveriesQuery,
    response=DeliveryPage,
)
def list_webhook_deliveries(endpoint_id: str) -> Reply:
    """List deliveries.

    What was sent to the endpoint in the last 30 days, with each attempt. The deliveries of the
    newest events come first.
    """
    account_id = _account_id()
    found = read_uuid(endpoint_id, "endpoint_id")
    query = read_query(app.current_event, DeliveriesQuery)
    page = services().webhook_queries.newest_deliveries(
        account_id, found, query.limit, query.cursor
    )
    return reply(DeliveryPage.of(page))


def _account_id() -> str:
    request = read_caller(app.current_event)
    principal = services().caller_authentication.manage(request, WEBHOOKS_READ)
    return principal.account.account_id


def _resend() -> App:
    from pillarbox.http.resend.webhooks import reading_routes  # noqa: PLC0415  few requests

    return reading_routes(services)


load(lambda it: (it.caller_authentication, it.webhook_queries))
lambda_handler = entrypoint(app, {"/resend/": _resend})
