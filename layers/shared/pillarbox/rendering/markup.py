"""Split HTML into a flat sequence of tags and text, in linear time (HTML standard, 13.2.5).

Every branch of the patterns below can match up to the end of the input, so none
fails after a long search, and none backtracks over what it has matched.
"""

import re
from collections.abc import Iterable
from html.entities import html5
from typing import Final
from urllib.parse import quote

from pillarbox.domain.character_references import unescape

_SPACES: Final = r"\t\n\f\r\ "
_NAME: Final = rf"[^{_SPACES}/>][^{_SPACES}/=>]*+"
_EQUALS: Final = rf"[{_SPACES}]*+=[{_SPACES}]*+"
_ATTRIBUTE: Final = re.compile(
    rf"""({_NAME})(?:{_EQUALS}(?:"([^"]*+)"?|'([^']*+)'?|([^{_SPACES}>]*+)))?+""", re.VERBOSE
)
#: What follows the name of a tag. A quote has a meaning only where a value begins.
ATTRIBUTES: Final = rf"""(?:[{_SPACES}/]++
    | {_NAME}(?:{_EQUALS}(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^{_SPACES}>]*+))?+)*+"""
#: A comment, including a whole MSO conditional.
COMMENT: Final = r"<!--(?:-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>|\Z))"
#: The names of elements whose content is text, which only their own end tag ends.
RAW: Final = "(?ai:iframe|noembed|noframes|script|style|textarea|title)"
_END_OF_NAME: Final = rf"[{_SPACES}/>]"
_SCRIPT: Final = rf"(?ai:script){_END_OF_NAME}"
_MARKUP: Final = re.compile(
    rf"""
    {COMMENT}
    # In a script, "<!--" begins a part in which a second <script> has its own end tag.
    | <(?={_SCRIPT})[^{_SPACES}/>]++{ATTRIBUTES}>
      (?:[^<]++
        | <!--(?:-?>|(?:[^<-]++|-(?!->)
            | <{_SCRIPT}(?:[^<-]++|-(?!->)|<(?!/{_SCRIPT}))*+(?:</{_SCRIPT})?+
            | <(?!/{_SCRIPT}))*+(?:-->)?+)
        | <(?!/{_SCRIPT}))*+ (?:</[^>]*+(?:>|\Z)|\Z)
    | <({RAW})(?={_END_OF_NAME}){ATTRIBUTES}>
      (?:[^<]++|<(?!/(?ai:\1){_END_OF_NAME}))*+(?:</[^>]*+(?:>|\Z)|\Z)
    | <(/?)([a-zA-Z][^{_SPACES}/>]*+)({ATTRIBUTES})>
    | <[a-zA-Z].*+          # a tag without an end, at the end of the document
    | <[!?/][^>]*+(?:>|\Z)  # a doctype, or markup that browsers treat as a comment
    """,
    re.VERBOSE | re.DOTALL,
)
_REFERENCE: Final = re.compile(
    "&(?:#[0-9]++;?|#[xX][0-9a-fA-F]++;?|([a-zA-Z][a-zA-Z0-9]*+(?:;|(?!=))))"
)
#: White space, and characters that are invisible or that mark the end of a URL in a text.
_NOT_IN_URLS: Final = re.compile(
    r"[\x00-\x20\"<>\x7f-\xa0\xad\u034f\u1680\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff]"
)
#: C0 control characters and the space.
_AROUND_URLS: Final = "".join(map(chr, range(33)))


def tags(html: str) -> Iterable[tuple[str, str | None, str | None, str | None]]:
    """Split a document into tuples: text before a tag, "/" of an end tag, name, and attributes.

    Text and attributes are as written. Name and attributes are None at the end, and
    for markup that is not a tag (a comment, a script).
    """
    parts = _MARKUP.split(html)
    parts += [None] * 4
    return zip(parts[0::5], parts[2::5], parts[3::5], parts[4::5], strict=True)


def attributes_of(source: str) -> dict[str, str]:
    """Return the attributes of a start tag. If an attribute occurs twice, the first counts.

    A name such as `&copy` is a reference only with a semicolon, or if neither "=" nor a letter or
    digit follows (13.2.5.73): the query `?a=1&copy=2` stays as it is.
    """
    attributes: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(source):
        value = match[2] or match[3] or match[4] or ""
        attributes.setdefault(match[1].lower(), _REFERENCE.sub(_resolved, value))
    return attributes


def _resolved(reference: re.Match[str]) -> str:
    name = reference[1]
    return unescape(reference[0]) if name is None else html5.get(name, reference[0])


def url_of(href: str) -> str:
    """Return the URL of a link as browsers read it (URL standard, 4.4), without resolving it."""
    url = re.sub(r"[\t\n\r]", "", href.strip(_AROUND_URLS))
    return _NOT_IN_URLS.sub(lambda match: quote(match[0], errors="replace"), url)
