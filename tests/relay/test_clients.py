"""Mail programs as people use them; one that is not installed is left out."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.relay.served import KEY, PATIENCE, SENDER, TO, Served, certificate

BODY = "Subject: From a program\r\n\r\nHello\r\n.dot\r\n..\r\n"


def run(*command: str, text: str = "", **environment: str) -> str:
    """Run a program, which must end well."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    path = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent"}
    done = subprocess.run(
        command,
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE * 3,
        env=path | environment,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def accepted(served: Served) -> bytes:
    ((envelope, octets),) = served.service.accepted
    assert (envelope.sender, envelope.recipients) == (SENDER, (TO,))
    return octets


@pytest.fixture
def trusted(tmp_path: Path) -> str:
    """The certificate in a file."""
    file = tmp_path / "trusted.pem"
    file.write_bytes(certificate().chain)
    return str(file)


@pytest.mark.parametrize("mechanism", ["PLAIN", "LOGIN"])
def test_swaks(served: Served, trusted: str, mechanism: str) -> None:
    """With swaks: it sends with AUTH PLAIN and AUTH LOGIN, checking the certificate."""
    run(
        *("swaks", "--server", f"127.0.0.1:{served.port}", "--tls", "--tls-verify"),
        *("--tls-ca-path", trusted, "--auth", mechanism, "--auth-user", "apikey"),
        *("--auth-password", KEY, "--from", SENDER, "--to", TO, "--body", "Hello"),
    )
    assert b"\r\n\r\nHello\r\n" in accepted(served)


def test_curl(served: Served, trusted: str, tmp_path: Path) -> None:
    """With curl: it sends a file as it is."""
    mail = tmp_path / "mail"
    mail.write_bytes(f"From: {SENDER}\r\n{BODY}".encode())
    run(
        *("curl", "--silent", "--show-error", "--ssl-reqd", "--cacert", trusted),
        *("--url", f"smtp://127.0.0.1:{served.port}", "--user", f"apikey:{KEY}"),
        *("--mail-from", SENDER, "--mail-rcpt", TO, "--upload-file", str(mail)),
    )
    assert accepted(served) == mail.read_bytes()


def test_msmtp(served: Served, trusted: str) -> None:
    """With msmtp: it sends what a program pipes into it."""
    run(
        *("msmtp", "--host=127.0.0.1", f"--port={served.port}", "--auth=plain", "--user=apikey"),
        *("--tls=on", f"--tls-trust-file={trusted}", f"--passwordeval=echo {KEY}"),
        *(f"--from={SENDER}", TO),
        text=f"From: {SENDER}\n{BODY}".replace("\r\n", "\n"),
    )
    assert accepted(served).endswith(b"\r\nHello\r\n.dot\r\n..\r\n")


NODEMAILER = """
const [port, key, from, to] = process.argv.slice(1);
const transport = require("nodemailer").createTransport({
  host: "127.0.0.1", port: Number(port), requireTLS: true, auth: { user: "apikey", pass: key },
});
transport.sendMail({ from: `Shop <${from}>`, to, subject: "Hé", text: "Hello", html: "<p>Hello",
                     attachments: [{ filename: "a.txt", content: "file" }] })
  .then((info) => console.log(JSON.stringify(info)));
"""


def test_nodemailer(served: Served, trusted: str) -> None:
    """With nodemailer: it sends a mail of several parts, and reads the id out of the reply."""
    kept = Path(__file__).parents[2] / ".local" / "clients"
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    if not (kept / "node_modules" / "nodemailer").exists():
        kept.mkdir(parents=True, exist_ok=True)
        install = subprocess.run(
            ["npm", "install", "--silent", "--prefix", str(kept), "nodemailer@7"],
            check=False,
            timeout=60,
        )
        if install.returncode:
            pytest.skip("nodemailer cannot be installed here")
    told = run(
        *("node", "-e", NODEMAILER, str(served.port), KEY, SENDER, TO),
        NODE_PATH=str(kept / "node_modules"),
        NODE_EXTRA_CA_CERTS=trusted,
    )
    assert json.loads(told)["response"].startswith("250 2.0.0 Ok: queued as ")
    assert b"multipart/mixed" in accepted(served)
