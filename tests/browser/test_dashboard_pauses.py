"""The banner of a pause: what it says, and that an owner ends the pause with the keyboard."""

from typing import Any, Final

import pytest
from playwright.sync_api import Route, expect

from tests.browser.accessibility import assert_accessible
from tests.browser.dashboard import User
from tests.browser.engines import PATIENCE

pytestmark = pytest.mark.stack

UNTIL: Final = "2026-01-02T12:00:00.000+00:00"
STOPPED: Final[dict[str, Any]] = {
    "scope": "key",
    "id": "key_0000000000000000abcd",
    "level": "stop",
    "cause": "bounces",
    "since": UNTIL,
    "until": UNTIL,
    "resumable": True,
}
WARNED: Final[dict[str, Any]] = {
    "scope": "template",
    "id": "welcome",
    "level": "warn",
    "cause": "complaints",
    "since": UNTIL,
    "until": None,
    "resumable": False,
}


def test_an_owner_ends_a_pause(user: User) -> None:
    """The banner names what is stopped and why; the owner says what was wrong, in one line."""
    page, asked = user.page, list[Any]()
    account: dict[str, Any] = {}

    def interfere(route: Route) -> bool:
        path = route.request.url.partition("/v1/")[2]
        if path == "overview":
            overview = route.fetch(timeout=PATIENCE).json()
            account.update(overview["account"])
            paused = account | {"pauses": [STOPPED, WARNED]}
            route.fulfill(json=overview | {"account": paused})
        elif path == "account/resume":
            asked.append(route.request.post_data_json)
            route.fulfill(json=account | {"pauses": [WARNED]})
        else:
            return False
        return True

    user.interfere = interfere
    user.go("/app/")
    stopped = page.locator(".notice", has_text=STOPPED["id"])
    expect(stopped).to_contain_text("sends nothing, because too many of its emails bounced.")
    warned = page.locator(".notice", has_text="welcome")
    expect(warned).to_contain_text("may soon be paused, because too many recipients reported")
    expect(warned.get_by_role("button", name="End the pause")).to_have_count(0)
    assert_accessible(page, ".notice")
    stopped.get_by_role("button", name="End the pause").press("Enter")
    field = page.get_by_label("What was wrong?")
    expect(field).to_be_focused()
    field.press_sequentially("An old list.")
    field.press("Enter")
    field.press_sequentially("It is deleted.")
    page.get_by_role("dialog").get_by_role("button", name="End the pause").press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(stopped).to_have_count(0)
    expect(warned).to_be_visible()
    cause = "An old list. It is deleted."
    assert asked == [{"scope": "key", "id": STOPPED["id"], "cause": cause}]
