"""Write responses: the shapes of their JSON, and the envelope of every error (contract section 7).

The OpenAPI document is made from the shapes, which are views of the service's own objects.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final
from uuid import UUID

from aws_lambda_powertools.event_handler.api_gateway import Response

from pillarbox.application.ports import AcceptedMessage
from pillarbox.domain.errors import MAX_FAULTS, Json, ServiceError, ValidationFailed, cut

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated, Literal

    from pydantic import Field

    from pillarbox.application.ports import StoredResponse
    from pillarbox.domain.messages.message import Message
    from pillarbox.http.json_types import ErrorBody, IfSet, Timestamp, Uuid

#: What a handler returns.
type Reply = Response[str]
#: A member of a view: its name, how to get its value, the view of that, and whether it always is.
type _Member = tuple[str, Callable[[Any], object], type[View] | None, bool]

_JSON: Final = "application/json"
_WORDS: Final = re.compile(r"\w+")
#: In bytes. A message may contain a name from the request.
_MAX_MESSAGE: Final = 512


class View:
    """The shape of a JSON object in a response: each annotated attribute is a member.

    `created_at: Timestamp` is the member `createdAt`: the attribute of this name of the object that
    is shown, or what `taken_from` says. If the annotation names a view of the same module, the
    value, or each item of it, is shown by that. `IfSet` leaves out what is null or false. A
    text below an attribute describes it in the OpenAPI document; CPython drops it.
    """

    published_name: ClassVar[str]
    shown_under: ClassVar[str]

    def __init_subclass__(cls, *, name: str = "", under: str = "") -> None:
        """Declare a shape.

        Args:
            name: its name in the document and in generated clients, by default the class's.
            under: the attributes below which the object is whose members it inherits.
        """
        cls.published_name, cls.shown_under = name or cls.__name__, under

    @classmethod
    def of(cls, shown: object = None, **given: object) -> dict[str, Any]:
        """Return the JSON of an object; what is given stands for its attributes."""
        members = {}
        for attribute, (name, read, shape, is_required) in cls.declared().items():
            value = given[attribute] if attribute in given else read(shown)
            if is_required or (value is not None and value is not False):
                members[name] = _json(value, shape)
        return members

    @classmethod
    @cache
    def declared(cls) -> Mapping[str, _Member]:
        """Return the members by their attributes, those of the views that it extends first."""
        declared: dict[str, _Member] = {}
        for base in reversed(cls.__mro__):
            if not issubclass(base, View) or base is View:
                continue
            module = vars(sys.modules[base.__module__])
            if base.shown_under:
                declared = {
                    one: _below(base.shown_under, member) for one, member in declared.items()
                }
            for attribute, annotation in vars(base).get("__annotations__", {}).items():
                words = _WORDS.findall(annotation)
                shapes = [module[word] for word in words if _is_view(module.get(word))]
                read, shape = vars(base).get(attribute) or taken_from(attribute)
                declared[attribute] = (
                    to_camel(attribute.removesuffix("_")),
                    read,
                    shape or next(iter(shapes), None),
                    words[0] != "IfSet",
                )
        return declared


def taken_from(origin: str | Callable[[Any], object], shape: type[View] | None = None) -> Any:  # noqa: ANN401  of each type
    """Say where a member's value is, and the view of another module that shows it.

    Args:
        origin: attributes with dots between them, or a function of the object that is shown. After
            an attribute that is None, the value is None.
        shape: the view.
    """
    return origin if callable(origin) else _path(origin), shape


def _path(attributes: str) -> Callable[[Any], object]:
    names = attributes.split(".")

    def read(value: Any) -> object:  # noqa: ANN401  of each type
        for name in names:
            value = None if value is None else getattr(value, name)
        return value

    return read


def _below(attributes: str, member: _Member) -> _Member:
    name, read, shape, is_required = member
    upper = _path(attributes)
    return name, lambda shown: read(upper(shown)), shape, is_required


def _is_view(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, View)


def to_camel(name: str) -> str:
    """Return an attribute's name in camelCase; it may already be so written."""
    head, *tail = name.split("_")
    return head + "".join(map(str.capitalize, tail))


def _json(value: Any, shape: type[View] | None = None) -> Any:  # noqa: ANN401  of each type
    """Return a value as JSON has it, shown by a view unless it is JSON already."""
    match value:
        case None | str() | int() | float():
            return value
        case datetime():
            return timestamp(value)
        case UUID():
            return str(value)
        case Mapping():
            return {str(name): _json(item, shape) for name, item in value.items()}
        case frozenset():
            return sorted(value)
        case Iterable():
            return [_json(item, shape) for item in value]
        case _:
            return shape.of(value) if shape else value


