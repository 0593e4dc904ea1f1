"""Every page on a phone and wide, with each notice, and with words that cannot be broken."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Route, expect

from openapi.examples import RECEIVED_CONTENT
from tests.browser.accessibility import assert_accessible
from tests.browser.dashboard import AT, RECORD, RUN, User, exchange, session
from tests.stack import operate

pytestmark = pytest.mark.stack

WORD: Final = "W" * 80
#: Members of answers that people choose, and those that may be as long.
_FREE: Final = {
    *("subject", "name", "fromName", "from", "to", "cc", "recipientEmail", "errorMessage", "code"),
    *("reason", "url", "email", "address", "by", "createdBy", "updatedBy", "publishedBy"),
    *("contact", "defaultSender", "category", "message", "error", "recipient", "invitedBy"),
    *("description", "messageIdHeader", "providerMessageId", "requestId", "host", "value"),
}
_DNS: Final = {"status": "differs", "values": [WORD], "advice": WORD}
_DOMAIN: Final = {
    "domain": WORD,
    "status": "failed",
    "mailFrom": WORD,
    "createdAt": AT,
    "checkedAt": AT,
    "linkExpiresAt": AT,
    "receives": f"in.{WORD}",
    "receiveNames": [WORD],
    "records": [RECORD | {"host": WORD, "value": WORD, "dns": _DNS}],
}
_ENDPOINT: Final = {
    "id": "whep_1",
    "url": f"https://{WORD}.example/hooks",
    "types": ["email.delivered", "email.bounced"],
    "enabled": True,
    "format": "standard",
    "roleArn": None,
    "trustPolicy": None,
    "createdAt": AT,
    "failingSince": AT,
    "disabledAt": None,
    "disabledReason": None,
}
_PAUSE: Final = {
    "scope": "key",
    "id": f"key_{WORD}",
    "level": "stop",
    "cause": "bounces",
    "since": AT,
    "until": AT,
    "resumable": True,
}
_LOG: Final = {
    "id": "1",
    "at": AT,
    "action": "domain.added",
    "by": WORD,
    "subject": WORD,
    "count": 2,
    "changes": [{"name": "brandName", "before": WORD, "after": WORD}],
}
_FILE: Final = {"filename": WORD, "contentType": WORD, "size": 1, "url": "https://x.example"}
_RECEIVED: Final = RECEIVED_CONTENT | {
    **dict.fromkeys(("from", "fromName", "to", "subject", "text", "messageIdHeader"), WORD),
    "allTo": [WORD],
    "attachments": [_FILE],
    "authenticated": False,
    "automatic": "report",
}
#: What the stack has none of, by the path of the request.
_ANSWERS: Final[dict[str, Any]] = {
    "domains": {"items": [_DOMAIN]},
    "domains/wide.example": _DOMAIN,
    "senders": {"items": [{"address": f"{WORD}@x.example", "verified": True, "default": False}]},
    "webhooks": {"items": [_ENDPOINT, _ENDPOINT | {"id": "whep_2", "disabledAt": AT}]},
    "webhooks/whep_1": _ENDPOINT,
    "account/log": {"items": [_LOG], "nextCursor": "next"},
    "suppressions": {
        "items": [{"address": WORD, "reason": "bounced", "createdAt": AT, "messageId": None}],
        "nextCursor": "next",
    },
    "received": {"items": [_RECEIVED], "nextCursor": "next"},
    f"received/{_RECEIVED['receivedId']}": _RECEIVED,
    "invitations": {"items": []},
    "operator/sign-ups": {"items": [{"email": WORD, "name": WORD, "createdAt": AT}]},
}
#: Page -> its title, and what is visible when its data is there.
_PAGES: Final = {
    "/app/": ("Overview", ".attention li"),
    "/app/activity": ("Activity", "a.row"),
    "/app/activity/{bounced}": ("Activity", ".timeline"),
    "/app/activity/received": ("Received mail", "a.row"),
    f"/app/activity/received/{_RECEIVED['receivedId']}": ("Received mail", ".facts"),
    "/app/templates": ("Templates", "a.row"),
    "/app/templates/{template}": (WORD, ".preview iframe"),
    "/app/domains": ("Domains", ".senders .who"),
    "/app/domains/wide.example": (WORD, ".zone"),
    "/app/webhooks": ("Webhooks", "a.row"),
    "/app/webhooks/whep_1": ("Endpoint", ".facts"),
    "/app/suppressions": ("Suppressions", "table"),
    "/app/keys": ("API keys", "table"),
    "/app/members": ("Members", "table"),
    "/app/account": ("Account", ".timeline, form.settings"),
    "/app/passkeys": ("Passkeys", ".card"),
    "/app/guides": ("Guides", "h1"),
    "/app/guides/webhooks": ("Receive webhooks", ".guide"),
    "/app/operator/accounts": ("Accounts", "a.row"),
    "/app/operator/accounts/{account}": (WORD, ".quota"),
    "/app/operator/sign-ups": ("Sign-ups", "table"),
    "/app/operator/rates": ("Rates", ".figures"),
    "/app/operator/queues": ("Queues", "table"),
    "/app/operator/checks": ("Checks", "table"),
}
#: Page -> the button of its window.
_WINDOWS: Final = {
    "/app/templates": "New template",
    "/app/domains": "Remove W",
    "/app/webhooks": "Add endpoint",
    "/app/keys": "Create key",
    "/app/members": "Invite member",
    "/app/account": "Jump to…",
}


def _wide(value: Any, *, free: bool = False) -> Any:
    match value:
        case dict():
            # Somebody has changed each thing.
            known = {
                name: part or WORD if name.endswith("By") else part for name, part in value.items()
            }
            changed = {name: _wide(part, free=name in _FREE) for name, part in known.items()}
            if "resetsAt" in value:
                changed |= {"name": value["name"], "limit": 1000, "used": 999, "remaining": 1}
            if "pauses" in value:
                changed["pauses"] = [_PAUSE, _PAUSE | {"level": "warn", "scope": "template"}]
            return changed
        case list():
            return [_wide(item, free=free) for item in value]
        case str() if free:
            return WORD
    return value


def _token(base: str, cookie: str) -> dict[str, Any]:
    """Return the session's token, and somebody who invites to an account with a wide name."""
    found = exchange(base, cookie)
    invited = {"id": "acc_1", "name": WORD, "role": "owner", "invitedBy": WORD, "createdAt": AT}
    wide: dict[str, Any] = _wide(found)
    return wide | {"user": found["user"], "invitations": [invited]}


