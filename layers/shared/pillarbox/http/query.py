"""Reading a query string: known parameters, each once and of its shape (contract 4.3 to 4.8)."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent
from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator

from pillarbox.application.history.queries import Bucket, PageRequest, SortBy
from pillarbox.domain.errors import FieldFault, ValidationFailed
from pillarbox.domain.message import Status
from pillarbox.http.models import WireModel
from pillarbox.http.validation import LONGEST_NAME, invalid, validate

#: What every JSON reader holds exactly (RFC 8259 section 6); no list is that long.
MAX_SKIP: Final = 2**53 - 1

#: A window has at most so many buckets, and a little more: 744 hours, 400 days.
_LONGEST: Final[Mapping[Bucket, timedelta]] = {
    Bucket.HOUR: timedelta(days=31),
    Bucket.DAY: timedelta(days=400),
}

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TIMESTAMP: Final = re.compile(
    r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII
)
_TIMESTAMP_EXPECTED: Final = (
    "must be a timestamp of ISO 8601, such as 2026-01-31T12:00:00Z (a + is written %2B)"
)
_WHOLE_NUMBER: Final = re.compile(r"-?[0-9]{1,99}")


def _whole_number(value: object) -> object:
    if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value):
        return int(value)
    return value  # no number: the strict type names it


type Skip = Annotated[int, Field(ge=0, le=MAX_SKIP), BeforeValidator(_whole_number)]
type Limit = Annotated[int, Field(ge=1, le=100), BeforeValidator(_whole_number)]


def _timestamp(value: object) -> object:
    """ISO 8601; without an offset it is UTC."""
    if not isinstance(value, str) or not _TIMESTAMP.fullmatch(value):
        raise invalid("invalid_timestamp", _TIMESTAMP_EXPECTED)
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):  # no such day, or a year that UTC does not reach
        raise invalid("invalid_timestamp", _TIMESTAMP_EXPECTED) from None


def _one_of(choices: type[StrEnum]) -> BeforeValidator:
    def choose(value: object) -> object:
        if not isinstance(value, str) or value not in set(choices):
            raise invalid("invalid_choice", f"must be one of {', '.join(choices)}")
        return choices(value)

    return BeforeValidator(choose)


def _after_since(value: datetime | None, info: ValidationInfo) -> datetime | None:
    since = info.data.get("since")  # None when it is faulty itself
    if value is not None and since is not None and value <= since:
        raise invalid("not_after_from", "must be after from")
    return value


type Timestamp = Annotated[datetime, BeforeValidator(_timestamp)]


class MessagesQuery(WireModel):
    """Contract 4.3."""

    since: Annotated[Timestamp | None, Field(alias="from")] = None
    until: Annotated[Timestamp | None, Field(alias="to"), AfterValidator(_after_since)] = None
    status: Annotated[Status, _one_of(Status)] | None = None
    skip: Skip = 0
    limit: Limit = 50
    sort_by: Annotated[SortBy, _one_of(SortBy)] = SortBy.CREATED_AT

    def to_request(self) -> PageRequest:
        """What to list, in the application's terms."""
        return PageRequest(
            since=None if self.since is None else _first_id(self.since),
            until=None if self.until is None else _first_id(self.until),
            status=self.status,
            skip=self.skip,
            limit=self.limit,
            sort_by=self.sort_by,
        )


class AnalyticsQuery(WireModel):
    """Contract 4.5."""

    since: Annotated[Timestamp, Field(alias="from")]
    bucket: Annotated[Bucket, _one_of(Bucket)] = Bucket.DAY
    # The last: what bounds it is known by then.
    until: Annotated[Timestamp, Field(alias="to"), AfterValidator(_after_since)]

    @field_validator("until")
    @classmethod
    def _within_bounds(cls, value: datetime, info: ValidationInfo) -> datetime:
        since, bucket = info.data.get("since"), info.data.get("bucket")
        if since and bucket and value - since > _LONGEST[bucket]:
            days = _LONGEST[bucket].days
            raise invalid(
                "window_too_long", f"must be at most {days} days after from, by {bucket.value}"
            )
        return value

    @property
    def window(self) -> tuple[int, int]:
        """From where to where, in milliseconds since 1970."""
        return _first_id(self.since), _first_id(self.until)


class TemplatesQuery(WireModel):
    """Contract 4.8."""

    skip: Skip = 0
    limit: Limit = 20


def _first_id(moment: datetime) -> int:
    """The first millisecond at or after a moment: ids and records know no less."""
    return -((_EPOCH - moment) // timedelta(milliseconds=1))


def read_query[M: WireModel](event: APIGatewayProxyEvent, model: type[M]) -> M:
    """The parameters of a query string, as a model has them.

    Raises:
        ValidationFailed: with every fault: an unknown parameter, one that is
            given twice, a value of another shape.
    """
    given = event.raw_event.get("multiValueQueryStringParameters") or {}
    faults = [
        FieldFault(name[:LONGEST_NAME], "must be given once", "repeated")
        for name, values in given.items()
        if len(values) > 1
    ]
    try:
        query = validate(model, {name: values[-1] for name, values in given.items()})
    except ValidationFailed as failed:
        raise ValidationFailed(*faults, *failed.faults) from None
    if faults:
        raise ValidationFailed(*faults)
    return query
