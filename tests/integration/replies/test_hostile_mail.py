"""Each mail that a stranger sends becomes a record or a named drop, in bounded time and memory."""

import base64
import time
from encodings.aliases import aliases
from itertools import islice
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.mime.received import (
    automatic_of,
    content_of,
    describe,
    files_of,
    read_structure,
    trace_of,
)
from pillarbox.rendering.text import text_from_html
from pillarbox.wiring import services
from tests.allocations import forget_peak, memory
from tests.contract.canaries import ADDRESS, CANARY, traces
from tests.examples import DEEP
from tests.fakes.client_messages import CLIENT_MESSAGES
from tests.integration.replies.mail import DOMAIN, SENT, TRACE, notify, received, store, token
from verification.attacks.hostile_messages import hostile_messages
from verification.attacks.mime import _change

SUPPORT: Final = f"support@{DOMAIN}"
ADA: Final = b"From: Ada <ada@customer.example>\r\n"
MIXED: Final = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
FORGED: Final = b"Authentication-Results: amazonses.com; dmarc=pass header.from=bank.example;\r\n"
RECEIPT: Final = b"X-SES-RECEIPT: x\r\n"
#: The largest mail that SES receives, and what a run tries that is not deep.
MOST: Final = 40 * 1024 * 1024
BOMB: Final = MOST if DEEP else MOST * 2 // 5
LARGE: Final = {
    "one text": (b"", b"word and word\r\n"),
    "only line ends": (b"", b"\n"),
    "only quotations": (b"", b">\n"),
    "flowed lines": (b"Content-Type: text/plain; format=flowed\r\n\r\n", b"ab\n"),
    "HTML tables": (b"Content-Type: text/html\r\n\r\n", b"<table><tr><td>"),
    "base64 of one letter a line": (
        b"Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n",
        b"A\n",
    ),
    "quoted-printable": (b"Content-Transfer-Encoding: quoted-printable\r\n\r\n", b"=41=\r\n"),
    "almost boundaries": (MIXED, b"\n--bx"),
    "parts": (MIXED, b"--b\r\n\r\nx\r\n"),
    "multiparts in each other": (
        b"".join(
            b"Content-Type: multipart/mixed; boundary=%b\r\n\r\n--%b\r\n" % (b"b" * n, b"b" * n)
            for n in range(1, 100)
        ),
        b"\n--" + b"b" * 60,
    ),
    "a header": (b"", b"a: b\r\n"),
    "one field": (b"Subject: x", b"\r\n x"),
    "mails in each other": (b"", b"Content-Type: message/rfc822\r\n\r\n"),
    "wide characters": (b"Content-Type: text/plain; charset=utf-16\r\n\r\n", b"\x00\xd8"),
    "calendars": (MIXED, b"--b\r\nContent-Type: text/calendar\r\n\r\nMETHOD:REPLY\r\n"),
}


