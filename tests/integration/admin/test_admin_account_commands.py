"""`pillarbox account suspend|resume`, members, operators and sign-ups."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

import boto3
import pytest

from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.sign_in.sign_ups import DynamoSignUps
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.pauses import Pauses
from pillarbox.domain.accounts.pause import Pause, PauseCause, PauseLevel, PauseScope
from pillarbox.domain.sign_in.sign_up import SignUpRequest, SignUpState
from pillarbox.wiring import utc_now
from tests.integration.admin.operator_command import Operator


def test_the_contact_of_an_account(run: Operator) -> None:
    create = ("account", "create", "--name", "Shop", "--plan", "free")
    assert run(*create)["contact"] is None
    made = run(*create, "--contact", "Owner@SHOP.example")
    assert made["contact"] == "Owner@shop.example"
    account = made["id"]
    update = ("account", "update", account, "--contact")
    assert run.refused(*update, "nobody") == (1, "validation_failed")
    assert run(*update, "ops@shop.example")["contact"] == "ops@shop.example"
    assert run("account", "show", account)["contact"] == "ops@shop.example"
    assert run(*update, "")["contact"] is None


def test_a_suspension_holds_or_drops_what_is_queued(run: Operator, account: str) -> None:
    suspend = ("account", "suspend", account)
    assert run(*suspend)["queuedMail"] == "send"
    assert run(*suspend, "--hold-queued")["queuedMail"] == "hold"
    assert run(*suspend, "--drop-queued")["queuedMail"] == "drop"
    assert run(*suspend)["queuedMail"] == "drop"
    assert run("account", "resume", account)["queuedMail"] is None
    both = run.refused(*suspend, "--hold-queued", "--drop-queued")
    assert both == (2, "validation_failed")


def test_an_operator_ends_pauses(run: Operator, account: str, table: Table) -> None:
    now, pauses = utc_now(), Pauses(DynamoAccounts(table))
    stop = Pause(
        scope=PauseScope.KEY,
        id="key_1",
        level=PauseLevel.STOP,
        cause=PauseCause.BOUNCES,
        since=now,
    )
    by_ses = replace(stop, scope=PauseScope.ACCOUNT, id="", cause=PauseCause.PROVIDER)
    for pause in (stop, by_ses):
        pauses.put(account, pause)
    shown = {item["scope"]: item for item in run("account", "show", account)["pauses"]}
    assert (shown["key"]["id"], shown["key"]["resumable"]) == ("key_1", True)
    assert (shown["account"]["cause"], shown["account"]["resumable"]) == ("provider", False)
    resumed = run("account", "resume", account)
    assert [item["scope"] for item in resumed["pauses"]] == ["account"]


_ADDRESS = "ada@shop.example"


def test_members_are_added_listed_and_removed(run: Operator, account: str) -> None:
    of_account = ("--account", account)
    added = run("member", "add", _ADDRESS, *of_account)
    assert (added["email"], added["accountId"], added["role"]) == (_ADDRESS, account, "viewer")
    changed = run("member", "add", _ADDRESS.upper(), *of_account, "--role", "owner")
    assert (changed["id"], changed["email"], changed["role"]) == (
        added["id"],
        _ADDRESS,
        "owner",
    )
    (listed,) = run("member", "list", *of_account)["items"]
    assert listed | {"id": "", "accountId": account} == changed | {"id": ""}
    remove = ("member", "remove", _ADDRESS, *of_account)
    assert run.refused(*remove) == (2, "validation_failed")
    assert run(*remove, "--yes") == {"email": _ADDRESS, "accountId": account, "removed": True}
    assert run.refused(*remove, "--yes") == (1, "member_not_found")
    assert run("member", "list", *of_account) == {"items": []}


def test_an_unknown_account_has_no_members(run: Operator) -> None:
    for command in (
        ("member", "list"),
        ("member", "add", _ADDRESS),
        ("dashboard", "link", "a@b.c"),
    ):
        refused = run.refused(*command, "--account", "1" * 12)
        assert refused == (1, "account_not_found")


def test_a_link_creates_user_and_membership(run: Operator, account: str) -> None:
    links = [
        run("dashboard", "link", _ADDRESS, *options)["url"]
        for options in ((), ("--account", account, "--role", "developer"))
    ]
    assert all(
        re.fullmatch("https://mail.example/app/sign-in#[0-9a-z]{32}", link) for link in links
    )
    assert len(set(links)) == 2
    (member,) = run("member", "list", "--account", account)["items"]
    assert (member["email"], member["role"]) == (_ADDRESS, "developer")


def test_an_operator_is_added_and_removed(run: Operator) -> None:
    added = {"email": _ADDRESS, "operator": True}
    assert run("operator", "add", _ADDRESS) == added
    assert run("operator", "add", _ADDRESS) == added
    assert run("operator", "remove", _ADDRESS, "--yes") == added | {"operator": False}
    unknown = run.refused("operator", "remove", "bob@shop.example", "--yes")
    assert unknown == (1, "member_not_found")


def test_what_is_no_address_is_refused(run: Operator, account: str) -> None:
    for command in (("operator", "add"), ("dashboard", "link")):
        refused = run.refused(*command, "Ada <a@shop.example>")
        assert refused == (1, "validation_failed")
    add = ("member", "add", "ada", "--account", account)
    assert run.refused(*add) == (1, "validation_failed")


_APPLICANT: Final = "ada@shop.example"


@pytest.fixture
def sign_ups(
    table: Table,
    credentials: Table,
    run: Operator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> DynamoSignUps:
    """The sign-ups of a stack with SignUp=approved, of which one waits."""
    assert run
    path = tmp_path / "stack.json"
    state = json.loads(path.read_text())
    jobs = boto3.client("sqs").create_queue(QueueName="jobs")["QueueUrl"]
    monkeypatch.setenv("PILLARBOX_JOBS_QUEUE_URL", jobs)
    state["environment"] |= {
        "PILLARBOX_SIGN_UP": "approved",
        "PILLARBOX_JOBS_QUEUE_URL": jobs,
        "PILLARBOX_PREVIEW_SENDER": "service@pillarbox.example",
    }
    path.write_text(json.dumps(state))
    sign_ups = DynamoSignUps(credentials, table)
    request = SignUpRequest(
        user_id="u00000000001",
        address=_APPLICANT,
        state=SignUpState.PENDING,
        at=utc_now(),
        name="Acme",
    )
    assert sign_ups.put(request, None)
    return sign_ups


def test_a_request_is_refused(run: Operator, sign_ups: DynamoSignUps) -> None:
    (waiting,) = run("signup", "list")["items"]
    assert (waiting["email"], waiting["name"]) == (_APPLICANT, "Acme")
    refuse = ("signup", "refuse", _APPLICANT)
    assert run.refused(*refuse) == (2, "validation_failed")
    assert run(*refuse, "--yes") == {"address": _APPLICANT, "removed": True}
    assert run("signup", "list") == {"items": []}
    assert sign_ups.get(_APPLICANT)


def test_an_invitation_prints_a_link(run: Operator, sign_ups: DynamoSignUps) -> None:
    url = run("signup", "invite", "bob@shop.example")["url"]
    assert re.fullmatch("https://mail.example/app/sign-in#[0-9a-z]{32}", url)
    stored = sign_ups.get("bob@shop.example")
    assert stored
    assert stored.state is SignUpState.INVITED
