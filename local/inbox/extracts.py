"""Finds what a test wants from an email: its links, its codes, and a line of its text."""

import re
from contextlib import suppress
from html.parser import HTMLParser
from typing import Final

from local.inbox.reading import MailView

_URL: Final = re.compile(r"""https?://[^\s<>"]*[^\s<>"'.,;:!?)\]]""")
#: Four to eight digits that stand alone, also as two groups of three such as `123 456`.
_CODE: Final = re.compile(
    r"(?<![\w.,/:#+$€£©-])(?:\d{3}[ -]\d{3}|\d{4,8})(?![\w/:%€£-]|[.,]\d| ?©)"
)
_UNSHOWN: Final = frozenset({"head", "script", "style", "template", "title"})
_PREVIEW: Final = 140  # characters


class _Html(HTMLParser):
    """Collects the links and the shown text of an email's HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.texts: list[str] = []
        self._unshown = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSHOWN:
            self._unshown += 1
        if tag in {"a", "area"} and (href := (dict(attrs).get("href") or "").strip()):
            self.links.append(href)

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSHOWN and self._unshown:
            self._unshown -= 1

    def handle_data(self, data: str) -> None:
        if not self._unshown:
            self.texts.append(data)


def links_of(view: MailView) -> list[str]:
    """Return the web links of the HTML and then of the text, each once, in order."""
    found = [*_parsed(view.html).links, *_URL.findall(view.text or "")]
    return [*dict.fromkeys(link for link in found if link.startswith(("https://", "http://")))]


def codes_of(subject: str, view: MailView) -> list[str]:
    """Return the numbers that may be codes, as digits: of the subject, then of the text.

    The text is that of the HTML if there is none. Numbers inside links do not count.
    """
    text = _URL.sub(" ", f"{subject}\n{_shown(view)}")
    return [*dict.fromkeys(re.sub(r"\D", "", code) for code in _CODE.findall(text))]


def preview_of(view: MailView) -> str:
    """Return the beginning of the text on one line."""
    return " ".join(_shown(view).split())[:_PREVIEW]


def _shown(view: MailView) -> str:
    return view.text if view.text is not None else " ".join(_parsed(view.html).texts)


def _parsed(html: str | None) -> _Html:
    parser = _Html()
    with suppress(AssertionError):  # how the parser reports a declaration that it does not know
        parser.feed(html or "")
        parser.close()
    return parser
