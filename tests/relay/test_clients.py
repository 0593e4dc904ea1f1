"""Real mail programs send through the relay."""

import json
import smtplib
import ssl
import subprocess
from pathlib import Path

import pytest

from tests.needs import need_nodemailer, need_perl, need_program
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


@pytest.mark.parametrize("mechanism", ["PLAIN", "LOGIN"])
def test_swaks(relay: RunningRelay, trusted: str, mechanism: str) -> None:
    """With swaks: it sends with AUTH PLAIN and AUTH LOGIN and checks the certificate."""
    need_perl("Net::SSLeay")
    run(
        *("swaks", "--server", f"127.0.0.1:{relay.port}", "--tls", "--tls-verify"),
        *("--tls-ca-path", trusted, "--auth", mechanism, "--auth-user", "apikey"),
        *("--auth-password", KEY, "--from", SENDER, "--to", TO, "--body", "Hello"),
    )
    assert b"\r\n\r\nHello\r\n" in accepted_octets(relay)


def test_smtplib(relay: RunningRelay, trusted: str) -> None:
    """With smtplib: a refused recipient raises, and the connection sends the next email."""
    with smtplib.SMTP("127.0.0.1", relay.port, timeout=PATIENCE) as client:
        client.starttls(context=ssl.create_default_context(cafile=trusted))
        client.login("apikey", KEY)
        with pytest.raises(smtplib.SMTPDataError, match="A recipient was refused"):
            client.sendmail(SENDER, [TO, "bad@@shop.example"], BODY)
        assert client.sendmail(SENDER, [TO], BODY) == {}
    assert accepted_octets(relay).endswith(b"Hello\r\n.dot\r\n..\r\n")


def test_curl(relay: RunningRelay, trusted: str, tmp_path: Path) -> None:
    """With curl: it sends a file unchanged."""
    mail = tmp_path / "mail"
    mail.write_bytes(f"From: {SENDER}\r\n{BODY}".encode())
    run(
        *("curl", "--silent", "--show-error", "--ssl-reqd", "--cacert", trusted),
        *("--url", f"smtp://127.0.0.1:{relay.port}", "--user", f"apikey:{KEY}"),
        *("--mail-from", SENDER, "--mail-rcpt", TO, "--upload-file", str(mail)),
    )
    assert accepted_octets(relay) == mail.read_bytes()


def test_msmtp(relay: RunningRelay, trusted: str) -> None:
    """With msmtp: it sends a message from its standard input."""
    run(
        *("msmtp", "--host=127.0.0.1", f"--port={relay.port}", "--auth=plain", "--user=apikey"),
        *("--tls=on", f"--tls-trust-file={trusted}", f"--passwordeval=echo {KEY}"),
        *(f"--from={SENDER}", TO),
        text=f"From: {SENDER}\n{BODY}".replace("\r\n", "\n"),
    )
    assert accepted_octets(relay).endswith(b"\r\nHello\r\n.dot\r\n..\r\n")


NODEMAILER = """
const [port, key, from, to] = process.argv.slice(1);
const transport = require("nodemailer").createTransport({
  host: "127.0.0.1", port: Number(port), requireTLS: true, auth: { user: "apikey", pass: key },
});
transport.sendMail({ from: `Shop <${from}>`, to, subject: "Hé", text: "Hello", html: "<p>Hello",
                     attachments: [{ filename: "a.txt", content: "file" }] })
  .then((info) => console.log(JSON.stringify(info)));
"""


def test_nodemailer(relay: RunningRelay, trusted: str) -> None:
    """With nodemailer: it sends a message with several parts and reads the id in the reply."""
    output = run(
        *("node", "-e", NODEMAILER, str(relay.port), KEY, SENDER, TO),
        NODE_PATH=need_nodemailer(),
        NODE_EXTRA_CA_CERTS=trusted,
    )
    assert json.loads(output)["response"].startswith("250 2.0.0 Ok: queued as ")
    assert b"multipart/mixed" in accepted_octets(relay)
