"""The command `pillarbox`, run as an operator and as a program."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs
from uuid import UUID

import pytest

from local.ses.store import MailStore
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.wiring import Wiring
from tests.integration.admin.conftest import SETTINGS, TABLE
from tests.integration.admin.operator_command import Operator, refusal
from tests.stack import PATIENCE

NOT_RUNNING = "The local stack is not running: start it with `make up`."
COMMANDS = {
    "account": (
        "create",
        "update",
        "brand",
        "shard",
        "show",
        "list",
        "usage",
        "suspend",
        "resume",
        "delete",
    ),
    "key": ("create", "list", "find", "revoke"),
    "domain": ("add", "show", "verify"),
    "sender": ("add", "list", "remove", "default"),
    "template": (
        *("create", "update", "list", "show", "preview", "delete"),
        *("reference", "unreference"),
    ),
    "message": ("show", "find"),
    "suppression": ("add", "list", "remove", "import", "export"),
    "stats": ("top", "verify", "rebuild"),
    "queue": ("status", "show", "redrive"),
}
#: Commands without a group.
SINGLE = ("doctor", "deploy")


def test_the_commands_for_accounts(run: Operator) -> None:
    """An account can be created, shown, changed and listed."""
    made = run(
        *("account", "create", "--name", "Shop", "--plan", "standard"),
        *("--per-minute", 9, "--per-month", 50_000),
    )
    account_id = made["accountId"]
    assert made["limits"] == {
        "perMinute": 9,
        "perDay": 5_000,
        "perMonth": 50_000,
        "recipientsPerDay": 25_000,
    }
    assert run("account", "show", account_id) == made
    changed = run(
        *("account", "update", account_id, "--plan", "enterprise", "--hold-uncertain"),
        *("--plan-limits", "--per-day", 0, "--recipients-per-day", 7),
    )
    no_limits = {"perMinute": None, "perMonth": None}
    assert changed == made | {
        "plan": "enterprise",
        "holdUncertain": True,
        "limits": no_limits | {"perDay": 0, "recipientsPerDay": 7},
        "ownLimits": no_limits | {"perDay": 0, "recipientsPerDay": 7},
    }
    assert run("account", "list") == {"items": [changed]}
    assert (changed["shards"], changed["shardedFrom"]) == (1, None)
    sharded = run("account", "shard", account_id, 8)
    assert sharded == changed | {"shards": 8, "shardedFrom": sharded["shardedFrom"]}
    assert sharded["shardedFrom"].endswith(":00:00.000+00:00")
    assert run("account", "shard", account_id, 16)["shardedFrom"] == sharded["shardedFrom"]


def test_a_brand_is_set_and_removed(run: Operator, account: str) -> None:
    """The command sets each part of the brand that it names, and an empty text removes one."""
    before = run("account", "show", account)
    logo = "https://acme.example/logo.png"
    branded = run(
        *("account", "brand", account, "--name", "Acme", "--logo", logo),
        *("--accent", "#0A7D5A", "--from-name", "Acme Billing"),
    )
    brand = {"name": "Acme", "logoUrl": logo, "accent": "#0a7d5a", "fromName": "Acme Billing"}
    assert branded == before | {"brand": brand}
    assert run("account", "brand", account, "--logo", "")["brand"] == brand | {"logoUrl": None}
    assert run("account", "show", account)["brand"] == brand | {"logoUrl": None}


def test_a_key_works_until_it_is_revoked(run: Operator, account: str) -> None:
    """A new key authenticates until it is revoked."""
    made = run("key", "create", "--account", account, "--name", "web", "--preset", "send")
    assert made["prefix"] == "bx_live_"
    assert made["scopes"] == ["emails:read", "emails:send"]
    authentication = Wiring(SETTINGS).authentication
    assert authentication.authenticate(made["key"]).account.account_id == account
    (listed,) = run("key", "list", "--account", account)["items"]
    assert (listed["keyId"], listed["revokedAt"]) == (made["keyId"], None)
    assert made["key"] not in json.dumps(listed)
    assert run("key", "revoke", made["keyId"])["revokedAt"] is not None
    with pytest.raises(Exception, match="not valid"):
        authentication.authenticate(made["key"])


def test_a_starter_is_copied_and_shown(
    run: Operator, account: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy of a starter keeps the options given with it; a preview is printed or opened."""
    create = ("template", "create", "--account", account)
    made = run(*create, "--from-starter", "payment_receipt", "--name", "Receipt")
    assert (made["name"], made["category"]) == ("Receipt", "starter")
    assert made["subject"] == "Your receipt for invoice {{ invoice_id }}"
    values = tmp_path / "values.json"
    values.write_text('{"amount": "49.00", "currency": "EUR", "invoice_id": "R-7"}')
    show = ("template", "preview", made["id"], "--account", account)
    shown = run(*show, "--values", values)
    assert shown["subject"] == "Your receipt for invoice R-7"
    assert "49.00 EUR" in shown["html"]
    assert "[amount] [currency]" in run.plain("--local", *show).stdout
    opened: list[str] = []
    monkeypatch.setattr("admin.templates.typer.launch", opened.append)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    page = run(*show, "--values", values, "--open")["page"]
    assert opened == [page]
    assert Path(page).read_text() == shown["html"]
    values.write_text("[1]")
    assert refusal(lambda: run(*show, "--values", values)) == (1, "validation_failed")
    values.write_text('{"amount": 1}')
    assert refusal(lambda: run(*show, "--values", values)) == (1, "validation_failed")
    assert refusal(lambda: run(*create, "--from-starter", "opt")) == (1, "template_not_found")
    assert refusal(lambda: run(*create, "--name", "Receipt")) == (2, "validation_failed")


