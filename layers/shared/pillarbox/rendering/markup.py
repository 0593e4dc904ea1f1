"""HTML as a flat run of tags and text, in time linear in its length.

A mail's HTML may be anything that an account sends, and a worker serves all
accounts. Tree builders follow the standard's error handling, which is quadratic
in places: 80 KB of unclosed <font><p> cost lexbor 20 s and 4 GB. Reading text
needs no tree. Every branch of the pattern below can end at the end of the input,
so that none fails after a long look ahead, and none gives back what it has taken.
"""

import re
from collections.abc import Iterable
from html import unescape
from typing import Final

_MARKUP: Final = re.compile(
    r"""
    # A comment, and with it whole MSO conditionals.
    <!--(?:-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>|\Z))
    # Raw text: no tag in it counts but its own end (HTML standard, 13.2.6).
    | <((?i:iframe|noembed|noframes|script|style|textarea|title))(?=[\s/>])
      (?:[^<]++|<(?!/(?i:\1)[\s/>]))*+(?:</[^>]*+(?:>|\Z)|\Z)
    # The head ends at its end tag, or where the body begins.
    | <(?i:head)(?=[\s/>])(?:[^<]++|<(?!/?(?i:head|body)[\s/>]))*+(?:</(?i:head)[^>]*+(?:>|\Z))?
    | <(/?)([a-zA-Z][^\s/>]*+)
      ((?:[^>="']++(?:="[^"]*+")?+|=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))?|["'])*+)(?:>|\Z)
    | <[!?/][^>]*+(?:>|\Z)          # a doctype, or what browsers take for a comment
    """,
    re.VERBOSE,
)
_ATTRIBUTE: Final = re.compile(
    r"""([^\s/>="']++)(?:\s*+=\s*+(?:"([^"]*+)"?|'([^']*+)'?|([^\s>]*+)))?""",
)


def tags(html: str) -> Iterable[tuple[str, str | None, str | None, str | None]]:
    """A document in pieces: the text before a tag, "/" of an end tag, its name, its attributes.

    Text and attributes are as written; name and what follows it are None where
    something stands that is no tag (a comment, a script, the head), and at the end.
    """
    parts = _MARKUP.split(html)
    parts += [None] * 4
    return zip(parts[0::5], parts[2::5], parts[3::5], parts[4::5], strict=True)


def attributes_of(source: str) -> dict[str, str]:
    """The attributes of a start tag; of one given twice the first counts."""
    attributes: dict[str, str] = {}
    for found in _ATTRIBUTE.finditer(source):
        value = found[2] or found[3] or found[4] or ""
        attributes.setdefault(found[1].lower(), unescape(value))
    return attributes
