"""A member of an account, signed in to the dashboard of the running local stack by a link."""

from typing import Any, Final

from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.chromium import PATIENCE
from tests.stack import operate

_SCRIPT: Final = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
"""


def link(account: str, email: str, role: str = "owner") -> str:
    """Return the address of a page on which a member signs in once; the operator adds it."""
    made = operate("dashboard", "link", email, "--account", account, "--role", role)
    return str(made["url"])


class Member:
    """A browser profile of somebody who is signed in. Nothing stands between it and the stack."""

    def __init__(self, browser: Browser, stack: dict[str, Any], url: str) -> None:
        self.base: str = stack["base_url"]
        self.context: BrowserContext = browser.new_context(viewport={"width": 1280, "height": 900})
        self.context.set_default_timeout(PATIENCE)
        self.context.add_init_script(_SCRIPT)
        self.errors: list[str] = []
        self.page: Page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(url)
        self.page.get_by_role("button", name="Sign in", exact=True).click()
        expect(self.page.get_by_role("heading", name="Overview")).to_be_visible()

    def go(self, path: str) -> Page:
        """Load a page of the dashboard."""
        self.page.goto(self.base + path)
        return self.page

    def close(self) -> None:
        """Close the profile, whose pages caused no error and no violation of the policy."""
        found = self.page.evaluate("window.violations ?? []")
        self.context.close()
        assert (found, self.errors) == ([], [])
