"""Translate requests in Resend's shape into those of the contract, and write its responses."""

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.application.ports import AcceptedMessage
from pillarbox.domain.errors import FieldError, Json, ServiceError, ValidationFailed, cut
from pillarbox.domain.ids import is_uuid
from pillarbox.domain.messages.batch import BatchRequest
from pillarbox.domain.messages.mail import SendRequest
from pillarbox.domain.messages.message import EventKind, Message, Status
from pillarbox.domain.messages.schedule import MIN_AHEAD
from pillarbox.http.accept import ParsedSend, read_keyed
from pillarbox.http.dialects import (
    Fields,
    describe,
    given,
    named_values,
    reply_in_shape,
    split_names,
    translated_batch,
    translated_send,
    unwrapped,
)
from pillarbox.http.messages.replies import Reply, scheduled_at, timestamp
from pillarbox.http.requests import (
    bearer_tokens,
    caller_request,
    header_values,
    read_json,
    read_uuid,
    refuse_account,
)
from pillarbox.http.wire import validate

if TYPE_CHECKING:
    from pillarbox.application.sign_in.authentication import CallerRequest

#: Resend's names of fields that the contract has under another name.
RENAMED: Final[Mapping[str, str]] = {
    "reply_to": "replyTo",
    "content_type": "contentType",
    "content_id": "contentId",
    "scheduled_at": "scheduledAt",
}
#: Fields of an email that are refused, and why.
REFUSED: Final[Mapping[str, str]] = {
    "topic_id": "there are no topics and no audiences",
    "react": "render it to html",
}
_CARRIED: Final = ("from", "to", "cc", "bcc", "subject", "html", "text", "scheduled_at")
_TRANSLATED: Final = ("reply_to", "headers", "tags", "attachments", "template")
EMAIL_FIELDS: Final = (*_CARRIED, *_TRANSLATED)
#: `in 1 hour`, as Resend's documentation has it. Other words for a time differ between programs.
_IN: Final = (
    r"(?ai)\s*in\s+(?:([0-9]{1,5})|an?)\s+"
    r"(?:(s(?:ec(?:ond)?s?)?)|(m(?:in(?:ute)?s?)?)|(h(?:(?:ou)?rs?)?)|(d(?:ays?)?)|(w(?:eeks?)?))\s*"
)
#: How a calendar begins (RFC 5545 section 3.4), perhaps after a byte order mark.
_CALENDAR: Final = r"(?ai)\ufeff?BEGIN:VCALENDAR\b"
_UNITS: Final = ("seconds", "minutes", "hours", "days", "weeks")
ATTACHMENT_FIELDS: Final = ("filename", "content", "content_type", "content_id", "path")
_TAG: Final = Fields({"name": "name", "value": "value"})
_STRICT, _PERMISSIVE = "strict", "permissive"


def read_bearer_key(event: APIGatewayProxyEvent) -> str:
    """Return the API key in Authorization. The contract's own routes take it in X-API-Key alone."""
    refuse_account(event)
    return _read_key(event)


def read_bearer_caller(event: APIGatewayProxyEvent) -> "CallerRequest":
    """Return which key calls a route that manages an account, for which account, and what for."""
    return caller_request(event, _read_key(event))


def _read_key(event: APIGatewayProxyEvent) -> str:
    tokens = bearer_tokens(event)
    if len(tokens) != 1 or not tokens[0]:
        raise ServiceError("missing_api_key", "Send the API key as Authorization: Bearer bx_live_…")
    return tokens[0]


def read_email_id(text: str) -> UUID:
    if text.isascii() and text.replace("-", "").isalpha() and not is_uuid(text):
        raise refused_resource(f"emails/{text}")
    return read_uuid(text, "id")


def refused_resource(resource: str) -> ServiceError:
    """Return the error for what is not changed here, or is not there."""
    if resource.partition("/")[0] == "templates":
        return ServiceError(
            "session_required",
            "Keys do not change templates here, whose language is another one than Resend's. Use"
            " the dashboard, or `pillarbox template`.",
        )
    return ServiceError("route_not_found", f"Pillarbox has no {cut(resource, 64)} of Resend's.")


