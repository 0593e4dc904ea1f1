"""Pages of short lists by Resend's cursors, which are ids of the list."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.http.query import LIMIT, read_query
from pillarbox.http.wire import WireModel, invalid, optional, text, with_default

if TYPE_CHECKING:
    from pydantic_core.core_schema import ValidationInfo

#: In characters; the longest ids are domains.
_MAX_ID: Final = 254


def one_cursor(value: str | None, info: "ValidationInfo") -> str | None:
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


def page_of(
    event: APIGatewayProxyEvent, items: Sequence[Mapping[str, object]]
) -> dict[str, object]:
    """Return a page of a whole list, whose items have ids.

    Raises:
        ValidationFailed: a parameter is unknown or wrong.
    """
    query = read_query(event, ListQuery)
    if query.newer_than:
        before = items[: _place(items, "before", query.newer_than)]
        return listed(before[-query.limit :], more=len(before) > query.limit)
    rest = items[_place(items, "after", query.older_than) + 1 :] if query.older_than else items
    return listed(rest[: query.limit], more=len(rest) > query.limit)


def listed(items: Iterable[Mapping[str, object]], *, more: bool) -> dict[str, object]:
    """Return a list as Resend writes it."""
    return {"object": "list", "has_more": more, "data": [*items]}


def _place(items: Sequence[Mapping[str, object]], name: str, cursor: str) -> int:
    for place, item in enumerate(items):
        if item["id"] == cursor.lower():
            return place
    raise ValidationFailed(FieldError(name, "is no id of the list", "invalid_cursor"))
