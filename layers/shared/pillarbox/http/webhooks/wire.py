"""Read the requests about webhooks. They are ours: the contract has no shapes for them."""

from datetime import datetime
from typing import TYPE_CHECKING, Final

from pillarbox.application.webhooks.ports import EndpointChanges
from pillarbox.domain.webhooks.aws_target import MAX_ROLE_ARN
from pillarbox.domain.webhooks.endpoint import ReplayRequest, WebhookFormat
from pillarbox.domain.webhooks.url import MAX_URL
from pillarbox.http.query import END_OF_RANGE, TIMESTAMP_UTC, one_of
from pillarbox.http.wire import (
    WireModel,
    before,
    boolean,
    invalid,
    list_of,
    optional,
    optional_or,
    read_body,
    required,
    text,
)

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

#: More than there are types. A longer list is refused as a whole.
MAX_TYPES: Final = 50


def _limit_types(value: object) -> object:
    if isinstance(value, list) and len(value) > MAX_TYPES:
        raise invalid("too_long", f"must have at most {MAX_TYPES} items")
    return value


_TYPES = before(_limit_types, list_of(text(), least=1))
_FORMAT = one_of(WebhookFormat)
_URL = text(least=1, most=MAX_URL)
_ROLE = text(least=1, most=MAX_ROLE_ARN)


class CreateWebhookRequest(WireModel):
    """A new endpoint."""

    url = required(_URL)
    types = required(_TYPES)
    format = optional_or(_FORMAT, WebhookFormat.PILLARBOX)
    role_arn = optional(_ROLE)


class ChangeWebhookRequest(WireModel):
    """Changes to an endpoint. Null changes nothing."""

    url = optional(_URL)
    types = optional(_TYPES)
    enabled = optional(boolean())
    format = optional(_FORMAT)
    role_arn = optional(_ROLE)


class ReplayWebhookRequest(WireModel):
    """A time range of emails, and types of their events."""

    since = required(TIMESTAMP_UTC, name="from")
    until = optional(END_OF_RANGE, name="to")
    types = optional(_TYPES)


def read_changes(event: "APIGatewayProxyEvent") -> EndpointChanges:
    """Read the body of a request that changes an endpoint.

    Raises:
        ValidationFailed: the body does not have the documented shape.
    """
    body = read_body(event, ChangeWebhookRequest)
    return EndpointChanges(
        url=body.url,
        types=None if body.types is None else frozenset(body.types),
        enabled=body.enabled,
        format=body.format,
        role_arn=body.role_arn,
    )


def read_replay(event: "APIGatewayProxyEvent", now: datetime) -> ReplayRequest:
    """Read the body of a replay by time; without an end the range ends now.

    Raises:
        ValidationFailed: the body does not have the documented shape.
    """
    body = read_body(event, ReplayWebhookRequest)
    return ReplayRequest(
        since=body.since,
        until=body.until or now,
        types=None if body.types is None else frozenset(body.types),
    )
