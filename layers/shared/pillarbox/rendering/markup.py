"""HTML as a flat run of tokens, in time linear in its length.

A mail's HTML may be anything that an account sends, and a worker serves all
accounts. Tree builders follow the standard's error handling, which is quadratic
in places: 80 KB of unclosed <font><p> cost lexbor 20 s and 4 GB. Reading text
needs no tree. Every pattern below can end at the end of the input, so that none
ever fails after a long look ahead, and none gives back what it has taken.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import Final, Literal, NamedTuple

#: Elements whose content is text to the end tag, whatever it looks like
#: (HTML standard, 13.2.6: raw text and escapable raw text).
RAW: Final = frozenset({"iframe", "noembed", "noframes", "script", "style", "textarea", "title"})

_MARKUP: Final = re.compile(
    r"""
    <!--(?:-?>|.*?(?:--!?>|\Z))           # a comment, and with it whole MSO conditionals
    | <(?P<end>/?)(?P<name>[a-zA-Z][^\s/>]*+)
      (?P<attributes>(?:[^>"'=]++|=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))?|["'])*+)
      (?:>|\Z)
    | <[!?/][^>]*+(?:>|\Z)                # a doctype, or what browsers take for a comment
    """,
    re.DOTALL | re.VERBOSE,
)
_ATTRIBUTE: Final = re.compile(
    r"""([^\s/>="']++)(?:\s*+=\s*+(?:"([^"]*+)"?|'([^']*+)'?|([^\s>]*+)))?""",
)


class Token(NamedTuple):
    """A piece of HTML: text (as read, not as written), a start tag or an end tag.

    `value` is the text, or the tag's name in lower case; `attributes` is a start
    tag's source, for `attributes_of`.
    """

    kind: Literal["text", "start", "end"]
    value: str
    attributes: str = ""


def tokens(html: str) -> Iterator[Token]:
    """The tokens of a document, in order; comments and raw text are left out."""
    position = 0
    while found := _MARKUP.search(html, position):
        if found.start() > position:
            yield Token("text", unescape(html[position : found.start()]))
        position = found.end()
        if not found["name"]:
            continue
        name = found["name"].lower()
        if found["end"]:
            yield Token("end", name)
            continue
        yield Token("start", name, found["attributes"])
        if name in RAW:
            ending = _raw_end(name).search(html, position)
            position = ending.start() if ending else len(html)
    if position < len(html):
        yield Token("text", unescape(html[position:]))


def attributes_of(source: str) -> dict[str, str]:
    """The attributes of a start tag; of one given twice the first counts."""
    attributes: dict[str, str] = {}
    for found in _ATTRIBUTE.finditer(source):
        value = found[2] or found[3] or found[4] or ""
        attributes.setdefault(found[1].lower(), unescape(value))
    return attributes


def _raw_end(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
