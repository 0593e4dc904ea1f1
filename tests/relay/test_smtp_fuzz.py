"""A short run of the fuzzer of SMTP, and bugs that it must notice."""

import re

import pytest

from pillarbox.application.sending import smtp_message
from relay import framing
from verification.attacks.smtp_fuzz import Fuzzer


def test_what_is_accepted_is_what_was_sent() -> None:
    """In 300 sessions, each message that got a 250 is stored once and as sent, and no other."""
    counts = Fuzzer(seed=1).run(sessions=300)
    assert counts.failures == []
    assert counts.sessions == 300
    assert counts.accepted > 60
    assert counts.refused > 1_000


def test_repeated_messages_are_stored_once() -> None:
    """In 600 sessions some messages are repeated under their Idempotency-Key, and stored once."""
    counts = Fuzzer(seed=2).run(sessions=600)
    assert counts.failures == []
    assert counts.repeated > 0


def keep_bcc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smtp_message, "_REMOVED", frozenset({b"return-path"}))


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


@pytest.mark.parametrize(
    "bug", [keep_bcc, keep_stuffed_dots, accept_bare_line_ends, end_at_a_bare_line_feed]
)
def test_fuzzer_notices(bug: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fuzzer finds a relay that keeps Bcc or stuffed dots, or accepts other line ends."""
    assert callable(bug)
    bug(monkeypatch)
    assert Fuzzer(seed=1).run(sessions=300).failures
