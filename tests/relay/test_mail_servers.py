"""The recipes of docs/relay.md for mail servers and scripts, with the running local stack."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.needs import need_nodemailer, need_perl, need_program, need_root
from tests.stack import PATIENCE, wait_for

pytestmark = pytest.mark.stack

PAGE = Path(__file__).parents[2] / "docs" / "relay.md"
SENDER = "hello@shop.example"
OPS = "ops@example.com"
PDF = b"%PDF-1.4\n"
#: The services of Debian's master.cf that a server without a network service needs.
SERVICES = """
pickup unix n - n 1 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 1 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
smtp unix - - n - - smtp
retry unix - - n - - error
scache unix - - n - 1 scache
tlsmgr unix - - n 1000? 1 tlsmgr
postlog unix-dgram n - n - 1 postlogd
"""
#: Rewrites the sender of reports too.
REWRITE_ALL = "sender_canonical_maps = static:hello@shop.example\n"


def recipe(start: str, stack: dict[str, Any]) -> str:
    """Return the block of the page after a text, with the stack's host, certificate and key."""
    text = PAGE.read_text().partition(start)[2]
    match = re.search(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert match
    smtp = stack["smtp"]
    block = match[1].replace("smtp.example.com", smtp["host"]).replace("587", str(smtp["port"]))
    block = block.replace("/etc/ssl/certs/ca-certificates.crt", smtp["certificate"])
    return block.replace("bx_live_…", stack["keys"]["live"])


def from_cron(subject: str, to: str, *fields: str) -> str:
    """Return an email as Debian's cron writes it."""
    header = ["From: root (Cron Daemon)", f"To: {to}", f"Subject: {subject}", *fields]
    return "\n".join((*header, "", "over there", ""))


def received(stack: dict[str, Any], subject: str, to: str = OPS) -> Message:
    """Wait for an email with a subject and return the newest."""

    def look() -> Any:
        found = httpx.get(f"{stack['inbox_url']}/messages", params={"to": to}, timeout=PATIENCE)
        return next((item for item in found.json()["items"] if item["subject"] == subject), None)

    raw = f"{stack['inbox_url']}/messages/{wait_for(look)['id']}/raw"
    return message_from_bytes(httpx.get(raw, timeout=PATIENCE).content)


def run(*command: str, text: str = "", **environment: str) -> None:
    need_program(command[0])
    done = subprocess.run(
        command,
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"} | environment,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def postfix(settings: str) -> Iterator[Path]:
    """Run Postfix in a folder of its own, and yield it; its user must be able to reach it."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for each in ("etc", "spool", "data"):
            (folder / each).mkdir()
        shutil.chown(folder / "data", "postfix")
        own = (
            f"compatibility_level = 3.6\nqueue_directory = {folder}/spool\ninet_protocols = ipv4\n"
            f"data_directory = {folder}/data\nmaillog_file = {folder}/log\nalias_maps =\n"
            f"maillog_file_prefixes = {folder}\nmyhostname = web-1.shop.example\n"
        )
        (folder / "etc" / "main.cf").write_text(own + settings)
        (folder / "etc" / "master.cf").write_text(SERVICES)
        run("postfix", "-c", f"{folder}/etc", "start")
        try:
            yield folder
        finally:
            run("postfix", "-c", f"{folder}/etc", "abort")


@pytest.mark.parametrize("rewriting", ["", REWRITE_ALL], ids=["recipe", "all senders"])
def test_postfix(stack: dict[str, Any], tmp_path: Path, rewriting: str) -> None:
    """Postfix sends cron's mail; what is refused is reported to its sender, once."""
    need_root()
    need_program("postfix")
    passwords = tmp_path / "pillarbox"
    passwords.write_text(recipe("and in `/etc/postfix/pillarbox`", stack))
    settings = recipe("Postfix, in", stack).replace("/etc/postfix/pillarbox", str(passwords))
    subject = f"Cron <root@web-1> {uuid4()}"
    with postfix(settings + rewriting) as folder:

        def outcomes() -> list[str]:
            return sorted(re.findall(r"status=(\w+)", (folder / "log").read_text()))

        sendmail = ("sendmail", "-C", f"{folder}/etc", "-i")
        run(*sendmail, "root", text=from_cron(subject, "root"))
        run(*sendmail, "bob@nomx.example", OPS, text=from_cron("two", f"bob@nomx.example, {OPS}"))
        run(*sendmail, OPS, text=from_cron("zip", OPS, "Content-Type: application/zip"))
        # Two emails and two reports leave. A refused report would be one more that bounced.
        wait_for(lambda: len(outcomes()) >= 6)
        assert outcomes() == ["bounced"] * 2 + ["sent"] * 4
        assert not [file for file in (folder / "spool" / "deferred").rglob("*") if file.is_file()]
    mail = received(stack, subject)
    assert (mail["From"], mail["To"]) == (f"{SENDER} (Cron Daemon)", OPS)
    report = received(stack, "Undelivered Mail Returned to Sender", SENDER)
    assert report.get_content_type() == "multipart/report"


def test_msmtp(stack: dict[str, Any], tmp_path: Path) -> None:
    settings, subject = tmp_path / "msmtprc", f"Cron <root@web-1> {uuid4()}"
    settings.write_text(recipe("msmtp, in", stack))
    settings.chmod(0o600)
    run("msmtp", f"--file={settings}", "-i", "-FCronDaemon", OPS, text=from_cron(subject, OPS))
    assert received(stack, subject)["From"] == f"CronDaemon <{SENDER}>"


def test_swaks(stack: dict[str, Any], tmp_path: Path) -> None:
    """A PDF that swaks labels application/octet-stream arrives with this label."""
    need_perl("Net::SSLeay")
    smtp, subject, file = stack["smtp"], f"swaks {uuid4()}", tmp_path / "a.pdf"
    file.write_bytes(PDF)
    run(
        *("swaks", "--server", f"{smtp['host']}:{smtp['port']}", "--tls", "--tls-verify"),
        *("--tls-ca-path", smtp["certificate"], "--auth-user", "apikey", "--from", SENDER),
        *("--auth-password", stack["keys"]["live"], "--to", OPS, "--header", f"Subject: {subject}"),
        *("--attach-type", "application/octet-stream", "--attach", f"@{file}"),
    )
    *_, attached = received(stack, subject).walk()
    assert attached.get_content_type() == "application/octet-stream"
    assert attached.get_payload(decode=True) == PDF


INVITE = """
const [port, pass, from, to, subject] = process.argv.slice(1);
require("nodemailer")
  .createTransport({ host: "127.0.0.1", port, requireTLS: true, auth: { user: "apikey", pass } })
  .sendMail({ from, to, subject, text: "Hello", icalEvent: {
    method: "REQUEST", content: "BEGIN:VCALENDAR\\r\\nMETHOD:REQUEST\\r\\nEND:VCALENDAR\\r\\n" } });
"""


def test_invitation_of_nodemailer(stack: dict[str, Any]) -> None:
    """Its icalEvent arrives as an alternative of the text, and as a file called application/ics."""
    smtp, subject = stack["smtp"], f"nodemailer {uuid4()}"
    run(
        *("node", "-e", INVITE, str(smtp["port"]), stack["keys"]["live"], SENDER, OPS, subject),
        NODE_PATH=need_nodemailer(),
        NODE_EXTRA_CA_CERTS=smtp["certificate"],
    )
    types = [part.get_content_type() for part in received(stack, subject).walk()]
    assert types == [
        *("multipart/mixed", "multipart/alternative", "text/plain", "text/calendar"),
        "application/ics",
    ]
