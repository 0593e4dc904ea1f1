"""What the APIs in the shapes of other services share."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.application.validation import normalize_address, parse_sender
from pillarbox.domain.address import AddressSyntaxError
from pillarbox.domain.errors import FieldError, Json, ServiceError, ValidationFailed, cut
from pillarbox.domain.messages.batch import MAX_MESSAGES, BatchRequest
from pillarbox.domain.messages.header_text import INVISIBLE, UNSAFE, is_header_safe, is_visible
from pillarbox.domain.messages.mail import MAX_RECIPIENTS, SendRequest
from pillarbox.http.accept import parse_send
from pillarbox.http.callers import KEY, Callers
from pillarbox.http.messages.replies import Reply, reply, reply_error
from pillarbox.http.messages.wire import batch_hash, send_hash
from pillarbox.http.requests import request_origin
from pillarbox.http.wire import MAX_NAME

if TYPE_CHECKING:
    from pillarbox.application.sending.changes import Caller

#: More than any object of such a service has.
_MAX_UNKNOWN: Final = 100


#: PHP has one empty array, and clients send these for what their caller does not give.
_NOTHING: Final[tuple[Json, ...]] = (None, "", [], {})


def given(body: Mapping[str, Json], keep: Collection[str] = ()) -> dict[str, Json]:
    """Return the fields that have a value; the content of a file may be empty, so `keep` it."""
    return {
        name: value
        for name, value in body.items()
        if value not in _NOTHING or (name in keep and value is not None)
    }


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of an object that another service takes. What is empty is the same as no field."""

    #: Their name -> ours.
    carried: Mapping[str, str]
    #: Those that say what is so anyway: their name -> the only value, and what is so.
    settled: Mapping[str, tuple[Json, str]] = field(default_factory=dict)
    #: Their name -> why there is none.
    refused: Mapping[str, str] = field(default_factory=dict)
    #: Those that may be empty.
    keep: Collection[str] = ()
    #: Whether the case of names does not matter.
    any_case: bool = False

    @property
    def names(self) -> frozenset[str]:
        return frozenset({*self.carried, *self.settled, *self.refused})

    def translate(self, body: Json) -> dict[str, Json]:
        """Return an object with our names for what is carried."""
        if not isinstance(body, dict):
            raise ValidationFailed(FieldError("", "must be an object", "wrong_type"))
        if self.any_case:
            body = self._as_spelled(body)
        present = given(body, self.keep)
        errors = [
            FieldError(cut(name, MAX_NAME), reason, "unknown_field")
            for name, value in present.items()
            if (reason := self._refusal(name, value))
        ]
        if errors:
            raise ValidationFailed(
                *errors[:_MAX_UNKNOWN], unlisted=max(0, len(errors) - _MAX_UNKNOWN)
            )
        return {ours: present[name] for name, ours in self.carried.items() if name in present}

    def _as_spelled(self, body: Mapping[str, Json]) -> dict[str, Json]:
        spelled = {name.lower(): name for name in self.names}
        found: dict[str, Json] = {}
        for name, value in body.items():
            usual = spelled.get(name.lower(), name)
            if usual in found:
                raise ValidationFailed(FieldError(usual, "is given twice", "duplicate"))
            found[usual] = value
        return found

    def _refusal(self, name: str, value: Json) -> str | None:
        if name in self.carried:
            return None
        if name in self.settled:
            only, reason = self.settled[name]
            return None if _same(value, only) else reason
        return self.refused.get(name, "is not a field that Pillarbox has")


def named_values(field: str, items: Sequence[Json], pair: Fields) -> dict[str, Json]:
    """Return the values of a list of names and values, by their names.

    `pair` has our names `name` and `value` for the two fields of each item.
    """
    values: dict[str, Json] = {}
    for position, item in enumerate(items):
        try:
            found = pair.translate(item)
        except ValidationFailed as failed:
            raise failed.below(f"{field}.{position}") from None
        if not found:
            continue
        name = found.get("name")
        if not isinstance(name, str) or name in values:
            theirs = next(theirs for theirs, ours in pair.carried.items() if ours == "name")
            message = "must be a name that occurs once"
            raise ValidationFailed(
                FieldError(f"{field}.{position}.{theirs}", message, "wrong_type")
            )
        values[name] = found.get("value")
    return given(values)


def _same(value: Json, other: Json) -> bool:
    # 0 is not false here.
    return type(value) is type(other) and value == other


def split_names(field: str, entries: Sequence[Json]) -> tuple[list[Json], dict[str, str]]:
    """Return recipients as bare addresses, and the names by address that some of them have.

    More entries than an email may have are returned as they are, and refused later.
    """
    bare, names = list[Json](), dict[str, str]()
    for position, entry in enumerate(entries):
        is_named = isinstance(entry, str) and entry.rstrip().endswith(">")
        if not isinstance(entry, str) or not is_named or position >= MAX_RECIPIENTS:
            bare.append(entry)
            continue
        try:
            name, address = parse_sender(entry)
        except AddressSyntaxError as error:
            raise ValidationFailed(
                FieldError(f"{field}.{position}", str(error), "invalid_address")
            ) from error
        if name and not is_header_safe(name):
            raise ValidationFailed(FieldError(f"{field}.{position}", UNSAFE, "control_character"))
        if name and not is_visible(name):
            raise ValidationFailed(FieldError(f"{field}.{position}", INVISIBLE, "invisible"))
        bare.append(address)
        if name:
            names[address] = name
    return bare, names