def test_presets_and_scopes_of_keys(run: Operator, account: str) -> None:
    """Preview and custom keys are created; invalid scopes and combinations are refused."""
    key = ("key", "create", "--name", "web", "--account")
    assert run(*key, account, "--preview")["prefix"] == "bx_preview_"
    made_for_strangers = run(*key, account, "--preview", "--self-service")
    listed = {
        one["keyId"]: one["selfService"]
        for one in run("key", "list", "--account", account)["items"]
    }
    assert sorted(listed.values()) == [False, True]
    assert listed[made_for_strangers["keyId"]]
    custom = (*key, account, "--preset", "custom")
    made = run(*custom, "--scope", "templates:read", "--scope", "marketing:campaigns:read")
    assert made["scopes"] == ["marketing:campaigns:read", "templates:read"]
    assert refusal(lambda: run(*custom, "--scope", "emails:all")) == (1, "validation_failed")
    assert refusal(lambda: run(*key, account, "--preview", "--scope", "emails:send")) == (
        1,
        "validation_failed",
    )
    for neither_or_both in (
        (),
        ("--preview", "--preset", "send"),
        ("--self-service", "--preset", "send"),
        ("--preview", "--agent", "--agent-recipient", "a.example"),
        ("--preset", "send", "--agent-recipient", "a.example"),
        ("--preset", "send", "--agent-per-day", "5"),
    ):
        assert refusal(lambda words=neither_or_both: run(*key, account, *words)) == (  # type: ignore[misc]
            2,
            "validation_failed",
        )
    agent = (*key, account, "--preset", "send", "--agent")
    limited = run(*agent, "--agent-recipient", "Shop.example", "--agent-per-day", "5")
    limits: dict[str, object] = {"recipients": ["shop.example"], "confirmation": "ask", "perDay": 5}
    assert limited["agent"] == limits
    shown = {
        one["keyId"]: one["agent"] for one in run("key", "list", "--account", account)["items"]
    }
    assert shown.pop(limited["keyId"]) == limits
    assert set(shown.values()) == {None}
    assert refusal(lambda: run(*agent)) == (1, "validation_failed")
    assert refusal(lambda: run(*agent, "--agent-recipient", "a@b@c")) == (1, "validation_failed")
    free = run("account", "create", "--name", "Hobby", "--plan", "free")["accountId"]
    assert refusal(lambda: run(*key, free, "--preset", "marketing")) == (
        1,
        "SCOPE_NOT_ALLOWED_FOR_TIER",
    )
    assert run("key", "list", "--account", free) == {"items": []}


