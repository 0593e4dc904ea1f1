"""Read the query strings of an account's history (contract 4.3 and 4.5)."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from pillarbox.application.history.pagination import PageRequest, SortBy
from pillarbox.application.history.queries import Bucket, search_recipient
from pillarbox.domain.accounts.key import KEY_ID
from pillarbox.domain.address import AddressSyntaxError
from pillarbox.domain.ids import is_uuid
from pillarbox.domain.messages.message import MAX_CODE, Status, TagError, check_tags
from pillarbox.domain.messages.statistics import Subset, SubsetKind, TagTerm
from pillarbox.http.query import END_OF_RANGE, LIMIT, SKIP, TIMESTAMP_UTC, one_of
from pillarbox.http.wire import (
    WireModel,
    after,
    after_fields,
    invalid,
    matching,
    optional,
    required,
    text,
    with_default,
)

if TYPE_CHECKING:
    from pydantic_core.core_schema import ValidationInfo

#: The longest time range of analytics: about 744 rows by the hour, 400 by the day.
_MAX_RANGE: Final[Mapping[Bucket, timedelta]] = {
    Bucket.HOUR: timedelta(days=31),
    Bucket.DAY: timedelta(days=400),
}

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
#: The form of a starter template's slug.
SLUG: Final = "[a-z][a-z0-9_]{0,63}"
#: The rules of a template's id or slug in the document.
_OF_TEMPLATE: Final[Mapping[str, Any]] = {
    "anyOf": [
        {"type": "string", "format": "uuid"},
        {"type": "string", "pattern": f"^{SLUG}$"},
    ],
    "examples": ["password_reset"],
}


def _check_range(value: datetime, info: "ValidationInfo") -> datetime:
    since, bucket = info.data.get("since"), info.data.get("bucket")
    if since and bucket and value - since > _MAX_RANGE[bucket]:
        days = _MAX_RANGE[bucket].days
        raise invalid(
            "window_too_long", f"must be at most {days} days after from, by {bucket.value}"
        )
    return value


_KEY_ID: Final = matching(
    KEY_ID, "invalid_key_id", "must be the id of an API key, such as a message's keyId"
)


def _check_template(value: str) -> str:
    if not is_uuid(value) and not re.fullmatch(SLUG, value):
        raise invalid(
            "invalid_template",
            "must be the id of a saved template or the slug of a starter template",
        )
    return value.lower()


def _check_without_key(value: str | None, info: "ValidationInfo") -> str | None:
    if value is not None and info.data.get("key_id") is not None:
        raise invalid("not_with_key", "cannot be combined with keyId")
    return value


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


def _check_error(value: str, info: "ValidationInfo") -> str:
    # The rollups count each error by itself, and not by status or update.
    if info.data.get("status") is not None:
        raise invalid("not_with_status", "cannot be combined with status")
    if info.data.get("sort_by") is not SortBy.CREATED_AT:
        raise invalid("not_with_order", "needs the order created_at")
    return value


class MessagesQuery(WireModel):
    """Contract 4.3."""

    in_query = True
    since = optional(TIMESTAMP_UTC, name="from", format="date-time")
    """Only messages created at or after this time. A time without an offset is UTC."""
    until = optional(END_OF_RANGE, name="to", format="date-time")
    """Only messages created before this time, which is after `from`."""
    status = optional(one_of(Status))
    """Only messages with this status."""
    skip = with_default(SKIP, 0)
    """How many items to skip."""
    limit = with_default(LIMIT, 50)
    """The maximum number of items."""
    sort_by = with_default(one_of(SortBy), SortBy.CREATED_AT)
    """The field to sort by, in descending order."""
    recipient = optional(after(text(), _check_recipient), examples=["ann@example.com", "ann*"])
    """Only messages with this address in to, cc or bcc, or with a final `*` those with an address
    that begins so. Case does not matter; write a + as %2B. Of messages to one address the newest
    1,000 are found, and `total` is at most 1,000. A start that finds more is refused."""
    tag = optional(after(text(), _check_tag), examples=["order:10442"])
    """Only messages with this tag: its name, a colon and its whole value. The newest 1,000 are
    found. With `status`, `recipient` or another order than `created_at`, a search by recipient or
    tag may find at most 200 messages in the time range; more are refused with `too_many_matches`.
    """
    key_id = optional(_KEY_ID, pattern=f"^{KEY_ID}$")
    """Only messages that the API key with this id sent: the `keyId` of a message, not the key
    itself. An id that the account does not have has no messages. A search by recipient or tag with
    `keyId` or `template` may find at most 200 messages."""
    template = optional(after(text(), _check_template), **_OF_TEMPLATE)
    """Only messages from the saved template with this id, or from the starter template with this
    slug. One that the account does not have has no messages. Together with `keyId`, one of them may
    have at most 200 messages in the time range; more are refused with `too_many_matches`."""
    error = optional(
        after_fields(text(least=1, most=MAX_CODE), _check_error), examples=["mailbox_full"]
    )
    """Only messages whose current failure has this code, such as a `code` of `topErrors`. Not
    together with `status`, nor with another order than `created_at`."""

    def to_request(self) -> PageRequest:
        return PageRequest(
            since=None if self.since is None else _milliseconds(self.since),
            until=None if self.until is None else _milliseconds(self.until),
            status=self.status,
            skip=self.skip,
            limit=self.limit,
            sort_by=self.sort_by,
            recipient=None if self.recipient is None else search_recipient(self.recipient),
            tag=None if self.tag is None else _tag_term(self.tag),
            key_id=self.key_id,
            template=self.template,
            error=self.error,
        )


class AnalyticsQuery(WireModel):
    """Contract 4.5."""

    in_query = True
    since = required(TIMESTAMP_UTC, name="from", examples=["2026-01-01T00:00:00Z"])
    """The start of the time range, inclusive. A time without an offset is UTC."""
    bucket = with_default(one_of(Bucket), Bucket.DAY)
    """The length of time that one row of `volume` covers."""
    key_id = optional(_KEY_ID, pattern=f"^{KEY_ID}$")
    """Only messages that the API key with this id sent: the `keyId` of a message, not the key
    itself. An id that the account does not have has no messages."""
    template = optional(after(text(), _check_template), check=_check_without_key, **_OF_TEMPLATE)
    """Only messages from the saved template with this id, or from the starter template with this
    slug. One that the account does not have has no messages. Not together with `keyId`."""
    # Last, because its checks need the fields above.
    until = required(
        after_fields(END_OF_RANGE, _check_range), name="to", examples=["2026-02-01T00:00:00Z"]
    )
    """The end of the time range, exclusive and after `from`."""

    @property
    def window(self) -> tuple[int, int]:
        """The start and the end of the time range, in milliseconds since 1970."""
        return _milliseconds(self.since), _milliseconds(self.until)

    @property
    def subset(self) -> Subset | None:
        """The messages to count; None for all."""
        if self.key_id is not None:
            return Subset(SubsetKind.KEY, self.key_id)
        return None if self.template is None else Subset(SubsetKind.TEMPLATE, self.template)


def _milliseconds(moment: datetime) -> int:
    """Return the first millisecond at or after a moment; ids and records have that precision."""
    return -((_EPOCH - moment) // timedelta(milliseconds=1))
