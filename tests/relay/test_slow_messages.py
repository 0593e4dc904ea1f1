"""Messages that arrive slowly, on real sockets and with a clock that only the test moves."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from pillarbox.domain.accounts.key_policy import Principal
from tests.fakes import builders
from tests.relay.running_relay import (
    MESSAGE,
    PATIENCE,
    SENDER,
    Client,
    ManualClock,
    RecordingService,
    RunningRelay,
    serve,
)
from tests.stack import wait_for

LINE = b"x" * 98 + b"\r\n"
MIB = 2**20
#: Of 16 MiB an account can hold 4, an address 8; a message of 1 MB counts for 2.
MEMORY: dict[str, Any] = {"memory": 16 * MIB, "message_size": MIB}
ANOTHER, THIRD = "acct00000002", "acct00000003"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def relay(clock: ManualClock) -> Iterator[RunningRelay]:
    """Run a server with little memory whose time stands still."""
    keys = {builders.key_text(account_id): account_id for account_id in (ANOTHER, THIRD)}
    service = RecordingService(
        others={
            key: Principal(builders.api_key(key, account_id), builders.account(account_id))
            for key, account_id in keys.items()
        }
    )
    with serve(service=service, clock=clock, **MEMORY) as running:
        yield running


def key_of(relay: RunningRelay, account_id: str) -> str:
    """Return the key of an account."""
    others = relay.service.others
    return next(key for key in others if others[key].account.account_id == account_id)


def send_part(relay: RunningRelay, client: Client, octets: bytes) -> None:
    """Send a part of a message, and wait until the server has counted it."""
    before = relay.budget.used
    client.send(octets)
    wait_for(lambda: relay.budget.used >= before + 2 * len(octets), PATIENCE)


def begin(relay: RunningRelay, stack: contextlib.ExitStack, client: Client, size: int) -> Client:
    """Begin a message, and send a part of it."""
    stack.enter_context(client)
    client.envelope()
    send_part(relay, client, LINE * (size // len(LINE)))
    return client


def test_discarded_message_is_timed_too(relay: RunningRelay, clock: ManualClock) -> None:
    """A message that is refused already and only read to its end must arrive as fast."""
    with relay.connect_authenticated() as client:
        client.envelope()
        send_part(relay, client, LINE * 1_000)
        client.send(LINE * (MIB // len(LINE)))
        wait_for(lambda: not relay.budget.used, PATIENCE)
        clock.now = 61
        relay.check_deadlines()
        assert client.reply().startswith(b"421 4.4.2 ")


def test_slowest_message_makes_room(relay: RunningRelay, clock: ManualClock) -> None:
    """When memory is short the slowest message gets 421 4.3.2, and a healthy one is accepted."""
    with contextlib.ExitStack() as stack:
        slow = [
            begin(relay, stack, relay.connect_authenticated(address, key), MIB - 1_000)
            for address, key in (
                ("127.0.0.2", key_of(relay, ANOTHER)),
                ("127.0.0.2", key_of(relay, ANOTHER)),
                ("127.0.0.2", key_of(relay, THIRD)),
                ("127.0.0.2", key_of(relay, THIRD)),
            )
        ]
        clock.now = 11
        for client in slow[1:]:
            client.send(LINE)
        neighbour = stack.enter_context(relay.connect_authenticated("127.0.0.2"))
        size = f"MAIL FROM:<{SENDER}> SIZE=100000"
        wait_for(lambda: relay.budget.used >= 2 * (4 * (MIB - 1_100) + 300), PATIENCE)
        assert neighbour.command(size).startswith(b"250 ")
        assert neighbour.command("RSET").startswith(b"250 ")
        assert neighbour.deliver(MESSAGE + LINE * 1_000).startswith(b"250 ")
        assert slow[0].reply().startswith(b"421 4.3.2 ")
        assert slow[0].closed()
        slow[1].send(b".\r\n")
        assert slow[1].reply().startswith(b"250 ")
    assert len(relay.service.accepted) == 2
