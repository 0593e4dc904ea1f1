"""Read query strings (contract 4.3 to 4.8): known parameters, each once and well-formed."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from pillarbox.application.history.page import PageRequest, SortBy
from pillarbox.application.history.queries import Bucket
from pillarbox.application.history.terms import search_recipient
from pillarbox.domain.address import AddressSyntaxError
from pillarbox.domain.errors import FieldError, ValidationFailed, cut
from pillarbox.domain.ids import is_uuid
from pillarbox.domain.key import KEY_ID
from pillarbox.domain.message import Status
from pillarbox.domain.search import TagTerm
from pillarbox.domain.statistics import Subset, SubsetKind
from pillarbox.domain.tags import TagError, check_tags
from pillarbox.http.validation import MAX_NAME, validate
from pillarbox.http.wire import (
    Schema,
    WireModel,
    after,
    after_fields,
    before,
    enum,
    invalid,
    moment,
    optional,
    required,
    text,
    whole_number,
    with_default,
)

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent
    from pydantic_core.core_schema import ValidationInfo

#: The largest integer that every JSON reader keeps exactly (RFC 8259 section 6).
MAX_SKIP: Final = 2**53 - 1

_MAX_CURSOR: Final = 256

#: The longest time range of analytics: about 744 rows by the hour, 400 by the day.
_MAX_RANGE: Final[Mapping[Bucket, timedelta]] = {
    Bucket.HOUR: timedelta(days=31),
    Bucket.DAY: timedelta(days=400),
}

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TIMESTAMP: Final = re.compile(
    r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII
)
_TIMESTAMP_ERROR: Final = (
    "must be an ISO 8601 timestamp, such as 2026-01-31T12:00:00Z (write a + as %2B)"
)
#: The form of a starter template's slug.
SLUG: Final = "[a-z][a-z0-9_]{0,63}"

_KEY_ID: Final = re.compile(KEY_ID, re.ASCII)
_SLUG: Final = re.compile(SLUG, re.ASCII)
_WHOLE_NUMBER: Final = re.compile(r"-?[0-9]{1,99}")


def _parse_whole_number(value: object) -> object:
    if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value):
        return int(value)
    return value  # not a number: the strict type reports it


def number_in_query(*, least: int, most: int) -> Schema[int]:
    """Return the schema of an integer that is written as text."""
    return before(_parse_whole_number, whole_number(least=least, most=most))


def _parse_timestamp(value: object) -> object:
    """Parse ISO 8601; a time without an offset is UTC."""
    if not isinstance(value, str) or not _TIMESTAMP.fullmatch(value):
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


def _check_range(value: datetime, info: "ValidationInfo") -> datetime:
    since, bucket = info.data.get("since"), info.data.get("bucket")
    if since and bucket and value - since > _MAX_RANGE[bucket]:
        days = _MAX_RANGE[bucket].days
        raise invalid(
            "window_too_long", f"must be at most {days} days after from, by {bucket.value}"
        )
    return value


def _check_key_id(value: str) -> str:
    if not _KEY_ID.fullmatch(value):
        raise invalid("invalid_key_id", "must be the id of an API key, such as a message's keyId")
    return value


def _check_template(value: str) -> str:
    if not is_uuid(value) and not _SLUG.fullmatch(value):
        raise invalid(
            "invalid_template",
            "must be the id of a saved template or the slug of a starter template",
        )
    return value.lower()


def _check_without_key(value: str | None, info: "ValidationInfo") -> str | None:
    if value is not None and info.data.get("key") is not None:
        raise invalid("not_with_key", "cannot be combined with key")
    return value


_SKIP: Final = number_in_query(least=0, most=MAX_SKIP)
LIMIT: Final = number_in_query(least=1, most=100)
#: Of lists that a program reads as a whole.
LONG_LIMIT: Final = number_in_query(least=1, most=1_000)
TIMESTAMP_UTC: Final = before(_parse_timestamp, moment())
END_OF_RANGE: Final = after_fields(TIMESTAMP_UTC, _check_after_since)


def _check_recipient(value: str) -> str:
    try:
        search_recipient(value)
    except AddressSyntaxError as error:
        raise invalid("invalid_address", str(error)) from None
    return value


def _tag_term(value_text: str) -> TagTerm:
    name, _, value = value_text.partition(":")
    return TagTerm(name, value)


def _check_tag(value: str) -> str:
    tag = _tag_term(value)
    try:
        check_tags({tag.name: tag.value})
    except TagError as error:
        raise invalid("invalid_tag", f"must be a name, a colon and a value; tags {error}") from None
    return value


class MessagesQuery(WireModel):
    """Contract 4.3."""

    in_query = True
    since = optional(TIMESTAMP_UTC, name="from")
    until = optional(END_OF_RANGE, name="to")
    status = optional(one_of(Status))
    skip = with_default(_SKIP, 0)
    limit = with_default(LIMIT, 50)
    sort_by = with_default(one_of(SortBy), SortBy.CREATED_AT)
    recipient = optional(after(text(), _check_recipient))
    tag = optional(after(text(), _check_tag))
    key = optional(after(text(), _check_key_id))
    template = optional(after(text(), _check_template))

    def to_request(self) -> PageRequest:
        """Return the query as an application object."""
        return PageRequest(
            since=None if self.since is None else _milliseconds(self.since),
            until=None if self.until is None else _milliseconds(self.until),
            status=self.status,
            skip=self.skip,
            limit=self.limit,
            sort_by=self.sort_by,
            recipient=None if self.recipient is None else search_recipient(self.recipient),
            tag=None if self.tag is None else _tag_term(self.tag),
            key_id=self.key,
            template=self.template,
        )


class AnalyticsQuery(WireModel):
    """Contract 4.5."""

    in_query = True
    since = required(TIMESTAMP_UTC, name="from")
    bucket = with_default(one_of(Bucket), Bucket.DAY)
    key = optional(after(text(), _check_key_id))
    template = optional(after(text(), _check_template), check=_check_without_key)
    # Last, because its checks need the fields above.
    until = required(after_fields(END_OF_RANGE, _check_range), name="to")

    @property
    def window(self) -> tuple[int, int]:
        """The start and the end of the time range, in milliseconds since 1970."""
        return _milliseconds(self.since), _milliseconds(self.until)

    @property
    def subset(self) -> Subset | None:
        """The messages to count; None for all."""
        if self.key is not None:
            return Subset(SubsetKind.KEY, self.key)
        return None if self.template is None else Subset(SubsetKind.TEMPLATE, self.template)


class TemplatesQuery(WireModel):
    """Contract 4.8."""

    in_query = True
    skip = with_default(_SKIP, 0)
    limit = with_default(LIMIT, 20)


class DeliveriesQuery(WireModel):
    """The deliveries to a webhook endpoint; ours."""

    in_query = True
    limit = with_default(LIMIT, 50)
    cursor = optional(text(least=1, most=_MAX_CURSOR))


class VersionsQuery(WireModel):
    """The versions of a template; ours."""

    in_query = True
    limit = with_default(LIMIT, 20)
    before = optional(number_in_query(least=1, most=1_000_000_000))


def _milliseconds(moment: datetime) -> int:
    """Return the first millisecond at or after a moment; ids and records have that precision."""
    return -((_EPOCH - moment) // timedelta(milliseconds=1))


def read_query[M: WireModel](event: "APIGatewayProxyEvent", shape: type[M]) -> M:
    """Read the parameters of a query string into a wire model.

    Raises:
        ValidationFailed: with all errors: unknown parameters, repeated parameters,
            malformed values.
    """
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
