"""The recipes of docs/recipes run as a user runs them, against the running stack."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from local.environment import environment_file
from tests.needs import missing, need_chromium, need_program
from tests.stack import ROOT

pytestmark = pytest.mark.stack

RECIPES = ROOT / "docs" / "recipes"
PATIENT = "pillarbox_timeout = 120\n"
STATE = ROOT / ".local" / "tests"
UV = ROOT / ".uv" / "bin" / "uv"


@pytest.fixture(scope="module")
def python() -> Iterator[Path]:
    """Return the Python of a new environment with the built package, pytest and Playwright."""
    with tempfile.TemporaryDirectory() as folder:
        new = Path(folder, "venv")
        package = ROOT / "packages" / "pillarbox-testing"
        for command in (
            ["build", "--quiet", "--wheel", "--out-dir", folder, str(package)],
            ["venv", "--quiet", "--python", sys.executable, str(new)],
        ):
            subprocess.run([UV, *command], check=True, timeout=300)
        (wheel,) = Path(folder).glob("*.whl")
        others = [f"{name}=={version(name)}" for name in ("pytest", "playwright")]
        install = ["pip", "install", "--quiet", "--python", str(new), str(wheel), *others]
        subprocess.run([UV, *install], check=True, timeout=300)
        yield new / "bin" / "python"


def run(project: Path, *command: str | Path, **variables: str) -> str:
    """Run a command in a project, without the variables of this run, and return its output."""
    own = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
    done = subprocess.run(
        command,
        cwd=project,
        env=own | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    return f"{done.stdout}exit {done.returncode}"


def project(folder: Path, *recipes: str, **files: str) -> Path:
    """Return a folder as a user's project, with copies of recipes and these files."""
    for name in recipes:
        shutil.copytree(RECIPES / name, folder / name)
    (folder / "pytest.ini").write_text(f"[pytest]\npillarbox_state_dir = {STATE}\n{PATIENT}")
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


@pytest.mark.usefixtures("stack")
def test_the_recipes_of_python(tmp_path: Path, python: Path) -> None:
    """The recipes of pytest and Playwright pass; an ini option tells them where the stack is."""
    chromium = need_chromium()
    folder = project(tmp_path, "pytest", "playwright")
    output = run(folder, python, "-m", "pytest", "-q", CHROMIUM=chromium)
    assert "3 passed" in output
    assert output.endswith("exit 0")


SMTP = """
import smtplib, ssl
from email.message import EmailMessage

SENT_TO = []

def test_smtp(pillarbox):
    smtp, mail = pillarbox.smtp, EmailMessage()
    mail["From"], mail["To"] = "hello@shop.example", pillarbox.address()
    SENT_TO.append(mail["To"])
    mail.set_content("Hello")
    with smtplib.SMTP(smtp.host, smtp.port) as client:
        client.starttls(context=ssl.create_default_context(cafile=smtp.certificate))
        client.login(smtp.username, smtp.password)
        client.send_message(mail)
    assert pillarbox.inbox.wait_for(to=mail["To"]).text.strip() == "Hello"

def test_a_session_sees_older_emails(pillarbox, pillarbox_stack):
    # Others send with this stack too.
    def recipients(inbox):
        return {to for email in inbox.emails() for to in email.recipients}
    assert not recipients(pillarbox.inbox) & {*SENT_TO}
    assert recipients(pillarbox_stack.inbox) >= {*SENT_TO}
"""


def test_smtp_and_the_variables(tmp_path: Path, python: Path, stack: dict[str, Any]) -> None:
    """The fixture sends over SMTP with the variables of `.local/env`, which win over the option."""
    folder = project(tmp_path, test_smtp=SMTP)
    (folder / "pytest.ini").write_text(f"[pytest]\npillarbox_state_dir = absent\n{PATIENT}")
    (folder / "env").write_text(environment_file(stack, STATE / "authorities.pem"))
    command = f"source ./env && {python} -m pytest -q"
    output = run(folder, "bash", "-c", command)
    assert "2 passed" in output, output


def test_without_a_stack(tmp_path: Path, python: Path) -> None:
    test = "def test_one(pillarbox): pass\ndef test_two(pillarbox): pass\n"
    folder = project(tmp_path, test_both=test)
    (folder / "pytest.ini").unlink()
    output = run(folder, python, "-m", "pytest", "-q")
    assert f"No Pillarbox stack is running: there is no {folder}/.local/stack.json.\n" in output
    assert "Start one with `make up` in your clone of Pillarbox." in output
    assert "2 errors" in output
    assert "Traceback" not in output
    assert "plugin.py" not in output


@pytest.mark.foreign
def test_the_recipe_of_jest(stack: dict[str, Any]) -> None:
    """The recipe of Jest passes after `source .local/env`. Its packages stay for the next run."""
    folder = ROOT / ".local" / "jest"
    npm = need_program("npm")
    folder.mkdir(parents=True, exist_ok=True)
    wanted = (RECIPES / "jest" / "package.json").read_text()
    installed = folder / "installed.json"
    for source in (RECIPES / "jest").iterdir():
        if source.is_file():
            shutil.copy(source, folder)
    if not installed.exists() or installed.read_text() != wanted:
        install = [npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
        if subprocess.run(install, cwd=folder, check=False, timeout=300).returncode:
            missing("Jest cannot be installed here")
        installed.write_text(wanted)
    package = folder / "node_modules" / "pillarbox-testing"
    shutil.copytree(ROOT / "packages" / "pillarbox-testing-js", package, dirs_exist_ok=True)
    (folder / "env").write_text(environment_file(stack, STATE / "authorities.pem"))
    output = run(folder, "bash", "-c", f"source ./env && {npm} test --silent", PILLARBOX_WAIT="60")
    assert "1 passed" in output
    assert output.endswith("exit 0")
