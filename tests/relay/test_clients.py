"""Real mail programs send through the relay."""

import subprocess
from pathlib import Path

import pytest

from tests.needs import need_program
from tests.relay.running_relay import KEY, PATIENCE, SENDER, TO, RunningRelay, certificate

BODY = "Subject: From a program\r\n\r\nHello\r\n.dot\r\n..\r\n"


def run(*command: str, text: str = "", **environment: str) -> str:
    """Run a program, which must succeed, and return its output."""
    need_program(command[0])
    path = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent"}
    result = subprocess.run(
        command,
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE * 3,
        env=path | environment,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def accepted_octets(relay: RunningRelay) -> bytes:
    ((recipients, octets),) = relay.service.accepted
    assert recipients == (TO,)
    return octets


@pytest.fixture
def trusted(tmp_path: Path) -> str:
    """Write the server's certificate to a file and return its path."""
    file = tmp_path / "trusted.pem"
    file.write_bytes(certificate().chain)
    return str(file)


def test_curl(relay: RunningRelay, trusted: str, tmp_path: Path) -> None:
    mail = tmp_path / "mail"
    mail.write_bytes(f"From: {SENDER}\r\n{BODY}".encode())
    run(
        *("curl", "--silent", "--show-error", "--ssl-reqd", "--cacert", trusted),
        *("--url", f"smtp://127.0.0.1:{relay.port}", "--user", f"apikey:{KEY}"),
        *("--mail-from", SENDER, "--mail-rcpt", TO, "--upload-file", str(mail)),
    )
    assert accepted_octets(relay) == mail.read_bytes()