def test_a_sender_is_verified_by_ses(run: Operator, account: str, mailbox: MailStore) -> None:
    """An unknown address is registered at SES; a verified domain covers its addresses."""
    sender = ("sender", "add", "--account", account)
    pending = run(*sender, "hello@unverified.example", "--default")
    assert pending == {"address": "hello@unverified.example", "status": "pending", "default": False}
    assert mailbox.identity_verified("hello@unverified.example") is False
    assert run(*sender, "hello@unverified.example")["status"] == "pending"
    assert refusal(
        lambda: run("sender", "default", "--account", account, "hello@unverified.example")
    ) == (1, "no_verified_sender")
    mailbox.create_identity("shop.example")
    verified = run(*sender, "hello@mail.shop.example")
    assert verified == {"address": "hello@mail.shop.example", "status": "verified", "default": True}
    assert mailbox.identity_verified("hello@mail.shop.example") is None
    assert run("sender", "list", "--account", account)["items"] == [verified, pending]


def test_a_sender_added_as_verified(run: Operator, account: str, mailbox: MailStore) -> None:
    """With --verified the address is registered at the local SES, which would refuse it."""
    for address in ("a@shop.example", "b@shop.example"):
        run("sender", "add", "--account", account, address, "--verified")
    assert mailbox.may_send_from("a@shop.example")
    assert run("sender", "default", "--account", account, "b@shop.example")["default"]
    assert run("account", "show", account)["defaultSender"] == "b@shop.example"
    removed = run("sender", "remove", "--account", account, "b@shop.example")
    assert removed == {"address": "b@shop.example", "removed": True}
    (left,) = run("sender", "list", "--account", account)["items"]
    assert left == {"address": "a@shop.example", "status": "verified", "default": False}


def test_the_commands_for_templates(run: Operator, account: str, tmp_path: Path) -> None:
    """A template can be saved, listed, shown, changed, referenced and deleted."""
    html = tmp_path / "receipt.html"
    html.write_text("<p>{{ total }} für {{ name | default('dich') }}</p>", "utf-8")
    fields = ("--name", "Receipt", "--subject", "Order {{ order }}", "--category", "billing")
    own = ("--account", account)
    made = run("template", "create", *own, *fields, "--html", html)
    assert made["variables"] == ["order", "total", "name"]
    run("template", "create", *own, *fields, "--html", html, "--internal")
    listed = run("template", "list", *own)
    assert listed == {"items": [made], "total": 1, "skip": 0, "limit": 100}
    shown = run("template", "show", made["id"], *own)
    assert shown == made | {"html": html.read_text("utf-8")}
    html.write_bytes(b"\xef\xbb\xbf{{ sum }}")
    changed = run("template", "update", made["id"], *own, "--name", "Bill", "--html", html)
    assert (changed["name"], changed["variables"]) == ("Bill", ["order", "sum"])
    run("template", "reference", made["id"], *own, "--by", "campaign-1")
    assert refusal(lambda: run("template", "delete", made["id"], *own)) == (1, "template_in_use")
    run("template", "unreference", made["id"], *own, "--by", "campaign-1")
    assert run("template", "delete", made["id"], *own) == {"id": made["id"], "deleted": True}
    assert refusal(lambda: run("template", "show", made["id"], *own)) == (1, "template_not_found")


def test_a_template_file_that_is_not_utf_8(run: Operator, account: str, tmp_path: Path) -> None:
    """A file that is missing or not UTF-8 is an error, and nothing is saved."""
    html = tmp_path / "receipt.html"
    create = ("template", "create", "--account", account, "--name", "a", "--subject", "b")
    body = ("--category", "c", "--html", str(html))
    assert refusal(lambda: run(*create, *body)) == (2, "validation_failed")
    html.write_bytes(b"gr\xfc\xdfe")
    assert refusal(lambda: run(*create, *body)) == (1, "validation_failed")
    assert run("template", "list", "--account", account)["total"] == 0


def test_templates_of_an_unknown_account(run: Operator) -> None:
    """An unknown account id is an error."""
    for account_id in ("000000000000", "\udcff"):
        words = ("template", "show", UUID(int=0), "--account", account_id)
        assert refusal(lambda words=words: run(*words)) == (1, "account_not_found")  # type: ignore[misc]


def test_the_commands_for_suppressions(run: Operator, account: str) -> None:
    """An address can be suppressed, listed and removed; the output names who removed it."""
    own = ("--account", account)
    added = run("suppression", "add", *own, "Ann@Example.com")
    assert (added["address"], added["reason"]) == ("ann@example.com", "manual")
    assert run("suppression", "list", *own) == {"items": [added]}
    removed = run("suppression", "remove", *own, "ann@example.com")
    assert removed["address"] == "ann@example.com"
    assert removed["removedBy"]
    assert refusal(lambda: run("suppression", "remove", *own, "ann@example.com")) == (
        1,
        "suppression_not_found",
    )


