"""The page of a receiver of webhooks works in a real browser."""

import json
import re
from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.accessibility import assert_accessible
from tests.browser.engines import PATIENCE
from tests.integration.local.local_ses import LocalSes
from tests.integration.local.webhook_posts import PostWebhook, post_webhook

__all__ = ["post_webhook"]

type Open = Callable[..., Page]

#: A text that would run if it were shown as HTML.
ALIVE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


@pytest.fixture
def page(browser: Browser, local_ses: LocalSes) -> Iterator[Open]:
    """Return a function that opens a receiver's page and waits until it is live."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(PATIENCE)

    def open_page(path: str = "/hooks/shop") -> Page:
        page.goto(f"{local_ses.inbox_url}{path}")
        expect(page.locator("#live")).to_have_text("Live")
        return page

    yield open_page
    page.close()


def test_the_inbox_links_to_the_receiver(
    page: Open, post_webhook: PostWebhook, local_ses: LocalSes
) -> None:
    assert post_webhook("email.sent").status_code == 204
    inbox = page("/")
    inbox.get_by_role("link", name="Webhooks").click()
    expect(inbox).to_have_url(f"{local_ses.inbox_url}/hooks/shop")
    expect(inbox.locator(".row .subject")).to_have_text("email.sent")
    inbox.get_by_role("link", name="Mail", exact=True).click()
    expect(inbox.locator("#nothing")).to_contain_text("No mail yet")


def test_an_empty_receiver_says_what_to_do(page: Open, local_ses: LocalSes) -> None:
    local_ses.webhooks.endpoint_hint = "curl … /hooks/RECEIVER"
    receiver = page("/hooks/mine")
    expect(receiver.locator("#nothing")).to_contain_text("No endpoint points here. Create one:")
    expect(receiver.locator("#hint pre")).to_have_text("curl … /hooks/mine")


def test_webhooks_appear_when_they_arrive(page: Open, post_webhook: PostWebhook) -> None:
    post_webhook("email.sent")
    receiver = page()
    expect(receiver.locator(".row")).to_have_count(1)
    post_webhook("email.opened", receiver="other")
    post_webhook("email.delivered", recipient="bob@example.com")
    expect(receiver.locator(".row .subject")).to_have_text(["email.delivered", "email.sent"])
    expect(receiver).to_have_title("(1) /hooks/shop")
    receiver.locator(".row.new").click()
    expect(receiver.locator(".row.new")).to_have_count(0)
    expect(receiver.locator("#subject")).to_have_text("email.delivered")
    expect(receiver.locator("#envelope")).to_contain_text("SignatureValidAnswer204")
    expect(receiver.locator("#envelope")).to_contain_text("Recipientbob@example.com")
    expect(receiver.locator("#view")).to_contain_text('"recipient": "bob@example.com"')
    receiver.get_by_role("tab", name="Headers").click()
    expect(receiver.locator("#view")).to_contain_text("webhook-signature")
    receiver.get_by_role("tab", name="Body").click()
    expect(receiver.locator("#view")).to_contain_text('{"type": "email.delivered"')


def test_failures_and_attempts_stand_out(page: Open, post_webhook: PostWebhook) -> None:
    receiver = page()
    receiver.get_by_text("500", exact=True).click()
    expect(receiver.locator("#answer")).to_contain_text("sent again later")
    event = uuid4()
    assert post_webhook(event=event).status_code == 500
    receiver.get_by_text("204", exact=True).click()
    expect(receiver.locator("#answer")).to_contain_text("delivered")
    assert post_webhook(event=event).status_code == 204
    post_webhook(headers={"webhook-signature": "v1,AAAA"})
    expect(receiver.locator(".row")).to_have_count(3)
    marks = [" ".join(mark.split()) for mark in receiver.locator(".row .marks").all_inner_texts()]
    assert marks == ["signature invalid 204", "attempt 2 204", "500"]
    expect(receiver.locator(".row .bad")).to_have_text(["signature invalid", "500"])
    set_by_a_program = {"mode": "gone", "times": 3}
    assert receiver.request.put(f"{receiver.url}/answer", data=set_by_a_program).ok
    receiver.reload()
    expect(receiver.get_by_label("410")).to_be_checked()
    expect(receiver.locator("#answer")).to_contain_text("For 3 more, then 204.")


def test_what_was_asked_before_a_choice_does_not_undo_it(
    page: Open, post_webhook: PostWebhook
) -> None:
    receiver, held = page(), list[Route]()
    receiver.route("**/answer", lambda route: route.continue_() if held else held.append(route))
    with receiver.expect_request("**/answer"):
        post_webhook()
    expect(receiver.locator(".row")).to_be_visible()
    old = held[0].fetch()
    receiver.get_by_text("500", exact=True).click()
    expect(receiver.locator("#answer")).to_contain_text("sent again later")
    with receiver.expect_response("**/answer"):
        held[0].fulfill(response=old)
    expect(receiver.get_by_label("500")).to_be_checked()
    expect(receiver.locator("#answer")).to_contain_text("sent again later")


def test_a_payload_is_only_text(page: Open, post_webhook: PostWebhook) -> None:
    controls = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    escapes = "".join(f"\\u{ord(control):04x}" for control in controls)
    data = {"messageId": ALIVE, "recipient": ALIVE, "a": f"{controls}gpj"}
    body = json.dumps({"type": ALIVE, "data": data}, ensure_ascii=False).encode()
    post_webhook(body=body, headers={"x-test": ALIVE})
    receiver = page()
    receiver.locator(".row").click()
    expect(receiver.locator("#subject")).to_have_text(ALIVE)
    for tab in receiver.get_by_role("tab").all():
        tab.click()
        expect(receiver.locator("#view")).to_contain_text("onerror")
        assert receiver.locator("main img[src=x], main script").count() == 0
        if tab.inner_text() != "Headers":
            expect(receiver.locator("#view")).to_contain_text(f'"a": "{escapes}gpj"')
    expect(receiver).to_have_title("/hooks/shop")


def test_the_keyboard_goes_through_list_and_tabs(page: Open, post_webhook: PostWebhook) -> None:
    post_webhook("email.sent")
    post_webhook("email.delivered")
    receiver = page()
    expect(receiver.locator(".row")).to_have_count(2)
    for key, shown in (("ArrowDown", "delivered"), ("j", "sent"), ("k", "delivered")):
        receiver.keyboard.press(key)
        expect(receiver.locator("#subject")).to_have_text(f"email.{shown}")
    receiver.get_by_role("tab", name="Payload").focus()
    receiver.keyboard.press("ArrowRight")
    expect(receiver.get_by_role("tab", name="Headers")).to_be_focused()
    receiver.keyboard.press("ArrowLeft")
    receiver.keyboard.press("ArrowLeft")
    expect(receiver.get_by_role("tab", name="Body")).to_be_focused()
    receiver.keyboard.press("Escape")
    expect(receiver.locator("#mail")).to_be_hidden()
    receiver.get_by_label("204").focus()
    receiver.keyboard.press("ArrowRight")
    expect(receiver.locator("#answer")).to_contain_text("500")


def test_clear_all_deletes_the_receivers_webhooks(page: Open, post_webhook: PostWebhook) -> None:
    post_webhook()
    post_webhook("email.sent", receiver="other")
    receiver = page()
    receiver.locator(".row").click()
    expect(receiver.locator("#mail")).to_be_visible()
    receiver.locator("#clear").click()
    receiver.get_by_role("button", name="Delete all").click()
    expect(receiver.locator("#nothing")).to_contain_text("No webhooks yet")
    expect(receiver.locator("#mail")).to_be_hidden()
    other = page("/hooks/other")
    expect(other.locator(".row .subject")).to_have_text("email.sent")


def test_the_receiver_meets_wcag_aa(page: Open, post_webhook: PostWebhook) -> None:
    """Empty, with a list and with an open webhook: axe's rules for WCAG 2.2 A and AA."""
    receiver = page()
    expect(receiver.locator("#nothing")).to_contain_text("Send one:")
    assert_accessible(receiver)
    post_webhook(headers={"webhook-signature": "v1,AAAA"})
    expect(receiver.locator(".row")).to_be_visible()
    assert_accessible(receiver)
    receiver.locator(".row").click()
    for tab in receiver.get_by_role("tab").all():
        tab.click()
        assert_accessible(receiver, "#mail")
    receiver.set_viewport_size({"width": 320, "height": 700})
    expect(receiver.locator("#view pre")).to_be_visible()
    expect(receiver.locator("#list")).to_be_hidden()
    assert receiver.evaluate("document.documentElement.scrollWidth") == 320
    receiver.get_by_role("link", name=re.compile("All webhooks")).click()
    expect(receiver.locator("#list")).to_be_visible()
    assert receiver.evaluate("document.documentElement.scrollWidth") == 320
