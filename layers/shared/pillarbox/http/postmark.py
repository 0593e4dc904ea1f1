"""The API in the shape of Postmark's, for code that sends with its clients.

It translates as `http.resend` does, and makes no promise of its own.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, Protocol
from urllib.parse import unquote
from uuid import UUID

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.application.ports import AcceptedMessage
from pillarbox.application.sending.batch import BatchSend
from pillarbox.application.sending.recipients import refused_recipients
from pillarbox.application.sending.single import SingleSend
from pillarbox.domain.character_references import unescape
from pillarbox.domain.errors import FieldError, Json, ServiceError, ValidationFailed
from pillarbox.domain.ids import created_at, is_uuid
from pillarbox.domain.messages.batch import BatchRequest
from pillarbox.domain.messages.mail import SendRequest
from pillarbox.http.accept import ParsedSend, accept, read_keyed
from pillarbox.http.app import App, build_app
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
from pillarbox.http.messages.replies import Reply, timestamp
from pillarbox.http.requests import header_values, refuse_account, request_origin

_TOKEN: Final = "x-postmark-server-token"  # noqa: S105  the name of a header
_MISSING: Final = "Send the API key in X-Postmark-Server-Token: bx_live_…"
_ENVELOPE: Final = {"From": "from", "To": "to", "Cc": "cc", "Bcc": "bcc", "ReplyTo": "replyTo"}
_OTHERS: Final = {"Headers": "headers", "Attachments": "attachments"}
_SETTLED: Final[Mapping[str, tuple[Json, str]]] = {
    "TrackOpens": (False, "opens are not tracked"),
    "TrackLinks": ("None", "links are not tracked"),
    "MessageStream": ("outbound", "there is one stream, outbound"),
}
_LABELS: Final = {"Tag": "tag", "Metadata": "metadata"}
#: An email of `POST /email`.
EMAIL: Final = Fields(
    _ENVELOPE | {"Subject": "subject", "HtmlBody": "html", "TextBody": "text"} | _OTHERS | _LABELS,
    _SETTLED,
    any_case=True,
)
#: An email of `POST /email/withTemplate`. A template's CSS is put into attributes in any case.
TEMPLATED: Final = Fields(
    _ENVELOPE
    | {"TemplateId": "templateId", "TemplateAlias": "alias", "TemplateModel": "variables"}
    | _OTHERS
    | _LABELS,
    {**_SETTLED, "InlineCss": (True, "the CSS of a template is put into its elements")},
    any_case=True,
)
ATTACHMENT: Final = Fields(
    {
        "Name": "filename",
        "Content": "content",
        "ContentType": "contentType",
        "ContentID": "contentId",
    },
    keep=("Content",),
    any_case=True,
)
_HEADER: Final = Fields({"Name": "name", "Value": "value"}, any_case=True)
_TEMPLATED_BATCH: Final = Fields({"Messages": "messages"}, any_case=True)
#: The last one is a template's own.
_NEEDED: Final = ("From", "To", "Subject")
_RECIPIENTS: Final = ("To", "Cc", "Bcc")
#: A quote that is not closed ends with the value.
_BETWEEN_COMMAS: Final = re.compile(r'(?:"(?:[^"\\]|\\.)*+"?|[^",])++')


def read_server_token(event: APIGatewayProxyEvent) -> str:
    refuse_account(event)
    tokens = header_values(event, _TOKEN)
    if len(tokens) != 1 or not tokens[0]:
        raise ServiceError("missing_api_key", _MISSING)
    return tokens[0]


def read_postmark_email(event: APIGatewayProxyEvent, fields: Fields) -> ParsedSend[SendRequest]:
    """Read the body of a send with these fields, and the Idempotency-Key."""
    return read_keyed(event, f"POSTMARK {event.path}", lambda body: _parse_email(body, fields))


def read_postmark_batch(event: APIGatewayProxyEvent, fields: Fields) -> ParsedSend[BatchRequest]:
    """Read the body of a batch of such sends: a list, or with templates an object with one."""

    def parse(body: Json) -> BatchRequest:
        if fields is TEMPLATED:
            body = _TEMPLATED_BATCH.translate(body).get("messages")
        if not isinstance(body, list) or not body:
            raise _wrong(
                "Messages" if fields is TEMPLATED else "", "must be a list of 1 to 100 emails"
            )
        return translated_batch(body, lambda email: _parse_email(email, fields), whole=False)

    return read_keyed(event, f"POSTMARK {event.path}", parse)


def _parse_email(body: Json, fields: Fields) -> SendRequest:
    """Translate one email, and validate it as the contract's."""
    ours = fields.translate(body)
    needed = _NEEDED if fields is EMAIL else _NEEDED[:2]
    if missing := [name for name in needed if fields.carried[name] not in ours]:
        raise ValidationFailed(*(FieldError(name, "is missing", "required") for name in missing))
    names: dict[str, str] = {}
    for name in _RECIPIENTS:
        if (ours_name := _ENVELOPE[name]) in ours:
            ours[ours_name], named = split_names(name, _entries(name, ours[ours_name]))
            names |= named
    if {"templateId", "alias"} <= ours.keys():  # an alias that is an id would replace the other
        ours["starterTemplate"] = ours.pop("alias")
    for name, translate in _TRANSLATE.items():
        if name in ours:
            ours |= translate(ours.pop(name))
    _show_inline(ours)
    _label(ours)
    replies = ours.pop("replyTo", None)
    entries = [] if replies is None else _entries("ReplyTo", replies)
    return translated_send(ours, body, names, ("ReplyTo", entries))


