"""The operator's pages in a browser: accounts, rates, queues, and what a member sees of it."""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.accessibility import violations
from tests.browser.dashboard import User, rewriting, session
from tests.needs import need_dashboard
from tests.stack import operate

pytestmark = pytest.mark.stack

_ASKED: Final = "2026-01-01T12:00:00.000+00:00"
_HOSTILE = '<img src=x onerror="window.pwned=1"><b>'


@pytest.fixture(scope="module")
def operator(browser: Browser, stack: dict[str, Any]) -> Iterator[User]:
    """An operator, who is in no account, and whose pages must cause no error and no violation."""
    need_dashboard()
    address = f"{uuid4().hex[:8]}@operator.example"
    operate("operator", "add", address)
    user = User(browser, stack, session(stack["base_url"], address))
    yield user
    user.close()


@pytest.fixture(scope="module")
def account() -> tuple[str, str]:
    """The id and the name of a new account; its name is hostile."""
    name = f"Shop {uuid4().hex[:8]} {_HOSTILE}"
    made = operate("account", "create", "--name", name, "--plan", "free")
    return str(made["id"]), name


def heading(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


def test_an_operator_changes_and_suspends_an_account(
    operator: User, browser: Browser, stack: dict[str, Any], account: tuple[str, str]
) -> None:
    account_id, name = account
    page = operator.go("/app/operator")
    heading(page, "Accounts")
    expect(page.get_by_role("link", name="Accounts")).to_have_attribute("aria-current", "page")
    page.get_by_role("searchbox").fill(name[5:13])
    page.get_by_role("searchbox").press("Enter")
    expect(page.get_by_role("row")).to_have_count(2)
    page.get_by_role("link", name=name).click()
    heading(page, name)
    page.get_by_label("Plan").select_option("standard")
    page.get_by_label("Emails per day").fill("7")
    with operator.holding("PATCH"):
        page.get_by_role("button", name="Save").click()
        page.get_by_label("Emails per month").fill("9")
    expect(page.get_by_text("Emails per day: the plan\u2019s → 7")).to_be_visible()
    expect(page.get_by_label("Emails per month")).to_have_value("9")  # not saved, not lost
    page.get_by_role("button", name="Suspend").click()
    page.get_by_label("Reason").fill(f"bounces {_HOSTILE}")
    assert violations(page, within="dialog[open]") == []
    page.get_by_role("button", name="Suspend the account").click()
    expect(page.get_by_role("alert")).to_contain_text(f"bounces {_HOSTILE}")
    page.reload()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Suspend")).to_be_visible()
    assert page.evaluate("window.pwned") is None
    shown = operate("account", "show", account_id)
    assert (shown["plan"], shown["suspendedAt"]) == ("standard", None)
    address = f"{uuid4().hex[:8]}@shop.example"
    member = User(browser, stack, session(stack["base_url"], address, account_id, "viewer"))
    log = member.go("/app/account").get_by_role("listitem")
    expect(log).to_have_count(3)
    expect(log.first).to_contain_text("Account resumed")
    expect(log.last).to_contain_text("Plan: free → standard")
    assert "bounces" not in member.page.content()
    page = member.go("/app/operator/accounts")
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    expect(page.get_by_role("link", name="Queues")).to_have_count(0)
    member.close()


def test_dead_letters_are_moved_after_a_question(operator: User) -> None:
    def with_dead_letters(answer: Any) -> Any:
        items = [item | {"dead": 2 if item["name"] == "jobs" else item["dead"]} for item in answer]
        return {"items": items}

    operator.interfere = rewriting(
        lambda answer: answer | with_dead_letters(answer["items"]) if "items" in answer else answer
    )
    page = operator.go("/app/operator/queues")
    expect(page.get_by_role("button", name="Redrive events")).to_be_disabled()
    page.get_by_role("button", name="Redrive jobs").click()
    page.get_by_role("button", name="Move them back").click()
    expect(page.get_by_text("0 dead letters are in their queue again.")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="Redrive of jobs by")).to_be_visible()
    operator.interfere = lambda _route: False


def test_a_sign_up_is_approved_or_refused(operator: User) -> None:
    waiting = [
        {"email": f"{name}@shop.example", "name": f"{name} {_HOSTILE}", "createdAt": _ASKED}
        for name in ("ada", "bob")
    ]
    decisions = list[tuple[str, str, Any]]()

    def answer(route: Route) -> bool:
        request = route.request
        if "/v1/operator/sign-ups" not in request.url:
            return False
        if request.method == "GET":
            route.fulfill(json={"items": waiting})
            return True
        address = unquote(request.url.rpartition("/")[2])
        waiting[:] = [one for one in waiting if one["email"] != address]
        decisions.append((request.method, address, request.post_data_json))
        if request.method == "POST":
            route.fulfill(json={"id": "0" * 12, "name": "Acme", "plan": "standard"}, status=201)
        else:
            route.fulfill(status=204)
        return True

    operator.interfere = answer
    page = operator.go("/app/operator/sign-ups")
    expect(page.get_by_role("row")).to_have_count(3)
    page.get_by_role("button", name="Approve ada@shop.example").click()
    page.get_by_label("Plan").select_option("standard")
    page.get_by_role("button", name="Create it").click()
    expect(page.get_by_text("The account Acme is created.")).to_be_visible()
    page.get_by_role("button", name="Refuse bob@shop.example").click()
    page.get_by_role("dialog").get_by_role("button", name="Refuse").click()
    heading(page, "Sign-ups")
    expect(page.get_by_role("heading", name="No requests")).to_be_visible()
    assert decisions == [
        ("POST", "ada@shop.example", {"plan": "standard"}),
        ("DELETE", "bob@shop.example", None),
    ]
    operator.interfere = lambda _route: False


def test_operators_need_no_mouse(operator: User, account: tuple[str, str]) -> None:
    account_id, name = account
    page = operator.go("/app/operator")
    for link in ("Sign-ups", "Rates", "Queues", "Checks", "Accounts"):
        page.get_by_role("navigation").get_by_role("link", name=link).press("Enter")
        heading(page, link)
    page.get_by_role("searchbox").press_sequentially(name[5:13])
    page.keyboard.press("Enter")
    expect(page.get_by_role("row")).to_have_count(2)
    page.get_by_role("link", name=name).press("Enter")
    heading(page, name)
    page.get_by_role("button", name="Suspend").press("Enter")
    expect(page.get_by_label("Reason")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Suspend")).to_be_focused()
    assert page.url.endswith(account_id)
