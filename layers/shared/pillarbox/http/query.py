"""Read query strings: known parameters, each once and well-formed."""

import re
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from pillarbox.domain.errors import FieldError, ValidationFailed, cut
from pillarbox.http.wire import (
    FLAG,
    MAX_NAME,
    Schema,
    WireModel,
    after_fields,
    before,
    enum,
    invalid,
    matching,
    moment,
    optional,
    text,
    uuid_text,
    validate,
    whole_number,
    with_default,
)

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent
    from pydantic_core.core_schema import ValidationInfo

#: The largest integer that every JSON reader keeps exactly (RFC 8259 section 6).
MAX_SKIP: Final = 2**53 - 1

_MAX_CURSOR: Final = 256

_TIMESTAMP: Final = r"(?a)\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?"
_TIMESTAMP_ERROR: Final = (
    "must be an ISO 8601 timestamp, such as 2026-01-31T12:00:00Z (write a + as %2B)"
)
_VERSION: Final = r"[1-9][0-9]{0,8}"
_WHOLE_NUMBER: Final = r"-?[0-9]{1,99}"


def _parse_whole_number(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(_WHOLE_NUMBER, value):
        return int(value)
    return value  # not a number: the strict type reports it


def number_in_query(*, least: int, most: int) -> Schema[int]:
    """Return the schema of an integer that is written as text."""
    return before(_parse_whole_number, whole_number(least=least, most=most))


def _parse_timestamp(value: object) -> object:
    """Parse ISO 8601; a time without an offset is UTC."""
    if not isinstance(value, str) or not re.fullmatch(_TIMESTAMP, value):
        raise invalid("invalid_timestamp", _TIMESTAMP_ERROR)
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):  # no such day, or a year out of range in UTC
        raise invalid("invalid_timestamp", _TIMESTAMP_ERROR) from None


def one_of[E: StrEnum](choices: type[E]) -> Schema[E]:
    """Return the schema of a text that names one of the members."""

    def choose(value: object) -> object:
        if not isinstance(value, str) or value not in set(choices):
            raise invalid("invalid_choice", f"must be one of {', '.join(choices)}")
        return choices(value)

    return before(choose, enum(choices))


def _check_after_since(value: datetime, info: "ValidationInfo") -> datetime:
    since = info.data.get("since")  # None if it is invalid itself
    if since is not None and value <= since:
        raise invalid("not_after_from", "must be after from")
    return value


SKIP: Final = number_in_query(least=0, most=MAX_SKIP)
LIMIT: Final = number_in_query(least=1, most=100)
#: Of lists that a program reads as a whole.
LONG_LIMIT: Final = number_in_query(least=1, most=1_000)
TIMESTAMP_UTC: Final = before(_parse_timestamp, moment())
END_OF_RANGE: Final = after_fields(TIMESTAMP_UTC, _check_after_since)


class TemplatesQuery(WireModel):
    """Contract 4.8."""

    in_query = True
    skip = with_default(SKIP, 0)
    """How many items to skip."""
    limit = with_default(LIMIT, 20)
    """The maximum number of items."""


class DeliveriesQuery(WireModel):
    """The deliveries to a webhook endpoint; ours."""

    in_query = True
    limit = with_default(LIMIT, 50)
    """The maximum number of items."""
    cursor = optional(text(least=1, most=_MAX_CURSOR))
    """The `nextCursor` of the page before."""


class ReceivedQuery(WireModel):
    """Received mail; ours."""

    in_query = True
    limit = with_default(LIMIT, 50)
    """The maximum number of items."""
    cursor = optional(text(least=1, most=_MAX_CURSOR))
    """The `nextCursor` of the page before."""
    in_reply_to = optional(uuid_text(), name="inReplyTo", format="uuid")
    """The id of an email: only the answers to it."""


class ReceivedDetailQuery(WireModel):
    """A received mail; ours."""

    in_query = True
    inline_images = with_default(FLAG, default=False)
    """Whether `html` has its PNG, JPEG, GIF and WebP images as data: URLs, up to 4 MB."""


class VersionsQuery(WireModel):
    """The versions of a template; ours."""

    in_query = True
    limit = with_default(LIMIT, 20)
    """The maximum number of items."""
    cursor = optional(matching(_VERSION, "invalid_cursor", "must be the nextCursor of a page"))
    """The `nextCursor` of the page before."""


def read_query[M: WireModel](event: "APIGatewayProxyEvent", shape: type[M]) -> M:
    parameters = event.raw_event.get("multiValueQueryStringParameters") or {}
    errors = [
        FieldError(cut(name, MAX_NAME), "must be given once", "repeated")
        for name, values in parameters.items()
        if len(values) > 1
    ]
    try:
        query = validate(shape, {name: values[-1] for name, values in parameters.items()})
    except ValidationFailed as failed:
        raise ValidationFailed(*errors, *failed.errors, unlisted=failed.unlisted) from None
    if errors:
        raise ValidationFailed(*errors)
    return query