def read_resend_email(event: APIGatewayProxyEvent) -> ParsedSend[SendRequest]:
    """Read the body of `POST /emails`, and the Idempotency-Key."""
    return read_keyed(event, "RESEND /emails", _parse_email)


def read_resend_batch(event: APIGatewayProxyEvent) -> ParsedSend[BatchRequest]:
    """Read the body of `POST /emails/batch`, and the Idempotency-Key.

    With `x-batch-validation: permissive` the valid emails are sent, otherwise all or none.
    """
    modes = header_values(event, "x-batch-validation") or [_STRICT]
    return read_keyed(event, "RESEND /emails/batch", lambda body: _parse_batch(body, modes[-1]))


def read_new_time(event: APIGatewayProxyEvent) -> datetime:
    """Read the body of `PATCH /emails/{id}`."""
    from pillarbox.http.messages.changes import RescheduleRequest  # noqa: PLC0415  few ask for it
    from pillarbox.http.messages.wire import to_moment  # noqa: PLC0415  as above

    body = read_json(event)
    if isinstance(body, dict):
        # The SDKs send the id of the path too.
        body = {
            RENAMED.get(name, name): _moment(value) if name == "scheduled_at" else value
            for name, value in given(body).items()
            if name != "id"
        }
    return to_moment(validate(RescheduleRequest, body).scheduled_at)


def _parse_email(body: Json) -> SendRequest:
    """Translate one email, and validate it as the contract's."""
    if not isinstance(body, dict):
        raise _wrong("", "must be an object")
    present = given(body)
    errors = [
        FieldError(name, REFUSED.get(name, "is not a field that Pillarbox has"), "unknown_field")
        for name in present
        if name not in EMAIL_FIELDS
    ]
    if "subject" not in present and "template" not in present:
        errors.append(FieldError("subject", "is missing", "required"))
    if errors:
        raise ValidationFailed(*errors)
    ours: dict[str, Json] = {
        RENAMED.get(name, name): present[name] for name in _CARRIED if name in present
    }
    if "scheduledAt" in ours:
        ours["scheduledAt"] = _moment(ours["scheduledAt"])
    names: dict[str, str] = {}
    for name in ("to", "cc", "bcc"):
        if name in ours:
            value = ours[name]
            ours[name], named = split_names(name, value if isinstance(value, list) else [value])
            names |= named
    for name, translate in _TRANSLATE.items():
        if name in present:
            ours |= translate(present[name])
    replies = present.get("reply_to", [])
    entries = replies if isinstance(replies, list) else [replies]
    return translated_send(ours, body, names, ("reply_to", entries))


def _parse_batch(body: Json, mode: str) -> BatchRequest:
    if not isinstance(body, list) or not body:
        raise _wrong("", "must be a list of 1 to 100 emails")
    if mode not in {_STRICT, _PERMISSIVE}:
        raise _wrong("x-batch-validation", f"must be {_STRICT} or {_PERMISSIVE}")
    return translated_batch(body, _parse_email, whole=mode == _STRICT)


def _moment(value: Json) -> Json:
    """Return the time in words such as `in 1 hour` as ISO 8601, and everything else as it is."""
    match = re.fullmatch(_IN, value) if isinstance(value, str) else None
    if match is None:
        return value
    unit = next(unit for unit, found in zip(_UNITS, match.groups()[1:], strict=True) if found)
    # A minute would be shorter than that by the time it is checked.
    wait = max(timedelta(**{unit: int(match[1] or 1)}), MIN_AHEAD + timedelta(seconds=2))
    return (datetime.now(UTC) + wait).isoformat()


