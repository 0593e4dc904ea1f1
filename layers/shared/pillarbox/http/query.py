"""Read query strings (contract 4.3 to 4.8): known parameters, each once and well-formed."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent
from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator

from pillarbox.application.history.queries import Bucket, PageRequest, SortBy
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.message import Status
from pillarbox.http.models import WireModel
from pillarbox.http.validation import MAX_NAME, invalid, validate

#: The largest integer that every JSON reader keeps exactly (RFC 8259 section 6).
MAX_SKIP: Final = 2**53 - 1

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
_WHOLE_NUMBER: Final = re.compile(r"-?[0-9]{1,99}")


def _parse_whole_number(value: object) -> object:
    if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value):
        return int(value)
    return value  # not a number: the strict type reports it


type Skip = Annotated[int, Field(ge=0, le=MAX_SKIP), BeforeValidator(_parse_whole_number)]
type Limit = Annotated[int, Field(ge=1, le=100), BeforeValidator(_parse_whole_number)]


def _parse_timestamp(value: object) -> object:
    """Parse ISO 8601; a time without an offset is UTC."""
    if not isinstance(value, str) or not _TIMESTAMP.fullmatch(value):
        raise invalid("invalid_timestamp", _TIMESTAMP_ERROR)
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):  # no such day, or a year out of range in UTC
        raise invalid("invalid_timestamp", _TIMESTAMP_ERROR) from None


def _one_of(choices: type[StrEnum]) -> BeforeValidator:
    def choose(value: object) -> object:
        if not isinstance(value, str) or value not in set(choices):
            raise invalid("invalid_choice", f"must be one of {', '.join(choices)}")
        return choices(value)

    return BeforeValidator(choose)


def _check_after_since(value: datetime | None, info: ValidationInfo) -> datetime | None:
    since = info.data.get("since")  # None if it is invalid itself
    if value is not None and since is not None and value <= since:
        raise invalid("not_after_from", "must be after from")
    return value


type Timestamp = Annotated[datetime, BeforeValidator(_parse_timestamp)]


class MessagesQuery(WireModel):
    """Contract 4.3."""

    since: Annotated[Timestamp | None, Field(alias="from")] = None
    until: Annotated[Timestamp | None, Field(alias="to"), AfterValidator(_check_after_since)] = None
    status: Annotated[Status, _one_of(Status)] | None = None
    skip: Skip = 0
    limit: Limit = 50
    sort_by: Annotated[SortBy, _one_of(SortBy)] = SortBy.CREATED_AT

    def to_request(self) -> PageRequest:
        """Return the query as an application object."""
        return PageRequest(
            since=None if self.since is None else _milliseconds(self.since),
            until=None if self.until is None else _milliseconds(self.until),
            status=self.status,
            skip=self.skip,
            limit=self.limit,
            sort_by=self.sort_by,
        )


class AnalyticsQuery(WireModel):
    """Contract 4.5."""

    since: Annotated[Timestamp, Field(alias="from")]
    bucket: Annotated[Bucket, _one_of(Bucket)] = Bucket.DAY
    # Last, because its validators need the fields above.
    until: Annotated[Timestamp, Field(alias="to"), AfterValidator(_check_after_since)]

    @field_validator("until")
    @classmethod
    def _check_range(cls, value: datetime, info: ValidationInfo) -> datetime:
        since, bucket = info.data.get("since"), info.data.get("bucket")
        if since and bucket and value - since > _MAX_RANGE[bucket]:
            days = _MAX_RANGE[bucket].days
            raise invalid(
                "window_too_long", f"must be at most {days} days after from, by {bucket.value}"
            )
        return value

    @property
    def window(self) -> tuple[int, int]:
        """The start and the end of the time range, in milliseconds since 1970."""
        return _milliseconds(self.since), _milliseconds(self.until)


class TemplatesQuery(WireModel):
    """Contract 4.8."""

    skip: Skip = 0
    limit: Limit = 20


def _milliseconds(moment: datetime) -> int:
    """Return the first millisecond at or after a moment; ids and records have that precision."""
    return -((_EPOCH - moment) // timedelta(milliseconds=1))


def read_query[M: WireModel](event: APIGatewayProxyEvent, model: type[M]) -> M:
    """Read the parameters of a query string into a model.

    Raises:
        ValidationFailed: with all errors: unknown parameters, repeated parameters,
            malformed values.
    """
    parameters = event.raw_event.get("multiValueQueryStringParameters") or {}
    errors = [
        FieldError(name[:MAX_NAME], "must be given once", "repeated")
        for name, values in parameters.items()
        if len(values) > 1
    ]
    try:
        query = validate(model, {name: values[-1] for name, values in parameters.items()})
    except ValidationFailed as failed:
        raise ValidationFailed(*errors, *failed.errors) from None
    if errors:
        raise ValidationFailed(*errors)
    return query