def _entries(name: str, value: Json) -> list[Json]:
    """Split a list of recipients at its commas, except those in quotes; one may be at its end."""
    if not isinstance(value, str):
        raise _wrong(name, "must be a string: addresses with commas between them")
    return [entry for part in _BETWEEN_COMMAS.findall(value) if (entry := part.strip())]


def _template_id(value: Json) -> dict[str, Json]:
    if not isinstance(value, str):
        raise _wrong("TemplateId", "must be a string: the id of a template here, a UUID")
    return {"templateId": value}


def _alias(value: Json) -> dict[str, Json]:
    if not isinstance(value, str):
        raise _wrong("TemplateAlias", "must be a string")
    return {"templateId" if is_uuid(value) else "starterTemplate": value}


def _headers(value: Json) -> dict[str, Json]:
    return {"headers": _texts(named_values("Headers", _list("Headers", value), _HEADER))}


def _attachments(value: Json) -> dict[str, Json]:
    files = _list("Attachments", value)[:100]
    return {"attachments": [_attachment(*each) for each in enumerate(files)]}


def _attachment(position: int, item: Json) -> Json:
    try:
        ours = ATTACHMENT.translate(item)
    except ValidationFailed as failed:
        raise failed.below(f"Attachments.{position}") from None
    if "content" in ours:
        ours["content"] = unwrapped(ours["content"])
    if isinstance(content_id := ours.get("contentId"), str):
        ours |= {"contentId": content_id.removeprefix("cid:"), "inline": True}
    return ours


def _show_inline(ours: dict[str, Json]) -> None:
    """Leave only those files inline that the HTML shows: a client names each file by an id.

    The HTML of a template is not known here. postmark-php takes the name of the file, if its
    caller gives no id.
    """
    files = ours.get("attachments")
    html = unquote(unescape(str(ours.get("html")))) if files else ""
    for file in files if isinstance(files, list) else ():
        if not isinstance(file, dict) or not isinstance(file.get("contentId"), str):
            continue
        content_id = str(file["contentId"])
        is_template = "templateId" in ours or "starterTemplate" in ours
        shown = content_id != file.get("filename") if is_template else _links_to(html, content_id)
        if not shown:
            del file["contentId"], file["inline"]


def _links_to(html: str, content_id: str) -> bool:
    """Return whether decoded HTML or its CSS has a link to a Content-ID (RFC 2392)."""
    link = rf"""(?ai:\bcid:){re.escape(unquote(content_id))}(?![^"'<>()\s])"""
    return re.search(link, html) is not None


def _label(ours: dict[str, Json]) -> None:
    """Make tags of Tag and Metadata."""
    tag, metadata = ours.pop("tag", None), ours.pop("metadata", None)
    if metadata is not None and not isinstance(metadata, dict):
        raise _wrong("Metadata", "must be an object of names and values")
    tags = _texts(given(metadata or {}))
    if tag is not None:
        if "tag" in tags:
            raise _wrong("Metadata", "has the name tag, under which Tag is stored")
        tags["tag"] = tag
    if tags:
        ours["tags"] = tags


def _texts(values: Mapping[str, Json]) -> dict[str, Json]:
    """Write integers as texts, as Postmark does: django-anymail sends a header's value as it is."""
    return {name: str(value) if type(value) is int else value for name, value in values.items()}


