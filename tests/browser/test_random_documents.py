"""The text part says what Chromium shows."""

from playwright.sync_api import Browser

from verification.documents.__main__ import in_chromium


def test_a_text_has_what_chromium_shows(browser: Browser) -> None:
    page = browser.new_page()
    page.route("**", lambda route: route.abort())
    for seed, _, different in in_chromium(page, range(50)):
        assert not any(different.values()), (seed, different)
    page.close()