def reply_mailboxes(field: str, entries: Sequence[Json]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return who gets replies as normalized addresses, and the names by address."""
    if len(entries) > MAX_RECIPIENTS:
        message = f"must not have more than {MAX_RECIPIENTS} addresses"
        raise ValidationFailed(FieldError(field, message, "too_long"))
    bare, names = split_names(field, entries)
    addresses = []
    for position, address in enumerate(bare):
        where = f"{field}.{position}"
        if not isinstance(address, str):
            raise ValidationFailed(FieldError(where, "must be a string", "wrong_type"))
        addresses.append(normalize_address(address, where))
    return tuple(addresses), names


#: Fields that libraries of mail put into every message: ours and SES's replace them.
_WRITTEN_ANYWAY: Final = frozenset(
    {"content-transfer-encoding", "date", "message-id", "mime-version"}
)


#: Says whether answers come back, as over SMTP, and is not delivered.
_REPLIES: Final = "x-replies"
_YES_OR_NO: Final[Mapping[Json, bool]] = {"true": True, "false": False}


def unwrapped(content: Json) -> Json:
    """Return base64 without its line ends: Symfony and Ruby send it as it is in a message."""
    return content.replace("\r", "").replace("\n", "") if isinstance(content, str) else content


def translated_send(
    ours: Mapping[str, Json],
    body: Json,
    names: Mapping[str, str],
    replies: tuple[str, Sequence[Json]] = ("", ()),
) -> SendRequest:
    """Validate a translated email as the contract's.

    `body` is what the client sent, `names` are those of recipients, by address, and `replies` is
    the client's field for who gets replies, with its entries.
    """
    request = parse_send({**ours, **_headers(ours)})
    reply_to, reply_names = reply_mailboxes(*replies)
    return replace(
        request,
        body_hash=send_hash(body),
        reply_to=reply_to,
        names={**reply_names, **names},
    )


def _headers(ours: Mapping[str, Json]) -> dict[str, Json]:
    headers = ours.get("headers")
    if not isinstance(headers, dict):
        return {}
    kept = {name: value for name, value in headers.items() if name.lower() not in _WRITTEN_ANYWAY}
    asked = [kept.pop(name) for name in [*kept] if name.lower() == _REPLIES]
    if asked and asked[-1] not in _YES_OR_NO:
        raise ValidationFailed(FieldError("X-Replies", "must be true or false", "invalid_value"))
    return {"headers": kept} | ({"replies": _YES_OR_NO[str(asked[-1])]} if asked else {})


def translated_batch(
    emails: list[Json], translate: Callable[[Json], SendRequest], *, whole: bool
) -> BatchRequest:
    """Translate the emails of a batch; with `whole` it is sent as a whole or not at all."""
    if len(emails) > MAX_MESSAGES:
        return BatchRequest(body_hash="", count=len(emails), items=())

    def item(position: int, email: Json) -> SendRequest | ServiceError:
        try:
            return translate(email)
        except ValidationFailed as failed:
            return failed.below(str(position))

    return BatchRequest(
        body_hash=batch_hash({"messages": emails}),
        count=len(emails),
        items=tuple(item(position, email) for position, email in enumerate(emails)),
        whole=whole,
    )


def keys_in(read_key: Callable[[APIGatewayProxyEvent], str], scope: str) -> "Callers[Caller]":
    """Return the callers whose key stands where clients of another service put theirs."""
    return Callers(
        (KEY,),
        lambda services, event: services.caller_authentication.authenticate(
            read_key(event), scope, origin=request_origin(event)
        ),
        scope,
    )


def reply_in_shape(error: ServiceError, status: int, body: Mapping[str, object]) -> Reply:
    """Reply with a body and a status of another service, and the headers of our own reply."""
    ours = reply_error(error).headers
    return reply(body, status, {k: v for k, v in ours.items() if isinstance(v, str)})


def describe(error: ServiceError, names: Mapping[str, str], message: str = "") -> str:
    """Return an error in words, with the names that the client used.

    `names` has our name of a field -> theirs. `message` says it with their names, in place of ours.
    """
    if not isinstance(error, ValidationFailed):
        return message or error.message
    shown = error.listing(10)
    faults = "; ".join(_fault(fault, names) for fault in shown.errors)
    more = f" ({shown.unlisted} more)" if shown.unlisted else ""
    return f"{faults[:1].upper()}{faults[1:]}.{more}"


def _fault(fault: FieldError, names: Mapping[str, str]) -> str:
    if not fault.field:
        of_body = fault.message.startswith("must ")
        return f"the body {fault.message}" if of_body else fault.message
    field = fault.field
    if fault.code != "unknown_field":  # whose name is the client's, which may be one of ours
        field = ".".join(names.get(part, part) for part in field.split("."))
    return f"`{field}` {fault.message}"