def _answering(token: dict[str, Any]) -> Callable[[Route], bool]:
    answers = _ANSWERS | {"session/token": token}

    def answer(route: Route) -> bool:
        path = route.request.url.partition("/v1/")[2].partition("?")[0]
        if path in answers:
            route.fulfill(json=answers[path])
        elif route.request.method == "GET":
            found = route.fetch(max_retries=3)
            route.fulfill(response=found, json=_wide(found.json()))
        else:
            return False
        return True

    return answer


def test_the_pages_fit_a_phone_and_meet_wcag_aa(
    browser: Browser, dashboard: dict[str, Any], emails: dict[str, str]
) -> None:
    """With words of 80 letters nothing scrolls sideways, in pages, notices and windows."""
    address = f"narrow-{RUN}@operator.example"
    operate("operator", "add", address)
    account = dashboard["accounts"]["live"]
    cookie = session(dashboard["base_url"], address, account)
    user = User(browser, dashboard, cookie)
    user.interfere = _answering(_token(user.base, cookie))
    page = user.page
    names = emails | {"template": dashboard["template_id"], "account": account}
    user.go("/app/nothing")
    expect(page.locator(".empty")).to_be_visible()
    assert_accessible(page, "main")
    for path, (title, ready) in _PAGES.items():
        user.follow(path.format_map(names), title)
        expect(page.locator(ready).first).to_be_visible()
        expect(page.locator(".loading")).to_have_count(0)
        # What surrounds the pages is the same for all, with a link to the current one.
        assert_accessible(page, None if path == "/app/" else "main, dialog[open]")
    for path, button in _WINDOWS.items():
        user.go(path)
        page.get_by_role("button", name=button).first.click()
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.insert_text(WORD)
        assert_accessible(page, "dialog[open]")
    user.close()
    stranger = User(browser, dashboard)
    expect(stranger.go("/app/sign-in").locator("form")).to_be_visible()
    assert_accessible(stranger.page)
    stranger.close()
