"""The relay as a program: its settings, its certificate, its end."""

import contextlib
import signal
import ssl
from pathlib import Path

import pytest

from relay.certificates import CertificateStore, from_files, from_secret
from tests.relay.relay_program import COMMAND, connect, program, write_certificate
from tests.relay.running_relay import PATIENCE, certificate, serve
from tests.stack import wait_for


def test_program_serves_until_it_is_told_to_end(tmp_path: Path) -> None:
    """It greets by its name, sends idle clients away at SIGTERM, and ends with 0."""
    with program(tmp_path) as (process, port), connect(port) as client:
        assert client.reply() == b"220 relay.example ESMTP Pillarbox\r\n"
        client.start_tls()
        process.send_signal(signal.SIGTERM)
        assert client.reply().startswith(b"421 4.3.2 ")
        client.sock.close()
        output, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert '"message":"listening"' in output


def test_each_process_has_room_for_the_largest_message(tmp_path: Path) -> None:
    """Memory that is too little once it is shared out is refused."""
    with program(tmp_path, MEMORY_MIB="67", PROCESSES="2") as (process, _):
        _, told = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
        assert "PILLARBOX_SMTP_MEMORY_MIB must be 34 or more for each process" in told


def test_descriptors_run_out(tmp_path: Path) -> None:
    """With more connections than descriptors it goes on, and greets again when some are free."""
    few = ("sh", "-c", 'ulimit -n 64; exec "$0" "$@"', *COMMAND)
    with program(tmp_path, command=few, CONNECTIONS_OF_ADDRESS="1000") as (process, port):
        with contextlib.ExitStack() as flood:
            for _ in range(100):
                flood.enter_context(connect(port))
            assert process.poll() is None

        def greeted() -> bool:
            with connect(port) as client:
                return client.reply().startswith(b"220 ")

        wait_for(greeted, PATIENCE)


def test_no_processes_are_no_server(tmp_path: Path) -> None:
    """At least one process is asked for."""
    with program(tmp_path, PROCESSES="0") as (process, _):
        _, told = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
        assert "PILLARBOX_SMTP_PROCESSES" in told


def test_settings_that_are_missing(tmp_path: Path) -> None:
    """Without a name, with a port that is no number, with too little memory: it ends with 2."""
    with (
        program(tmp_path, NAME="") as (nameless, _),
        program(tmp_path, PORT="smtp") as (portless, _),
        program(tmp_path, PROXIES="10.0.0.300") as (misled, _),
        program(tmp_path, MEMORY_MIB="33") as (narrow, _),
    ):
        for process, name in (
            (nameless, "NAME"),
            (portless, "PORT"),
            (misled, "PROXIES"),
            (narrow, "MEMORY_MIB"),
        ):
            _, told = process.communicate(timeout=PATIENCE)
            assert process.returncode == 2
            assert f"PILLARBOX_SMTP_{name}" in told


def test_certificate_is_renewed_without_a_restart(tmp_path: Path) -> None:
    """A new certificate is used for the next session; one that does not work is not."""
    newer = certificate.__wrapped__()
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"

    write_certificate(tmp_path, certificate())
    certificates = CertificateStore(from_files(str(chain), str(key)))
    with serve(certificates=certificates) as relay:
        with relay.connect_tls():
            pass
        for nonsense in (b"nonsense", newer.chain):  # the latter without its key yet
            chain.write_bytes(nonsense)
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
    """A secret holds chain and key as JSON; neither is shown when it is printed."""
    made = from_secret(lambda: '{"certificate": "chain", "key": "private"}')()
    assert (made.chain, made.key) == (b"chain", b"private")
    assert "private" not in repr(made)
