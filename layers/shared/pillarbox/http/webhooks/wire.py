"""Read the requests about webhooks. They are ours: the contract has no shapes for them."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from pillarbox.application.webhooks.ports import EndpointChanges
from pillarbox.domain.webhooks.aws_target import MAX_ROLE_ARN, ROLE_PREFIX
from pillarbox.domain.webhooks.endpoint import (
    ALL_TYPES,
    SELECTABLE_TYPES,
    TYPES_OF_EMAILS,
    ReplayRequest,
    WebhookFormat,
)
from pillarbox.domain.webhooks.url import MAX_URL
from pillarbox.http.query import END_OF_RANGE, TIMESTAMP_UTC, one_of
from pillarbox.http.wire import (
    WireModel,
    boolean,
    optional,
    optional_or,
    required,
    short_list,
    text,
)

#: More than there are types. A longer list is refused as a whole.
MAX_TYPES: Final = 50


_TYPES = short_list(text(), least=1, most=MAX_TYPES)
_FORMAT = one_of(WebhookFormat)
_URL = text(least=1, most=MAX_URL)
_ROLE = text(least=1, most=MAX_ROLE_ARN)

# Rules of fields in the document.
_EXAMPLE_ROLE: Final = f"arn:aws:iam::111122223333:role/{ROLE_PREFIX}"
_RULES_OF_URL: Final[Mapping[str, Any]] = {
    "format": "uri",
    "pattern": "^(https://|s3://|arn:)",
    "examples": ["https://shop.example/hooks", "s3://shop-events/mail/"],
}


def _rules_of_types(types: Iterable[str]) -> Mapping[str, Any]:
    """Return the rules of a list of types, or of the one that means all."""
    names = sorted(types)
    either = [
        {"title": "all", "items": {"const": ALL_TYPES}},
        {"title": "a list", "items": {"enum": names}},
    ]
    return {
        "items": {"type": "string", "enum": [ALL_TYPES, *names]},
        "allOf": [{"anyOf": either}],
        "minItems": 1,
        "maxItems": MAX_TYPES,
    }


_RULES_OF_TYPES: Final = _rules_of_types(SELECTABLE_TYPES)
_RULES_OF_REPLAY: Final = _rules_of_types(TYPES_OF_EMAILS)


class CreateWebhookRequest(WireModel):
    """A new endpoint."""

    url = required(_URL, **_RULES_OF_URL)
    """An https: URL on a public host, with port 443 or one from 1024 on. With `roleArn`: the ARN of
    an event bus, or `s3://BUCKET/PREFIX/`. It stays of its kind."""
    types = required(_TYPES, **_RULES_OF_TYPES)
    """`["*"]`, which means all types except `email.accepted`, or a list of types."""
    format = optional_or(_FORMAT, WebhookFormat.PILLARBOX)
    """The shape of the payloads. `pillarbox` is the default; `resend` is that of Resend's webhooks,
    for receivers that were written for it; `postmark` has `email.received` as Postmark's inbound
    webhook. The types are chosen by our names. The signature is the same."""
    role_arn = optional(_ROLE, examples=[_EXAMPLE_ROLE])
    """For an event bus or a bucket in your AWS account: a role in it that may put events there,
    whose name begins with `pillarbox-events`. Its trust policy is the `trustPolicy` of the
    endpoint."""


class ChangeWebhookRequest(WireModel):
    """Changes to an endpoint. Null changes nothing."""

    url = optional(_URL, **_RULES_OF_URL)
    """An https: URL on a public host, with port 443 or one from 1024 on. With `roleArn`: the ARN of
    an event bus, or `s3://BUCKET/PREFIX/`. It stays of its kind."""
    types = optional(_TYPES, **_RULES_OF_TYPES)
    """`["*"]`, which means all types except `email.accepted`, or a list of types."""
    enabled = optional(boolean())
    """Whether events are sent."""
    format = optional(_FORMAT)
    """The shape of the payloads. `pillarbox` is the default; `resend` is that of Resend's webhooks,
    for receivers that were written for it; `postmark` has `email.received` as Postmark's inbound
    webhook. The types are chosen by our names. The signature is the same."""
    role_arn = optional(_ROLE, examples=[_EXAMPLE_ROLE])
    """For an event bus or a bucket in your AWS account: a role in it that may put events there,
    whose name begins with `pillarbox-events`. Its trust policy is the `trustPolicy` of the
    endpoint."""

    @property
    def changes(self) -> EndpointChanges:
        return EndpointChanges(
            url=self.url,
            types=None if self.types is None else frozenset(self.types),
            enabled=self.enabled,
            format=self.format,
            role_arn=self.role_arn,
        )


class ReplayWebhookRequest(WireModel):
    """A time range of emails, and types of their events."""

    since = required(
        TIMESTAMP_UTC, name="from", format="date-time", examples=["2026-01-01T00:00:00Z"]
    )
    """Only emails accepted at or after this time. A time without an offset is UTC."""
    until = optional(END_OF_RANGE, name="to", format="date-time")
    """Only emails accepted before this time, which is after `from`. By default now."""
    types = optional(_TYPES, **_RULES_OF_REPLAY)
    """The types to send again, of those that begin with `email.`, but `email.received`. By default
    those of the endpoint."""

    def to_domain(self, now: datetime) -> ReplayRequest:
        """Return the range; without an end it ends now."""
        types = None if self.types is None else frozenset(self.types)
        return ReplayRequest(since=self.since, until=self.until or now, types=types)
