"""Finds what a test wants from an email: its links, its codes, and a line of its text."""

import re
from typing import Final

from local.inbox.codes import codes_in
from local.inbox.reading import MailView
from pillarbox.rendering.markup import attributes_of, tags, url_of
from pillarbox.rendering.text import text_from_html

_REST: Final = r"""[^\s<>"]*[^\s<>"'.,;:!?)\]]"""
_URL: Final = re.compile(rf"https?://{_REST}")
#: What holds no code: the links of a text, also those of apps and telephones.
_LINK: Final = re.compile(rf"\b(?:[a-z][a-z0-9+.-]*://|tel:|sms:){_REST}", re.IGNORECASE)
_WEB: Final = ("https://", "http://")
_PREVIEW: Final = 140  # characters


def links_of(view: MailView) -> list[str]:
    """Return the web links of the HTML and then of the text, each once, in order."""
    found = [*_links_in(view.html or ""), *_URL.findall(view.text or "")]
    return [*dict.fromkeys(link for link in found if link.lower().startswith(_WEB))]


def codes_of(subject: str, view: MailView) -> list[str]:
    """Return the codes of the subject and the text, the likeliest first; links have none.

    The text is that of the HTML if there is none.
    """
    return codes_in(_LINK.sub(" link ", f"{subject}\n{_shown(view)}"))


def preview_of(view: MailView) -> str:
    """Return the beginning of the text on one line."""
    return " ".join(_shown(view).split())[:_PREVIEW]


def _links_in(html: str) -> list[str]:
    return [
        url_of(attributes_of(source).get("href", ""))
        for _, end, name, source in tags(html)
        if name and not end and source and name.lower() in {"a", "area"}
    ]


def _shown(view: MailView) -> str:
    return text_from_html(view.html or "") if view.text is None else view.text