def _template(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise _wrong("template", "must be an object with an id")
    value = given(value)
    if not value:
        return {}
    if not isinstance(value.get("id"), str):
        raise _wrong("template.id", "must be a string: the id or the slug of a template here")
    if unknown := sorted(set(value) - {"id", "variables"}):
        raise _wrong(f"template.{unknown[0]}", "is not a field that Pillarbox has")
    key = "templateId" if is_uuid(str(value["id"])) else "starterTemplate"
    return {key: value["id"], "variables": value.get("variables")}


def _tags(value: Json) -> dict[str, Json]:
    if not isinstance(value, list):
        raise _wrong("tags", "must be a list of objects with name and value")
    return {"tags": named_values("tags", value, _TAG)}


def _attachments(value: Json) -> dict[str, Json]:
    if not isinstance(value, list):
        raise _wrong("attachments", "must be a list")
    return {"attachments": [_attachment(at, item) for at, item in enumerate(value[:100])]}


def _attachment(position: int, item: Json) -> Json:
    where = f"attachments.{position}"
    if not isinstance(item, dict):
        raise _wrong(where, "must be an object")
    present = given(item, keep=("content",))
    if "path" in present:
        raise _wrong(f"{where}.path", "no file is fetched; send it as content")
    if unknown := sorted(set(present) - set(ATTACHMENT_FIELDS)):
        raise _wrong(f"{where}.{unknown[0]}", "is not a field that Pillarbox has")
    ours: dict[str, Json] = {RENAMED.get(name, name): value for name, value in present.items()}
    text = present.get("content")
    if isinstance(text, str) and re.match(_CALENDAR, text):  # as Laravel sends it
        text = base64.b64encode(text.encode()).decode()
    ours["content"] = _content(text, f"{where}.content")
    if "contentId" in ours:
        ours["inline"] = True
    return ours


def _content(value: Json, where: str) -> Json:
    """Return the base64 of a file: SDKs send base64, or the octets as numbers."""
    if isinstance(value, dict) and value.get("type") == "Buffer":  # JSON of Node's Buffer
        value = value.get("data")
    if not isinstance(value, list):
        return unwrapped(value)
    try:
        return base64.b64encode(bytes(value)).decode()  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise _wrong(where, "must be base64, or a list of numbers from 0 to 255") from None


_TRANSLATE: Final[Mapping[str, Callable[[Json], dict[str, Json]]]] = {
    "template": _template,
    "tags": _tags,
    "attachments": _attachments,
    "headers": lambda value: {"headers": given(value) if isinstance(value, dict) else value},
}


def _wrong(field: str, message: str) -> ValidationFailed:
    return ValidationFailed(FieldError(field, message, "wrong_type"))


#: Our status -> status and name of Resend's error, which decides what class an SDK raises.
_BY_STATUS: Final[Mapping[int, tuple[int, str]]] = {
    400: (422, "validation_error"),
    403: (403, "restricted_api_key"),
    404: (404, "not_found"),
    409: (422, "validation_error"),
    413: (422, "invalid_attachment"),
    422: (422, "validation_error"),
    500: (500, "application_error"),
    503: (503, "application_error"),
}
#: Our code -> those that differ. Generated from openapi/errors.py by `make openapi`.
_ERRORS: Final[Mapping[str, tuple[int, str] | tuple[int, str, str]]] = {
    "missing_field": (422, "missing_required_field", "Give `html`, `text` or `template`."),
    "multiple_modes": (422, "validation_error", "Give only one of `html` and `template`."),
    "attachment_type_not_allowed": (422, "invalid_attachment"),
    "attachment_too_large": (422, "invalid_attachment"),
    "too_many_attachments": (422, "invalid_attachment"),
    "invalid_api_key": (403, "invalid_api_key", "The API key is unknown, revoked or incomplete."),
    "scope_required": (401, "restricted_api_key"),
    "no_verified_sender": (403, "validation_error"),
    "client_blocked": (403, "client_blocked"),
    "session_required": (401, "restricted_api_key"),
    "attachment_not_found": (422, "invalid_attachment"),
    "idempotency_key_mismatch": (409, "invalid_idempotent_request"),
    "idempotency_in_flight": (409, "concurrent_idempotent_requests"),
    "daily_limit_exceeded": (429, "daily_quota_exceeded"),
    "monthly_limit_exceeded": (429, "monthly_quota_exceeded"),
}
_THEIR_NAMES: Final = {ours: theirs for theirs, ours in RENAMED.items()} | {
    "templateId": "template.id",
    "starterTemplate": "template.id",
    "variables": "template.variables",
    # Those of domains, keys, suppressions and webhooks.
    "domain": "name",
    "mailFrom": "custom_return_path",
    "address": "email",
    "addresses": "emails",
    "scopes": "permission",
    "url": "endpoint",
    "types": "events",
    "cursor": "after",
    "htmlFormat": "html_format",
    "endpoint_id": "id",
    "received_id": "id",
}
_STATUSES: Final[Mapping[Status, str]] = {status: status.value for status in Status} | {
    Status.PENDING: "queued"
}


#: What a route answers.
type Shown = dict[str, object]


def reply_resend_error(error: ServiceError) -> Reply:
    """Reply with an error as Resend's SDKs read it: `statusCode`, `name` and `message`."""
    status, name = _error(error)
    body = {"statusCode": status, "name": name, "message": _message(error)}
    return reply_in_shape(error, status, body)


def deleted(kind: str, deleted_id: str) -> dict[str, object]:
    return {"object": kind, "id": deleted_id, "deleted": True}


def email_id(accepted: AcceptedMessage) -> str:
    """Write the response to `POST /emails`."""
    return json.dumps({"id": str(accepted.message_id)})


def email_ids(outcomes: Sequence[AcceptedMessage | ServiceError]) -> str:
    """Write the response to `POST /emails/batch`: the ids, and the emails that were refused."""
    ids = [{"id": str(one.message_id)} for one in outcomes if isinstance(one, AcceptedMessage)]
    errors = [
        {"index": position, "message": _message(one)}
        for position, one in enumerate(outcomes)
        if isinstance(one, ServiceError)
    ]
    return json.dumps({"data": ids} | ({"errors": errors} if errors else {}))


def email(message: Message, region: str) -> dict[str, object]:
    """Return an email as Resend shows it. Its content is not shown: `html` and `text` are null."""
    origin = message.origin
    return listed_email(message) | {
        "message_id": message.message_id_header(region) or "",
        "html": None,
        "text": None,
        "tags": [{"name": name, "value": value} for name, value in origin.labels.tags.items()],
    }


def changed_email(message: Message) -> dict[str, object]:
    return {"object": "email", "id": str(message.message_id)}


def listed_email(message: Message) -> dict[str, object]:
    name, address = message.from_name, message.sender
    return {
        "object": "email",
        "id": str(message.message_id),
        "from": f"{name} <{address}>" if name else address,
        "to": list(message.to),
        "cc": list(message.cc),
        "bcc": list(message.bcc),
        "reply_to": None,
        "subject": message.subject,
        "created_at": timestamp(message.created_at),
        "last_event": _last_event(message),
        "scheduled_at": scheduled_at(message),
    }


def _last_event(message: Message) -> str:
    if message.canceled_at is not None:
        return "canceled"
    if message.waits:
        return "scheduled"
    delayed = any(event.kind is EventKind.DELAYED for event in message.events)
    if delayed and message.status in {Status.PENDING, Status.SENT}:
        return "delivery_delayed"
    return _STATUSES[message.status]


def _error(error: ServiceError) -> tuple[int, str]:
    if isinstance(error, ValidationFailed):
        if all(fault.code == "required" for fault in error.errors):
            return 422, "missing_required_field"
        if any(fault.field == "Idempotency-Key" for fault in error.errors):
            return 400, "invalid_idempotency_key"
    default = _BY_STATUS.get(error.status, (error.status, error.code))
    return _ERRORS.get(error.code, default)[:2]


def _message(error: ServiceError) -> str:
    return describe(error, _THEIR_NAMES, *_ERRORS.get(error.code, ())[2:])
