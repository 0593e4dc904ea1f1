"""Puts one odd character into each field of each route that sends.

What is accepted must be built, and SES must accept it; everything else is refused with a 4xx, or
over SMTP with a reply. The use cases run over fakes, with the real readers, format of jobs and
builder.
"""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from email.header import Header
from functools import partial
from itertools import chain, islice
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
_WORD_ENDS: Final = re.compile(r"(?<=\w)\b")
_TEMPLATE: Final = UUID(int=1)
#: What names a variable or a file, to which the HTML refers.
_NAMED: Final = "zz"
_CALENDAR: Final = b"BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\n"
_FIELDS: Final[Body] = dict.fromkeys(("In-Reply-To", "References"), "<a@shop.example>") | {
    "List-Unsubscribe": "<https://shop.example/u>",
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    "Auto-Submitted": "auto-generated",
    "Precedence": "bulk",
    "Feedback-ID": "1:shop",
    "X-Order": "a b",
}
_TO: Final[Body] = {"to": "ann@example.com"}
_OTP: Final = _TO | {"starterTemplate": "otp", "variables": {"otp_code": "1"}}
#: Bodies that have every field which may have a text between them; bytes stand for their base64.
_NATIVE: Final[Sequence[Body]] = (
    {
        "to": ["ann@example.com"],
        "cc": ["eve@example.com"],
        "bcc": ["bob@example.com"],
        "from": f"Shop <{SENDER}>",
        "replyTo": "Bob <bob@example.com>",
        **dict.fromkeys(("html", "text", "subject"), f"1 {{{{ {_NAMED} }}}}"),
        "variables": {_NAMED: "a"},
        "tags": {"order": "1"},
        "headers": _FIELDS,
        "attachments": [
            {
                "filename": "a.png",
                "contentType": "image/png",
                "content": "iVBORw0KGgo=",
                "inline": True,
                "contentId": _NAMED,
            },
            {
                "filename": "b.ics",
                "content": _CALENDAR,
                "contentType": "text/calendar; method=REQUEST",
            },
            {
                "filename": "c.txt",
                "content": b"x",
                "contentType": "text/plain; charset=utf-8",
            },
        ],
    },
    _TO | {"subject": "a", "text": "a b", "unsubscribe": {"url": "https://shop.example/u"}},
    _TO | {"subject": "a", "html": "<p title='a'>b</p>", "scheduledAt": "2026-03-15T15:09:26Z"},
    _OTP | {"fromName": "Shop", "brandName": "Shop", "logoUrl": "https://shop.example/l.png"},
    _TO | {"templateId": str(_TEMPLATE), "variables": {"name": "x"}, "locale": "de-CH"},
)
_FROM_SHOP: Final[Body] = {"from": f"Shop <{SENDER}>"}
_RESEND: Final[Sequence[Body]] = (
    {
        **_FROM_SHOP,
        "to": ["Ann <ann@example.com>"],
        "cc": '"Eve" <eve@example.com>',
        "reply_to": ["Bob <bob@example.com>", "eve@example.com"],
        "subject": "a",
        "html": "<p>b</p>",
        "text": "b",
        "headers": _FIELDS,
        "tags": [{"name": "order", "value": "1"}],
        "attachments": [
            {"filename": "a.png", "content": "iVBORw0KGgo=", "content_id": _NAMED},
            {"filename": "b.ics", "content": _CALENDAR},
            {"filename": "c.csv", "content": b"a;b", "content_type": "text/csv; charset=utf-8"},
        ],
    },
    _FROM_SHOP | _TO | {"subject": "a", "text": "a", "scheduled_at": "in 1 hour"},
    _FROM_SHOP | _TO | {"template": {"id": "otp", "variables": {"otp_code": "1"}}},
)
_POSTMARK_SENT: Final[Body] = {
    "From": f"Shop <{SENDER}>",
    "To": "Ann <ann@example.com>, bob@example.com",
    "Cc": '"Eve" <eve@example.com>',
    "ReplyTo": "Bob <bob@example.com>, eve@example.com",
    "Tag": "order",
    "Metadata": {"order": "1"},
    "Headers": [{"Name": name, "Value": value} for name, value in _FIELDS.items()],
    "Attachments": [
        {
            "Name": "a.png",
            "Content": "iVBORw0KGgo=",
            "ContentType": "image/png",
            "ContentId": _NAMED,
        },
        {"Name": "c.csv", "Content": b"x", "ContentType": 'text/csv; charset="utf-8"'},
    ],
}
_POSTMARK: Final[Sequence[Body]] = (
    _POSTMARK_SENT
    | {"Subject": "a", "HtmlBody": "<img src='cid:" + _NAMED + "'>", "TextBody": "b"},
)
_TEMPLATED: Final[Sequence[Body]] = (
    _POSTMARK_SENT | {"TemplateAlias": "otp", "TemplateModel": {"otp_code": "1"}},
)


