"""What mail programs show of a message, judged by mailparser and postal-mime.

Python's email package decodes otherwise, and so may the service. What one of these programs shows
must be safe, and what both show must be what the history says.
"""

import json
import re
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, Final
from uuid import UUID

import pytest

from pillarbox.application.sending.smtp import read_message
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.attachment import Attachment
from pillarbox.domain.messages.mail import Mail
from pillarbox.mime.build import OutgoingMail, build
from pillarbox.mime.parse import parse
from tests.examples import examples
from tests.fakes.builders import SENDER
from tests.fakes.hidden_words import HIDDEN_DIRECTIONS, HIDDEN_EXTENSIONS
from tests.needs import need_node_package, need_program

_DIRECTION: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
_SCRIPT: Final = re.compile(r"\.\s*(?:js|exe|bat)[\s.'\"]*\Z", re.IGNORECASE)
#: What programs remove from names, and what they show for an octet that they cannot decode.
_DROPPED: Final = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\ufffd]")

#: Character sets as senders write them, with what Python calls them.
_CHARSETS: Final = {
    "utf-8": "utf-8",
    "UTF8": "utf-8",
    "utf-8*en": "utf-8",
    "us-ascii": "ascii",
    "iso-8859-1": "cp1252",
    "koi8-r": "koi8-r",
    "iso-8859-15": "iso-8859-15",
    "windows-1251": "cp1251",
    "gb2312": "gbk",
    "GBK": "gbk",
    "big5": "big5",
    "shift_jis": "cp932",
    "iso-2022-jp": "iso-2022-jp",
    "ks_c_5601-1987": "cp949",
}
_ODD_CHARSETS: Final = (
    *("utf-7", "utf-16", "utf-16be", "utf-32", "ucs-2", "unicode", "csunicode", "iso-10646-ucs-2"),
    *("x-unknown", "unknown-8bit", "cp037", "hz-gb-2312", "iso-2022-kr", "iso-2022-jp-2", "hex"),
    *("unicode_escape", "x-gbk", "utf 8", "", "utf-8?", "binary", "replacement", "x-user-defined"),
)
_ENCODINGS: Final = ("utf-8", "utf-16-be", "utf-16-le", "utf-7", "gb18030", "iso-2022-jp", "cp037")
_TEXTS: Final = (
    *("x.js", "x.", "js", "j", "s", "x.j", ".js", "a.pdf", "x.exe", ".e", "xe", "pdf", ".", " "),
    *("\u202e", "\u202eabc", "ü", "é.pdf", "中文", "привет", "한", "日", "-", '"', ";", "(", ")"),
)
_STRAY: Final = (b"\xff", b"\xe2\x80", b"\xae", b"\x81", b"\x1b$B", b"\x1b(B", b"=", b"_", b"?")


class MailReaders:
    """Two mail programs, in a process that answers line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def show(self, message: bytes) -> list[dict[str, Any]]:
        """Return what each program shows as subject, author and files."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(b64encode(message) + b"\n")
        self._process.stdin.flush()
        shown: dict[str, dict[str, Any]] = json.loads(self._process.stdout.readline())
        return list(shown.values())


