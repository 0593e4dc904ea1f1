"""The command `pillarbox`, run as an operator and as a program."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from admin.main import app
from local.ses.store import MailStore
from local.ses.suppression import REASONS, SuppressedDestination, SuppressionOptions
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.wiring import Wiring
from tests.fakes.builders import NOW
from tests.integration.admin.conftest import CREDENTIALS, SETTINGS, TABLE, create_stack
from tests.integration.admin.operator_command import CommandFailure, Operator, failure
from tests.loops import for_each

NOT_RUNNING = "The local stack is not running: start it with `make up` or `pillarbox up`."


def settings(account: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in account.items() if name not in {"limits", "log"}}


def limits(account: dict[str, Any]) -> dict[str, int | None]:
    return {one["name"]: one["limit"] for one in account["limits"]}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("webhook", "show", "x", "--account", "x"), "'ENDPOINT_ID': must be a valid UUID"),
        (("account", "update", "x", "--per-day", "x"), "'--per-day': must be a valid integer"),
        (("key", "create", "--account", "x", "--name", "x", "--preset", "x"), "'--preset': 'x' is"),
        (("--stack-name", "dev", "sender", "list"), "'--account': give an id of"),
    ],
)
def test_a_wrong_value_is_named_in_our_words(words: tuple[str, ...], said: str) -> None:
    found = Operator().plain("--json", *words)
    assert found.exit_code == 2
    assert f"Invalid value for {said}" in json.loads(found.stderr)["error"]["message"]


def test_the_commands_for_accounts(run: Operator) -> None:
    made = run(
        *("account", "create", "--name", "Shop", "--plan", "standard"),
        *("--per-minute", 9, "--per-month", 50_000),
    )
    account_id = made["id"]
    assert limits(made) == {"minute": 9, "day": 5_000, "month": 50_000, "recipients": 25_000}
    assert settings(run("account", "show", account_id)) == settings(made)
    changed = run(
        *("account", "update", account_id, "--plan", "enterprise", "--hold-uncertain"),
        *("--plan-limits", "--per-day", 0, "--recipients-per-day", 7),
    )
    assert limits(changed) == {"minute": None, "day": 0, "month": None, "recipients": 7}
    no_limits = {"perMinute": None, "perMonth": None}
    assert settings(changed) == settings(made) | {
        "plan": "enterprise",
        "holdUncertain": True,
        "ownLimits": no_limits | {"perDay": 0, "recipientsPerDay": 7},
    }
    assert [entry["action"] for entry in changed["log"]] == ["changed"]
    (listed,) = run("account", "list")["items"]
    assert settings(listed).items() <= changed.items()
    assert limits(listed) == limits(changed)
    assert (changed["shards"], changed["shardedFrom"]) == (1, None)
    sharded = run("account", "shard", account_id, 8)
    assert settings(sharded) == settings(changed) | {
        "shards": 8,
        "shardedFrom": sharded["shardedFrom"],
    }
    assert sharded["shardedFrom"].endswith(":00:00.000+00:00")
    more = run("account", "shard", account_id, 16)
    assert more["shardedFrom"] == sharded["shardedFrom"]
    for shards in (0, 3, 8, 12, 257, 512):  # powers of two, and never fewer
        assert run.refused("account", "shard", account_id, shards) == (1, "validation_failed")
    assert settings(run("account", "shard", account_id, 16)) == settings(more)


def test_a_brand_is_set(run: Operator, account: str) -> None:
    logo = "https://acme.example/logo.png"
    branded = run(
        *("account", "brand", account, "--name", "Acme", "--logo", logo),
        *("--accent", "#0A7D5A", "--from-name", "Acme Billing"),
        *("--support-email", "help@acme.example", "--company-address", "1 Quay Street"),
        *("--action-url", "https://acme.example"),
    )
    brand = {
        "brandName": "Acme",
        "logoUrl": logo,
        "accent": "#0a7d5a",
        "fromName": "Acme Billing",
        "supportEmail": "help@acme.example",
        "companyAddress": "1 Quay Street",
        "actionUrl": "https://acme.example",
    }
    assert branded | brand == branded


def test_a_name_is_a_line_of_text(run: Operator, account: str) -> None:
    of_account = ("--account", account)
    for name in ("", " \u3000", "x" * 129, "a\nb", "a\u202eb", "a\udcffb"):
        for command in (
            ("account", "create", "--plan", "free"),
            ("account", "update", account),
            ("key", "create", *of_account, "--preview"),
            ("key", "create", *of_account, "--preset", "send"),
        ):
            assert run.refused(*command, "--name", name) == (1, "validation_failed"), command
    assert run("key", "list", *of_account) == {"items": []}
    named = run("account", "update", account, "--name", "é" * 128)
    assert (
        [one["name"] for one in run("account", "list")["items"]] == [named["name"]] == ["é" * 128]
    )


def test_a_key_works_until_it_is_revoked(run: Operator, account: str) -> None:
    made = run("key", "create", "--account", account, "--name", "web", "--preset", "send")
    assert made["type"] == "live"
    assert made["scopes"] == ["emails:read", "emails:send"]
    authentication = Wiring(SETTINGS).authentication
    assert authentication.authenticate(made["key"]).account.account_id == account
    (listed,) = run("key", "list", "--account", account)["items"]
    assert (listed["id"], listed["revokedAt"]) == (made["id"], None)
    assert made["key"] not in json.dumps(listed)
    assert run("key", "revoke", made["id"])["revokedAt"] is not None
    with pytest.raises(Exception, match="not valid"):
        authentication.authenticate(made["key"])


def test_revoked_keys_make_room_and_the_last_ones_stay_in_the_list(
    run: Operator, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pillarbox.application.accounts.keys.MAX_KEYS", 3)
    monkeypatch.setattr("pillarbox.application.accounts.keys.MAX_REVOKED_KEYS", 2)
    create = ("key", "create", "--account", account, "--name")
    ids = [run(*create, name, "--preview")["id"] for name in "abc"]
    for kind in (("--preview",), ("--preset", "send")):
        assert run.refused(*create, "d", *kind) == (1, "key_limit_exceeded")
    for number in (2, 0, 1):
        run("key", "revoke", ids[number])
    run(*create, "d", "--preset", "send")
    listed = run("key", "list", "--account", account)["items"]
    assert sorted(one["name"] for one in listed) == ["a", "b", "d"]


def test_a_starter_is_copied_and_shown(
    run: Operator, account: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = ("template", "create", "--account", account)
    made = run(*create, "--from-starter", "payment_receipt", "--name", "Receipt")
    assert (made["name"], made["category"]) == ("Receipt", "starter")
    assert made["subject"] == "Your Shop receipt for invoice {{ invoice_id }}"
    values = tmp_path / "values.json"
    values.write_text('{"amount": "49.00", "currency": "EUR", "invoice_id": "R-7"}')
    show = ("template", "preview", made["id"], "--account", account)
    shown = run(*show, "--values", values)
    assert shown["subject"] == "Your Shop receipt for invoice R-7"
    assert "49.00 EUR" in shown["html"]
    assert "[amount] [currency]" in run.plain("--local", *show).stdout
    opened: list[str] = []
    monkeypatch.setattr("admin.templates.typer.launch", opened.append)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    page = run(*show, "--values", values, "--open")["page"]
    assert opened == [page]
    assert Path(page).read_text() == shown["html"]
    values.write_text("[1]")
    assert run.refused(*show, "--values", values) == (1, "validation_failed")
    values.write_text('{"amount": 1}')
    assert run.refused(*show, "--values", values) == (1, "validation_failed")
    assert run.refused(*create, "--from-starter", "opt") == (1, "template_not_found")
    assert run.refused(*create, "--name", "Receipt") == (2, "validation_failed")


def test_presets_and_scopes_of_keys(run: Operator, account: str) -> None:
    key = ("key", "create", "--name", "web", "--account")
    assert run(*key, account, "--preview")["type"] == "preview"
    made_for_strangers = run(*key, account, "--preview", "--self-service")
    listed = {
        one["id"]: one["selfService"] for one in run("key", "list", "--account", account)["items"]
    }
    assert sorted(listed.values()) == [False, True]
    assert listed[made_for_strangers["id"]]
    custom = (*key, account, "--preset", "custom")
    made = run(*custom, "--scope", "templates:read", "--scope", "marketing:campaigns:read")
    assert made["scopes"] == ["marketing:campaigns:read", "templates:read"]
    assert run.refused(*custom, "--scope", "emails:all") == (1, "validation_failed")
    preview = (*key, account, "--preview")
    assert run.refused(*preview, "--scope", "emails:send") == (1, "validation_failed")
    for neither_or_both in (
        (),
        ("--preview", "--preset", "send"),
        ("--self-service", "--preset", "send"),
        ("--preview", "--agent", "--agent-recipient", "a.example"),
        ("--preset", "send", "--agent-recipient", "a.example"),
        ("--preset", "send", "--agent-per-day", "5"),
    ):
        assert run.refused(*key, account, *neither_or_both) == (
            2,
            "validation_failed",
        )
    agent = (*key, account, "--preset", "send", "--agent")
    limited = run(*agent, "--agent-recipient", "Shop.example", "--agent-per-day", "5")
    limits: dict[str, object] = {"recipients": ["shop.example"], "confirmation": "ask", "perDay": 5}
    assert limited["agent"] == limits
    shown = {one["id"]: one["agent"] for one in run("key", "list", "--account", account)["items"]}
    assert shown.pop(limited["id"]) == limits
    assert set(shown.values()) == {None}
    assert run.refused(*agent) == (1, "validation_failed")
    assert run.refused(*agent, "--agent-recipient", "a@b@c") == (1, "validation_failed")
    free = run("account", "create", "--name", "Hobby", "--plan", "free")["id"]
    assert run.refused(*key, free, "--preset", "marketing") == (1, "SCOPE_NOT_ALLOWED_FOR_TIER")
    assert run("key", "list", "--account", free) == {"items": []}


def test_a_sender_added_as_verified(run: Operator, account: str, mailbox: MailStore) -> None:
    """SES is asked; with --verified the address is registered there, which would refuse it."""
    pending = run("sender", "add", "--account", account, "hello@unverified.example", "--default")
    assert pending == {"address": "hello@unverified.example", "verified": False, "default": False}
    own = ("--account", account)
    default = ("sender", "default", *own)
    assert run.refused(*default, "hello@unverified.example") == (1, "no_verified_sender")
    for words in (default, ("sender", "remove", *own)):
        assert run.refused(*words, "orders@shop.example") == (1, "sender_not_found")
    assert mailbox.identity_verified("hello@unverified.example") is False
    for address in ("a@shop.example", "b@shop.example"):
        run("sender", "add", "--account", account, address, "--verified")
    assert mailbox.identity_of("a@shop.example")
    assert run("sender", "default", "--account", account, "b@shop.example")["default"]
    assert run("account", "show", account)["defaultSender"] == "b@shop.example"
    removed = run("sender", "remove", "--account", account, "b@shop.example")
    assert removed == {"sender": "b@shop.example", "removed": True}
    left = {"address": "a@shop.example", "verified": True, "default": False}
    assert run("sender", "list", "--account", account)["items"] == [left, pending]
    mailbox.set_identity_status("hello@unverified.example", "SUCCESS")
    # The first one that SES has verified, since it was asked to be the default.
    assert run("sender", "add", *own, pending["address"])["default"]


@for_each(
    ("domain", "mixed"),
    [
        ("p\u0430ypal.example", True),
        ("xn--pypal-4ve.example", True),
        ("\u03b1pple.example", True),
        ("почта.example", False),
        ("tokyo東京タワー.example", False),
        ("kim김치.example", False),
        ("xn--a.example", False),
    ],
)
def test_a_misleading_sender_domain_is_refused(
    run: Operator, account: str, domain: str, *, mixed: bool
) -> None:
    """A domain may mix scripts that are used together, and no letters that look alike."""
    add = ("sender", "add", "--account", account, f"hello@{domain}", "--verified")
    if mixed:
        assert run.refused(*add) == (1, "validation_failed")
    else:
        assert run(*add)["verified"]


def test_the_commands_for_templates(run: Operator, account: str, tmp_path: Path) -> None:
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
    for option, text, code in (
        ("--name", "", "too_short"),
        ("--category", "x" * 129, "too_long"),
        ("--subject", "a\r\nBcc: b@example.com", "control_character"),
        ("--subject", "x" * 999, "too_long"),
        ("--subject", "{% if a %}", "not_allowed"),
    ):
        with pytest.raises(CommandFailure, match=f'"{code}"'):
            run("template", "update", made["id"], *own, option, text)
    for source, code in (
        (" \n", "too_short"),
        ("{{ a.__class__ }}", "not_allowed"),
        ("x" * (256 * 1024 + 1), "too_large"),
        ("é" * (128 * 1024 + 1), "too_large"),
    ):
        html.write_text(source, "utf-8")
        with pytest.raises(CommandFailure, match=f'"{code}"'):
            run("template", "create", *own, *fields, "--html", html)
    assert run("template", "show", made["id"], *own)["updatedAt"] == changed["updatedAt"]
    run("template", "reference", made["id"], *own, "--by", "campaign-1")
    assert run.refused("template", "delete", made["id"], *own) == (1, "template_in_use")
    run("template", "unreference", made["id"], *own, "--by", "campaign-1")
    assert run("template", "delete", made["id"], *own) == {"id": made["id"], "deleted": True}
    assert run.refused("template", "show", made["id"], *own) == (1, "template_not_found")


def test_a_template_file_that_is_not_utf_8(run: Operator, account: str, tmp_path: Path) -> None:
    html = tmp_path / "receipt.html"
    create = ("template", "create", "--account", account, "--name", "a", "--subject", "b")
    body = ("--category", "c", "--html", str(html))
    assert run.refused(*create, *body) == (2, "validation_failed")
    html.write_bytes(b"gr\xfc\xdfe")
    assert run.refused(*create, *body) == (1, "validation_failed")
    assert run("template", "list", "--account", account)["total"] == 0


def test_the_commands_for_the_lists_of_ses(run: Operator, mailbox: MailStore) -> None:
    tenant = mailbox.tenants.create("shop", SuppressionOptions(reasons=REASONS, scope="TENANT"))
    for number in range(1000):
        mailbox.suppressions.put(entry(f"a{number}@example.com"))
    for spelled in ("aNN@example.com", "ann@example.com"):
        mailbox.suppressions.put(entry(spelled))
        tenant.suppressed.put(entry(spelled))
    listed = run("suppression", "ses", "list")["items"]
    assert len(listed) == 1002
    assert listed[0] == {
        "address": "a0@example.com",
        "reason": "BOUNCE",
        "createdAt": "2026-03-14T15:09:26.535+00:00",
    }
    assert len(run("suppression", "ses", "list", "--tenant", "shop")["items"]) == 2
    remove = ("suppression", "ses", "remove", "ANN@example.com")
    assert run(*remove) == {"address": "ann@example.com", "tenant": None, "removed": True}
    assert (len(mailbox.suppressions), len(tenant.suppressed)) == (1000, 2)
    assert run(*remove, "--tenant", "shop")["removed"]
    assert (len(mailbox.suppressions), len(tenant.suppressed)) == (1000, 0)
    assert run.refused(*remove, "--tenant", "shop") == (1, "suppression_not_found")
    assert run.refused(*remove, "--tenant", "none") == (1, "suppression_not_found")


def entry(address: str) -> SuppressedDestination:
    return SuppressedDestination(address, "BOUNCE", NOW)


def test_people_see_tables(run: Operator) -> None:
    made = run.plain("--local", "account", "create", "--name", "[red]Shop", "--plan", "free")
    assert made.exit_code == 0
    assert "[red]Shop" in made.stdout
    account_id = made.stdout.split()[1]
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


@pytest.mark.usefixtures("table")
def test_a_stack_in_aws_is_found_by_its_name() -> None:
    run = Operator()
    create_stack("mail-eu", TableName=TABLE, CredentialsTableName=CREDENTIALS)
    create_stack("other")
    made = run.plain(
        *("--stack-name", "mail-eu", "account", "create", "--name", "A", "--plan", "free")
    )
    assert made.exit_code == 0, made.stderr
    other = run.plain("--stack-name", "other", "account", "list")
    reason = "is not a deployed Pillarbox stack: it has no output TableName. Check --stack-name.\n"
    assert (other.exit_code, other.stderr) == (1, f"The stack other {reason}")
    absent = run.plain("--json", "account", "list")
    assert "does not exist" in json.loads(failure(absent))["error"]["message"]


def test_the_error_says_why_aws_cannot_be_called(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert table.name
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    failed = Operator().plain("account", "list")
    assert (failed.exit_code, failed.stderr) == (
        1,
        "Cannot call AWS: You must specify a region.\n",
    )


def test_the_version_needs_no_stack() -> None:
    result = Operator().plain("--json", "--version")
    assert result.exit_code == 0
    assert result.stdout.split() == ["pillarbox", "0.1.0"]
    program = (
        "import sys; from admin.entry import main; sys.argv[1:] = ['--version']; main();"
        " print(*sorted({'boto3', 'botocore', 'typer'} & {*sys.modules}))"
    )
    alone = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True, timeout=60
    )
    assert alone.stdout == f"{result.stdout}\n"


def test_a_shell_completes_commands_and_options() -> None:
    assert "--install-completion" in Operator().plain("--help").stdout

    def completed(words: str) -> list[str]:
        env = {
            "_PILLARBOX_COMPLETE": "complete_bash",
            "COMP_WORDS": f"pillarbox {words}",
            "COMP_CWORD": str(len(words.split())),
        }
        return CliRunner().invoke(app, prog_name="pillarbox", env=env).stdout.split()

    assert completed("suppr") == ["suppression"]
    assert completed("suppression import --skip") == ["--skip-invalid"]


def test_the_local_stack_must_be_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.run(
        ["pillarbox", "--local", "account", "list"],
        env={"PATH": str(Path(sys.executable).parent), "PILLARBOX_STATE_DIR": str(tmp_path)},
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"{NOT_RUNNING}\n")
    monkeypatch.setenv("PILLARBOX_STATE_DIR", str(tmp_path))
    shown = failure(Operator().plain("--local", "--json", "account", "list"))
    assert json.loads(shown)["error"]["message"] == NOT_RUNNING


def commands(command: Any, *names: str) -> Iterator[tuple[str, ...]]:
    if not hasattr(command, "commands"):
        yield names
    for name, part in getattr(command, "commands", {}).items():
        yield from commands(part, *names, name)


@for_each("words", [*commands(get_command(app))])
def test_every_command_has_help_with_an_example(words: tuple[str, ...]) -> None:
    result = Operator().plain(*words, "--help")
    assert result.exit_code == 0
    _, _, example = " ".join(result.stdout.split()).partition("Example: ")
    assert "pillarbox" in example
    assert f" {' '.join(words)}" in example
