"""Finds what a test wants from an email: its links, its codes, and a line of its text."""

import re
from contextlib import suppress
from html.parser import HTMLParser
from typing import Final

from local.inbox.codes import codes_in
from local.inbox.reading import MailView

_URL: Final = re.compile(r"""https?://[^\s<>"]*[^\s<>"'.,;:!?)\]]""")
_UNSHOWN: Final = frozenset({"head", "script", "style", "template", "title"})
#: Elements that end a line where they begin and end; the cells of a row stand on one line.
_LINES: Final = frozenset(
    {"address", "blockquote", "br", "dd", "div", "dt", "footer", "h1", "h2", "h3", "h4", "h5", "h6"}
    | {"header", "hr", "li", "ol", "p", "pre", "section", "table", "tr", "ul"}
)
_CELLS: Final = frozenset({"td", "th"})
_PREVIEW: Final = 140  # characters


class _Html(HTMLParser):
    """Collects the links and the shown text of an email's HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.texts: list[str] = []
        self._unshown = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._end_line(tag)
        if tag in _CELLS:
            self.texts.append("  ")
        if tag in _UNSHOWN:
            self._unshown += 1
        if tag in {"a", "area"} and (href := (dict(attrs).get("href") or "").strip()):
            self.links.append(href)

    def handle_endtag(self, tag: str) -> None:
        self._end_line(tag)
        if tag in _UNSHOWN and self._unshown:
            self._unshown -= 1

    def handle_data(self, data: str) -> None:
        if not self._unshown:
            self.texts.append(re.sub(r"\s+", " ", data))

    def _end_line(self, tag: str) -> None:
        if tag in _LINES:
            self.texts.append("\n")


def links_of(view: MailView) -> list[str]:
    """Return the web links of the HTML and then of the text, each once, in order."""
    found = [*_parsed(view.html).links, *_URL.findall(view.text or "")]
    return [*dict.fromkeys(link for link in found if link.startswith(("https://", "http://")))]


def codes_of(subject: str, view: MailView) -> list[str]:
    """Return the codes of the subject and the text, the likeliest first; links have none.

    The text is that of the HTML if there is none.
    """
    return codes_in(_URL.sub(" link ", f"{subject}\n{_shown(view)}"))


def preview_of(view: MailView) -> str:
    """Return the beginning of the text on one line."""
    return " ".join(_shown(view).split())[:_PREVIEW]


def _shown(view: MailView) -> str:
    return view.text if view.text is not None else "".join(_parsed(view.html).texts)


def _parsed(html: str | None) -> _Html:
    parser = _Html()
    with suppress(AssertionError):  # how the parser reports a declaration that it does not know
        parser.feed(html or "")
        parser.close()
    return parser
