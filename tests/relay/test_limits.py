"""Floods and connections without end, and the shutdown; on real sockets."""

import contextlib
import itertools
import threading

import pytest

from relay.limits import ConnectionLimiter, ServerLimits
from tests.relay.running_relay import MESSAGE, SENDER, RunningRelay, serve


@pytest.mark.parametrize("command", ["WHATEVER", "EXPN x", "MAIL FROM:x", "é"])
def test_errors_without_end(command: str) -> None:
    """A client that makes only errors gets 421 4.7.0."""
    with serve(errors=5) as relay, relay.connect_authenticated() as client:
        for _ in range(5):
            assert client.command(command).startswith(b"5")
        assert client.command(command).startswith(b"421 4.7.0 ")
        assert client.closed()


@pytest.mark.parametrize("commands", [["NOOP"], ["RSET"], [f"MAIL FROM:<{SENDER}>", "RSET"]])
def test_commands_that_lead_nowhere(commands: list[str]) -> None:
    """A client that sends NOOP or RSET without end gets 421 4.7.0."""
    with serve(idle_commands=10) as relay, relay.connect_authenticated() as client:
        replies = (client.command(command) for command in itertools.cycle(commands))
        taken = list(itertools.takewhile(lambda reply: reply.startswith(b"250"), replies))
        assert len(taken) == 10
        assert client.closed()


def test_messages_reset_the_counts() -> None:
    """A client that sends mail may use RSET between messages as long as it likes."""
    with serve(idle_commands=4) as relay, relay.connect_authenticated() as client:
        for _ in range(5):
            assert client.command("RSET").startswith(b"250")
            assert client.deliver().startswith(b"250 ")


def test_connections_of_an_address() -> None:
    """One connection too many of an address gets 421 4.7.0; when one goes, another may come."""
    with serve(connections_of_address=3) as relay:
        with contextlib.ExitStack() as open_connections:
            for _ in range(3):
                open_connections.enter_context(relay.connect_plaintext())
            with relay.connect() as client:
                assert client.reply().startswith(b"421 4.7.0 ")
                assert client.closed()
        with relay.connect_plaintext() as client:
            assert client.command("QUIT").startswith(b"221 ")


def test_connections_of_all() -> None:
    """When the server is full, 421 4.3.2."""
    with serve(connections=1) as relay, relay.connect_plaintext(), relay.connect() as client:
        assert client.reply().startswith(b"421 4.3.2 ")


def test_fifty_connections_of_an_address() -> None:
    """Without a setting an address has fifty connections."""
    with serve() as relay, contextlib.ExitStack() as open_connections:
        for _ in range(50):
            open_connections.enter_context(relay.connect_plaintext())
        with relay.connect() as client:
            assert client.reply().startswith(b"421 4.7.0 ")


def test_failed_logins_are_forgotten_in_time() -> None:
    """An address with too many failed logins may come again ten minutes after the first."""
    limiter = ConnectionLimiter(ServerLimits(failed_logins_of_address=2))
    for now in (0.0, 599.0):
        assert limiter.admit("192.0.2.1", now)
        limiter.record_failed_login("192.0.2.1", now)
    assert not limiter.admit("192.0.2.1", 599.9)
    assert limiter.admit("192.0.2.2", 599.9)
    assert limiter.admit("192.0.2.1", 600.0)
    limiter.record_failed_login("192.0.2.1", 600.0)
    assert limiter.admit("192.0.2.1", 600.0)


def test_failed_logins_take_no_memory_without_end() -> None:
    """Of ever new addresses that fail the oldest are forgotten."""
    limiter = ConnectionLimiter(ServerLimits(failed_logins_of_address=1))
    for number in range(10_001):
        limiter.record_failed_login(f"2001:db8:{number:x}::1", 0)
    assert limiter.admit("2001:db8:0::1", 1)
    assert not limiter.admit("2001:db8:1::1", 1)


# --- shutdown -----------------------------------------------------------------------------------


def test_shutdown_sends_the_idle_away() -> None:
    """At a shutdown idle sessions get 421 4.3.2, and nobody new is let in."""
    with serve() as relay, relay.connect_authenticated() as client:
        relay.call(relay.server.drain())
        assert client.reply().startswith(b"421 4.3.2 ")
        assert client.closed()
        with pytest.raises(ConnectionError):
            relay.connect()


def test_shutdown_finishes_messages() -> None:
    """A message that is coming in, or being committed, is finished first: 250, then 421."""
    with (
        serve(drain=10) as relay,
        relay.connect_authenticated() as coming,
        relay.connect_authenticated() as committed,
    ):
        coming.envelope()
        coming.send(MESSAGE)
        relay.service.gate.clear()
        committed.envelope()
        committed.send(MESSAGE + b".\r\n")
        assert relay.service.entered.wait(10)
        draining = threading.Thread(target=relay.call, args=(relay.server.drain(),))
        draining.start()
        relay.service.gate.set()
        assert committed.reply().startswith(b"250 ")
        assert committed.reply().startswith(b"421 4.3.2 ")
        committed.sock.close()
        coming.send(b".\r\n")
        assert coming.reply().startswith(b"250 ")
        assert coming.reply().startswith(b"421 4.3.2 ")
        coming.sock.close()
        draining.join(10)
    assert len(relay.service.accepted) == 2


def test_client_that_goes_during_the_commit(relay: RunningRelay) -> None:
    """A client that goes while its message is committed leaves it committed."""
    with relay.connect_authenticated() as client:
        relay.service.gate.clear()
        client.envelope()
        client.send(MESSAGE + b".\r\n")
        assert relay.service.entered.wait(10)
    relay.service.gate.set()
    with relay.connect_authenticated() as client:
        assert client.deliver().startswith(b"250 ")
    assert len(relay.service.accepted) == 2
