"""The container's health check."""

import socket

import pytest

from relay import health
from tests.relay.served import Served


def test_health(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is well when the server greets, and unwell when nobody listens."""
    monkeypatch.setenv("PILLARBOX_SMTP_PORT", str(served.port))
    assert health.main() == 0
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    monkeypatch.setenv("PILLARBOX_SMTP_PORT", str(port))
    assert health.main() == 1