def large(head: bytes, unit: bytes, size: int = BOMB) -> bytes:
    return head + unit * ((size - len(head) - 2_000) // len(unit))


@pytest.mark.slow
def test_a_mail_of_40_mb_is_a_record() -> None:
    """It has a long text and many parts; the next test reads other kinds of it."""
    head, part = LARGE["parts"]
    text = b"--b\r\n\r\n" + b"word and word\r\n" * 30_000
    notify(store(TRACE % SUPPORT.encode() + ADA + large(head + text, part, MOST)))
    (mail,) = received()
    assert mail.parsed
    assert len(mail.files) <= 50
    content = services().received_objects.content(mail)
    assert content is not None
    texts = (content.text, content.html, content.reply)
    assert all(len(text.encode()) <= 262_144 for text in texts if text)


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_reading_a_large_mail_takes_little(name: str) -> None:
    """40 MB take half of the function's 60 seconds at most, and as much memory as two mails.

    Most take less than one second of a processor, and the slowest five.
    """
    octets = ADA + large(*LARGE[name])
    forget_peak()
    used, started = memory("VmRSS"), time.process_time()
    everything(octets)
    assert time.process_time() - started < 30 * BOMB / MOST
    assert memory("VmHWM") - used < 3 * BOMB


def everything(octets: bytes) -> tuple[Any, ...]:
    """Read what the function reads."""
    structure = read_structure(octets)
    files = files_of(structure)[:50]
    contents = [part.content(octets) for part in files]
    return (
        *(structure.mailboxes(name) for name in ("from", "to", "cc")),
        *(structure.text(name) for name in ("subject", "message-id", "references")),
        automatic_of(structure, trace_of(structure)),
        content_of(structure, octets, text_from_html),
        *(describe(part, len(one)) for part, one in zip(files, contents, strict=True)),
        contents,
    )


#: What a stranger writes below the fields of SES, and what the record has then.
STRANGE: Final[dict[str, tuple[bytes, dict[str, object]]]] = {
    "nothing": (b"", {"sender": "ada@customer.example", "subject": ""}),
    "30,000 parameters": (
        ADA + b"Content-Type: text/plain" + b"; a=b" * 30_000 + b"\r\n\r\nHi",
        {"files": ()},
    ),
    "60,000 dots in a name": (
        b"From: " + b"." * 60_000 + b" <ada@customer.example>\r\n\r\nHi",
        {"sender": "ada@customer.example", "sender_name": "." * 998},
    ),
    "empty field names": (ADA + b": x\r\n: y\r\nSubject: Hi\r\n\r\nHi", {"subject": "Hi"}),
    "a field of 1 MB": (ADA + b"Subject: " + b"x" * 1_000_000, {"subject": "x" * 998}),
    "NULs": (ADA + b"Subject: a\0b\r\n\r\nH\0i", {"subject": "a b"}),
    "control characters": (
        ADA + b"Subject: =?utf-8?q?a=0D=0ABcc:_b=1B[2J?=\r\n\r\nHi",
        {"subject": "a Bcc: b [2J"},
    ),
    "another direction": (
        'From: "\u202egro.knab" <ada@customer.example>\r\n\r\nHi'.encode(),
        {"sender_name": "gro.knab"},
    ),
    "an address with a NUL": (
        b"From: <a\0da@customer.example>\r\n\r\nHi",
        {"sender": "ada@customer.example", "authenticated": False},
    ),
    "several authors": (
        b"From: ada@customer.example, eve@customer.example\r\n\r\nHi",
        {"sender": "ada@customer.example", "authenticated": False},
    ),
    "several fields": (ADA + ADA.replace(b"ada", b"eve") + b"\r\nHi", {"authenticated": False}),
    "an address as a name": (
        b"From: ceo@bank.example <ada@customer.example>\r\n\r\nHi",
        {"sender": "ada@customer.example", "authenticated": True},
    ),
    "a route to an address": (
        b"From: <@bank.example,@b.example:ada@customer.example>\r\n\r\nHi",
        {"sender": "ada@customer.example", "authenticated": True},
    ),
    "an address in a name": (
        b'From: "Ceo \\" <ceo@bank.example>" <ada@customer.example>\r\n\r\nHi',
        {"sender": "ada@customer.example", "authenticated": True},
    ),
    "parentheses in a name": (
        b'From: "Ada (Shop)" <ada@customer.example> (her shop)\r\n\r\nHi',
        {"sender": "ada@customer.example", "sender_name": "Ada (Shop)"},
    ),
    "a comment as a name": (
        b"From: (Ada (of <ceo@bank.example>)) ada@customer.example\r\n\r\nHi",
        {"sender": "ada@customer.example", "sender_name": "Ada (of <ceo@bank.example>)"},
    ),
    "a quoted part of an address": (
        b'From: Ada <"ada@a.b"@customer.example>\r\n\r\nHi',
        {"sender": '"ada@a.b"@customer.example', "authenticated": True},
    ),
    "a quoted part of an address without brackets": (
        b'From: "ada@a.b"@customer.example (Ada)\r\n\r\nHi',
        {"sender": '"ada@a.b"@customer.example', "sender_name": "Ada"},
    ),
    "another author than DMARC's": (
        b"From: <ceo@bank.example> <ada@customer.example>\r\n\r\nHi",
        {"sender": "ceo@bank.example", "authenticated": False},
    ),
    "no author": (b"Subject: Hi\r\n\r\nHi", {"authenticated": False}),
    "verdicts": (FORGED + RECEIPT + b"From: ceo@bank.example\r\n\r\nHi", {"authenticated": False}),
    "a list": (ADA + b"List-Id: <a.example>\r\n\r\nHi", {"automatic": "list"}),
    "bulk": (ADA + b"Precedence: bulk\r\n\r\nHi", {"automatic": "list"}),
    "an absent person": (ADA + b"Auto-Submitted: auto-replied\r\n\r\nHi", {"automatic": "reply"}),
    "a person": (ADA + b"Auto-Submitted: no (x); y=z\r\n\r\nHi", {"automatic": None}),
    "an answer to ourselves": (b"From: r.x@IN.shop.example\r\n\r\nHi", {"automatic": "reply"}),
    "a report": (
        ADA
        + MIXED.replace(b"mixed", b"report")
        + b"--b\r\nContent-Type: message/delivery-status\r\n\r\nStatus: 5.1.1\r\n--b--\r\n",
        {"automatic": "report", "files": ()},
    ),
    "a calendar of 1 MB": (
        ADA + b"Content-Type: text/calendar\r\n\r\nUID:" + b"x" * 1_000_000,
        {"parsed": True},
    ),
}


@pytest.mark.parametrize("name", STRANGE)
def test_strange_mail_is_a_record(name: str) -> None:
    octets, expected = STRANGE[name]
    answered = notify(store(TRACE % SUPPORT.encode() + octets))
    assert answered == {"batchItemFailures": []}
    (mail,) = received()
    assert {attribute: getattr(mail, attribute) for attribute in expected} == expected


#: What SES may write of a sender who chose the words of the envelope, and what is believed of it.
RESULTS: Final = {
    "dmarc=fail header.from=bank.example;": False,
    "dmarc=pass header.from=bank.example;": True,
    "dmarc=pass header.from=evil.example;": False,
    "dmarc=pass;": False,
    "dkim=pass header.i=@bank.example;\r\n dmarc=none header.from=bank.example;": True,
    "dkim=pass header.i=@evil.example;\r\n dmarc=none header.from=bank.example;": False,
    "dkim=pass header.i=@evilbank.example;\r\n dmarc=none header.from=bank.example;": False,
    'spf=pass (x) envelope-from="; dmarc=pass header.from=bank.example;"@evil.example;'
    "\r\n dmarc=fail header.from=bank.example;": False,
    "spf=pass (of ; dmarc=pass header.from=bank.example;);\r\n dmarc=none;": False,
    "spf=pass helo=x; dmarc=pass header.from=bank.example;"
    "\r\n dmarc=fail header.from=bank.example;": False,
    'spf=pass helo=";\r\n dkim=pass header.i=@bank.example;': False,
    "xdmarc=pass header.from=bank.example;": False,
}


@pytest.mark.parametrize("results", RESULTS)
def test_only_what_ses_found_counts(results: str) -> None:
    trace = (
        f"Received: from x (x [192.0.2.1])\r\n by inbound-smtp for {SUPPORT};\r\n now\r\n"
        f"X-SES-Spam-Verdict: PASS\r\nAuthentication-Results: amazonses.com;\r\n {results}\r\n"
        "X-SES-RECEIPT: x\r\n"
    )
    notify(store(trace.encode() + FORGED + b"From: ceo@bank.example\r\n\r\nHi"))
    (mail,) = received()
    assert mail.authenticated is RESULTS[results]


@pytest.mark.parametrize("left_out", [b"X-SES-RECEIPT", b"X-SES-Spam-Verdict"])
def test_fields_of_ses_that_are_missing_are_not_the_senders(left_out: bytes) -> None:
    """SES ends its fields with a receipt. Without one, or below it, no verdict counts."""
    lines = (TRACE % SUPPORT.encode()).split(b"\n")
    trace = b"\n".join(line for line in lines if not line.startswith(left_out))
    notify(store(trace + b"X-SES-Spam-Verdict: PASS\n" + ADA + b"\nHi"))
    (mail,) = received()
    assert mail.verdicts.spam == "unknown"


def test_a_report_has_no_return_path() -> None:
    trace = (TRACE % SUPPORT.encode()).replace(b"<ada@customer.example>", b"<>")
    notify(store(trace + ADA + b"\nHi"))
    (mail,) = received()
    assert mail.automatic == "report"


def test_no_character_set_raises() -> None:
    """Python has codecs that are no character sets, such as those of escapes and of archives."""
    octets = b"Content-Type: text/plain; charset=%b\r\n\r\n\xff\xfe+2AA- \\ud800 xn--a\x80"
    names = (
        *aliases,
        *aliases.values(),
        "klingon",
        "utf-8\0",
        "unicode_escape",
        "punycode",
        "idna",
    )
    assert all(everything(octets % name.encode()) for name in names)


def test_what_the_relay_refuses_is_read() -> None:
    """Every 40th of 47,000 messages is read, and every 1,600th is a record."""
    octets = [message for _, message in islice(hostile_messages(), 0, None, 40)]
    assert len(octets) > 1_000
    assert all(map(everything, octets))
    trace = TRACE % SUPPORT.encode()
    keys = [
        store(trace + message, f"received/{DOMAIN}/{number}")
        for number, message in enumerate(octets[::40])
    ]
    assert notify(*keys) == {"batchItemFailures": []}
    assert len(received()) == len(keys)


@given(st.sampled_from(sorted(CLIENT_MESSAGES)), st.integers(0, 2**32))
def test_changed_mail_of_real_programs_is_read(program: str, seed: int) -> None:
    random = Random(seed)  # noqa: S311  a repeatable test
    assert everything(_change(random, CLIENT_MESSAGES[program]))


def test_a_flood_of_tokens_costs_few_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mail may repeat a token in many addresses and references, each of another spelling."""
    reads: list[object] = []
    monkeypatch.setattr(services().receiving.messages, "peek", lambda *of: reads.append(of))
    others = (token(type(SENT.message_id)(int=number)) for number in range(500))
    references = "".join(f" <{one}@{DOMAIN}>\r\n" for one in others)
    notify(store(TRACE % SUPPORT.encode() + ADA + f"References:{references}\r\nHi".encode()))
    assert len(reads) <= 20
    assert len(received()) == 1


def test_a_name_of_a_file_has_no_path() -> None:
    names = (
        "../../etc/passwd",
        "C:\\\\a\\\\b.exe",
        "/x",
        "a\0b",
        "\u202etxt.exe",
        "..",
        "x" * 5_000,
    )
    parts = "".join(
        f'--b\r\nContent-Disposition: attachment; filename="{name}"\r\n\r\nx\r\n' for name in names
    )
    notify(store(TRACE % SUPPORT.encode() + ADA + MIXED + parts.encode()))
    (mail,) = received()
    found = [file.filename for file in mail.files]
    assert found == ["passwd", "b.exe", "x", "ab", "txt.exe", None, "x" * 255]


def test_a_small_word_does_not_grow() -> None:
    word = base64.b64encode(b"x" * 150_000).decode()
    notify(store(TRACE % SUPPORT.encode() + ADA + f"Subject: =?utf-8?b?{word}?=\r\n\r\n".encode()))
    (mail,) = received()
    assert mail.subject == "x" * 998


def test_no_log_has_what_a_stranger_wrote(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither of a mail that is recorded, nor of one that is dropped, nor of one that fails."""
    octets = (
        f"From: {CANARY} <{ADDRESS}>\r\nSubject: {CANARY}\r\nMessage-ID: <{CANARY}>\r\n"
        f"Content-Type: text/plain; name={CANARY}.txt\r\n\r\n{CANARY}"
    ).encode()
    for name in (SUPPORT, f"{CANARY}@{DOMAIN}"):
        notify(store(TRACE % name.encode() + octets, f"received/{DOMAIN}/{name[:3]}"))

    def fail(_: object) -> bool:
        raise ValueError(octets)

    monkeypatch.setattr(services().receiving.records, "add", fail)
    assert notify(store(TRACE % SUPPORT.encode() + octets))["batchItemFailures"]
    output = str([vars(record) for record in caplog.records])
    assert all(word in output for word in ("received", "unaddressed", "unexpected error"))
    assert not traces(output)
