"""One session without sockets: what its counts, its states and its room for a message allow."""

import asyncio
import itertools
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import pytest

from relay import replies
from relay.admission import Admission
from relay.limits import ServerLimits
from relay.replies import Reply
from relay.session import PendingReply, ServerContext, SmtpSession
from tests.relay.running_relay import KEY, SENDER, TO, RecordingService, plain


class Dialogue:
    """Sends lines to a session with these limits and returns the replies."""

    def __init__(self, **limits: Any) -> None:
        context = ServerContext(
            name="relay.example",
            limits=replace(ServerLimits(), **limits),
            service=RecordingService(),
        )
        client = context.connections.admit("127.0.0.1", lambda _: None)
        assert isinstance(client, Admission)
        self.session = SmtpSession(context, client)

    def send(self, *lines: str) -> Reply:
        """Send lines and return the reply to the last one."""
        return [_reply(self.session.command(line.encode())) for line in lines][-1]

    def end_content(self, octets: bytes) -> Reply:
        """Send a message after DATA."""
        content = self.session.content
        assert content is not None
        assert content.feed(octets + b".\r\n") == b""
        reply = _reply(self.session.content_ended(content))
        content.release()
        return reply


def _reply(pending: PendingReply) -> Reply:
    return asyncio.run(_finish(pending)) if isinstance(pending, Coroutine) else pending


async def _finish(pending: Coroutine[Any, Any, Reply]) -> Reply:
    return await pending


def log_in(hello: str = "EHLO client.example", **limits: Any) -> Dialogue:
    """Return a session after STARTTLS and AUTH."""
    dialogue = Dialogue(**limits)
    dialogue.session.tls_established()
    assert dialogue.send(hello, f"AUTH PLAIN {plain(KEY)}") == replies.AUTHENTICATED
    return dialogue


@pytest.mark.parametrize("hello", ["EHLO client.example", "HELO client.example"])
def test_a_client_logs_in_after_either_greeting(hello: str) -> None:
    """EHLO and HELO within TLS both allow AUTH, which authenticates the session."""
    dialogue = Dialogue()
    dialogue.session.tls_established()
    dialogue.send(hello)
    assert not dialogue.session.authenticated
    dialogue.send(f"AUTH PLAIN {plain(KEY)}")
    assert dialogue.session.authenticated
    assert dialogue.send(f"MAIL FROM:<{SENDER}>") == replies.SENDER_OK


def test_a_greeting_before_tls_is_forgotten() -> None:
    """After STARTTLS the client has to greet again (RFC 3207, 4.2)."""
    dialogue = Dialogue()
    dialogue.send("EHLO client.example")
    dialogue.session.tls_established()
    assert dialogue.send(f"AUTH PLAIN {plain(KEY)}") == replies.BAD_SEQUENCE


def test_the_key_is_in_no_representation() -> None:
    """What a session remembers can be written to a log without the key."""
    assert KEY not in repr(vars(log_in().session))


def test_content_without_a_transaction_is_a_bug() -> None:
    """A message outside DATA cannot be submitted for an envelope that is over."""
    dialogue = log_in()
    assert dialogue.send(f"MAIL FROM:<{SENDER}>", f"RCPT TO:<{TO}>", "DATA").code == 354
    content = dialogue.session.content
    assert content is not None
    dialogue.send("RSET")
    with pytest.raises(RuntimeError, match="without a transaction"):
        dialogue.session.content_ended(content)


@pytest.mark.parametrize("refused", ["<bad@@shop.example>", "<a@localhost>", "<\xe9@shop.example>"])
def test_no_recipient_is_left_out(refused: str) -> None:
    """DATA is refused after a refused RCPT, and ends the transaction."""
    dialogue = log_in()
    dialogue.send(f"MAIL FROM:<{SENDER}>", f"RCPT TO:<{TO}>")
    assert dialogue.send(f"RCPT TO:{refused}").code in {501, 553}
    reply = dialogue.send("DATA")
    assert (reply.code, reply.lines[-1]) == (550, "A recipient was refused, so nothing is sent")
    assert refused[1:4] in reply.lines[0] or "\\x{E9}" in reply.lines[0]
    dialogue.send(f"MAIL FROM:<{SENDER}>", f"RCPT TO:<{TO}>")
    assert dialogue.send("DATA").code == 354


def test_a_line_that_is_too_long_refuses_the_message_only() -> None:
    """After a message with a line of 999 octets the session continues."""
    dialogue = log_in()
    dialogue.send(f"MAIL FROM:<{SENDER}>", f"RCPT TO:<{TO}>", "DATA")
    assert dialogue.end_content(b"x" * 999 + b"\r\n") == replies.CONTENT_LINE_TOO_LONG
    assert dialogue.send(f"MAIL FROM:<{SENDER}>") == replies.SENDER_OK


def test_the_room_for_an_announced_message() -> None:
    """MAIL with a SIZE needs room for twice as many octets."""
    dialogue = log_in(message_size=2_000, memory=3_000)
    assert dialogue.send(f"MAIL FROM:<{SENDER}> SIZE=1501") == replies.OUT_OF_MEMORY
    assert dialogue.send(f"MAIL FROM:<{SENDER}> SIZE=1500") == replies.SENDER_OK


@pytest.mark.parametrize(
    "command",
    [
        "EHLO a",
        "HELO a",
        "VRFY ann",
        "HELP",
        "NOOP",
        "RSET",
        f"MAIL FROM:<{SENDER}> SIZE=1501",
    ],
)
def test_commands_that_lead_to_no_message_count_once(command: str) -> None:
    """The fifth command without a message is the first one over a limit of four."""
    dialogue = log_in(message_size=2_000, memory=3_000, idle_commands=4)
    for _ in range(4):
        assert dialogue.send(command) != replies.TOO_MANY_COMMANDS
    assert dialogue.send(command) == replies.TOO_MANY_COMMANDS


def test_recipients_over_the_limit_count_once() -> None:
    """MAIL and three recipients beyond fifty are four idle commands."""
    dialogue = log_in(idle_commands=4)
    dialogue.send(f"MAIL FROM:<{SENDER}>", *[f"RCPT TO:<{TO}>"] * 50)
    for _ in range(3):
        assert dialogue.send(f"RCPT TO:<{TO}>") == replies.TOO_MANY_RECIPIENTS
    assert dialogue.send(f"RCPT TO:<{TO}>") == replies.TOO_MANY_COMMANDS


@pytest.mark.parametrize("command", ["NOOP", "WHATEVER"])
def test_a_message_sets_the_counts_to_zero(command: str) -> None:
    """After an accepted message as many idle commands and errors are allowed as at the start."""
    dialogue = log_in(idle_commands=4, errors=4)
    dialogue.send(*[command] * 3, f"MAIL FROM:<{SENDER}>", f"RCPT TO:<{TO}>", "DATA")
    assert dialogue.end_content(b"Hello\r\n").code == 250
    answers = (dialogue.send(command) for _ in itertools.count())
    accepted = itertools.takewhile(lambda reply: reply != replies.TOO_MANY_COMMANDS, answers)
    assert len([*accepted]) == 4
