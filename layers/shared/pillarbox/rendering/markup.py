"""Read HTML in linear time: its tags and text, and which elements are open at each place.

Every branch of the patterns below can match up to the end of the input, so none
fails after a long search, and none backtracks over what it has matched.

Browsers build a tree, which may have the square of the document's length. A text needs no
tree, only the two lists that the standard builds it with: the open elements, and the formatting
elements that are opened again after their parent ends. Here both are bounded, and each step
takes constant time, apart from ending what was opened.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from html.entities import html5
from operator import itemgetter
from typing import Final, Protocol
from urllib.parse import quote

from pillarbox.domain.character_references import unescape

_SPACES: Final = r"\t\n\f\r\ "
_NAME: Final = rf"[^{_SPACES}/>][^{_SPACES}/=>]*+"
_EQUALS: Final = rf"[{_SPACES}]*+=[{_SPACES}]*+"
_ATTRIBUTE: Final = re.compile(
    rf"""({_NAME})(?:{_EQUALS}(?:"([^"]*+)"?|'([^']*+)'?|([^{_SPACES}>]*+)))?""", re.VERBOSE
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


BLOCKS: Final = frozenset(
    {
        *("address", "article", "aside", "blockquote", "center", "details", "dialog", "dir", "div"),
        *("dl", "fieldset", "figcaption", "figure", "footer", "header", "hgroup", "listing"),
        *("main", "menu", "nav", "ol", "p", "pre", "search", "section", "summary", "ul"),
    }
)
HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
FORMATTING: Final = frozenset(
    {
        *("a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong"),
        *("tt", "u"),
    }
)
INLINE_VOID: Final = frozenset({"area", "br", "embed", "image", "img", "input", "keygen", "wbr"})
VOID: Final = INLINE_VOID | {
    *("base", "basefont", "bgsound", "hr", "link", "meta", "param", "source", "track"),
}
#: They begin and end where they must, so their tags say nothing.
OUTER: Final = frozenset({"body", "frame", "frameset", "head", "html"})
CELLS: Final = frozenset({"caption", "td", "th"})
ROWS: Final = frozenset({"tbody", "tfoot", "thead", "tr"})
OF_TABLES: Final = CELLS | ROWS | {"col", "colgroup"}
OBJECTS: Final = frozenset({"applet", "marquee", "object"})
RUBY: Final = frozenset({"rb", "rp", "rt", "rtc"})
FOREIGN: Final = frozenset({"math", "svg"})
#: Elements of SVG and MathML that contain HTML.
POINTS: Final = frozenset({"desc", "foreignobject", "mi", "mn", "mo", "ms", "mtext"})
#: Elements of HTML that end SVG and MathML (13.2.6.5).
NOT_FOREIGN: Final = HEADINGS | {
    *("b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em"),
    *("embed", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p"),
    *("pre", "ruby", "s", "small", "span", "strike", "strong", "sub", "sup", "table", "tt", "u"),
    *("ul", "var"),
}
#: Elements that are invisible, or useless without their appearance.
NEVER_SHOWN: Final = FOREIGN | {
    *("audio", "canvas", "object", "select", "template", "video"),
}
SPECIAL: Final = (BLOCKS - {"dialog"} | HEADINGS | CELLS | ROWS | OBJECTS) | {
    *("button", "dd", "dt", "form", "li", "noscript", "select", "table", "template"),
}
IMPLIED: Final = RUBY | {"dd", "dt", "li", "optgroup", "option", "p"}
SCOPES: Final = CELLS | OBJECTS | {"select", "table", "template"}
MARKERS: Final = CELLS | OBJECTS | {"template"}
GROUPS: Final = {
    "#special": SPECIAL,
    "#scope": SCOPES,
    #: What stops the search for an item that a new one ends.
    "#item": SPECIAL - {"address", "div", "p"},
    "#foreign": FOREIGN,
    "#point": POINTS,
}
#: The tag and the groups of an element.
KINDS: Final = {
    tag: (tag, *(name for name, members in GROUPS.items() if tag in members))
    for tag in SPECIAL | FOREIGN | POINTS
}


#: How much of an element is shown. Only invisible elements may contain shown ones.
NOT_DISPLAYED, INVISIBLE, SHOWN = range(3)
#: Tags without any of these do not hide what they begin.
_HIDING: Final = ("none", "hid", "visib", "data-text", "&")
_DECLARATION: Final = re.compile(r"(?:^|;)\s*(display|visibility)\s*:\s*([a-z-]+)\s*(!?)")


class Element:
    """An open element."""

    #: Its place among the open elements; 0 if it is not open.
    index = 0
    #: Its place among all elements.
    number = 0
    shown = SHOWN
    #: How much of its text is shown. Text between cells is shown before the table.
    inside = SHOWN
    #: What the formatting elements that ended in it said about being shown.
    around: tuple[int, ...] = ()
    #: Whether the writer knows it; None if it did, so it is not begun again.
    is_begun: bool | None = False
    #: What the writer needs at its end.
    note: object = None

    def __init__(self, tag: str, source: str, own: int | None) -> None:
        self.tag = tag
        self.source = source
        self.kinds = KINDS.get(tag) or (tag,)
        #: What the element itself says about being shown.
        self.own = own


def combined(above: int, own: int | None) -> int:
    """Return how much of an element is shown that says something in a parent that is shown so."""
    return above if own is None or above == NOT_DISPLAYED else own


class Visibility:
    """Reads tags, each text of attributes only once."""

    def __init__(self) -> None:
        self._read: dict[str, int | None] = {}

    def of(self, tag: str, source: str) -> int | None:
        """Return what a tag says about its element: not displayed, invisible, shown or nothing."""
        if tag in NEVER_SHOWN:
            return NOT_DISPLAYED
        if tag in {"datalist", "dialog"}:
            return _visibility(tag, source)
        if not source:
            return None
        if source not in self._read:
            lowered = source.lower()
            may_hide = any(word in lowered for word in _HIDING)
            self._read[source] = _visibility(tag, source) if may_hide else None
        return self._read[source]


def _visibility(tag: str, source: str) -> int | None:
    attributes = attributes_of(source)
    found = _DECLARATION.findall(attributes.get("style", "").lower())
    # The last one counts, among the important ones if there are any.
    declared = {name: value for name, value, _ in sorted(found, key=itemgetter(2))}
    is_closed = (
        "hidden" in attributes
        or tag == "datalist"
        or (tag == "dialog" and "open" not in attributes)
    )
    if (
        declared.get("display", "none" if is_closed else "") == "none"
        or attributes.get("aria-hidden", "").lower() == "true"
        or attributes.get("data-text", "").lower() == "skip"
    ):
        return NOT_DISPLAYED
    return {"hidden": INVISIBLE, "collapse": INVISIBLE, "visible": SHOWN}.get(
        declared.get("visibility", "")
    )


#: Deeper elements are left out. Their content is not.
_MAX_DEPTH: Final = 512
#: The formatting elements that are opened again in each paragraph, and how often in a document.
#: The standard has no limit.
_MAX_FORMATTING: Final = 12
_MAX_OPENED_AGAIN: Final = 100_000
#: An end tag ends a formatting element in so many blocks, and not in those inside of them.
_MAX_BLOCKS: Final = 8

#: By their numbers, the blocks that an end tag moved out of hidden elements after they were read:
#: what their new parents say about being shown, and the formatting elements that end in them.
type Moves = Mapping[int, tuple[int, tuple[int, ...]]]


class Writer(Protocol):
    """What learns where elements that are shown begin and end."""

    def enter(self, element: Element) -> None:
        """Begin an element. Void elements have no end."""

    def leave(self, element: Element) -> None:
        """End an element that was begun."""


class OpenElements:
    """The open elements at the current place of a document."""

    def __init__(self, writer: Writer, known_moves: Moves) -> None:
        """Begin a document.

        Args:
            writer: learns of the elements that are shown.
            known_moves: the `moves` of an earlier reading of the same document.
        """
        self._writer = writer
        self._known_moves = known_moves
        self.moves: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._number = 0
        self._open = [Element("html", "", None)]
        #: Where elements of each kind are open, innermost last.
        self._places: defaultdict[str, list[int]] = defaultdict(lambda: [0])
        #: None marks the beginning of a cell, in which none from before is opened again.
        self._formatting: list[Element | None] = []
        self._opened_again = 0
        self._form: Element | None = None
        self._visibility = Visibility()

    def begin_text(self) -> bool:
        """Open what formats a text at this place, and return whether it is shown."""
        self._open_formatting()
        return self._open[-1].inside == SHOWN

    def start(self, tag: str, source: str) -> None:  # noqa: C901, PLR0912  the rules of 13.2.6.4.7
        """Begin an element, after those have ended that its start tag ends."""
        places = self._places
        if places["#foreign"][-1] > places["#point"][-1] and self._begin_foreign(tag, source):
            return
        if tag in BLOCKS:
            self._end_paragraph()
        elif tag in VOID:
            self._add_void(tag, source)
            return
        elif tag in OF_TABLES:
            self._start_in_table(tag, source)
            return
        elif tag in FORMATTING:
            self._format(tag, source)
            return
        elif tag == "table":
            if self._is_between_cells():
                self._close(places["table"][-1])
            self._end_paragraph()
        elif tag in {"li", "dd", "dt"}:
            last = places["#item"][-1]
            if places[tag][-1] == last or (
                tag != "li" and last in {places["dd"][-1], places["dt"][-1]}
            ):
                self._close(last)
            self._end_paragraph()
        elif tag in HEADINGS:
            self._end_paragraph()
            self._end_last(HEADINGS)
        elif tag in OUTER:
            if len(self._open) == 1 and tag in {"body", "html"}:
                self._open[0].inside = combined(
                    self._open[0].inside, self._visibility.of(tag, source)
                )
            return
        elif tag == "form":
            if self._form and not places["template"][-1]:
                return
            if self._is_between_cells():
                self._form = Element(tag, source, None)  # it ends at once
                return
            self._end_paragraph()
        elif tag != "template":
            if tag == "select" and places[tag][-1] > 0 and places[tag][-1] >= places["#scope"][-1]:
                self._close(places[tag][-1])
                return
            if tag == "button":
                self._close_in_scope(tag)
            elif tag in {"optgroup", "option"}:
                self._end_last({"option"})
            elif tag in RUBY:
                self._end_last(RUBY)
            elif tag in FOREIGN and source.endswith("/"):
                return
            self._open_formatting()
        element = self._push(tag, source)
        if tag == "form":
            self._form = element

    def end(self, tag: str) -> None:  # noqa: C901, PLR0912  the same for end tags
        """End the element that an end tag ends, and all elements in it."""
        places = self._places
        if (
            places["#foreign"][-1] > places["#point"][-1]
            and places[f":{tag}"][-1] > places["#foreign"][-1]
        ):
            self._close(places[f":{tag}"][-1])
        elif tag in FORMATTING and self._end_formatting(tag):
            return
        elif tag in ROWS or tag in CELLS or tag == "table":
            if places[tag][-1] >= max(places["table"][-1], places["template"][-1]):
                self._close(places[tag][-1])
        elif tag in {"br", "p"}:
            self._close_foreign()
            if tag == "br":
                self._add_void(tag, "")
            else:
                self._end_paragraph()
        elif tag == "li":
            if places[tag][-1] > max(places["ol"][-1], places["ul"][-1]):
                self._close_in_scope(tag)
        elif tag in HEADINGS:
            self._close_in_scope(max(HEADINGS, key=lambda name: places[name][-1]))
        elif tag == "form" and not places["template"][-1]:
            form, self._form = self._form, None
            if form and form.index > places["#scope"][-1]:
                self._end_form(form)
        elif tag == "template":
            self._close(places[tag][-1])
        elif (tag in SPECIAL and tag != "noscript") or tag == "dialog":
            self._close_in_scope(tag)
        elif tag in places and places[tag][-1] >= places["#special"][-1]:
            self._close(places[tag][-1])

    def close(self) -> None:
        self._close(1)

    def _push(self, tag: str, source: str) -> Element:
        element = Element(tag, source, self._visibility.of(tag, source))
        self._number += 1
        element.number = self._number
        if len(self._open) < _MAX_DEPTH:
            self._place(element)
            if tag in MARKERS:
                self._formatting.append(None)
        self._enter(element)
        return element

    def _place(self, element: Element) -> None:
        """Make an element the innermost one."""
        parent, tag = self._open[-1], element.tag
        above = parent.shown if tag in OF_TABLES else parent.inside
        if move := self._known_moves.get(element.number):
            above, around = move
            above = min(above, *around[len(element.around) :], SHOWN)
        element.shown = combined(above, element.own)
        between_cells = tag in ROWS or tag == "table"
        element.inside = parent.inside if between_cells else element.shown
        self._add(element)

    def _add(self, element: Element) -> None:
        element.index = len(self._open)
        self._open.append(element)
        for kind in element.kinds:
            self._places[kind].append(element.index)

    def _enter(self, element: Element) -> None:
        if element.index and element.shown == SHOWN and element.is_begun is False:
            element.is_begun = True
            self._writer.enter(element)

    def _close(self, index: int) -> None:
        """End the element with an index, and all elements in it. 0 means none."""
        if index == 0:
            return
        while len(self._open) > index:
            element = self._displace()
            self._leave(element)
            if element.tag in MARKERS:
                while self._formatting and self._formatting.pop():
                    pass

    def _displace(self) -> Element:
        element = self._open.pop()
        element.index = 0
        for kind in element.kinds:
            self._places[kind].pop()
        return element

    def _leave(self, element: Element) -> None:
        if element.is_begun:
            element.is_begun = None
            self._writer.leave(element)

    def _close_in_scope(self, kind: str) -> None:
        if self._places[kind][-1] >= self._places["#scope"][-1]:
            self._close(self._places[kind][-1])

    def _end_last(self, tags: frozenset[str] | set[str]) -> None:
        if self._open[-1].tag in tags:
            self._close(len(self._open) - 1)

    def _end_paragraph(self) -> None:
        places = self._places
        if (last := places["p"][-1]) > places["#scope"][-1] and last > places["button"][-1]:
            self._close(last)

    def _add_void(self, tag: str, source: str) -> None:
        if tag == "hr":
            self._end_paragraph()
        elif tag in INLINE_VOID:
            if tag == "input":
                self._close_in_scope("select")
            self._open_formatting()
        if self._open[-1].inside == SHOWN and self._visibility.of(tag, source) in {None, SHOWN}:
            self._writer.enter(Element(tag, source, None))

    def _is_between_cells(self) -> bool:
        places = self._places
        last = places["table"][-1]
        return last > 0 and all(
            last > places[name][-1] for name in ("td", "th", "caption", "template")
        )

    def _start_in_table(self, tag: str, source: str) -> None:
        """Begin a row, a cell or the like, in the table whose cells are the innermost ones."""
        places = self._places
        parent = places["table"][-1]
        if parent <= places["template"][-1]:
            return
        if tag in {"td", "th", "tr"}:
            parent = max(parent, places["tbody"][-1], places["tfoot"][-1], places["thead"][-1])
        if tag in {"td", "th"}:
            parent = max(parent, places["tr"][-1])
        self._close(parent + 1)
        if tag in {"td", "th", "tr"} and self._open[-1].tag == "table":
            self._push("tbody", "")
        if tag in {"td", "th"} and self._open[-1].tag != "tr":
            self._push("tr", "")
        if tag not in {"col", "colgroup"}:
            self._push(tag, source)

    def _begin_foreign(self, tag: str, source: str) -> bool:
        """Begin an element in SVG or MathML; end these and return False if it is of HTML."""
        if tag in NOT_FOREIGN or (
            tag == "font" and not attributes_of(source).keys().isdisjoint({"color", "face", "size"})
        ):
            self._close_foreign()
            return False
        if not source.endswith("/"):
            self._push(tag if tag in FOREIGN | POINTS else f":{tag}", "")
        return True

    def _close_foreign(self) -> None:
        """End SVG and MathML."""
        places = self._places
        while places["#foreign"][-1] > places["#point"][-1]:
            self._close(places["#foreign"][-1])

    def _since_marker(self) -> Iterator[tuple[int, Element]]:
        """Yield the formatting elements that may be opened again, the last first."""
        for index in range(len(self._formatting) - 1, -1, -1):
            if (element := self._formatting[index]) is None:
                return
            yield index, element

    def _format(self, tag: str, source: str) -> None:
        if tag in {"a", "nobr"}:
            self._end_formatting(tag, in_scope=tag == "nobr")
        self._open_formatting()
        others = list(self._since_marker())
        same = [one for one in others if (one[1].tag, one[1].source) == (tag, source)]
        if len(same) == 3:  # noqa: PLR2004  the "Noah's Ark clause" of 13.2.4.3
            del self._formatting[same[-1][0]]
        elif len(others) == _MAX_FORMATTING:
            plain = [one for one in others if one[1].own is None and one[1].tag != "a"]
            del self._formatting[(plain or others)[-1][0]]
        element = self._push(tag, source)
        if element.index:
            self._formatting.append(element)

    def _open_formatting(self) -> None:
        """Open the formatting elements again that ended with their parents (13.2.4.3)."""
        if not self._formatting or not (last := self._formatting[-1]) or last.index:
            return
        ended: list[Element] = []
        for _, element in self._since_marker():
            if element.index:
                break
            ended.append(element)
        self._opened_again += len(ended)
        if self._opened_again > _MAX_OPENED_AGAIN:
            self._formatting.clear()
            return
        for element in reversed(ended):
            if len(self._open) < _MAX_DEPTH:
                self._place(element)
                self._enter(element)

    def _end_formatting(self, tag: str, *, in_scope: bool = True) -> bool:
        """End the last formatting element with a tag, but not the blocks in it (13.2.6.4.7).

        Returns whether there is one that could be opened again.
        """
        for index, element in self._since_marker():
            if element.tag == tag:
                if not element.index:
                    del self._formatting[index]
                elif element.index > self._places["#scope"][-1]:
                    del self._formatting[index]
                    self._take_out(element)
                elif not in_scope:
                    del self._formatting[index]
                    self._remove(element)
                return True
        return False

    def _take_out(self, element: Element) -> None:
        """End an element without the blocks in it, and for formatting with what is not in them."""
        last = self._places["#special"][-1]
        if last <= element.index:
            self._close(element.index)
            return
        first, blocks = element.index, 0
        inner = [self._displace() for _ in range(len(self._open) - first)]
        self._leave(inner.pop())
        for index, one in enumerate(reversed(inner), first + 1):
            is_block = one.tag in SPECIAL
            if not (is_block or element.index or (index < last and one.tag in FORMATTING)):
                self._leave(one)
                continue
            one.around += (SHOWN if element.own is None else element.own,)
            above = self._open[-1].inside
            if is_block and one.shown != SHOWN == combined(above, one.own):
                self.moves[one.number] = above, one.around
            self._place(one)
            self._enter(one)
            blocks += is_block
            if is_block and blocks == _MAX_BLOCKS:
                self._place(element)
                self._formatting.append(element)

    def _end_form(self, form: Element) -> None:
        """End a form, but not the elements in it."""
        while self._open[-1].tag in IMPLIED:
            self._close(len(self._open) - 1)
        self._remove(form)

    def _remove(self, element: Element) -> None:
        """End an element, but not the elements in it, which stay as they are."""
        inner = [self._displace() for _ in range(len(self._open) - element.index)]
        self._leave(inner.pop())
        for one in reversed(inner):
            self._add(one)
