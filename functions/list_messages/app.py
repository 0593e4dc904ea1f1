"""GET /v1/emails: list an account's messages (contract 4.3)."""

from pillarbox.domain.accounts.key import EMAILS_READ
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import KnownCaller, known
from pillarbox.http.messages.history_query import MessagesQuery
from pillarbox.http.messages.replies import Reply, reply_page
from pillarbox.http.messages.views import MessageItem, MessagePage
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route("GET /v1/emails", known(EMAILS_READ), query=MessagesQuery, response=MessagePage)
def list_messages(caller: KnownCaller, query: MessagesQuery) -> Reply:
    """List messages.

    The account's messages in descending order of the field that `sortBy` names. A message is listed
    as soon as it is accepted.
    """
    account = caller.account
    request = query.to_request().of(account)
    page = services().history_queries.page(account.account_id, request, account.shards)
    return reply_page(
        map(MessageItem.of, page.items), page.total, skip=query.skip, limit=query.limit
    )


load(lambda it: (it.caller_authentication, it.history_queries), connections=3)
lambda_handler = entrypoint(app)