def _list(name: str, value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise _wrong(name, "must be a list")
    return value


def _wrong(field: str, message: str) -> ValidationFailed:
    return ValidationFailed(FieldError(field, message, "wrong_type"))


_TRANSLATE: Final[Mapping[str, Callable[[Json], dict[str, Json]]]] = {
    "templateId": _template_id,
    "alias": _alias,
    "headers": _headers,
    "attachments": _attachments,
}


#: Our status -> status and ErrorCode. Any other status is also the ErrorCode.
_BY_STATUS: Final[Mapping[int, tuple[int, int]]] = {
    400: (422, 300),
    401: (401, 10),
    403: (422, 405),
    413: (422, 300),
    422: (422, 300),
    503: (503, 100),
}
#: Our code -> those that differ. Generated from openapi/errors.py by `make openapi`.
_ERRORS: Final[Mapping[str, tuple[int, int] | tuple[int, int, str]]] = {
    "missing_field": (
        422,
        300,
        "Give `HtmlBody` or `TextBody`, or `TemplateId` or `TemplateAlias`.",
    ),
    "multiple_modes": (422, 300, "Give only one of `TemplateId` and `TemplateAlias`."),
    "recipient_suppressed": (422, 406),
    "batch_limit_exceeded": (422, 410),
    "invalid_api_key": (401, 10, "The API key is unknown, revoked or incomplete."),
    "scope_required": (401, 10),
    "no_verified_sender": (422, 400),
    "client_blocked": (403, 403),
    "attachment_not_found": (422, 300),
    "template_not_found": (422, 1101),
    "idempotency_key_mismatch": (422, 300),
    "daily_limit_exceeded": (422, 405),
    "monthly_limit_exceeded": (422, 405),
}
_NAMES: Final = {
    ours: theirs
    for fields in (ATTACHMENT, TEMPLATED, EMAIL)
    for theirs, ours in fields.carried.items()
} | {"starterTemplate": "TemplateAlias", "tags": "Metadata", "received_id": "MessageID"}


def reply_postmark_error(error: ServiceError) -> Reply:
    """Reply with an error as Postmark's clients read it: `ErrorCode` and `Message`."""
    return reply_in_shape(error, _numbers(error)[0], _error(error))


def email_sent(request: SendRequest | ServiceError, accepted: AcceptedMessage) -> str:
    return json.dumps(_sent(request, accepted.message_id))


def batch_sent(
    request: BatchRequest | ServiceError, outcomes: Sequence[AcceptedMessage | ServiceError]
) -> str:
    """Write the response to a batch: what each email would get alone."""
    items = request.items if isinstance(request, BatchRequest) else ()
    return json.dumps(
        [
            _sent(item, outcome.message_id)
            if isinstance(outcome, AcceptedMessage)
            else _error(outcome)
            for item, outcome in zip(items, outcomes, strict=True)
        ]
    )


def _sent(request: SendRequest | ServiceError, message_id: UUID) -> dict[str, object]:
    to = request.to if isinstance(request, SendRequest) else ()
    return {
        "To": ", ".join(to),
        "SubmittedAt": timestamp(created_at(message_id)),
        "MessageID": str(message_id),
        "ErrorCode": 0,
        "Message": "OK",
    }


def _error(error: ServiceError) -> dict[str, object]:
    message = describe(error, _NAMES, *_ERRORS.get(error.code, ())[2:])
    if error.code == "recipient_suppressed":
        # Clients read the addresses from exactly these words.
        addresses = ", ".join(address for address, _ in refused_recipients(error.details))
        message = (
            "You tried to send to recipients that have been marked as inactive. Found inactive"
            f" addresses: {addresses}. Inactive recipients are ones that have generated a hard"
            " bounce, a spam complaint, or a manual suppression."
        )
    return {"ErrorCode": _numbers(error)[1], "Message": message}


def _numbers(error: ServiceError) -> tuple[int, int]:
    default = _BY_STATUS.get(error.status, (error.status, error.status))
    return _ERRORS.get(error.code, default)[:2]


class SendServices(Protocol):
    """The use cases of these routes."""

    @property
    def single_send(self) -> SingleSend:
        """Send one email."""

    @property
    def batch_send(self) -> BatchSend:
        """Send several."""


def postmark_routes(services: Callable[[], SendServices]) -> App:
    app = build_app(reply_postmark_error)

    @app.post("/postmark/email")
    def send_email() -> Reply:
        return send(EMAIL)

    @app.post("/postmark/email/withTemplate")
    def send_templated() -> Reply:
        return send(TEMPLATED)

    @app.post("/postmark/email/batch")
    def send_batch() -> Reply:
        return send_all(EMAIL)

    @app.post("/postmark/email/batchWithTemplates")
    def send_templated_batch() -> Reply:
        return send_all(TEMPLATED)

    @app.route("/postmark/.+", method=["GET", "POST", "PUT", "PATCH", "DELETE"])
    def refuse() -> Reply:
        event = app.current_event
        services().single_send.authenticate(read_server_token(event), origin=request_origin(event))
        raise ServiceError("route_not_found", "Pillarbox has no such route of Postmark's.")

    def send(fields: Fields) -> Reply:
        event = app.current_event
        read = partial(read_postmark_email, fields=fields)
        return accept(event, read_server_token(event), services().single_send, read, email_sent)

    def send_all(fields: Fields) -> Reply:
        event = app.current_event
        read = partial(read_postmark_batch, fields=fields)
        return accept(event, read_server_token(event), services().batch_send, read, batch_sent)

    return app
