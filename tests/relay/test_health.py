"""The container's health check."""

import socket
import threading

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
    """A full server, which refuses new connections, is healthy."""
    with serve(connections=1) as relay, relay.connect_plaintext():
        monkeypatch.setenv("PILLARBOX_SMTP_PORT", str(relay.port))
        assert health.main() == 0


def test_another_program_on_the_port_is_unhealthy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check fails if another program listens on the port."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        monkeypatch.setenv("PILLARBOX_SMTP_PORT", str(other.getsockname()[1]))

        def answer() -> None:
            with other.accept()[0] as client:
                client.sendall(b"HTTP")

        answering = threading.Thread(target=answer)
        answering.start()
        assert health.main() == 1
        answering.join()
