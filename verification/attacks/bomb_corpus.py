"""Bombs: emails made to grow, to nest or to be slow when their message is built.

Each has a name and a function that makes it, because together they are too large to keep.
"""

import base64
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from pillarbox.domain.messages.attachment import MAX_BYTES_EACH, MAX_BYTES_TOTAL
from pillarbox.domain.messages.header_text import MAX_SUBJECT
from pillarbox.domain.messages.mail import MAX_HTML, MAX_RECIPIENTS

_TO: Final = "ann@example.com"
_KILOBYTE: Final = 1024
#: The relay takes no larger message.
_MAX_SMTP: Final = 16 * 1024 * _KILOBYTE


@dataclass(frozen=True, kw_only=True)
class Bomb:
    """One email: the body of a request, or a message over SMTP."""

    request: Mapping[str, Any] = field(default_factory=dict)
    #: The HTML of the saved template that the request names.
    template: str | None = None
    smtp: bytes | None = None


def filled(unit: str, before: str = "", after: str = "", size: int = MAX_HTML) -> str:
    """Repeat a unit, so that the whole has a size in UTF-8."""
    room = size - len(before.encode()) - len(after.encode())
    return before + unit * (room // len(unit.encode())) + after


def _levels(before: str, after: str) -> str:
    """Open as many levels as can be closed again within the size."""
    count = MAX_HTML // len((before + after).encode()) - 1
    return before * count + "y" + after * count


_WIDE_LISTS: Final = ("<ol>" + "<li>" * 9_999) * 8
_HTML: Final[Mapping[str, Callable[[], str]]] = {
    "lines in quotes": lambda: filled("<br>a", "<blockquote>" * 8),
    "lines in wide lists": lambda: filled("<br>a", _WIDE_LISTS),
    "bare lines in wide lists": lambda: filled("\na", _WIDE_LISTS + "<pre>"),
    "deep lists": lambda: filled("<ul>"),
    "deep items": lambda: filled("<ul><li>a"),
    "deep quotes": lambda: filled("<blockquote>a"),
    "numbered items": lambda: filled("<li>a", "<ol>"),
    "links in links": lambda: _levels("x<table><td><a href=http:u>", "</a></table>"),
    "links without end": lambda: filled("<a href=http:u>y"),
    "a URL to escape": lambda: filled("<", '<a href="http:', '">x</a>'),
    "a long link": lambda: filled("u", '<a href="http:', '">x</a> a b c'),
    "a mailto URL": lambda: filled("%ff", '<a href="mailto:', '">x</a>'),
    "a number without end": lambda: filled("9", "&#"),
    "numbers with many digits": lambda: filled("&#" + "9" * 5_000 + ";"),
    "hexadecimal digits": lambda: filled("f", "&#x"),
    "formatting in each paragraph": lambda: filled(
        "<p>x", "<p>" + "".join(f"<b {n}>" for n in range(12)) + "<i hidden>"
    ),
    "formatting without end": lambda: "".join(f"<b {n}>" for n in range(200_000)),
    "crossed formatting": lambda: filled("<b><div></b>"),
    "hidden inside of formatting": lambda: filled("<b><q hidden><div>a</b>"),
    "links around blocks": lambda: filled("<a href=http:u><div>"),
    "items that count down": lambda: filled("<li>", "<ol reversed>"),
    "names of elements": lambda: "".join(f"<x{n}>" for n in range(200_000)),
    "images in SVG": lambda: filled("<svg><p>"),
    "references": lambda: filled("&lt;"),
    "references of two characters": lambda: filled("&nGt;"),
    "unknown references": lambda: filled("&" + "a" * 32),
    "ampersands": lambda: filled("&"),
    "a text in quotes": lambda: filled('"', "<img alt='", "'>"),
    "short tags": lambda: filled("<b>"),
    "tags and texts": lambda: filled("<b x>yy"),
    "cells": lambda: filled("x<td>"),
    "nested tables": lambda: filled("<table><tr><td>a"),
    "rules": lambda: filled("<hr>"),
    "paragraphs": lambda: filled("<p>a"),
    "line ends": lambda: filled("\n", "<pre>", "a"),
    "short lines": lambda: filled("a\n"),
    "lines of two octets": lambda: filled("\nü"),
    "two-octet characters": lambda: filled("ü"),
    "four-octet characters": lambda: filled("😀"),
    "equals signs": lambda: filled("="),
    "blanks at line ends": lambda: filled(" \n"),
    "hidden parts": lambda: filled("<b hidden>a</b>"),
    "a hidden part without end": lambda: filled("<div>", "<div hidden>"),
    "styles": lambda: filled("<b style=display:none>"),
    "a style of blanks": lambda: filled(" ", "<b style='display", "'>"),
    "attributes": lambda: filled("a=b ", "<a ", ">"),
    "names of attributes": lambda: "<a " + " ".join(f"a{n}" for n in range(260_000)) + ">",
    "comments": lambda: filled("<!--"),
    "ends of comments": lambda: filled("--!", "<!--"),
    "less-than signs": lambda: filled("<"),
    "quotes in a tag": lambda: filled("\"'", "<a "),
    "equals signs in a tag": lambda: filled("=", "<a "),
    "scripts": lambda: filled("<script>"),
    "heads": lambda: filled("<head>"),
    "an open text per line": lambda: filled("<pre>a\n"),
    "invisible characters": lambda: filled("\u200b"),
    "no-break spaces": lambda: filled("\u00a0a"),
    "soft hyphens": lambda: filled("a&shy;"),
    "one octet too many": lambda: "x" * (MAX_HTML + 1),
}


def _file(size: int, **changes: object) -> dict[str, object]:
    content = base64.b64encode(b"%PDF" + b"x" * (size - 4)).decode()
    return {"filename": "a.pdf", "contentType": "application/pdf", "content": content} | changes


def _rows(count: int, **row: object) -> dict[str, object]:
    return {"rows": [row] * count}


def _request(**changes: object) -> Bomb:
    return Bomb(request={"to": _TO, "subject": "Hello", "html": "<p>x</p>"} | changes)


def _saved(template: str, **variables: object) -> Bomb:
    return Bomb(request={"to": _TO, "variables": variables}, template=template)


def _smtp(content: bytes, *fields: str) -> Bomb:
    head = ["From: hello@shop.example", f"To: {_TO}", "Subject: Hello", "MIME-Version: 1.0"]
    lines = "\r\n".join([*head, *fields, "", ""]).encode()
    return Bomb(smtp=lines + content)


_ROOM_OF_SMTP: Final = _MAX_SMTP - _KILOBYTE

_MAILS: Final[Mapping[str, Callable[[], Bomb]]] = {
    "two full files": lambda: _request(
        html=filled("\nü"), attachments=[_file(MAX_BYTES_EACH, filename="😀" * 251 + ".pdf")] * 2
    ),
    "ten full files": lambda: _request(
        html=filled("<li>a", "<ol>"),
        attachments=[
            _file(MAX_BYTES_TOTAL // 10, filename=f"{n}.pdf", inline=True, contentId=str(n))
            for n in range(10)
        ],
    ),
    "long header fields": lambda: _request(
        to=[f"{'a' * 64}@{'b' * 60}.{'c' * 60}.example" for _ in range(MAX_RECIPIENTS)],
        subject="😀" * MAX_SUBJECT,
        fromName="ü" * 1_024,
        replyTo=f"{'a' * 64}@example.com",
    ),
    "a starter of large values": lambda: Bomb(
        request={
            "to": _TO,
            "starterTemplate": "security_alert",
            "variables": {"ip": '"' * 100_000},
        }
    ),
    "a template of many rows": lambda: _saved(
        "{% for row in rows %}<ul><li>{{ row.a }}{% endfor %}", **_rows(1_000, a="a" * 200)
    ),
    "a template just below its limit": lambda: _saved(
        "{% for row in rows %}" + "<br>a" * 200 + "{{ row.a }}{% endfor %}", **_rows(1_000, a="a")
    ),
    "a template over its limit": lambda: _saved(
        "{% for row in rows %}" + "{{ text }}" * 100 + "{% endfor %}",
        **_rows(1_000, a="a"),
        text="x" * 10_000,
    ),
    "a list for a text": lambda: _saved("{{ text }}", text=["a"]),
    "an object for a text": lambda: _saved("{{ text }}", text={"a": 1}),
    "a text for a list": lambda: _saved("{% for row in rows %}x{% endfor %}", rows="abc"),
    "a number for a list": lambda: _saved("{% for row in rows %}x{% endfor %}", rows=5),
    "rows of other types": lambda: _saved(
        "{% for row in rows %}{{ row.a }}{% endfor %}", rows=[{"a": 1}, {"a": [1]}]
    ),
    "rows without members": lambda: _saved(
        "{% for row in rows %}{{ row.a | default('') }}{% endfor %}", rows=[1, "a", None]
    ),
    "values that grow in upper case": lambda: _saved(
        "{{ text | upper }}" * 6, text="\u0390" * 20_000
    ),
    "a large message over SMTP": lambda: _smtp(
        b"x\r\n" * (_ROOM_OF_SMTP // 3), "Content-Type: text/html"
    ),
    "many parts over SMTP": lambda: _smtp(
        b"--b\r\nContent-Type: text/plain\r\n\r\nx\r\n" * 90 + b"--b--\r\n",
        'Content-Type: multipart/mixed; boundary="b"',
    ),
    "long lines over SMTP": lambda: _smtp(
        (b"x" * 990 + b"\r\n") * (_ROOM_OF_SMTP // 992), "Content-Type: text/plain"
    ),
}

_TOKENS: Final = (
    *("<ul>", "</ul>", "<ol>", "</ol>", "<li>", "</li>", "<blockquote>", "</blockquote>"),
    *("<a href=http:u>", "<a>", "</a>", "<table>", "</table>", "<tr>", "<td>", "<th scope=row>"),
    *("<pre>", "</pre>", "<p>", "<br>", "<hr>", "<div>", "</div>", "<img alt='a b'>", "<svg>"),
    *("<b hidden>", "</b>", "<b", "<!--", "-->", "<script>", "</script>", "<head>", "<body>"),
    *("\n", " ", "a", "ü", "😀", "&lt;", "&#9;", "&", "<", ">", '"', "'", "=", "\u00a0"),
)


_RANDOM: Final = "random "


def _random_html(seed: int) -> Bomb:
    """Return HTML of a random repeated prefix, unit and suffix."""
    draw = random.Random(seed)  # noqa: S311  repeatable, not a secret

    def unit() -> str:
        return "".join(draw.choices(_TOKENS, k=draw.randint(1, 6)))

    before, after = unit() * draw.choice((0, 1, 8, 10_000)), unit() * draw.choice((0, 1, 20_000))
    return _request(html=filled(unit(), before, after))


def corpus(random_bombs: int) -> dict[str, Callable[[], Bomb]]:
    """Return the functions that make the bombs, by their names."""

    def with_html(html: Callable[[], str]) -> Bomb:
        return _request(html=html())

    return (
        {name: partial(with_html, html) for name, html in _HTML.items()}
        | dict(_MAILS)
        | {f"{_RANDOM}{seed}": partial(_random_html, seed) for seed in range(random_bombs)}
    )


def bomb_named(name: str) -> Bomb:
    """Make the bomb with this name."""
    if name.startswith(_RANDOM):
        return _random_html(int(name.removeprefix(_RANDOM)))
    return corpus(0)[name]()
