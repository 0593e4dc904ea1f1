"""`pillarbox account usage|suspend|resume`, and what a suspension stops."""

from dataclasses import replace

from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.messages.quotas import DynamoQuotas
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.pauses import Pauses
from pillarbox.domain.accounts.pause import Pause, PauseCause, PauseLevel, PauseScope
from pillarbox.domain.accounts.quota import Limits, window_end
from pillarbox.wiring import Wiring, utc_now
from tests.fakes.builders import messages
from tests.integration.admin.conftest import SETTINGS
from tests.integration.admin.operator_command import Operator
from tests.refusals import refusal


def test_the_usage_of_an_account(run: Operator, table: Table) -> None:
    account = run(
        *("account", "create", "--name", "Shop", "--plan", "enterprise"),
        *("--per-day", 10, "--per-month", 2),
    )["id"]
    unused = run("account", "usage", account)
    assert {window["used"] for window in unused["items"]} == {0}
    now = utc_now()
    limits = Limits(per_minute=None, per_day=10, per_month=100)
    DynamoQuotas(table).reserve(account, messages(3), limits, now)
    windows = {window["name"]: window for window in run("account", "usage", account)["items"]}
    day, month = windows["day"], windows["month"]
    assert (day["used"], day["limit"], day["remaining"]) == (3, 10, 7)
    assert day["resetsAt"] == window_end("day", now).isoformat(timespec="milliseconds")
    assert (month["used"], month["limit"], month["remaining"]) == (3, 2, 0)
    assert (windows["minute"]["limit"], windows["minute"]["remaining"]) == (None, None)
    assert run.refused("account", "usage", "0" * 12) == (1, "account_not_found")


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


def test_an_account_is_suspended_and_resumed(run: Operator, account: str) -> None:
    create = ("key", "create", "--account", account, "--name", "web", "--preset", "send")
    key, revoked = run(*create)["key"], run(*create)
    run("key", "revoke", revoked["id"])
    authentication = Wiring(SETTINGS).authentication
    suspended = run("account", "suspend", account, "--reason", "bounces")
    assert suspended["suspensionReason"] == "bounces"
    assert suspended["suspendedAt"] is not None
    (listed,) = run("account", "list")["items"]
    assert (listed["id"], listed["suspendedAt"]) == (account, suspended["suspendedAt"])
    # Only who has a valid key learns that the account is suspended.
    for text, code in ((key, "account_suspended"), (revoked["key"], "invalid_api_key")):
        assert refusal(authentication.authenticate, text).code == code
    resumed = run("account", "resume", account)
    assert (resumed["suspendedAt"], resumed["suspensionReason"]) == (None, None)
    assert authentication.authenticate(key).account.account_id == account
    assert run.refused("account", "suspend", account, "--reason", "") == (1, "validation_failed")


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
