"""The code of docs/guides sends on the local stack, with the variables of its `env` file."""

import os
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.integration.guides.programs import FRAMEWORKS, OVER_SMTP, Command, each_of
from tests.needs import missing, need_nodemailer, need_program
from tests.stack import PATIENCE, ROOT


def _send(stack: dict[str, Any], command: Command, to: str, invoice: str) -> str:
    need_program(command[0])
    if "django" in command[1] and not find_spec("django"):
        missing("django is not installed")
    own = {"PYTHONPATH": str(ROOT)}
    if command[0] == "node":
        own["NODE_PATH"] = need_nodemailer()
    env_file = Path(stack["smtp"]["certificate"]).parent / "env"
    done = subprocess.run(
        ["sh", "-c", '. "$0" && exec "$@"', str(env_file), *command, to, invoice],
        env=os.environ | own,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def _received(stack: dict[str, Any], to: str) -> list[dict[str, Any]]:
    query: dict[str, Any] = {"to": to, "wait": 60}
    answer = httpx.get(f"{stack['inbox_url']}/messages", params=query, timeout=PATIENCE)
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


@pytest.mark.stack
@pytest.mark.parametrize("command", each_of(FRAMEWORKS))
def test_the_code_of_a_guide_sends_once(stack: dict[str, Any], command: Command) -> None:
    """A receipt arrives; the same program with the same invoice gets the same id."""
    invoice = f"INV-{uuid4()}"
    to = f"{invoice}@example.com".lower()
    sent = _send(stack, command, to, invoice)
    assert _send(stack, command, to, invoice) == sent
    (mail,) = _received(stack, to)
    assert mail["messageId"] == sent


@pytest.mark.stack
@pytest.mark.parametrize("command", each_of(OVER_SMTP))
def test_the_smtp_settings_of_a_guide_send_once(stack: dict[str, Any], command: Command) -> None:
    """The program trusts the stack's certificate, logs in and sends; a repetition sends nothing."""
    invoice = f"INV-{uuid4()}"
    to = f"{invoice}@example.com".lower()
    _send(stack, command, to, invoice)
    _send(stack, command, to, invoice)
    (mail,) = _received(stack, to)
    assert mail["subject"] == f"Your receipt {invoice}"
    assert mail["from"].endswith("hello@shop.example") or "<hello@shop.example>" in mail["from"]