def test_people_see_tables(run: Operator) -> None:
    """Without --json the output is a table that names cannot style, and an error is one line."""
    made = run.plain("--local", "account", "create", "--name", "[red]Shop", "--plan", "free")
    assert made.exit_code == 0
    assert "[red]Shop" in made.stdout
    account_id = made.stdout.split()[2]
    issued = run.plain(
        "--local", "key", "create", "--account", account_id, "--name", "k", "--preview"
    )
    assert "bx_preview_" in issued.stdout
    assert "cannot be shown a second time" in issued.stderr
    assert account_id in run.plain("--local", "account", "list").stdout
    assert "None." in run.plain("--local", "sender", "list", "--account", account_id).stderr
    absent = run.plain("--local", "account", "show", "000000000000")
    assert (absent.exit_code, absent.stdout) == (1, "")
    assert absent.stderr.startswith("There is no such account: `pillarbox account list`")


DESCRIBED = """<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">
<DescribeStacksResult><Stacks><member><StackName>a</StackName><StackStatus>CREATE_COMPLETE</StackStatus>
<CreationTime>2026-03-14T15:09:26Z</CreationTime><Outputs>{}</Outputs></member></Stacks>
</DescribeStacksResult></DescribeStacksResponse>"""
OUTPUT = "<member><OutputKey>TableName</OutputKey><OutputValue>{}</OutputValue></member>"
ABSENT = """<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error>
<Type>Sender</Type><Code>ValidationError</Code>
<Message>Stack with id pillarbox does not exist</Message>
</Error></ErrorResponse>"""


class CloudFormation(BaseHTTPRequestHandler):
    """Has two stacks: mail-eu with a table, and other without outputs."""

    def do_POST(self) -> None:
        query = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        stacks = {"mail-eu": DESCRIBED.format(OUTPUT.format(TABLE)), "other": DESCRIBED.format("")}
        stack = stacks.get(query["StackName"][0])
        body = (stack or ABSENT).encode()
        self.send_response(200 if stack else 400)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def cloudformation() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), CloudFormation) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join(PATIENCE)


@pytest.mark.usefixtures("table")
def test_a_stack_in_aws_is_found_by_its_name(
    cloudformation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without --local the table comes from the stack's outputs; other stacks are errors."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_CLOUDFORMATION", cloudformation)
    run = Operator()
    made = run.plain(
        *("--stack-name", "mail-eu", "account", "create", "--name", "A", "--plan", "free")
    )
    assert made.exit_code == 0, made.stderr
    other = run.plain("--stack-name", "other", "account", "list")
    reason = "is not a deployed Pillarbox stack: it has no output TableName. Check --stack-name.\n"
    assert (other.exit_code, other.stderr) == (1, f"The stack other {reason}")
    absent = run.plain("--json", "account", "list")
    assert absent.exit_code == 1
    assert "does not exist" in json.loads(absent.stderr)["error"]["message"]


def test_the_error_says_why_aws_cannot_be_called(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a region the error says that a region is missing."""
    assert table.name
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    failed = Operator().plain("account", "list")
    assert (failed.exit_code, failed.stderr) == (
        1,
        "Cannot call AWS: You must specify a region.\n",
    )


def test_the_local_stack_must_be_running(tmp_path: Path) -> None:
    """The installed command says how to start the stack, as text and as JSON."""
    for words in ([], ["--json"]):
        done = subprocess.run(
            ["pillarbox", "--local", *words, "account", "list"],
            env={"PATH": str(Path(sys.executable).parent), "PILLARBOX_STATE_DIR": str(tmp_path)},
            capture_output=True,
            check=False,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stdout) == (1, "")
        message = json.loads(done.stderr)["error"]["message"] if words else done.stderr.strip()
        assert message == NOT_RUNNING


@pytest.mark.parametrize(
    "words",
    [[group, name] for group, names in COMMANDS.items() for name in names]
    + [[name] for name in SINGLE],
    ids=" ".join,
)
def test_every_command_has_help_with_an_example(words: list[str]) -> None:
    """Each command has help with an example, which needs no stack."""
    result = Operator().plain(*words, "--help")
    assert result.exit_code == 0
    assert f"Example: pillarbox {' '.join(words)}" in " ".join(result.stdout.split())
