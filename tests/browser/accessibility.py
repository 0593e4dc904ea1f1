"""What axe finds on a page."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

_WCAG = {"wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"}
_GRAVE = {"serious", "critical"}


def violations(page: Page) -> list[str]:
    """Wait for animations; return the rules that the page fails, with the failing elements.

    Of axe's own rules beyond WCAG 2.2 A and AA only serious and critical failures count.
    """
    # wait_for_function uses `eval`, which the page's policy forbids.
    page.evaluate(
        "Promise.allSettled(document.getAnimations().map((animation) => animation.finished))"
    )
    return [
        f"{rule['id']} ({rule['impact']}): {node['html']}"
        for rule in Axe().run(page).response["violations"]
        if rule["impact"] in _GRAVE or _WCAG & {*rule["tags"]}
        for node in rule["nodes"]
    ]


def assert_accessible(page: Page) -> None:
    """Check that the page fits two widths and, light and dark, passes axe's rules.

    In Firefox only the widths are checked: axe would read the same document again.
    """
    browser = page.context.browser
    themes = ("light", "dark") if browser and browser.browser_type.name == "chromium" else ()
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for theme in themes:
            page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
            assert violations(page) == [], (width, theme)
