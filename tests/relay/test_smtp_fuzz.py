"""A short run of the fuzzer of SMTP, and bugs that it must notice."""

import re
from base64 import b64encode

import pytest

from pillarbox.application.sending import smtp
from pillarbox.mime import parse
from relay import framing
from tests.fakes.builders import SENDER
from verification.attacks.smtp_fuzz import Fuzzer, expected_octets
from verification.attacks.smtp_grammar import Script


def test_what_is_accepted_is_what_was_sent() -> None:
    """In 300 sessions, each message that got a 250 is stored once and as sent, and no other.

    So is one that is repeated under its Idempotency-Key.
    """
    tally = Fuzzer(seed=1).run(sessions=300)
    assert not tally.findings
    assert tally["sessions"] == 300
    assert tally["accepted"] > 60
    assert tally["refused"] > 1_000
    assert tally["repeated under one Idempotency-Key"] > 0


def test_a_message_that_is_only_a_header() -> None:
    """Such a message is sent with the empty line that SES wants, and the fuzzer expects it."""
    fuzzer = Fuzzer(seed=3)
    header = f"From: {SENDER}\r\nDate: a\r\nMessage-ID: <a@b.example>\r\n".encode()
    secure = b"\r\n".join(
        (
            b"EHLO client.example",
            b"AUTH PLAIN " + b64encode(f"\0apikey\0{fuzzer._world.live}".encode()),
            f"MAIL FROM:<{SENDER}>".encode(),
            b"RCPT TO:<ann@example.com>",
            b"DATA",
            header + b".",
            b"QUIT",
            b"",
        )
    )
    script = Script(b"EHLO client.example\r\nSTARTTLS\r\n", secure, ())
    with fuzzer.running() as relay:
        fuzzer.check(relay, script)
    assert fuzzer.tally["accepted"] == 1
    assert expected_octets(header) == header + b"\r\n"


def keep_bcc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smtp, "_REMOVED", frozenset({b"return-path"}))


def keep_stuffed_dots(monkeypatch: pytest.MonkeyPatch) -> None:
    def finish(self: framing.ContentBuffer) -> bytearray:
        octets, self._octets = self._octets, bytearray()
        return octets[2:]

    monkeypatch.setattr(framing.ContentBuffer, "finish", finish)


def accept_bare_line_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing.ContentBuffer, "_check", lambda _, __: None)


def end_at_a_bare_line_feed(monkeypatch: pytest.MonkeyPatch) -> None:
    """End a message at LF dot CR LF, as a server does that can be made to smuggle."""
    feed = framing.ContentBuffer.feed

    def lax(self: framing.ContentBuffer, chunk: bytes) -> bytes | None:
        return feed(self, re.sub(rb"(?<!\r)\n\.\r\n", b"\r\n.\r\n", chunk))

    monkeypatch.setattr(framing.ContentBuffer, "feed", lax)


def count_stuffed_dots(monkeypatch: pytest.MonkeyPatch) -> None:
    finish = framing.ContentBuffer.finish

    def strict(self: framing.ContentBuffer) -> bytearray:
        framing._check_lines(self._octets)
        return finish(self)

    monkeypatch.setattr(framing.ContentBuffer, "finish", strict)


def unfold_boundaries(monkeypatch: pytest.MonkeyPatch) -> None:
    read_type = parse.read_type
    monkeypatch.setattr(parse, "read_type", lambda value: read_type(value.replace(b"\r\n", b"")))


@pytest.mark.parametrize(
    "bug",
    [
        *(keep_bcc, keep_stuffed_dots, accept_bare_line_ends, end_at_a_bare_line_feed),
        *(count_stuffed_dots, unfold_boundaries),
    ],
)
def test_fuzzer_notices(bug: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """In 300 sessions it finds a relay that breaks a rule of messages, lines or boundaries."""
    assert callable(bug)
    bug(monkeypatch)
    fuzzer = Fuzzer(seed=1)
    assert any(fuzzer.run(sessions=number).findings for number in range(20, 301, 20))
