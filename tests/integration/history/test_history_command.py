"""`pillarbox stats verify|rebuild`, run by an operator or a program."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from typer.testing import CliRunner, Result

from admin.main import app
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.domain.ids import new_id
from pillarbox.wiring import services
from tests.contract.service import Service
from tests.fakes.builders import message

type Run = Callable[..., Result]


@pytest.fixture
def run(service: Service, tmp_path: Path) -> Run:
    """Run the command against the emulated AWS, as if it were the local stack."""
    assert service
    settings = {name: os.environ[name] for name in os.environ if name.startswith(("AWS_", "PILL"))}
    (tmp_path / "stack.json").write_text(json.dumps({"environment": settings}))

    def invoke(*arguments: str) -> Result:
        with mock.patch.dict(os.environ, {"PILLARBOX_STATE_DIR": str(tmp_path)}):
            return CliRunner().invoke(app, ["--local", *arguments], prog_name="pillarbox")

    return invoke


def output(result: Result, code: int = 0) -> Any:
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_statistics_are_verified_and_rebuilt(service: Service, run: Run) -> None:
    account = service.account()
    for minute in range(3):
        at = datetime(2026, 6, 10, 12, minute, tzinfo=UTC)
        services().table.put(message_item(message(account, new_id(at))))
    option = ("--account", account)
    verified = output(run("--json", "stats", "verify", *option), code=1)
    assert (verified["right"], verified["messages"]) == (False, 3)
    rebuilt = output(run("--json", "stats", "rebuild", *option))
    assert (rebuilt["right"], rebuilt["repaired"]) == (False, verified["wrong"])
    assert output(run("--json", "stats", "verify", *option)) == {
        "accountId": account,
        "messages": 3,
        "right": True,
        "wrong": 0,
        "behind": 0,
        "repaired": 0,
    }
    assert "Right" in run("stats", "verify", *option).stdout
    by_recipient, _ = keys.search_lists(account, 0)
    assert len([*services().table.query(by_recipient)]) == 3


def test_all_accounts_are_verified_without_an_account(service: Service, run: Run) -> None:
    right, wrong = service.account(), service.account()
    for account in (right, wrong):
        services().table.put(keys.account_list(account))
    reports = output(run("--json", "stats", "verify"))["items"]
    assert {right, wrong} <= {report["accountId"] for report in reports if report["right"]}
    at = datetime(2026, 6, 10, 12, tzinfo=UTC)
    services().table.put(message_item(message(wrong, new_id(at))))
    reports = output(run("--json", "stats", "verify"), code=1)["items"]
    assert [report["accountId"] for report in reports if not report["right"]] == [wrong]
    assert "Right" in run("stats", "verify").stdout


def test_an_unknown_account_is_an_error_on_stderr(run: Run) -> None:
    result = run("--json", "stats", "verify", "--account", "nobody000000")
    assert (result.exit_code, result.stdout) == (1, "")
    assert json.loads(result.stderr)["error"]["code"] == "account_not_found"
