"""Puts one odd character into each field of each route that sends.

What is accepted must be built, and SES must accept it; everything else is refused with a 4xx, or
over SMTP with a reply. The use cases run over fakes, with the real readers, format of jobs and
builder.
"""

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from email.header import Header
from functools import partial
from itertools import islice
from types import SimpleNamespace
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.adapters.sqs.jobs import read_payload, write_payload
from pillarbox.application.delivery.build_message import build_raw
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.mail import NAMES
from pillarbox.http.accept import read_send
from pillarbox.http.batch_body import read_batch
from pillarbox.http.mcp.sending import TOOLS
from pillarbox.http.mcp.tools import ToolCall
from pillarbox.http.messages.replies import batch_result, send_result
from pillarbox.http.postmark import (
    EMAIL,
    TEMPLATED,
    read_postmark_batch,
    read_postmark_email,
)
from pillarbox.http.resend.replies import read_resend_batch, read_resend_email
from tests.fakes.builders import ACCOUNT, SENDER, account, template
from tests.fakes.world import World
from verification.attacks.sendable import faults_in
from verification.attacks.tally import Options, Tally

type Body = dict[str, Any]
type Fields = Mapping[str, Callable[[str], Body]]

#: What a pattern that ignores case takes for i, s and k; for some, lower() or upper() does too.
LETTERS: Final = ("\u0131", "\u0130", "\u017f", "\u212a")
#: Some are several: `=?` starts an encoded-word, and {{ a reference.
CHARACTERS: Final = (
    *(*LETTERS, "\u212b", "ß", "ẞ", "\ufb00", "\ufb05", "µ"),
    # Controls, and what ends a line.
    *("\x00", "\x01", "\x1b", "\x1c", "\x1f", "\t", "\n", "\r", "\r\n", "\x0b", "\x0c", "\x7f"),
    *("\x80", "\x85", "\x9f", "\u2028", "\u2029"),
    # Blanks, and what shows nothing.
    *(" ", "\xa0", "\u1680", "\u2003", "\u202f", "\u205f", "\u3000", "\xad", "\u034f", "\u180e"),
    *("\u200b", "\u200d", "\u2060", "\ufeff", "\ufff9", "\u2800", "\u3164", "\u115f", "\uffa0"),
    *("\ufe0f", "\U000e0001", "\U000e0041", "\U000e007f"),
    # Directions.
    *("\u200e", "\u200f", "\u061c", "\u202e", "\u2066", "א"),
    # Marks, emoji, private use, noncharacters, the end of Unicode.
    *("\u0301", "\u20dd", "\u0488", "👩\u200d👧", "🇩🇪", "\ue000", "\U000f0000", "\ufdd0", "\uffff"),
    *("\U0001ffff", "\U0010ffff", "\ufffd", "\u0660", "²"),
    # Full-width and other forms of what has a meaning, and that itself.
    *("\uff21", "\uff20", "\uff1c", "\uff0e", "\uff1b", "\u2044", '"', "'", "\\", "<", ">", ","),
    *(";", ":", "@", "(", ")", "[", "%", "=", "=?", "?=", "{{", "}}", "&", "/", "."),
)
_LIMITLESS: Final = Limits(per_minute=10**6, per_day=10**6, per_month=10**6)
#: Where the character stands.
_PLACES: Final = ("a{}b", "{}", "{}b", "a{}")
#: A value of each field of headers that has a syntax.
_VALUES: Final = {
    **dict.fromkeys(("In-Reply-To", "References"), "<{}@shop.example>"),
    "List-Unsubscribe": "<https://shop.example/{}>",
    **dict.fromkeys(
        ("List-Unsubscribe-Post", "Auto-Submitted", "Precedence", "Feedback-ID", "X-Order"), "{}"
    ),
}
_FILE: Final[Body] = {"filename": "a.png", "contentType": "image/png", "content": "iVBORw0KGgo="}
_NATIVE: Final[Fields] = {
    "to": lambda text: {"to": f"{text}@example.com"},
    "domain": lambda text: {"to": [f"ann@{text}.example"]},
    "cc": lambda text: {"cc": [f"ann@example.com{text}"]},
    "bcc": lambda text: {"bcc": [f"{text}bob@example.com"]},
    "from": lambda text: {"from": f"{text} <{SENDER}>"},
    "fromName": lambda text: {"fromName": text},
    "replyTo": lambda text: {"replyTo": f"{text} <bob@example.com>"},
    "address of replyTo": lambda text: {"replyTo": f"{text}@example.com"},
    "subject": lambda text: {"subject": text},
    "html": lambda text: {"html": f"<p title='{text}'>{text}</p>"},
    "text": lambda text: {"text": text},
    "text alone": lambda text: {"html": None, "text": text},
    "value of a variable": lambda text: {
        "variables": {"x": text},
        **dict.fromkeys(("html", "text", "subject"), "1 {{ x }}"),
    },
    "name of a variable": lambda text: {
        "variables": {text: "x"},
        **dict.fromkeys(("html", "text", "subject"), f"1 {{{{ {text} }}}}"),
    },
    "value of a starter's": lambda text: _OTP | {"variables": {"otp_code": text}},
    "name of a starter's": lambda text: _OTP | {"variables": {"otp_code": "1", text: "x"}},
    "value of a saved template's": lambda text: _SAVED | {"variables": {"name": text}},
    "name of a saved template's": lambda text: _SAVED | {"variables": {"name": "x", text: "x"}},
    "brandName": lambda text: _OTP | {"brandName": text},
    "logoUrl": lambda text: _OTP | {"logoUrl": f"https://shop.example/{text}.png"},
    "slug": lambda text: _OTP | {"starterTemplate": f"otp{text}"},
    "locale": lambda text: {"locale": text},
    "scheduledAt": lambda text: {"scheduledAt": f"2026-03-15T15:09:26{text}Z"},
    "unsubscribe": lambda text: {"unsubscribe": {"url": f"https://shop.example/{text}"}},
    "name of a tag": lambda text: {"tags": {text: "1"}},
    "value of a tag": lambda text: {"tags": {"order": text}},
    "filename": lambda text: {"attachments": [_FILE | {"filename": f"{text}.png"}]},
    "end of a filename": lambda text: {"attachments": [_FILE | {"filename": f"a.png{text}"}]},
    "contentType": lambda text: {"attachments": [_FILE | {"contentType": f"image/png{text}"}]},
    "charset": lambda text: {
        "attachments": [_FILE | {"contentType": f"text/plain; charset={text}"}]
    },
    "method": lambda text: {
        "attachments": [_FILE | {"contentType": f"text/calendar; method={text}"}]
    },
    "METHOD": lambda text: {
        "attachments": [
            _FILE | {"contentType": "text/calendar", "content": _base64(f"METHOD:{text}\r\n")}
        ]
    },
    "content": lambda text: {"attachments": [_FILE | {"content": f"iVBO{text}Rw0K"}]},
    "contentId": lambda text: {"attachments": [_FILE | {"inline": True, "contentId": text}]},
    "name of a field": lambda text: {text: "x"},
    **{
        f"value of {name}": lambda text, name=name, form=form: {  # type: ignore[misc]
            "headers": {name: form.format(text)}
        }
        for name, form in _VALUES.items()
    },
}
_TEMPLATE: Final = UUID(int=1)
_SAVED: Final[Body] = {"html": None, "subject": None, "templateId": str(_TEMPLATE)}
_OTP: Final[Body] = {"html": None, "subject": None, "starterTemplate": "otp"}
_RESEND: Final[Fields] = {
    "to": lambda text: {"to": [f"{text} <ann@example.com>"]},
    "address of to": lambda text: {"to": f"{text}@example.com"},
    "cc": lambda text: {"cc": f'"{text}" <bob@example.com>'},
    "from": lambda text: {"from": f"{text} <{SENDER}>"},
    "reply_to": lambda text: {"reply_to": [f"{text} <bob@example.com>", "eve@example.com"]},
    "address of reply_to": lambda text: {"reply_to": f"{text}@example.com"},
    "subject": lambda text: {"subject": text},
    "text": lambda text: {"text": text},
    "scheduled_at": lambda text: {"scheduled_at": f"in {text}1 hour"},
    "unit of scheduled_at": lambda text: {"scheduled_at": f"in 2 {text}"},
    "template": lambda text: {"html": None, "template": {"id": f"otp{text}"}},
    "value of a variable": lambda text: {
        "html": None,
        "template": {"id": "otp", "variables": {"otp_code": text}},
    },
    "name of a tag": lambda text: {"tags": [{"name": text, "value": "1"}]},
    "value of a tag": lambda text: {"tags": [{"name": "order", "value": text}]},
    "filename": lambda text: {"attachments": [_RESEND_FILE | {"filename": f"{text}.png"}]},
    "content_type": lambda text: {
        "attachments": [_RESEND_FILE | {"content_type": f"text/csv; charset={text}"}]
    },
    "content": lambda text: {
        "attachments": [_RESEND_FILE | {"content": f"BEGIN:VCALENDAR\r\n{text}"}]
    },
    "content_id": lambda text: {"attachments": [_RESEND_FILE | {"content_id": text}]},
    "name of a field": lambda text: {text: "x"},
    "value of a header": lambda text: {"headers": {"X-Order": text, "Precedence": text}},
}
_RESEND_FILE: Final[Body] = {"filename": "a.png", "content": "iVBORw0KGgo="}
_POSTMARK: Final[Fields] = {
    "To": lambda text: {"To": f"{text} <ann@example.com>, bob@example.com"},
    "address of To": lambda text: {"To": f"{text}@example.com"},
    "Cc": lambda text: {"Cc": f'"{text}" <bob@example.com>'},
    "From": lambda text: {"From": f"{text} <{SENDER}>"},
    "ReplyTo": lambda text: {"ReplyTo": f"{text} <bob@example.com>, eve@example.com"},
    "Subject": lambda text: {"Subject": text},
    "TextBody": lambda text: {"TextBody": text},
    "Tag": lambda text: {"Tag": text},
    "name in Metadata": lambda text: {"Metadata": {text: "1"}},
    "value in Metadata": lambda text: {"Metadata": {"order": text}},
    "Name": lambda text: {"Attachments": [_POSTMARK_FILE | {"Name": f"{text}.png"}]},
    "ContentType": lambda text: {
        "Attachments": [_POSTMARK_FILE | {"ContentType": f'text/csv; charset="{text}"'}]
    },
    "ContentID": lambda text: {
        "HtmlBody": f"<img src='cid:{text}'>",
        "Attachments": [_POSTMARK_FILE | {"ContentId": text}],
    },
    "name of a field": lambda text: {text: "x"},
    "value of a header": lambda text: {
        "Headers": [{"Name": "X-Order", "Value": text}, {"Name": "Precedence", "Value": text}]
    },
}
_POSTMARK_FILE: Final[Body] = {
    "Name": "a.png",
    "Content": "iVBORw0KGgo=",
    "ContentType": "image/png",
}
_TEMPLATED: Final[Fields] = {
    "TemplateAlias": lambda text: {"TemplateAlias": f"otp{text}"},
    "value in TemplateModel": lambda text: {"TemplateModel": {"otp_code": text}},
    "name in TemplateModel": lambda text: {"TemplateModel": {"otp_code": "1", text: "x"}},
    "ContentID": lambda text: {"Attachments": [_POSTMARK_FILE | {"ContentId": text}]},
}


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _event(body: object) -> APIGatewayProxyEvent:
    return APIGatewayProxyEvent(
        {
            "body": json.dumps(body),
            "multiValueHeaders": {"Content-Type": ["application/json"]},
            "path": "/",
            "requestContext": {"requestId": "x"},
        }
    )


