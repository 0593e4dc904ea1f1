"""The container's health check."""

import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from relay import health
from tests.relay.running_relay import RunningRelay, serve
from tests.stack import free_port


def test_health(relay: RunningRelay, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check succeeds if the server greets and fails if nothing listens."""
    monkeypatch.setenv("PILLARBOX_SMTP_PORT", str(relay.port))
    assert health.main() == 0
    monkeypatch.setenv("PILLARBOX_SMTP_PORT", str(free_port()))
    assert health.main() == 1


def test_full_server_is_healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(connections=1) as relay, relay.connect_plaintext():
        monkeypatch.setenv("PILLARBOX_SMTP_PORT", str(relay.port))
        assert health.main() == 0


def test_another_program_on_the_port_is_unhealthy(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        monkeypatch.setenv("PILLARBOX_SMTP_PORT", str(other.getsockname()[1]))

        def answer() -> None:
            with other.accept()[0] as client:
                client.sendall(b"HTTP")

        answering = threading.Thread(target=answer)
        answering.start()
        assert health.main() == 1
        answering.join()


@dataclass
class Port:
    """A port whose connections answer with given octets; it records how they were opened."""

    answers: Sequence[bytes]
    opened: list[tuple[tuple[str, int], float]] = field(default_factory=list)

    def connect(self, address: tuple[str, int], timeout: float) -> socket.socket:
        """Return one end of a pair of sockets; the answer waits in it."""
        ours, theirs = socket.socketpair()
        with ours:
            ours.sendall(self.answers[len(self.opened)])
        self.opened.append((address, timeout))
        return theirs


def check(
    monkeypatch: pytest.MonkeyPatch, processes: int, *answers: bytes
) -> tuple[int, list[tuple[tuple[str, int], float]]]:
    """Run the check with the answers of a port; return its result and the connections."""
    port = Port(answers)
    monkeypatch.setattr(socket, "create_connection", port.connect)
    monkeypatch.setenv("PILLARBOX_SMTP_PORT", "2525")
    monkeypatch.setenv("PILLARBOX_PROCESSES", str(processes))
    return health.main(), port.opened


@pytest.mark.parametrize(("processes", "connections"), [(1, 1), (2, 12), (3, 18)])
def test_number_of_connections(
    monkeypatch: pytest.MonkeyPatch, processes: int, connections: int
) -> None:
    """One process gets one connection, several get six each; each may take three seconds."""
    result, opened = check(monkeypatch, processes, *[b"220 relay.example ESMTP"] * 20)
    assert result == 0
    assert opened == [(("127.0.0.1", 2525), 3.0)] * connections
