"""Messages that must be refused after DATA, because SES would refuse them or they mislead."""

import base64
import quopri
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from pillarbox.domain.messages.attachment import UNSUPPORTED_EXTENSIONS
from pillarbox.mime.parse import MESSAGE_FIELDS, PART_FIELDS
from tests.fakes.builders import SENDER
from tests.fakes.hidden_words import HIDDEN_DIRECTIONS, HIDDEN_EXTENSIONS

_FROM: Final = f"From: {SENDER}\r\n"
_MIXED: Final = _FROM + "Content-Type: multipart/mixed; boundary=b\r\n\r\n"
_PDF: Final = "Content-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n"

#: File names that mislead without the extension of a program.
_NAMES: Final = (
    *("..", ".", "CON", "con.txt", "NUL.txt", "aux", "COM1.pdf", "lpt\u00b9.pdf", "a:b"),
    *("a.pdf:b", "a/b.pdf", "a\\\\b.pdf", "../a.pdf", "a.pdf.", "a.pdf ", "a.pdf. .", "   "),
    *(
        "a\u200b.pdf",
        "\u200d",
        "\u202efdp.a",
        "a\u2066.pdf",
        "a\u200f.pdf",
        "\u3164",
        "\ufeffa.pdf",
    ),
    *("a\u00ad.pdf", "a\x01.pdf", "a\x7f.pdf", "a\u2028.pdf", "x" * 256),
)
#: Ways to write the name of a program; the first one is plain.
_DISGUISES: Final = (
    *("{}", "{}.", "{} ", "{}. .", "{}\t", "'{}'", "{}\u200b", "\u200e{}", "{}\u00a0"),
)
_PROGRAMS: Final = (b"MZ\x90\x00program", b"\x7fELF\x02program")
_BAD_ADDRESSES: Final = (
    *("root", "Ann", "a@b.example c@d.example", "a@b.example; c@d.example", "<a@b.example"),
    *("a@b.example>", '"Ann <a@b.example>', "Ann <>", "@b.example", "a@", "a..b@c.example"),
    *(".a@b.example", "a.@b.example", "a@.b.example", "a@b.example.", "a@b..example"),
    *("a@b_c.example", "\xe4@b.example", "a@\xe4.example", "<@r.example:a@b.example>"),
    *("Ann <<a@b.example>", "a:b:c@d.example;", "a b@c.example", "a@[192.0.2.1]"),
)
_HEADERS: Final = (
    *("Subject : x\r\n", "Subject\t: x\r\n", ": x\r\n", "X y: z\r\n", "no field\r\n"),
    *("X: a\r\n \r\nBcc: b@c.example\r\n", "X: a\r\n\t\r\n b\r\n", "\u00fc: x\r\n"),
    *("Subject: \u200b\u200d\r\n", "Subject: =?utf-8?q?=E2=80=8B?=\r\n"),
    *("Subject: =?utf-8?q?a=0D=0ABcc:_b?=\r\n", "Subject: =?utf-8?q?=E2=80=AEtxt?=\r\n"),
    *("Subject: a\u202eb\r\n", "Subject: =?utf-8?q?a=00b?=\r\n", "Received: x\r\n" * 101),
    *("X-SES-CONFIGURATION-SET : evil\r\n", "Idempotency-Key: a b\r\n"),
)
_AUTHORS: Final = (
    *("", _FROM * 2, f"From : {SENDER}\r\n", f"From: {SENDER}, eve@shop.example\r\n"),
    *(f"From: =?utf-8?q?=E2=80=AEx?= <{SENDER}>\r\n", f'From: "\u200b" <{SENDER}>\r\n'),
    *(f"From: a: {SENDER};\r\n", "From: root\r\n", "From:\r\n"),
    *(f"From: {SENDER} (<eve@x.example>)\r\n", f"From: {SENDER.replace('@', '(x)@')}\r\n"),
    *(f"From: <{SENDER} (x)>\r\n", f"From: {SENDER} (\u202ex)\r\n", f"From: {SENDER} (x\r\n"),
    *(f"{_FROM}Sender: eve@shop.example\r\n", f"{_FROM}Sender: {SENDER}\r\nSender: {SENDER}\r\n"),
)
_TYPES: Final = (
    *("message/rfc822", "message/partial; id=a; number=1; total=2", "message/global"),
    *("message/external-body; access-type=URL", "application/octet-stream", "application/zip"),
    *("application/x-msdownload", "image/svg+xml", "text/x-sh", "application/ms-tnef", "nonsense"),
)


def hostile_messages() -> Iterator[tuple[str, bytes]]:
    """Yield each message with what it tries."""
    for label, message in (
        *_names(),
        *_programs(),
        *_fields(),
        *_structures(),
        *(
            ("type", f"{_MIXED}--b\r\nContent-Type: {kind}\r\n\r\nx\r\n--b--\r\n")
            for kind in _TYPES
        ),
        *(("type", f"{_FROM}Content-Type: {kind}\r\n\r\nx\r\n") for kind in _TYPES),
    ):
        yield label, message.encode("utf-8", "surrogateescape")


