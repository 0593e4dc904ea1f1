"""Makes valid bodies for POST /v1/emails at random."""

import base64
from random import Random
from typing import Any, Final

from pillarbox.domain.messages.attachment import ALLOWED_TYPES

_ADDRESSES: Final = (
    *("ada@customer.example", "Bob.B+x@customer.example", "o'neil@mail.example", "c_c@x.example"),
    *("d@a-b.example", "e=f@customer.example", "{g}@customer.example", "h@BÜCHER.example"),
    *("1@customer.example", "a" * 64 + "@customer.example", "i!#$%&*/?^`|~@customer.example"),
)
_WORDS: Final = (
    *(
        "Hello",
        "Grüße",
        "日本語",
        "😀👩\u200d👩\u200d👧",
        "❤\ufe0f",
        "עברית",
        "العربية",
        "a,b",
        "0" * 75,
    ),
    *("=?utf-8?q?x?=", "=?", "?=", '"quoted"', "back\\slash", "<b@c.example>", "(comment)"),
    *(";", ":", "=", "--", "=_", ".", "..", "From ", "%41", "{{x}}", "\u00a0", "é", "e\u0301"),
    *("ß" * 40, "x" * 90, "\U0010ffff", "&amp;", "'", "a@b.c"),
)
_HTML: Final = (
    *("<p>", "</p>", "<b>x</b>", "<br>", "\n", "\r\n", "\r", "\n.\n", "\n..\n", "\nFrom x\n"),
    *("\n--\n", "x" * 2000, " \n", "\t\n", "=", "=\n", "==3D", "é" * 300, "😀", "&lt;", "<", ">"),
    *("\x00", "\u2028", "--=_related_", "\n--=_alternative", "  ", " ", "<img src='cid:logo'>"),
    "<a href='https://x'>y</a>",
)
_STEMS: Final = (
    *("invoice", "Grüße", "日本語", "a b", "it's", 'a"b', "😀", "x" * 120),
    *("%41", "a;b"),
)
_SUFFIXES: Final = (".pdf", ".PNG", ".txt", ".tar.gz", "", ".exe.pdf", ".csv", ".docx")


def send_body(random: Random) -> dict[str, Any]:
    """Return a body."""
    body: dict[str, Any] = {}
    addresses = random.sample(_ADDRESSES, random.randint(1, 6))
    cut = random.randint(1, len(addresses))
    body["to"] = addresses[0] if cut == 1 and random.random() < 0.5 else addresses[:cut]
    body["cc" if random.random() < 0.5 else "bcc"] = addresses[cut:]
    if random.random() < 0.8:
        body |= {"html": _joined(random, _HTML, 40) or "x", "subject": _text(random, 300)}
    else:
        body |= {"starterTemplate": "otp", "variables": {"otp_code": str(random.randint(0, 10**6))}}
        body |= {"subject": _text(random, 300)} if random.random() < 0.5 else {}
    for name, chance, value in (
        ("fromName", 0.6, _text(random, 200)),
        ("brandName", 0.3, _text(random, 100)[:128]),
        ("replyTo", 0.3, random.choice(_ADDRESSES)),
        ("attachments", 0.6, [_file(random, number) for number in range(random.randint(0, 4))]),
    ):
        if random.random() < chance:
            body[name] = value
    return body


def _text(random: Random, most: int) -> str:
    """Return visible text of one line."""
    return ("x" + _joined(random, _WORDS, 12, random.choice(("", " ", "  "))))[:most]


def _joined(random: Random, words: tuple[str, ...], most: int, between: str = "") -> str:
    return between.join(random.choices(words, k=random.randint(0, most)))


def _file(random: Random, number: int) -> dict[str, Any]:
    octets = random.randbytes(random.choice((0, 1, 2, 3, 56, 57, 58, 3000)))
    if octets.startswith(b"MZ"):
        octets = b"x" + octets
    file: dict[str, Any] = {
        "filename": random.choice(_STEMS) + random.choice(_SUFFIXES),
        "contentType": random.choice(sorted(ALLOWED_TYPES)),
        "content": base64.b64encode(octets).decode(),
    }
    if random.random() < 0.3:
        file |= {"inline": True, "contentId": f"logo{number}@{random.choice('ab.!#')}"}
    return file
