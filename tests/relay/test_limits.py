"""Floods, endless sessions and the shutdown, on real sockets."""

import threading
import time

import pytest

from pillarbox.domain.errors import ServiceError
from tests.loops import for_each
from tests.relay.running_relay import MESSAGE, SENDER, TO, RunningRelay, serve
from tests.stack import PATIENCE


@pytest.mark.parametrize("command", ["WHATEVER", "EXPN x", "MAIL FROM:x", "é"])
def test_too_many_errors(command: str) -> None:
    """A client that causes only errors gets 421 4.7.0."""
    with serve(errors=5) as relay, relay.connect_authenticated() as client:
        for _ in range(5):
            assert client.command(command).startswith(b"5")
        assert client.command(command).startswith(b"421 4.7.0 ")
        assert client.closed()


def test_a_suspended_session_ends_after_too_many_errors() -> None:
    """After a suspension each refused sender reads the account, so it counts as an error."""
    with serve(errors=5) as relay, relay.connect_authenticated() as client:
        relay.service.key_fault = ServiceError("account_suspended", "no")
        for _ in range(5):
            assert client.command("MAIL FROM:<other@shop.example>").startswith(b"525 ")
        assert client.command("MAIL FROM:<other@shop.example>").startswith(b"421 4.7.0 ")
        assert client.closed()


# --- shutdown -----------------------------------------------------------------------------------


def drain_beside(relay: RunningRelay) -> threading.Thread:
    draining = threading.Thread(target=relay.call, args=(relay.server.drain(),))
    draining.start()
    return draining


def test_shutdown_finishes_messages() -> None:
    """A message that is arriving or being committed gets its 250 before the 421."""
    with (
        serve(drain=10) as relay,
        relay.connect_authenticated() as arriving,
        relay.connect_authenticated() as committed,
    ):
        arriving.envelope()
        arriving.send(MESSAGE)
        relay.service.gate.clear()
        committed.envelope()
        committed.send(MESSAGE + b".\r\n")
        assert relay.service.entered.wait(PATIENCE)
        draining = drain_beside(relay)
        relay.service.gate.set()
        assert committed.reply().startswith(b"250 ")
        assert committed.reply().startswith(b"421 4.3.2 ")
        committed.sock.close()
        arriving.send(b".\r\n")
        assert arriving.reply().startswith(b"250 ")
        assert arriving.reply().startswith(b"421 4.3.2 ")
        arriving.sock.close()
        draining.join(PATIENCE)
    assert len(relay.service.accepted) == 2


def test_the_end_of_the_drain_finishes_a_call() -> None:
    """A message that is being committed then still gets its 250, or its client would repeat it."""
    with serve(drain=0) as relay, relay.connect_authenticated() as client:
        relay.service.gate.clear()
        client.envelope()
        client.send(MESSAGE + b".\r\n")
        assert relay.service.entered.wait(PATIENCE)
        draining = drain_beside(relay)
        time.sleep(0.2)  # the limit is over
        relay.service.gate.set()
        assert client.reply().startswith(b"250 ")
        assert client.reply().startswith(b"421 4.3.2 ")
        client.sock.close()
        draining.join(PATIENCE)
    assert len(relay.service.accepted) == 1


def test_the_end_of_the_drain() -> None:
    with serve(drain=0) as relay, relay.connect_authenticated() as client:
        client.envelope()
        client.send(MESSAGE)
        relay.call(relay.server.drain())
        assert client.reply().startswith(b"421 4.3.2 ")
        assert client.closed()
    assert not relay.service.accepted


# --- commands that lead to no message -----------------------------------------------------------


@for_each(
    "command",
    ["EHLO a", "HELO a", "VRFY ann", "HELP", "NOOP", "RSET", f"MAIL FROM:<{SENDER}> SIZE=1501"],
)
def test_commands_that_lead_to_no_message_count_once(command: str) -> None:
    with (
        serve(idle_commands=4, message_size=2_000, memory=3_000) as relay,
        relay.connect_authenticated() as client,
    ):
        *_, fourth, fifth = [client.command(command)[:4] for _ in range(5)]
    assert (fourth == b"421 ", fifth) == (False, b"421 ")


def test_recipients_over_the_limit_count_once() -> None:
    with serve(idle_commands=4) as relay, relay.connect_authenticated() as client:
        assert client.command(f"MAIL FROM:<{SENDER}>").startswith(b"250 ")
        answers = [client.command(f"RCPT TO:<{TO}>")[:4] for _ in range(54)]
    assert answers == [b"250 "] * 50 + [b"452 "] * 3 + [b"421 "]


@pytest.mark.parametrize("command", ["NOOP", "WHATEVER"])
def test_a_message_sets_the_counts_to_zero(command: str) -> None:
    with serve(idle_commands=4, errors=4) as relay, relay.connect_authenticated() as client:
        for _ in range(3):
            client.command(command)
        assert client.deliver().startswith(b"250 ")
        answers = [client.command(command)[:4] for _ in range(5)]
    assert [answer == b"421 " for answer in answers] == [False] * 4 + [True]
