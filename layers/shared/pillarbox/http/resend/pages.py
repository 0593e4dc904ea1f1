"""Pages of emails by Resend's cursors, which are ids: newest first, after or before an email."""

from uuid import UUID

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.application.history.page import Page, PageRequest
from pillarbox.application.history.queries import HistoryQueries
from pillarbox.domain.accounts.account import Account
from pillarbox.http.messages.wire import check_uuid
from pillarbox.http.query import LIMIT, read_query
from pillarbox.http.resend.lists import listed, one_cursor
from pillarbox.http.resend.replies import listed_email
from pillarbox.http.wire import WireModel, after, optional, text, with_default

#: More messages than one account can have in a millisecond.
_ALL = 10_000


class CursorQuery(WireModel):
    """The parameters of a list."""

    in_query = True
    limit = with_default(LIMIT, 20)
    older_than = optional(after(text(), check_uuid), name="after")
    newer_than = optional(after(text(), check_uuid), name="before", check=one_cursor)


def page_of_emails(
    event: APIGatewayProxyEvent, queries: HistoryQueries, account: Account
) -> dict[str, object]:
    """Return a page of the account's emails as Resend lists them.

    Raises:
        ValidationFailed: a parameter is unknown or wrong.
    """
    query = read_query(event, CursorQuery)
    limit = query.limit

    def read(since: int | None, until: int | None, skip: int, limit: int) -> Page:
        request = PageRequest(since=since, until=until, skip=skip, limit=limit)
        return queries.page(account.account_id, request.of(account), account.shards)

    def place(cursor: UUID) -> tuple[int, int]:
        """Return the millisecond of an id, and how many emails of it are newer than the id's."""
        start = cursor.int >> 80  # of any UUID: some hold no time of a calendar
        same = read(start, start + 1, 0, _ALL)
        return start, sum(message.message_id.int > cursor.int for message in same.items)

    if query.older_than:
        cursor = UUID(query.older_than)
        start, newer = place(cursor)
        page = read(None, start + 1, newer, limit + 1)
        items = [message for message in page.items if message.message_id != cursor]
        more = page.total - newer - (len(page.items) - len(items)) > limit
    elif query.newer_than:
        start, newer = place(UUID(query.newer_than))
        newer += read(start + 1, None, 0, 1).total
        skip = max(0, newer - limit)
        items = read(start, None, skip, newer - skip).items if newer else []
        more = skip > 0
    else:
        page = read(None, None, 0, limit)
        items, more = page.items, page.total > limit
    return listed(map(listed_email, items[:limit]), more=more)
