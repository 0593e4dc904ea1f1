"""The relay as a program: settings, certificate and shutdown."""

import contextlib
import os
import re
import signal
import ssl
from pathlib import Path
from unittest.mock import patch

import pytest

from relay import program as program_module
from relay.certificates import (
    CertificateStore,
    CertificateUnusable,
    from_file,
    from_secret,
)
from tests.needs import need_program, need_root
from tests.relay.relay_program import (
    COMMAND,
    children,
    connect,
    environment,
    program,
    write_certificate,
)
from tests.relay.running_relay import PATIENCE, certificate, serve
from tests.stack import wait_for


def refused(folder: Path, capsys: pytest.CaptureFixture[str], **settings: str) -> str:
    """Return what the program says of its settings before it ends with status 2."""
    with (
        patch.dict(os.environ, environment(folder, 0, **settings), clear=True),
        patch.multiple(program_module, serve=None, launch=None),
    ):
        assert program_module.main() == 2
    return capsys.readouterr().err


def test_program_serves_until_sigterm(tmp_path: Path) -> None:
    with program(tmp_path) as (process, port), connect(port) as client:
        assert client.reply() == b"220 relay.example ESMTP Pillarbox\r\n"
        client.start_tls()
        process.send_signal(signal.SIGTERM)
        assert client.reply().startswith(b"421 4.3.2 ")
        client.sock.close()
        output, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert '"message":"listening"' in output


def test_descriptors_run_out(tmp_path: Path) -> None:
    """If connections use up the descriptors, the program survives and greets again later."""
    command = ("sh", "-c", 'ulimit -n 64; exec "$0" "$@"', *COMMAND)
    with program(tmp_path, command=command) as (process, port):
        with contextlib.ExitStack() as flood:
            for _ in range(100):
                flood.enter_context(connect(port))
            assert process.poll() is None

        def greeted() -> bool:
            with connect(port) as client:
                return client.reply().startswith(b"220 ")

        wait_for(greeted, PATIENCE)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("SMTP_NAME", "", ""),
        ("SMTP_PORT", "smtp", ""),
        ("SMTP_PROXIES", "10.0.0.300", ""),
        ("PROCESSES", "0", ""),
        # Each process has room for the largest message.
        ("PROCESSES", "8", " must be 7 or less"),
    ],
)
def test_invalid_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, value: str, says: str
) -> None:
    """A missing or invalid setting ends the program with status 2, and the message names it."""
    assert f"PILLARBOX_{name}{says}" in refused(tmp_path, capsys, **{name: value})


def test_a_missing_table(tmp_path: Path) -> None:
    """The settings of the service behind the relay are checked too, by name."""
    command = ("env", "-u", "PILLARBOX_TABLE", *COMMAND)
    with program(tmp_path, command=command) as (process, _):
        _, errors = process.communicate(timeout=PATIENCE)
        assert (process.returncode, errors) == (2, "PILLARBOX_TABLE is not set\n")


def test_an_unusable_certificate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A certificate that is missing, nonsense or unreadable gives one line and status 2."""
    nonsense = tmp_path / "nonsense"
    nonsense.write_text("nonsense")
    for file, reason in (
        ("/absent.pem", "No such file or directory (/absent.pem)"),
        (str(nonsense), "it is not a certificate with its key, both in PEM"),
        (str(tmp_path), f"Is a directory ({tmp_path})"),
    ):
        errors = refused(tmp_path, capsys, SMTP_CERTIFICATE=file, PROCESSES="2")
        assert errors == f"The certificate from {file} cannot be used: {reason}\n"


def test_an_unreachable_secret(tmp_path: Path) -> None:
    with program(tmp_path, SMTP_CERTIFICATE="") as (process, _):
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
        assert re.fullmatch(r"The certificate from .*secret store.*\n", errors)


@pytest.mark.parametrize("secret", ["nonsense", "[]", '{"certificate": "x"}', '{"key": 1}'])
def test_a_malformed_secret(secret: str) -> None:
    with pytest.raises(CertificateUnusable, match=r"^The certificate from s cannot be used: .+$"):
        CertificateStore(from_secret(lambda: secret), "s")


@pytest.mark.parametrize("name", ["relay", "front"])
def test_a_stop_during_the_start(tmp_path: Path, name: str) -> None:
    # It writes a line for each import, so that the signal comes in the middle of them.
    command = (COMMAND[0], "-X", "importtime", "-m", name)
    with program(tmp_path, command=command) as (process, _):
        assert process.stderr
        assert any(line.split()[-1] == "asyncio" for line in process.stderr)
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=PATIENCE)
        assert (process.returncode, output) == (0, "")


@pytest.mark.parametrize("name", ["relay", "front"])
def test_a_stop_during_the_start_of_a_container(tmp_path: Path, name: str) -> None:
    """As process 1, which gets no SIGTERM without a handler, the program ends too."""
    need_root()
    namespace = (need_program("unshare"), "--pid", "--fork", "--kill-child")
    command = (*namespace, COMMAND[0], "-X", "importtime", "-m", name)
    with program(tmp_path, command=command) as (process, _):
        assert process.stderr
        assert any(line.split()[-1] == "asyncio" for line in process.stderr)
        (first,) = children(process)
        first.terminate()
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0


def test_certificate_is_renewed_without_a_restart(tmp_path: Path) -> None:
    newer = certificate.__wrapped__()
    file = tmp_path / "smtp.pem"

    write_certificate(tmp_path, certificate())
    certificates = CertificateStore(from_file(str(file)))
    with serve(certificates=certificates) as relay:
        with relay.connect_tls():
            pass
        for nonsense in (b"nonsense", newer.chain):  # the latter still without its key
            file.write_bytes(nonsense)
            relay.call(certificates.refresh())
            with relay.connect_tls():
                pass
        write_certificate(tmp_path, newer)
        relay.call(certificates.refresh())
        with relay.connect_plaintext() as client:
            client.command("STARTTLS")
            with pytest.raises(ssl.SSLCertVerificationError):
                client.wrap()
        with relay.connect_plaintext() as client:
            client.command("STARTTLS")
            client.wrap(ssl.create_default_context(cadata=newer.chain.decode()))
            assert client.command("NOOP").startswith(b"250 ")


def test_certificate_of_a_secret() -> None:
    result = from_secret(lambda: '{"certificate": "chain", "key": "private"}')()
    assert (result.chain, result.key) == (b"chain", b"private")
    assert "private" not in repr(result)
