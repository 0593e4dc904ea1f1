"""GET /v1/webhooks…: show an account's webhook endpoints, and the deliveries to them."""

from pillarbox.domain.accounts.key import WEBHOOKS_READ
from pillarbox.http.app import App, build_app, entrypoint
from pillarbox.http.messages.replies import Reply, reply
from pillarbox.http.query import DeliveriesQuery, read_query
from pillarbox.http.requests import read_caller, read_uuid
from pillarbox.http.webhooks.replies import DeliveryPage, WebhookItem, WebhookList
from pillarbox.wiring import load, services

app = build_app()


@app.get("/v1/webhooks")
def list_webhooks() -> Reply:
    return reply(WebhookList.of(items=services().webhook_queries.of_account(_account_id())))


@app.get("/v1/webhooks/<endpoint_id>")
def get_webhook(endpoint_id: str) -> Reply:
    account_id = _account_id()
    found = read_uuid(endpoint_id, "endpoint_id")
    return reply(WebhookItem.of(services().webhook_queries.get(account_id, found)))


@app.get("/v1/webhooks/<endpoint_id>/deliveries")
def list_deliveries(endpoint_id: str) -> Reply:
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