def _single(read: Callable[[APIGatewayProxyEvent], Any], *, least: Body) -> Callable[..., None]:
    def send(world: World, changes: Body) -> None:
        body = {name: value for name, value in (least | changes).items() if value is not None}
        world.single_send.submit(world.live, read(_event(body)).request, None, send_result)

    return send


def _batch(
    read: Callable[[APIGatewayProxyEvent], Any], *, least: Body, within: str = ""
) -> Callable[..., None]:
    def send(world: World, changes: Body) -> None:
        body = [{name: value for name, value in (least | changes).items() if value is not None}]
        request = read(_event({within: body} if within else body)).request
        world.batch_send.submit(world.live, request, None, batch_result)

    return send


def _tool(world: World, changes: Body) -> None:
    """Send with the tool of MCP, and confirm it."""
    body = {name: value for name, value in (_LEAST | changes).items() if value is not None}
    state = _call(world, body)["requestState"]
    answer = {"inputResponses": {"confirm": {"action": "accept"}}, "requestState": state}
    _call(world, body, **answer)


def _call(world: World, arguments: Body, **answer: Any) -> Body:
    call = ToolCall(
        services=SimpleNamespace(single_send=world.single_send),
        event=_event({}),
        now=world.now,
        key_text=world.live,
        principal=world.principal,
        params={"name": "send_email", "arguments": arguments, **answer},
        can_ask=True,
    )
    return TOOLS["send_email"](call)


