"""Everything that people paste works as they get it, with their own key, through the edge."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from admin.first_email import view
from admin.use_cases.first_steps import FirstStepsResult
from local import banner
from local.environment import environment_file
from local.seed import SENDER
from pillarbox.domain.accounts.account import Account, Plan
from pillarbox.domain.accounts.key import OPERATOR_SCOPES
from pillarbox.domain.accounts.key_terms import SCOPE_WORDS
from tests.integration.local.local_ses import LocalSes
from tests.needs import need_dashboard, need_program
from tests.pasted import (
    ELSEWHERE,
    ON_AWS,
    REHEARSED,
    RUN,
    Block,
    blocks,
    is_one_of,
    operator_words,
    programs_of,
)
from tests.stack import AGENT, PATIENCE, ROOT, inbox, operate, run_operator, ses_of, wait_for

pytestmark = pytest.mark.stack

GUIDES: Final = ROOT / "docs" / "guides" / "code"
#: Language of a page or of the dashboard -> the program that runs a file, and how the file ends.
LANGUAGES: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "curl": (("bash",), "sh"),
    "Python": (("python",), "py"),
    "Node.js": (("node",), "mjs"),
    "PHP": (("php",), "php"),
    "Ruby": (("ruby",), "rb"),
    "Go": (("go", "run"), "go"),
}
#: The language of a part of a program in a page -> what is around it, and what checks its syntax.
PARTS: Final[Mapping[str, tuple[str, tuple[str, ...], str]]] = {
    "js": ("{}", ("node", "--check"), "mjs"),
    "php": ("<?php\n{}", ("php", "-l"), "php"),
    "ruby": ("{}", ("ruby", "-c"), "rb"),
    "go": ("package main\nfunc main() {{\n{}}}\n", ("gofmt", "-e"), "go"),
}
#: Whom the pages of operators ask about, at a domain of this module.
ANN: Final = "ann@reader.example"
#: The domain of the reader's account, which receives answers: each worker has a reader.
RECEIVING: Final = f"pasted-{os.getpid()}.example"
#: curl as people have it, but it fails if the service refuses.
CURL: Final = 'curl() { command curl --silent --show-error --fail-with-body "$@"; }\n'


def _tomorrow() -> str:
    return (datetime.now(UTC) + timedelta(days=1)).isoformat()


@dataclass(frozen=True)
class Reader:
    """Who pastes: an account of its own, and what the stack gives a user."""

    stack: dict[str, Any]
    account: str
    key: str
    endpoint: str
    message: str
    received: str
    template: str
    folder: Path
    api: httpx.Client

    def own(self, text: str) -> str:
        """Return a text with what a reader puts into it."""
        names = {
            "http://127.0.0.1:8080": self.stack["base_url"],
            "http://127.0.0.1:8025": self.stack["inbox_url"],
            "https://shop.example/hooks": f"{self.stack['inbox_url']}/hooks/pasted",
            "bx_live_…": self.key,
            "YOUR_KEY": self.key,
            '"templateId": "ID"': f'"templateId": "{self.template}"',
            "/webhooks/ID": f"/webhooks/{self.endpoint}",
            "/domains/shop.example": f"/domains/{RECEIVING}",
        }
        for name, value in names.items():
            text = text.replace(name, value)
        times = r'(?<="scheduledAt": ")[^"]+|(?<=--expires )\S+|(?<=_ID --at )\S+'
        return re.sub(times, _tomorrow(), text)

    def operate(self, words: list[str]) -> None:
        """Run a command of an operator, with what a reader puts into it; it must succeed."""
        own = {
            "ID": self.account,
            "ACCOUNT": self.account,
            "ann@example.com": ANN,  # others have mail to her
        }
        if words[0] == "restore":  # from the example
            own |= {"qh4ybvcvbqzk": "example00000", "2026-11-22T08:00": "2h"}
        if words[0] == "domain":  # and senders with this domain
            own["shop.example"] = "reader.example"
        if "MESSAGE_ID" in words:
            email = {"to": "ada@customer.example", "subject": "Hi", "html": "<p>Hi</p>"}
            waits = {"scheduledAt": _tomorrow()} if "reschedule" in words else {"hold": True}
            sent = self.api.post("/emails", json=email | waits).raise_for_status()
            own["MESSAGE_ID"] = sent.json()["messageId"]
        if is_one_of(REHEARSED, words) and "--dry-run" not in words:
            words = [*words, "--dry-run"]
        elif {*words} & {"cancel", "erase", "release", "reschedule"}:
            words = [*words, "--yes"]
        done = run_operator(*(own.get(word, word) for word in words))
        if words[0] == "doctor" and done.returncode == 1:
            # It looks at all accounts, and a test beside this one may be making its tenant.
            items = json.loads(done.stdout)["items"]
            assert {each["check"] for each in items if each["verdict"] == "fail"} == {"tenants"}
            return
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"

    def run(self, *command: str, text: str | None = None) -> str:
        """Run a program in the reader's folder, and return its output; it must succeed."""
        need_program(command[0])
        own = {
            "MANAGEMENT_KEY": self.key,
            "MESSAGE_ID": self.message,
            "RECEIVED_ID": self.received,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "packages/pillarbox/src"),
        }
        done = subprocess.run(
            ["bash", "-c", '. .local/env && exec "$@"', "bash", *command],
            cwd=self.folder,
            env=os.environ | own,
            input=text,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, f"{command} {text}\n{done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def reader(stack: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """Return a reader with a sender, a key for everything, and one of what the commands name."""
    account = operate("account", "create", "--name", "Reader", "--plan", "standard")["id"]
    operate("sender", "add", "--account", account, SENDER, "--default")
    operate("domain", "add", "reader.example")
    scopes = [f"--scope={scope}" for scope in SCOPE_WORDS.keys() - OPERATOR_SCOPES]
    made = operate(
        *("key", "create", "--account", account, "--name", "reader", "--preset", "custom"), *scopes
    )
    copy = operate("template", "create", "--account", account, "--from-starter", "payment_receipt")
    url, headers = f"{stack['base_url']}/api/v1", AGENT | {"X-API-Key": made["key"]}
    with httpx.Client(base_url=url, headers=headers, timeout=PATIENCE) as api:

        def call(method: str, path: str, body: Any) -> Any:
            return api.request(method, path, json=body).raise_for_status().json()

        call("PATCH", "/account", {"keepDays": 1})
        call("POST", "/domains", {"domain": RECEIVING})
        wait_for(lambda: call("GET", f"/domains/{RECEIVING}", None)["status"] == "verified")
        call("PATCH", f"/domains/{RECEIVING}", {"receive": "in"})
        hook = {"url": f"{stack['inbox_url']}/hooks/reader", "types": ["*"]}
        email = {"to": "ada@customer.example", "subject": "Hi", "html": "<p>Hi</p>"}
        message = call("POST", "/emails", email | {"replies": True})["messageId"]
        endpoint = call("POST", "/webhooks", hook)["id"]
        ses_of(stack).put_suppressed_destination(EmailAddress=ANN, Reason="BOUNCE")
        folder = tmp_path_factory.mktemp("reader")
        for part in ("go", "node", "python"):
            shutil.copytree(GUIDES / part, folder, dirs_exist_ok=True)
        (folder / ".local").mkdir()
        (folder / "node_modules").mkdir()
        (folder / "node_modules" / "pillarbox").symlink_to(ROOT / "packages" / "pillarbox-js")
        mine = stack | {"keys": stack["keys"] | {"live": made["key"]}}
        authorities = ROOT / ".local" / "tests" / "authorities.pem"
        (folder / ".local" / "env").write_text(environment_file(mine, authorities))
        (sent,) = wait_for(lambda: inbox(stack, message))
        reply = f"{stack['inbox_url']}/messages/{sent['id']}/reply"
        httpx.post(reply, json={"text": "Hello"}, timeout=PATIENCE).raise_for_status()
        (answer,) = wait_for(lambda: call("GET", "/received", None)["items"])
        received, starter = answer["receivedId"], copy["id"]
        yield Reader(stack, account, made["key"], endpoint, message, received, starter, folder, api)
        for each in api.get("/webhooks").json()["items"]:
            api.delete(f"/webhooks/{each['id']}")


def _runs(command: str) -> bool:
    if words := operator_words(command):
        return not is_one_of(ON_AWS, words)
    local = not any(part in command for part in ELSEWHERE)
    return local and programs_of(command)[0][0] in RUN


@pytest.mark.parametrize(
    "block",
    [block for block in blocks() if any(map(_runs, block.commands))],
    ids=lambda block: block.place,
)
def test_the_commands_of_a_page_succeed(reader: Reader, block: Block) -> None:
    """Each command that needs the stack alone succeeds; a guide's program sends its email once."""
    for command in filter(_runs, block.commands):
        words = programs_of(reader.own(command))[0]
        if operator := operator_words(reader.own(command)):
            reader.operate(operator)
        elif "-X PUT http" in command.replace("'", ""):
            _change_inbox(reader, command)
        elif words[0] == "curl":
            reader.run("bash", "-eo", "pipefail", text=CURL + reader.own(command))
        else:
            sent = [reader.run(*words).strip() for _ in range(2)]
            assert sent[0] == sent[1]
            assert len(_delivered(reader, sent[0])) == 1


def _delivered(reader: Reader, message_id: str) -> list[dict[str, Any]]:
    """Wait for an email; return what the inbox has of it."""
    found: list[dict[str, Any]] = wait_for(lambda: inbox(reader.stack, message_id))
    return found


def _change_inbox(reader: Reader, command: str) -> None:
    """Run a command that changes the inbox for everybody, with an inbox of its own."""
    ses = LocalSes()
    try:
        ses.mailbox.create_identity(SENDER)
        text = CURL + command.replace("http://127.0.0.1:8025", ses.inbox_url)
        reader.run("bash", "-e", text=text)
    finally:
        ses.close()


@pytest.mark.parametrize(
    "block",
    [each for each in blocks() if each.language in PARTS and not each.file and not each.listed],
    ids=lambda block: block.place,
)
def test_a_part_of_a_program_is_read(reader: Reader, block: Block) -> None:
    around, command, ending = PARTS[block.language]
    (reader.folder / f"part.{ending}").write_text(around.format(block.text))
    assert reader.run(*command, f"part.{ending}") is not None


def test_the_programs_of_the_packages_send(reader: Reader) -> None:
    for language, place in (("python", "packages/pillarbox/"), ("js", "packages/pillarbox-js/")):
        block = next(b for b in blocks() if b.place.startswith(place) and b.language == language)
        name, ending = ("Python", "py") if language == "python" else ("Node.js", "mjs")
        (reader.folder / f"package.{ending}").write_text(block.text)
        reader.run(*LANGUAGES[name][0], f"package.{ending}")


@pytest.fixture(scope="module")
def printed(reader: Reader) -> dict[str, str]:
    """Return what dashboard and widget print for a key, by language, and the other commands."""
    need_dashboard()
    code = """
      import { curlOf, curlWith } from "./src/command.ts";
      import { firstEmail, LANGUAGES } from "./src/first-email.ts";
      const [origin, key, to, message] = process.argv.slice(1);
      const programs = LANGUAGES.map((name) => [name, firstEmail(name, origin, key, to)]);
      const paths = ["/v1/me", `/v1/emails/${message}`];
      const reads = paths.map((path) => [path, curlOf(origin, path, key)]);
      console.log(JSON.stringify(Object.fromEntries([...programs, ...reads])));
    """
    command = ["--import", "./test/setup.mjs", "--input-type=module", "--eval", code]
    done = subprocess.run(
        [
            *(str(ROOT / ".venv-node/bin/node"), *command),
            *(reader.stack["base_url"], reader.key, "o'brien@customer.example", reader.message),
        ],
        cwd=ROOT / "dashboard",
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_first_program_sends_or_shows_the_reason(
    reader: Reader, printed: dict[str, str], language: str
) -> None:
    command, ending = LANGUAGES[language]
    need_program(command[0])
    file = f"first.{ending}"
    (reader.folder / file).write_text(printed[language])
    message = re.findall(r'"messageId": ?"([^"]+)"', reader.run(*command, file))[0]
    (reader.folder / file).write_text(printed[language].replace(reader.key, "bx_live_wrong"))
    assert '"invalid_api_key"' in reader.run(*command, file)
    assert _delivered(reader, message)


def test_the_lines_of_curl_that_programs_print_succeed(
    reader: Reader, printed: dict[str, str]
) -> None:
    """Dashboard, `make up`, the inbox and `make deploy` print lines that a shell takes."""
    url = reader.stack["base_url"]
    account = Account(
        account_id=reader.account, name="", plan=Plan.STANDARD, created_at=datetime.now(UTC)
    )
    deployed = view("pillarbox", "eu-west-1", url, FirstStepsResult(account, None, None))
    lines = [
        *(text for name, text in printed.items() if name.startswith("/v1/")),
        banner.first_email(url, reader.key),
        banner.first_endpoint(url, reader.stack["inbox_url"], reader.key),
        str(deployed["firstMail"]),
    ]
    for line in lines:
        assert json.loads(reader.run("bash", "-e", text=CURL + line))


def test_the_local_stack_has_a_key_and_an_account_to_begin_with(
    stack: dict[str, Any], tmp_path: Path
) -> None:
    """With --local both are those of the live key, which manages the account Shop."""
    file = tmp_path / "customers.yaml"
    missing = run_operator("apply", str(file))
    assert f"{file}: cannot be used: no such file or directory" in missing.stderr
    file.write_text("version: 1\naccounts: [{name: Shop, domains: [{name: applied.example}]}]\n")
    planned = run_operator("apply", str(file), "--plan")
    assert planned.returncode == 2, planned.stderr
    assert "+ domain applied.example" in planned.stdout
    assert SENDER in [one["address"] for one in operate("sender", "list")["items"]]
    assert stack
