"""Pages of emails and of short lists by Resend's cursors, which are ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol
from uuid import UUID

from pillarbox.application.history.pagination import Page, PageRequest
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.http.callers import KEY, Callers
from pillarbox.http.query import LIMIT, read_query
from pillarbox.http.resend.replies import listed_email, read_bearer_caller
from pillarbox.http.wire import WireModel, invalid, optional, text, uuid_text, with_default

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent
    from pydantic_core.core_schema import ValidationInfo

    from pillarbox.application.accounts.domains import AccountDomains
    from pillarbox.application.accounts.keys import Keys
    from pillarbox.application.accounts.suppressions import SuppressionList
    from pillarbox.application.history.queries import HistoryQueries
    from pillarbox.application.ports import KeyUses
    from pillarbox.application.webhooks.endpoints import WebhookQueries, Webhooks
    from pillarbox.application.webhooks.replays import WebhookReplays
    from pillarbox.domain.accounts.account import Account
    from pillarbox.http.callers import Manager

#: In characters; the longest ids are domains.
_MAX_ID: Final = 254


def one_cursor(value: str | None, info: ValidationInfo) -> str | None:
    """Refuse `before` beside `after`."""
    if value is not None and info.data.get("older_than") is not None:
        raise invalid("not_allowed", "cannot be combined with after")
    return value


class ListQuery(WireModel):
    """The parameters of a short list, which is one page without them."""

    in_query = True
    limit = with_default(LIMIT, 100)
    older_than = optional(text(least=1, most=_MAX_ID), name="after")
    newer_than = optional(text(least=1, most=_MAX_ID), name="before", check=one_cursor)


def _forward(value: str | None) -> str | None:
    if value is not None:
        raise invalid("not_allowed", "is not possible here: the list is read forwards, with after")
    return value


class ForwardQuery(WireModel):
    """The parameters of a list that has no way back."""

    in_query = True
    limit = with_default(LIMIT, 20)
    older_than = optional(text(least=1, most=_MAX_ID), name="after")
    newer_than = optional(text(), name="before", check=lambda value, _: _forward(value))


def page_of(
    event: APIGatewayProxyEvent, items: Sequence[Mapping[str, object]]
) -> dict[str, object]:
    """Return a page of a whole list, whose items have ids."""
    query = read_query(event, ListQuery)
    if query.newer_than:
        before = items[: _place(items, "before", query.newer_than)]
        return listed(before[-query.limit :], more=len(before) > query.limit)
    rest = items[_place(items, "after", query.older_than) + 1 :] if query.older_than else items
    return listed(rest[: query.limit], more=len(rest) > query.limit)


def listed(items: Iterable[Mapping[str, object]], *, more: bool) -> dict[str, object]:
    return {"object": "list", "has_more": more, "data": [*items]}


def _place(items: Sequence[Mapping[str, object]], name: str, cursor: str) -> int:
    for place, item in enumerate(items):
        if item["id"] == cursor.lower():
            return place
    raise ValidationFailed(FieldError(name, "is no id of the list", "invalid_cursor"))


#: More messages than one account can have in a millisecond.
_ALL = 10_000


class CursorQuery(WireModel):
    """The parameters of a list."""

    in_query = True
    limit = with_default(LIMIT, 20)
    older_than = optional(uuid_text(), name="after")
    newer_than = optional(uuid_text(), name="before", check=one_cursor)


def page_of_emails(
    event: APIGatewayProxyEvent, queries: HistoryQueries, account: Account
) -> dict[str, object]:
    """Return a page of the account's emails as Resend lists them."""
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


def bearers(scope: str) -> Callers[Manager]:
    """Return those who manage an account with a key in Authorization."""
    return Callers(
        (KEY,),
        lambda services, event: services.caller_authentication.manage(
            read_bearer_caller(event), scope
        ),
        scope,
    )


class Services(Protocol):
    """What `pillarbox.wiring` makes."""

    @property
    def account_domains(self) -> AccountDomains: ...
    @property
    def region(self) -> str: ...
    @property
    def api_keys(self) -> Keys: ...
    @property
    def key_uses(self) -> KeyUses: ...
    @property
    def suppression_list(self) -> SuppressionList: ...
    @property
    def webhook_queries(self) -> WebhookQueries: ...
    @property
    def webhook_replays(self) -> WebhookReplays: ...
    @property
    def webhooks(self) -> Webhooks: ...