def _submit(world: World, message: bytes) -> None:
    submission = world.smtp_submission
    prepared = submission.prepare(world.live, ("ann@example.com",), bytearray(message))
    submission.submit(world.live, prepared)


_LEAST: Final[Body] = {"to": "ann@example.com", "html": "<p>x</p>", "subject": "x"}
_RESEND_LEAST: Final[Body] = {**_LEAST, "from": SENDER}
_ENVELOPE: Final[Body] = {"From": SENDER, "To": "ann@example.com"}
_POSTMARK_LEAST: Final = _ENVELOPE | {"Subject": "x", "HtmlBody": "<p>x</p>"}
_TEMPLATED_LEAST: Final = _ENVELOPE | {"TemplateAlias": "otp", "TemplateModel": {"otp_code": "1"}}


def _headers(character: str, of_name: Callable[[str], Body]) -> Iterator[tuple[str, Body]]:
    """Yield a body for each name of a header with the character in it, or in a letter's place."""
    for name in (*NAMES, "X-Ask-Id"):
        middle = len(name) // 2
        spelled = {f"{name[:middle]}{character}{name[middle:]}", f"{name}{character}"}
        for letter in {character.lower(), character.upper(), character.casefold()}:
            if letter.isascii():
                spelled |= {name.replace(letter.lower(), character)}
                spelled |= {name.replace(letter.upper(), character)}
        for each in sorted(spelled - {name}):
            yield f"name of {name}", of_name(each)


