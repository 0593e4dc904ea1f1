"""The examples of docs/relay.md work unchanged with their libraries."""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.needs import missing
from tests.relay.running_relay import KEY, PATIENCE, SENDER, TO, RunningRelay, certificate

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".local" / "clients" / "python"
UV = ROOT / ".uv" / "bin" / "uv"

DJANGO = """
import django
from django.conf import settings
from django.core.mail import EmailMessage
settings.configure(**{name: value for name, value in globals().items() if name.isupper()})
mail = EmailMessage("Hé", "Hello\\n.\\n", to=[%r], bcc=["eve@example.com"])
mail.attach("a.csv", "a,b", "text/csv")
assert mail.send() == 1
"""
FLASK_BEFORE = "from flask import Flask\napp = Flask('shop')\n"
FLASK = """
from flask_mail import Mail, Message
extension = Mail(app)
with app.app_context():
    mail = Message("Hé", [%r], body="Hello\\n.\\n", bcc=["eve@example.com"])
    mail.attach("a.csv", "text/csv", "a,b")
    extension.send(mail)
"""
PLAIN_BEFORE = """
import smtplib, ssl
from email.message import EmailMessage
key = os.environ["PILLARBOX_KEY"]
message = EmailMessage()
message["From"], message["To"], message["Bcc"] = "Shop <%s>", %r, "eve@example.com"
message["Subject"] = "Hé"
message.set_content("Hello\\n.\\n")
message.add_attachment("a,b", subtype="csv", filename="a.csv")
"""


def example(name: str, port: int) -> str:
    """Return a document's example with the test's server as its host."""
    text = (ROOT / "docs" / "relay.md").read_text()
    match = re.search(rf"^{name}\b[^`]*:\n\n```python\n(.*?)```", text, re.MULTILINE | re.DOTALL)
    assert match
    code = match[1]
    assert '"smtp.example.com"' in code
    assert "587" in code
    return code.replace("smtp.example.com", "127.0.0.1").replace("587", str(port))


@cache
def libraries() -> Path:
    """Return a Python with Django and Flask-Mail, installed in a separate environment."""
    python = FOLDER / "bin" / "python"
    if not UV.exists():
        missing("uv is needed to install Django and Flask-Mail")
    if not (FOLDER / "made").exists():
        commands = (
            (UV, "venv", "--quiet", "--clear", "--python", ROOT / ".venv/bin/python", FOLDER),
            (UV, "pip", "install", "--quiet", "--python", python, "django>=5.2,<7", "flask-mail<1"),
        )
        for command in commands:
            if subprocess.run(command, check=False, timeout=120).returncode:
                missing("Django and Flask-Mail cannot be installed here")
        (FOLDER / "made").touch()
    return python


EXAMPLES = {
    "Django": ("", DJANGO % TO),
    "Django 6.1": ("", DJANGO % TO),
    "Flask-Mail": (FLASK_BEFORE, FLASK % TO),
    "Plain Python": (PLAIN_BEFORE % (SENDER, TO), ""),
}
#: Examples with settings that the newest version deprecates but still accepts.
DEPRECATED = {"Django"}


def run(name: str, port: int, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run an example with the code that a program has before and after it."""
    before, after = EXAMPLES[name]
    warnings = "ignore" if name in DEPRECATED else "error"
    return subprocess.run(
        [libraries(), "-W", warnings, "-c", f"import os\n{before}{example(name, port)}{after}"],
        env={"PILLARBOX_KEY": KEY} | environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE,
        check=False,
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(relay: RunningRelay, tmp_path: Path, name: str) -> None:
    """Each example sends text, an attachment and a blind copy, without warnings."""
    trusted = tmp_path / "trusted.pem"
    trusted.write_bytes(certificate().chain)
    result = run(name, relay.port, tmp_path, SSL_CERT_FILE=str(trusted))
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    ((recipients, octets),) = relay.service.accepted
    assert sorted(recipients) == sorted((TO, "eve@example.com"))
    assert b'filename="a.csv"' in octets
    assert b"eve@example.com" not in octets


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name != "Flask-Mail"])
def test_example_checks_the_certificate(relay: RunningRelay, tmp_path: Path, name: str) -> None:
    """An example sends no key to a server whose certificate it cannot verify."""
    assert "CERTIFICATE_VERIFY_FAILED" in run(name, relay.port, tmp_path).stderr
    assert relay.service.authentications == 0
