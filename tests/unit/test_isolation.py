"""The guard of the unit tests (conftest.py) stops what needs more than this process."""

import multiprocessing
import os
import socket
import subprocess
from collections.abc import Callable

import pytest


def _connect() -> None:
    with socket.socket() as client:
        client.connect(("127.0.0.1", 9))


def _listen() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))


def _send_datagram() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        client.sendto(b"", ("127.0.0.1", 9))


def _spawn() -> None:
    multiprocessing.get_context("spawn").Process(target=print).start()


@pytest.mark.parametrize(
    "act",
    [
        lambda: subprocess.run(["true"], check=True),
        lambda: os.posix_spawn("/bin/true", ["true"], {}),
        os.fork,
        _spawn,
        _listen,
        _connect,
        _send_datagram,
        lambda: socket.getaddrinfo("localhost", 80),
    ],
)
def test_a_process_or_a_socket_fails_a_unit_test(act: Callable[[], object]) -> None:
    """Each way to start a process or to use a socket ends the test with a failure."""
    with pytest.raises(pytest.fail.Exception, match="a unit test may not do this"):
        act()
