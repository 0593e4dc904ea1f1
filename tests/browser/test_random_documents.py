"""The text part says what Chromium shows."""

import pytest
from playwright.sync_api import Browser

from verification.documents import __main__ as documents


def test_a_text_has_what_chromium_shows(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    page = browser.new_page()
    page.route("**", lambda route: route.abort())
    for seed, _, different in documents.judged(page, range(100)):
        assert not any(different.values()), (seed, different)
    wrong = "w0q c0q https://x.example/0/end"
    monkeypatch.setattr(documents, "text_from_html", lambda _: wrong)
    found = [different for _, _, different in documents.judged(page, range(9))]
    assert all(any(each[kind] for each in found) for kind in found[0])
    page.close()