def _messages(character: str) -> Iterator[tuple[str, bytes]]:
    """Yield a message for each field, with the character as it is and in each encoding."""
    raw = [character] if not {*character} & {*"\r\n"} else []
    words = [f"=?utf-8?b?{_base64(character)}?=", Header(character, "utf-8", 998).encode()]
    for text in (*raw, *words, f"=?utf-8?q?a={character.encode().hex('=').upper()}?="):
        for field in (
            f"From: {text} <{SENDER}>",
            f'From: "a{text}b" <{SENDER}>',
            *(f"{name}: {text} <ann@example.com>" for name in ("To", "Cc", "Reply-To", "Sender")),
            *(f"{name}: {text}@example.com" for name in ("To", "Reply-To")),
            *(f"{name}: a{text}b" for name in (*NAMES, "Subject", "X-Order", "X-Tag-order")),
            f"Subject: {text}",
            f"X-A{text}: x",
            f"X-Tag-{text}: x",
            f"X-Scheduled-At: 2026-03-15T15:09:26Z{text}",
            f"Content-Type: text/plain; charset=utf-8{text}",
            f'Content-Type: text/plain; name="a{text}.txt"',
            f"Content-Disposition: attachment; filename=a{text}.txt",
            f"Content-Disposition: attachment; filename*=utf-8''a{quote(character)}.txt",
            f"Content-ID: <{text}>",
            f"Content-Type: text/calendar; method={text}",
            f'Content-Type: multipart/mixed; boundary="{text}"',
        ):
            author = "" if field.startswith("From:") else f"From: {SENDER}\r\n"
            yield field.partition(":")[0], f"{author}{field}\r\n\r\nx\r\n".encode()