def common_headers(request_id: str) -> dict[str, list[str]]:
    """Return the headers of every response.

    Without `no-store` an error could stay in a cache, such as CloudFront's.
    """
    return {"X-Request-Id": [request_id], "Cache-Control": ["no-store"]}


def reply(
    body: Mapping[str, object] | Sequence[Mapping[str, object]],
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    return Response(status, _JSON, _write(body), headers=dict(headers or {}))


def reply_nothing(headers: Mapping[str, str] | None = None) -> Reply:
    """Reply 204, which has no body."""
    return Response(204, body="", headers=dict(headers or {}))


def reply_page(
    items: Iterable[Mapping[str, object]], total: int, *, skip: int, limit: int
) -> Reply:
    """Reply with one page of a list (contract 4.3 and 4.8)."""
    return reply({"items": list(items), "total": total, "skip": skip, "limit": limit})


def reply_stored(response: StoredResponse) -> Reply:
    """Reply with a stored response; a replay repeats it byte for byte (contract 4.11).

    What is left of the quota is that of now.
    """
    headers = {"Idempotent-Replay": "true"} if response.replayed else {}
    headers |= response.quota.header_fields if response.quota else {}
    return Response(200, _JSON, response.body, headers=dict(headers))


type OnlyForOwner = Annotated[
    Literal[True],
    Field(description="Only if the key belongs to an agent whose emails an owner releases."),
]


class SendResult(View):
    """The email is accepted: it is recorded and will be delivered."""

    message_id: Uuid
    """Use it to look the message up."""
    status: Literal["queued"] = taken_from(lambda _: "queued")
    from_: str = taken_from("sender")
    """The address that the email is sent from."""
    scheduled_at: IfSet[Timestamp]
    """Only with `scheduledAt` in the request."""
    held: IfSet[Literal[True]]
    """Only if it waits for its release."""
    awaits_owner: IfSet[OnlyForOwner] = taken_from("for_owner")


class BatchResultItem(View, name="BatchItem"):
    """The result for one message of a batch."""

    idx: Annotated[int, Field(ge=0)]
    """The position of the message in the request, from zero."""
    message_id: Uuid | None
    """Null if the message was refused."""
    status: Literal["queued"] | None = taken_from(lambda accepted: accepted and "queued")
    """Null if the message was refused."""
    from_: str | None = taken_from("sender")
    """Null if the message was refused."""
    error: ErrorBody | None = taken_from(lambda _: None)
    """Null if the message was accepted."""
    scheduled_at: IfSet[Timestamp]
    """Only with `scheduledAt` in the message."""
    held: IfSet[Literal[True]]
    """Only if it waits for its release."""
    awaits_owner: IfSet[OnlyForOwner] = taken_from("for_owner")


class BatchResult(View):
    """A result for each message, in the order of the request. Check `error` of each."""

    results: list[BatchResultItem]


def send_result(accepted: AcceptedMessage) -> str:
    """Write the response to a send (contract 2.3)."""
    return _write(SendResult.of(accepted))


def batch_result(outcomes: Sequence[AcceptedMessage | ServiceError]) -> str:
    """Write the response to a batch (contract 2.4).

    Its messages share the faults that a response lists.
    """
    lists = sum(isinstance(outcome, ServiceError) for outcome in outcomes)
    faults = max(1, MAX_FAULTS // max(1, lists))
    results = [
        BatchResultItem.of(outcome, idx=position)
        if isinstance(outcome, AcceptedMessage)
        else BatchResultItem.of(idx=position, error=error_body(outcome, faults))
        for position, outcome in enumerate(outcomes)
    ]
    return _write({"results": results})


def _write(body: Mapping[str, object] | Sequence[Mapping[str, object]]) -> str:
    return json.dumps(body, separators=(",", ":"))


def reply_error(error: ServiceError) -> Reply:
    return reply({"error": error_body(error, MAX_FAULTS)}, error.status, error.headers)


def error_body(error: ServiceError, faults: int) -> dict[str, Json]:
    """Return the `error` object with at most so many faults: a response has a limited size."""
    if isinstance(error, ValidationFailed):
        error = error.listing(faults)
    body = error.envelope()
    body["message"] = cut(error.message, _MAX_MESSAGE)
    details = error.details or {}
    if isinstance(recipients := details.get("recipients"), list):
        # The message says how many there are.
        body["details"] = {**details, "recipients": recipients[:faults]}
    return body


def timestamp(moment: datetime) -> str:
    """Return a time in ISO 8601 with the offset +00:00 (contract 2.5)."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def scheduled_at(message: Message) -> str | None:
    """Return when a message is or was due, or None for one that is held or was sent at once."""
    schedule = message.schedule
    return timestamp(schedule.due_at) if schedule and not schedule.held else None