@pytest.fixture(scope="module")
def readers() -> Iterator[MailReaders]:
    node = need_program("node")
    need_node_package("mailparser", "3.14.2")
    environment = {"NODE_PATH": need_node_package("postal-mime", "4.0.0")}
    script = Path(__file__).with_name("mail_readers.cjs")
    with subprocess.Popen(
        [node, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as process:
        yield MailReaders(process)
        assert process.stdin
        process.stdin.close()


def accepted(message: bytes) -> Mail | None:
    """Return the mail that the relay makes of a message, or None if it refuses it."""
    try:
        return read_message(("ann@example.com",), bytearray(message)).mail
    except ServiceError:
        return None


def misleads(shown: dict[str, Any]) -> bool:
    """Return whether a program shows another direction, or the name of a script."""
    names = [_DROPPED.sub("", name) for name in shown["files"]]
    text = f"{shown['subject']}{shown['author']}{names}"
    return bool(_DIRECTION.search(text) or any(map(_SCRIPT.search, names)))


def with_subject(value: str) -> bytes:
    return f"From: {SENDER}\r\nSubject: {value}\r\n\r\nx\r\n".encode()


def with_author(value: str) -> bytes:
    return f"From: {value} <{SENDER}>\r\n\r\nx\r\n".encode()


def with_comment(value: str) -> bytes:
    return f"From: {SENDER} ({value})\r\n\r\nx\r\n".encode()


def with_file(parameters: str, field: str = "Content-Disposition: attachment") -> bytes:
    kind = "Content-Type: application/pdf\r\n" if "Disposition" in field else ""
    return f"From: {SENDER}\r\n{kind}{field}; {parameters}\r\n\r\nx\r\n".encode()


def encoded(random: Random, charset: str, octets: bytes, *, broken: bool = False) -> str:
    """Write one word, with B or Q; a broken one in a way that some programs can read."""
    encoding = random.choice("qQbB")
    if encoding in "bB":
        text = b64encode(octets).decode()
        if broken:
            text = random.choice(
                (text.rstrip("="), f"{text[:1]} {text[1:]}", f"{text}=", text[:-1])
            )
    else:
        text = "".join(
            f"={octet:02X}" if random.random() < 0.8 or not chr(octet).isalnum() else chr(octet)
            for octet in octets
        )
        text = text.replace("=20", "_")
        if broken:
            text = random.choice((text.replace("=", "= "), text.lower(), f"{text}=", f"{text}?a"))
    return f"=?{charset}?{encoding}?{text}?="


def good_words(random: Random) -> str:
    """Write texts as the rules say: words and raw texts, with blanks in between."""
    pieces = []
    for _ in range(random.randint(1, 4)):
        charset, codec = random.choice(tuple(_CHARSETS.items()))
        text = "".join(random.choices(_TEXTS, k=random.randint(1, 3))).strip()
        octets = text.encode(codec, "ignore")
        raw = random.choice(("a", "Zug", "привет", "😀", "b.", "(c)"))
        pieces.append(encoded(random, charset, octets) if octets and random.random() < 0.7 else raw)
    return " ".join(pieces)


def hostile_words(random: Random) -> str:
    """Write texts in ways that programs read differently."""
    pieces = []
    for _ in range(random.randint(1, 4)):
        charset = random.choice((*_CHARSETS, *_ODD_CHARSETS))
        codec = (
            _CHARSETS.get(charset, "utf-8") if random.random() < 0.7 else random.choice(_ENCODINGS)
        )
        octets = "".join(random.choices(_TEXTS, k=random.randint(0, 3))).encode(codec, "ignore")
        if random.random() < 0.2:
            octets = random.choice((octets + random.choice(_STRAY), random.choice(_STRAY) + octets))
        cut = random.randint(0, len(octets)) if random.random() < 0.2 else 0
        halves = [half for half in (octets[:cut], octets[cut:]) if half]
        words = [encoded(random, charset, half, broken=random.random() < 0.15) for half in halves]
        word = random.choice(("", " ", "\t", "\r\n ")).join(words)
        if random.random() < 0.1:
            place = random.randint(0, len(word))
            word = (
                word[:place] + random.choice(("?= =?utf-8?q?", "?=", "", "?")) + word[place + 1 :]
            )
        pieces.append(word if random.random() < 0.7 else random.choice(_TEXTS))
    return random.choice(("", " ")).join(pieces)


def hostile_parameters(random: Random, name: str) -> str:
    """Write a name in one of the forms of RFC 2045 and RFC 2231, or in one that is almost right."""

    def percent(octets: bytes) -> str:
        return "".join(
            chr(octet) if chr(octet).isalnum() and random.random() < 0.6 else f"%{octet:02X}"
            for octet in octets
        )

    form = random.random()
    if form < 0.5:
        return f'{name}="{hostile_words(random)}"'
    if form < 0.6:
        return f"{name}={re.sub(r'[";]', '', hostile_words(random))}{random.choice(('', ' (x)'))}"
    charset, codec = random.choice(tuple(_CHARSETS.items()))
    texts = random.choices((*_TEXTS, "%2Ejs", "\x1b$B"), k=3)
    pieces = [percent(text.encode(codec, "ignore")) for text in texts]
    if form < 0.7:
        return f"{name}*={charset}''{''.join(pieces)}"
    numbered = [f"{name}*0*={charset}''{pieces[0]}"] if form < 0.85 else [f'{name}*0="{texts[0]}"']
    for number in (1, 2):
        plain = random.choice((texts[number].replace('"', ""), encoded(random, "utf-8", b"js")))
        starred = f"{name}*{number}*={pieces[number]}"
        numbered.append(starred if random.random() < 0.4 else f'{name}*{number}="{plain}"')
    return ";\r\n ".join(numbered)


def test_nothing_that_is_accepted_misleads(readers: MailReaders) -> None:
    """Of 750 hostile messages, no program shows a direction or a script of an accepted one."""
    random, kept = Random(1), 0  # noqa: S311  a repeatable test
    for _ in range(examples(150)):
        for message in (
            with_subject(hostile_words(random)),
            with_author(random.choice(("{}", '"{}"')).format(hostile_words(random))),
            with_comment(hostile_words(random)),
            with_file(hostile_parameters(random, "filename")),
            with_file(hostile_parameters(random, "name"), "Content-Type: application/pdf"),
        ):
            if accepted(message):
                kept += 1
                assert not any(map(misleads, readers.show(message))), message
    assert kept > examples(175)


def test_the_hidden_forms_are_real(readers: MailReaders) -> None:
    subjects = [with_subject(words) for words in HIDDEN_DIRECTIONS]
    files = [with_file(name.replace("name", "filename")) for name in HIDDEN_EXTENSIONS]
    for messages, least in ((subjects, 20), (files, 20)):
        assert sum(any(map(misleads, readers.show(message))) for message in messages) >= least


def test_the_history_shows_what_programs_show(readers: MailReaders) -> None:
    """Of 200 messages with correct words, each is shown as one of the programs shows it."""
    random, kept = Random(2), 0  # noqa: S311  a repeatable test
    for _ in range(200):
        words = good_words(random)
        subject, author, comment = with_subject(words), with_author(words), with_comment(words)
        file = with_file(f'filename="{words}"')
        if mail := accepted(subject):
            kept += 1
            assert mail.subject in {shown["subject"] for shown in readers.show(subject)}
        if mail := accepted(author):
            assert mail.from_name in {shown["author"] for shown in readers.show(author)}
        if mail := accepted(comment):
            assert mail.from_name in {shown["author"] for shown in readers.show(comment)}
        if accepted(file):
            (part,) = parse(file).parts
            assert [part.filenames[0]] in [shown["files"] for shown in readers.show(file)]
    assert kept > 100


@pytest.mark.parametrize(
    "text",
    [
        *("Hello", "Grüße", "a  b", "=?utf-8?q?a?=", "=?utf-8?q?=E2=80=AE?=", "a =?b", "x" * 300),
        *(
            "日本語" * 40,
            'say "hi" \\ there',
            "a, b; c",
            "👩‍👧 ünï",
            "+IC4-",
            "100%25.pdf",
            "utf-8''a%2Ejs",
        ),
    ],
)
def test_programs_show_what_we_write(readers: MailReaders, text: str) -> None:
    """Both programs show the subject, name and file of a message that the service writes."""
    # A name with an encoded-word is refused: only one of the two programs decodes it.
    name = "a.pdf" if "=?" in text else f"{text}.pdf"
    file = Attachment(filename=name, content_type="application/pdf", content="eA==")
    mail = OutgoingMail(
        message_id=UUID(int=1),
        date=datetime(2026, 3, 14, tzinfo=UTC),
        sender=SENDER,
        from_name=text,
        to=("ann@example.com",),
        cc=(),
        reply_to=(),
        subject=text,
        html=None,
        text="x",
        attachments=(file,),
    )
    for shown in readers.show(build(mail)):
        assert (shown["subject"], shown["author"], shown["files"]) == (text, text, [name])
