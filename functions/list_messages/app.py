"""GET /v1/emails: list an account's messages (contract 4.3)."""

from pillarbox.domain.accounts.key import EMAILS_READ
from pillarbox.http.app import build_app, entrypoint
from pillarbox.http.messages.history_query import MessagesQuery
from pillarbox.http.messages.replies import Reply, reply_page
from pillarbox.http.messages.views import MessageItem
from pillarbox.http.query import read_query
from pillarbox.http.requests import read_credential, request_origin
from pillarbox.wiring import load, services

app = build_app()


@app.get("/v1/emails")
def list_messages() -> Reply:
    event = app.current_event
    principal = services().caller_authentication.authenticate(
        read_credential(event), EMAILS_READ, origin=request_origin(event)
    )
    query = read_query(app.current_event, MessagesQuery)
    account = principal.account
    request = query.to_request().of(account)
    page = services().history_queries.page(account.account_id, request, account.shards)
    return reply_page(
        map(MessageItem.of, page.items), page.total, skip=query.skip, limit=query.limit
    )


load(lambda it: (it.caller_authentication, it.history_queries))
lambda_handler = entrypoint(app)
