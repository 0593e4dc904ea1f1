"""GET /v1/received…: the mail that an account received."""

from typing import Any
from uuid import UUID

from pillarbox.application.received import with_images
from pillarbox.domain.accounts.key import RECEIVED_READ
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import KnownCaller, known
from pillarbox.http.query import ReceivedDetailQuery, ReceivedQuery
from pillarbox.http.received import ReceivedDetail, ReceivedMailPage
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route("GET /v1/received", known(RECEIVED_READ), query=ReceivedQuery, response=ReceivedMailPage)
def list_received(caller: KnownCaller, query: ReceivedQuery) -> dict[str, Any]:
    """List received mail.

    The answers that came back to emails of the account, and mail to the addresses that a domain of
    it receives for, the newest first. With `inReplyTo` only the answers to one email.
    """
    message_id = UUID(query.in_reply_to) if query.in_reply_to else None
    account_id = caller.account.account_id
    return ReceivedMailPage.of(
        services().received_reading.page(account_id, query.limit, query.cursor, message_id)
    )


@route(
    "GET /v1/received/{received_id}",
    known(RECEIVED_READ),
    query=ReceivedDetailQuery,
    response=ReceivedDetail,
)
def get_received(
    caller: KnownCaller, received_id: UUID, query: ReceivedDetailQuery
) -> dict[str, Any]:
    """Get a received mail.

    Its texts, its files and the raw mail. `reply` is what its writer wrote, without the quotation.
    The log of the account has an entry for each reading. The answer for another account's mail,
    and for one whose days are over, is that for an unknown id.

    Errors: `received_not_found`, `rate_limit_exceeded`.
    """
    read = services().received_reading.read(caller, received_id)
    return ReceivedDetail.of(with_images(read) if query.inline_images else read)


load(lambda it: (it.caller_authentication, it.received_reading))
lambda_handler = entrypoint(
    app,
    services,
    resend="received_routes:resend_routes",
    postmark="received_routes:postmark_routes",
)