def _names() -> Iterator[tuple[str, str]]:
    for extension in sorted(UNSUPPORTED_EXTENSIONS):
        for name in (f"a.{extension}", f"a.pdf.{extension.upper()}", f"ü .{extension}"):
            for disguise in _DISGUISES:
                for form in _forms(disguise.format(name)):
                    yield f"extension .{extension}", _file(form)
    for name in _NAMES:
        for form in _forms(name):
            yield f"name {name!a}", _file(form)
    for hidden in HIDDEN_EXTENSIONS:
        yield "hidden name", _file(f"Content-Type: text/plain; {hidden}")
    for form in (
        "Content-Disposition: attachment; filename*1=exe",
        "Content-Disposition: attachment; filename*1=exe; filename=a.pdf",
        "Content-Disposition: attachment; filename*0=a.; filename*2=exe",
        "Content-Disposition: attachment; filename*0=a.pdf; filename*0*=utf-8''a.exe",
        "Content-Disposition: attachment; filename*00=a.exe",
        "Content-Disposition: attachment; filename*0=a.; filename*1*=exe",
        "Content-Disposition: attachment; filename*=x-none''a.exe",
        'Content-Disposition: attachment; filename="=?x-none?q?a.exe?="',
        'Content-Disposition: attachment; filename="=?utf-8?q?a.exe"',
        'Content-Disposition: attachment; filename="a.exe',
        "Content-Disposition: attachment; filename=a.pdf; FileName=a.exe",
        "Content-Disposition: attachment; filename=a.exe (comment)",
    ):
        yield "form of a name", _file(form)


def _forms(name: str) -> Iterator[str]:
    """Yield header fields that give a part this name, in every form that programs read."""
    quoted = name.replace('"', '\\"')
    word = base64.b64encode(name.encode()).decode()
    q_word = quote(name, safe="").replace("%", "=")
    encoded = quote(name, safe="")
    middle = len(name) // 2
    start, end = (quote(piece, safe="") for piece in (name[:middle], name[middle:]))
    for field in ("Content-Disposition: attachment; filename", "Content-Disposition: inline; name"):
        yield f'{field}="{quoted}"'
        yield f"{field}*=utf-8''{encoded}"
        yield f"{field}*0*=utf-8''{encoded}"
        yield f"{field}*0*=utf-8''{start};\r\n {field.rpartition(' ')[2]}*1*={end}"
        yield f"{field}*1*={end};\r\n {field.rpartition(' ')[2]}*0*=utf-8''{start}"
        yield f'{field}="=?utf-8?b?{word}?="'
        yield f'{field}="=?utf-8?q?{q_word}?="'
        yield f"{field}=a.pdf; {field.rpartition(' ')[2]}*=utf-8''{encoded}"
    yield f'Content-Type: application/pdf; name="{quoted}"'
    yield f"Content-Type: text/plain;\r\n\tname*=UTF-8''{encoded}"
    yield f'Content-Type: text/plain; filename="{quoted}"'


def _file(fields: str) -> str:
    kind = "" if fields.startswith("Content-Type") else "Content-Type: application/pdf\r\n"
    return f"{_MIXED}--b\r\n{kind}{fields}\r\n\r\nx\r\n--b--\r\n"


def _programs() -> Iterator[tuple[str, str]]:
    for program in _PROGRAMS:
        code = base64.b64encode(program).decode()
        dripped = quopri.encodestring(program).decode()
        escaped = "".join(f"={octet:02X}" for octet in program)
        for content in (
            code,
            " " * 900 + "\r\n" + code,
            "\r\n" * 500 + code,
            " \t\r\n" * 500 + code,
            "!" * 70 + code,
            "-_.\r\n" * 40 + code,
            "=" + code,
            "AA==\r\n" + code,
            code + "=",
            code[:-1] + "*",
            "\r\n".join(code),
        ):
            yield "program in base64", f"{_FROM}{_PDF}\r\n{content}\r\n"
        for content in (
            dripped,
            escaped,
            "=\r\n" * 500 + dripped,
            "= \t\r\n" * 500 + escaped,
            "=\r\n".join(escaped[start : start + 3] for start in range(0, len(escaped), 3)),
            "=" * 70 + escaped,
        ):
            head = _FROM + "Content-Type: image/png\r\nContent-Transfer-Encoding: "
            yield "program in quoted-printable", f"{head}quoted-printable\r\n\r\n{content}\r\n"
        for encoding in ("8bit", "binary", "7BIT "):
            text = program.decode("utf-8", "surrogateescape")
            head = f"Content-Type: image/png\r\nContent-Transfer-Encoding: {encoding}"
            yield "program as it is", f"{_FROM}{head}\r\n\r\n{text}\r\n"
    for encoding in ("x-uuencode", "base-64", "base64 x", "quoted printable", "gzip", '""', ""):
        head = f"Content-Type: image/png\r\nContent-Transfer-Encoding: {encoding}"
        yield "unknown encoding", f"{_FROM}{head}\r\n\r\nx\r\n"