#: Name -> what sends, the least email, and the fields.
_ROUTES: Final[Mapping[str, tuple[Callable[..., None], Fields]]] = {
    "native": (_single(lambda event: read_send(event, "x"), least=_LEAST), _NATIVE),
    "batch": (
        _batch(lambda event: read_batch(event, "x"), least=_LEAST, within="messages"),
        _NATIVE,
    ),
    "Resend": (_single(read_resend_email, least=_RESEND_LEAST), _RESEND),
    "Resend's batch": (_batch(read_resend_batch, least=_RESEND_LEAST), _RESEND),
    "Postmark": (
        _single(lambda event: read_postmark_email(event, EMAIL), least=_POSTMARK_LEAST),
        _POSTMARK,
    ),
    "Postmark's batch": (
        _batch(lambda event: read_postmark_batch(event, EMAIL), least=_POSTMARK_LEAST),
        _POSTMARK,
    ),
    "Postmark's templates": (
        _single(lambda event: read_postmark_email(event, TEMPLATED), least=_TEMPLATED_LEAST),
        _TEMPLATED,
    ),
    "MCP": (_tool, _NATIVE),
}


def _tries(route: str, fields: Fields, character: str) -> Iterator[tuple[str, Body]]:
    for label, change in fields.items():
        for place in _PLACES:
            yield label, change(place.format(character))
    if route.startswith("Postmark"):
        yield from _headers(character, lambda name: {"Headers": [{"Name": name, "Value": "bulk"}]})
    else:
        yield from _headers(character, lambda name: {"headers": {name: "bulk"}})


def attack(characters: Sequence[str] = CHARACTERS, step: int = 1) -> Tally:
    """Try some characters in every field, or every so manieth try."""
    tally = Tally("5xx", "crashes", "accepted but unsendable")
    world = World(account(overrides=_LIMITLESS))
    world.store.templates[ACCOUNT, _TEMPLATE] = template(_TEMPLATE)
    for label, send in islice(_all_tries(characters), 0, None, step):
        _try(tally, world, label, send)
    return tally


def _all_tries(characters: Sequence[str]) -> Iterator[tuple[str, Callable[[World], None]]]:
    for character in characters:
        for route, (send, fields) in _ROUTES.items():
            for label, body in _tries(route, fields, character):
                yield f"{route}: {label}: {character!a}", partial(send, changes=body)
        for label, message in _messages(character):
            yield f"SMTP: {label}: {character!a}", partial(_submit, message=message)


def _try(tally: Tally, world: World, label: str, send: Callable[[World], None]) -> None:
    tally["tried"] += 1
    world.store.queue.clear()
    world.store.messages.clear()
    world.store.contents.clear()
    world.store.spool.clear()
    try:
        send(world)
        for job in world.store.queue:
            message = world.message()
            message_item(message)
            queued = job.mail or world.store.spool[job.spool_key or ""]
            mail = read_payload(write_payload(queued))
            tally["accepted"] += 1
            for fault in faults_in(build_raw(mail, message)):
                tally.find("accepted but unsendable", f"{label}: {fault}")
    except ServiceError as error:
        if error.status >= 500:
            tally.find("5xx", f"{label}: {error}")
    except Exception as error:  # noqa: BLE001  any other error is what this looks for
        tally.find("crashes", f"{label}: {error!r}")


def run(_: Options) -> Tally:
    """Try everything."""
    return attack()
