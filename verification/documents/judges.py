"""What people see of a document: the words and the links, by two programs that are not ours."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from selectolax.lexbor import LexborHTMLParser, LexborNode

_WORD: Final = re.compile(r"[wcst]\d+q")
_URL: Final = re.compile(r"(?i:https?|myapp|javascript)://x.*?/end", re.DOTALL)
_NEVER: Final = frozenset(
    {"audio", "canvas", "iframe", "math", "noembed", "noframes", "object", "script"}
    | {"select", "style", "svg", "template", "textarea", "title", "video"}
)
_KEPT: Final = "".join(set(map(chr, range(33, 127))) - set('"<>'))


@dataclass(frozen=True)
class Seen:
    """What a document shows: its words, its links, and those of them that have a label."""

    words: frozenset[str]
    links: frozenset[str]
    labelled: frozenset[str]
    #: The number and the first word of the items that begin with a word; None if the judge does not
    #: number items.
    items: frozenset[tuple[str, str]] | None = None


def _encoded(url: str) -> str:
    scheme, _, rest = url.partition(":")
    return f"{scheme.lower()}:{quote(rest, safe=_KEPT, errors='replace')}"


def urls_of(text: str) -> list[str]:
    """Return the URLs of a text part."""
    return _URL.findall(text)


def differences(
    text: str, seen: Seen, urls: Iterable[str] | None = None
) -> dict[str, frozenset[str]]:
    """Return by its kind what a text part has too much or too little.

    Its URLs are given if the judge writes URLs in a form of its own.
    """
    words = frozenset(_WORD.findall(text))
    links = frozenset(map(_encoded, urls_of(text)) if urls is None else urls)
    marked = {
        word: number for number, word in re.findall(r"^[> ]*(-?\d+)\. (w\d+q)", text, re.MULTILINE)
    }
    found = {
        "words lost": seen.words - words,
        "hidden words shown": frozenset(one for one in words - seen.words if one[0] == "w"),
        "markup shown": frozenset(one for one in words if one[0] != "w"),
        "links lost": seen.labelled - links,
        "links that are none": links - seen.links,
    }
    if seen.items is not None:
        wrong = (word for number, word in seen.items if marked.get(word) != number)
        found["numbers"] = frozenset(wrong)
    return found


def seen_in_tree(html: str) -> Seen:
    """Judge by lexbor's tree and a slow definition of what is shown."""
    words: set[str] = set()
    links: set[str] = set()
    labelled: set[str] = set()
    items: set[tuple[str, str]] = set()

    def look(node: LexborNode, link: str, *, visible: bool) -> None:
        text = node.text_content if node.is_text_node else ""
        if node.is_element_node:
            if not _is_displayed(node):
                return
            visible = _style(node).get("visibility", "visible" if visible else "") == "visible"
            text = node.attributes.get("alt") if node.tag == "img" else ""
        if visible and (found := _WORD.findall(text or "")):
            words.update(found)
            labelled.update({link} - {""})
        if node.tag == "a":
            link = _link(node.attributes.get("href") or "") if visible else ""
            links.update({link} - {""})
        if node.tag == "ol" and visible:
            items.update(_numbered(node))
        for child in _children(node):
            look(child, link, visible=visible)

    root = LexborHTMLParser(html).root
    assert root is not None
    look(root, "", visible=True)
    shown = frozenset(item for item in items if item[1] in words)
    return Seen(frozenset(words), frozenset(links), frozenset(labelled), shown)


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def _is_displayed(node: LexborNode) -> bool:
    attributes = node.attributes
    closed = "hidden" in attributes or node.tag == "datalist"
    closed = closed or (node.tag == "dialog" and "open" not in attributes)
    return not (
        node.tag in _NEVER
        or (attributes.get("aria-hidden") or "").lower() == "true"
        or (attributes.get("data-text") or "").lower() == "skip"
        or _style(node).get("display", "none" if closed else "") == "none"
    )


def _numbered(node: LexborNode) -> Iterator[tuple[str, str]]:
    """Yield the numbers of a list's items with their first words."""
    items = list(_items(node))
    if any("visibility" in _style(item) for item in items) or node.css_first("table"):
        return  # a text does not count what is invisible, and keeps items within a table there
    step = -1 if "reversed" in node.attributes else 1
    number = len(items) if step < 0 else 1
    with suppress(TypeError, ValueError):
        number = int(node.attributes.get("start"))  # type: ignore[arg-type]
    for item in items:
        with suppress(TypeError, ValueError):
            number = int(item.attributes.get("value"))  # type: ignore[arg-type]
        first = item.first_child
        if first is not None and first.is_text_node:
            word = (first.text_content or "").split()[:1]
            if word and _WORD.fullmatch(word[0]):
                yield str(number), word[0]
        number += step


def _items(node: LexborNode) -> Iterator[LexborNode]:
    """Yield the items of a list, but not those of the lists in it."""
    for child in _children(node):
        if child.is_element_node and _is_displayed(child):
            if child.tag == "li":
                yield child
            if child.tag not in {"dir", "menu", "ol", "ul"}:
                yield from _items(child)


def _style(node: LexborNode) -> dict[str, str]:
    """Return the declarations that count."""
    text = node.attributes.get("style") or ""
    normal: dict[str, str] = {}
    important: dict[str, str] = {}
    for declaration in text.split(";"):
        name, _, value = declaration.partition(":")
        value, mark, _ = value.partition("!")
        (important if mark else normal)[name.strip().lower()] = value.strip().lower()
    return normal | important


def _link(href: str) -> str:
    url = href.strip("".join(map(chr, range(33))))
    for character in "\t\n\r":
        url = url.replace(character, "")
    return "" if url.lower().startswith("javascript:") else _encoded(url)