def _fields() -> Iterator[tuple[str, str]]:
    for name in sorted((MESSAGE_FIELDS | PART_FIELDS) - {b"bcc", b"return-path"}):
        value = "text/plain" if name == b"content-type" else "a@b.example"
        field = name.decode()
        yield f"{field} twice", f"{_FROM}{field}: {value}\r\n{field.upper()}: {value}\r\n\r\nx\r\n"
    for address in _BAD_ADDRESSES:
        for field in ("To", "Cc", "Reply-To"):
            for value in (address, f"ok@x.example, {address}"):
                yield f"address in {field}", f"{_FROM}{field}: {value}\r\n\r\nx\r\n"
    for words in HIDDEN_DIRECTIONS:
        yield "hidden direction", f"{_FROM}Subject: {words}\r\n\r\nx\r\n"
    for header in _HEADERS:
        yield "header", f"{_FROM}{header}\r\nx\r\n"
    for header in _AUTHORS:
        yield "author", f"{header}Subject: x\r\n\r\nx\r\n"


def _structures() -> Iterator[tuple[str, str]]:
    exe = "Content-Disposition: attachment; filename=a.exe\r\n\r\nx\r\n"
    ok = "--b\r\n\r\nHello\r\n"
    for multipart in ("mixed", "digest", "alternative", "signed", "x-unknown"):
        for parameters in (
            *("", "boundary=", 'boundary=""', "boundary=b; boundary=c", "boundary=b; Boundary=B"),
            *("boundary*=utf-8''b", "boundary*0=b", "boundary*0=; boundary*1=b"),
            *('boundary="b\r\n b"', 'boundary="b\r\n b"; x="b b"', "boundary=b b"),
            *("boundary=c; boundary*0=b", "boundary*0*=us-ascii''%62", 'boundary="b '),
            *(
                "boundary=b (x)",
                'boundary="\\b"',
                f"boundary={'b' * 71}",
                'boundary="b "',
                "boundary=\xe4",
            ),
        ):
            kind = f"Content-Type: multipart/{multipart}; {parameters}\r\n\r\n"
            yield "boundary", f"{_FROM}{kind}{ok}--b\r\n{exe}--b--\r\n"
            yield "boundary within", f"{_FROM}{_nested('o', kind + ok + '--b--')}"
    yield "no part", f"{_MIXED}Hello\r\n"
    yield "a delimiter after a delimiter", f"{_MIXED}--b\r\n{ok}--b--\r\n"
    yield "only an end", f"{_MIXED}--b--\r\n"
    for tail in (f"--b\r\n{exe}--b--\r\n", f"\r\n\r\ntext\r\n--b\r\n{exe}", "--b\r\n", "--bx\r\n"):
        yield "parts after the end", f"{_MIXED}{ok}--b--\r\n{tail}"
        yield "parts after an inner end", f"{_FROM}{_nested('o', _inner('b', ok + '--b--') + tail)}"
    for outer, inner in (("b", "b"), ("b", "bb"), ("bb", "b"), ("b", "b--"), ("b", "b x")):
        body = f"--{inner}\r\n\r\nHello\r\n--{inner}--"
        yield "boundaries alike", f"{_FROM}{_nested(outer, _inner(inner, body))}"
    deep = "".join(
        f"Content-Type: multipart/mixed; boundary=x{n:02}\r\n\r\n--x{n:02}\r\n" for n in range(11)
    )
    yield "too deep", f"{_FROM}{deep}\r\nx\r\n"
    yield "too many parts", f"{_MIXED}{ok * 251}--b--\r\n"
    yield "too many files", f"{_MIXED}{f'--b\r\n{_PDF}\r\n\r\n' * 11}--b--\r\n"
    yield (
        "a message in a digest",
        (
            f"{_FROM}Content-Type: multipart/digest; boundary=b\r\n\r\n"
            f"--b\r\n\r\nSubject: x\r\n{exe}--b--\r\n"
        ),
    )
    for encoding in ("base64", "quoted-printable", "x-uuencode"):
        yield (
            "an encoded multipart",
            (f"{_FROM}Content-Transfer-Encoding: {encoding}\r\n{_inner('b', ok + '--b--')}\r\n"),
        )


def _inner(boundary: str, body: str) -> str:
    return f'Content-Type: multipart/mixed; boundary="{boundary}"\r\n\r\n{body}\r\n'


def _nested(boundary: str, part: str) -> str:
    return _inner(boundary, f"--{boundary}\r\n{part}\r\n--{boundary}--")