def _spelled(text: str, character: str) -> Iterator[str]:
    """Yield a text with the character in its middle, after each word, and for a letter like it."""
    places = {len(text) // 2, *(found.start() for found in _WORD_ENDS.finditer(text))}
    yield from (f"{text[:place]}{character}{text[place:]}" for place in sorted(places))
    for letter in {character.lower(), character.upper(), character.casefold()}:
        if letter.isascii():
            found = {text.replace(form, character) for form in (letter.lower(), letter.upper())}
            yield from sorted(found - {text})


def _changed(value: Any, character: str, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what a value becomes with the character in one of its texts or names."""
    match value:
        case str():
            texts = (character, f"{character}{value}", *_spelled(value, character))
            yield from ((path, each) for each in texts)
        case bytes():
            for _, changed in _changed(value.decode(), character):
                yield path, changed.encode()
        case dict():
            for name in value:
                within = _changed(value[name], character, f"{path}.{name}")
                yield from ((label, value | {name: changed}) for label, changed in within)
                for spelled in _spelled(name, character):
                    items = ((spelled if each == name else each, value[each]) for each in value)
                    yield f"name of {path}.{name}", dict(items)
        case list():
            for position, each in enumerate(value):
                for label, changed in _changed(each, character, path):
                    yield label, [*value[:position], changed, *value[position + 1 :]]


def _tries(body: Body, character: str) -> Iterator[tuple[str, Body]]:
    """Yield a body as it is, with the character in one place, and in a name and its references."""
    yield "", body
    yield from _changed(body, character)
    text = json.dumps(body, default=_base64).replace(_NAMED, json.dumps(character)[1:-1])
    yield _NAMED, json.loads(text)


def _base64(octets: bytes) -> str:
    return base64.b64encode(octets).decode()


def _event(body: object) -> APIGatewayProxyEvent:
    return APIGatewayProxyEvent(
        {
            "body": json.dumps(body, default=_base64),
            "multiValueHeaders": {"Content-Type": ["application/json"]},
            "path": "/",
            "requestContext": {"requestId": "x"},
        }
    )


def _single(read: Callable[[APIGatewayProxyEvent], Any], body: Body, world: World) -> None:
    world.single_send.submit(world.live, read(_event(body)).request, None, send_result)


def _batch(
    read: Callable[[APIGatewayProxyEvent], Any], body: Body, world: World, within: str = ""
) -> None:
    request = read(_event({within: [body]} if within else [body])).request
    world.batch_send.submit(world.live, request, None, batch_result)


def _tool(body: Body, world: World) -> None:
    """Send with the tool of MCP, and confirm it."""
    arguments = json.loads(json.dumps(body, default=_base64))
    state = _call(world, arguments)["requestState"]
    answer = {"inputResponses": {"confirm": {"action": "accept"}}, "requestState": state}
    _call(world, arguments, **answer)


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


def _submit(message: bytes, world: World) -> None:
    submission = world.smtp_submission
    prepared = submission.prepare(world.live, ("ann@example.com",), bytearray(message))
    submission.submit(world.live, prepared)


def _messages(character: str) -> Iterator[tuple[str, bytes]]:
    """Yield a message for each field, with the character as it is and in each encoding."""
    raw = [character] if not {*character} & {*"\r\n"} else []
    words = [f"=?utf-8?b?{_base64(character.encode())}?=", Header(character, "utf-8", 998).encode()]
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


#: Name -> what sends, and bodies.
_ROUTES: Final[Mapping[str, tuple[Callable[[Body, World], None], Sequence[Body]]]] = {
    "native": (partial(_single, partial(read_send, route="x")), _NATIVE),
    "batch": (partial(_batch, partial(read_batch, route="x"), within="messages"), _NATIVE[:1]),
    "Resend": (partial(_single, read_resend_email), _RESEND),
    "Resend's batch": (partial(_batch, read_resend_batch), _RESEND),
    "Postmark": (partial(_single, partial(read_postmark_email, fields=EMAIL)), _POSTMARK),
    "Postmark's batch": (partial(_batch, partial(read_postmark_batch, fields=EMAIL)), _POSTMARK),
    "Postmark's templates": (
        partial(_single, partial(read_postmark_email, fields=TEMPLATED)),
        _TEMPLATED,
    ),
    "MCP": (_tool, _NATIVE[:1]),
}


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
        for route, (send, bodies) in _ROUTES.items():
            for label, body in chain.from_iterable(_tries(body, character) for body in bodies):
                yield f"{route}: {label}: {character!a}", partial(send, body)
        for label, message in _messages(character):
            yield f"SMTP: {label}: {character!a}", partial(_submit, message)


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
