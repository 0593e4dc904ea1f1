"""Which elements are open at each place of an HTML document (HTML standard, 13.2.6).

Browsers build a tree, which may have the square of the document's length. A text needs no
tree, only the two lists that the standard builds it with: the open elements, and the formatting
elements that are opened again after their parent ends. Here both are bounded, and each step
takes constant time, apart from ending what was opened.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Final, Protocol

from pillarbox.rendering.markup import attributes_of

#: Deeper elements are left out. Their content is not.
_MAX_DEPTH: Final = 512
#: The formatting elements that are opened again in each paragraph, and how often in a document.
#: The standard has no limit.
_MAX_FORMATTING: Final = 12
_MAX_OPENED_AGAIN: Final = 100_000
#: An end tag ends a formatting element in so many blocks, and not in those inside of them.
_MAX_BLOCKS: Final = 8

#: How much of an element is shown. Only invisible elements may contain shown ones.
NOT_DISPLAYED, INVISIBLE, SHOWN = range(3)

_BLOCKS: Final = frozenset(
    {
        *("address", "article", "aside", "blockquote", "center", "details", "dialog", "dir", "div"),
        *("dl", "fieldset", "figcaption", "figure", "footer", "header", "hgroup", "listing"),
        *("main", "menu", "nav", "ol", "p", "pre", "search", "section", "summary", "ul"),
    }
)
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_FORMATTING: Final = frozenset(
    {
        *("a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong"),
        *("tt", "u"),
    }
)
_INLINE_VOID: Final = frozenset({"area", "br", "embed", "image", "img", "input", "keygen", "wbr"})
_VOID: Final = _INLINE_VOID | {
    *("base", "basefont", "bgsound", "hr", "link", "meta", "param", "source", "track"),
}
#: They begin and end where they must, so their tags say nothing.
_OUTER: Final = frozenset({"body", "frame", "frameset", "head", "html"})
_CELLS: Final = frozenset({"caption", "td", "th"})
_ROWS: Final = frozenset({"tbody", "tfoot", "thead", "tr"})
_OF_TABLES: Final = _CELLS | _ROWS | {"col", "colgroup"}
_OBJECTS: Final = frozenset({"applet", "marquee", "object"})
_RUBY: Final = frozenset({"rb", "rp", "rt", "rtc"})
_FOREIGN: Final = frozenset({"math", "svg"})
#: Elements of SVG and MathML that contain HTML.
_POINTS: Final = frozenset({"desc", "foreignobject", "mi", "mn", "mo", "ms", "mtext"})
#: Elements of HTML that end SVG and MathML (13.2.6.5).
_NOT_FOREIGN: Final = _HEADINGS | {
    *("b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em"),
    *("embed", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p"),
    *("pre", "ruby", "s", "small", "span", "strike", "strong", "sub", "sup", "table", "tt", "u"),
    *("ul", "var"),
}
#: Elements that are invisible, or useless without their appearance.
_NEVER_SHOWN: Final = _FOREIGN | {
    *("audio", "canvas", "object", "select", "template", "video"),
}
_SPECIAL: Final = (_BLOCKS - {"dialog"} | _HEADINGS | _CELLS | _ROWS | _OBJECTS) | {
    *("button", "dd", "dt", "form", "li", "noscript", "select", "table", "template"),
}
_IMPLIED: Final = _RUBY | {"dd", "dt", "li", "optgroup", "option", "p"}
_SCOPES: Final = _CELLS | _OBJECTS | {"select", "table", "template"}
_MARKERS: Final = _CELLS | _OBJECTS | {"template"}
_GROUPS: Final = {
    "#special": _SPECIAL,
    "#scope": _SCOPES,
    #: What stops the search for an item that a new one ends.
    "#item": _SPECIAL - {"address", "div", "p"},
    "#foreign": _FOREIGN,
    "#point": _POINTS,
}
#: The tag and the groups of an element.
_KINDS: Final = {
    tag: (tag, *(name for name, members in _GROUPS.items() if tag in members))
    for tag in _SPECIAL | _FOREIGN | _POINTS
}
#: Tags without any of these do not hide what they begin.
_HIDING: Final = ("none", "hid", "visib", "data-text", "&")
_DECLARATION: Final = re.compile(r"(?:^|;)\s*(display|visibility)\s*:\s*([a-z-]+)\s*(!?)")


#: By their numbers, the blocks that an end tag moved out of hidden elements after they were read:
#: what their new parents say about being shown, and the formatting elements that end in them.
type Moves = Mapping[int, tuple[int, tuple[int, ...]]]


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
        self.kinds = _KINDS.get(tag) or (tag,)
        #: What the element itself says about being shown.
        self.own = own


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
        self._at: defaultdict[str, list[int]] = defaultdict(lambda: [0])
        #: None marks the beginning of a cell, in which none from before is opened again.
        self._formatting: list[Element | None] = []
        self._opened_again = 0
        self._form: Element | None = None
        self._hiding: dict[str, int | None] = {}

    def shows_text(self) -> bool:
        """Return whether text at this place is shown."""
        if self._formatting and (last := self._formatting[-1]) and not last.index:
            self._open_again()
        return self._open[-1].inside == SHOWN

    def start(self, tag: str, source: str) -> None:  # noqa: C901, PLR0912  the rules of 13.2.6.4.7
        """Begin an element, after those have ended that its start tag ends."""
        at = self._at
        if at["#foreign"][-1] > at["#point"][-1] and not self._leaves_foreign(tag, source):
            return
        if tag in _BLOCKS:
            self._end_paragraph()
        elif tag in _VOID:
            self._add_void(tag, source)
            return
        elif tag in _OF_TABLES:
            self._start_in_table(tag, source)
            return
        elif tag in _FORMATTING:
            self._format(tag, source)
            return
        elif tag == "table":
            if self._is_between_cells():
                self._close(at["table"][-1])
            self._end_paragraph()
        elif tag in {"li", "dd", "dt"}:
            last = at["#item"][-1]
            if at[tag][-1] == last or (tag != "li" and last in {at["dd"][-1], at["dt"][-1]}):
                self._close(last)
            self._end_paragraph()
        elif tag in _HEADINGS:
            self._end_paragraph()
            self._end_last(_HEADINGS)
        elif tag in _OUTER:
            if len(self._open) == 1 and tag in {"body", "html"}:
                self._open[0].inside = _combined(self._open[0].inside, self._own(tag, source))
            return
        elif tag == "form":
            if self._form and not at["template"][-1]:
                return
            if self._is_between_cells():
                self._form = Element(tag, source, None)  # it ends at once
                return
            self._end_paragraph()
        elif tag != "template":
            if tag == "select" and at[tag][-1] > 0 and at[tag][-1] >= at["#scope"][-1]:
                self._close(at[tag][-1])
                return
            if tag == "button":
                self._close_in_scope(tag)
            elif tag in {"optgroup", "option"}:
                self._end_last({"option"})
            elif tag in _RUBY:
                self._end_last(_RUBY)
            elif tag in _FOREIGN and source.endswith("/"):
                return
            self.shows_text()
        element = self._push(tag, source)
        if tag == "form":
            self._form = element

    def end(self, tag: str) -> None:  # noqa: C901, PLR0912  the same for end tags
        """End the element that an end tag ends, and all elements in it."""
        at = self._at
        if at["#foreign"][-1] > at["#point"][-1] and at[f":{tag}"][-1] > at["#foreign"][-1]:
            self._close(at[f":{tag}"][-1])
        elif tag in _FORMATTING and self._end_formatting(tag):
            return
        elif tag in _ROWS or tag in _CELLS or tag == "table":
            if at[tag][-1] >= max(at["table"][-1], at["template"][-1]):
                self._close(at[tag][-1])
        elif tag in {"br", "p"}:
            self._leaves_foreign(tag, "")
            if tag == "br":
                self._add_void(tag, "")
            else:
                self._end_paragraph()
        elif tag == "li":
            if at[tag][-1] > max(at["ol"][-1], at["ul"][-1]):
                self._close_in_scope(tag)
        elif tag in _HEADINGS:
            self._close_in_scope(max(_HEADINGS, key=lambda name: at[name][-1]))
        elif tag == "form" and not at["template"][-1]:
            form, self._form = self._form, None
            if form and form.index > at["#scope"][-1]:
                self._end_form(form)
        elif tag == "template":
            self._close(at[tag][-1])
        elif (tag in _SPECIAL and tag != "noscript") or tag == "dialog":
            self._close_in_scope(tag)
        elif tag in at and at[tag][-1] >= at["#special"][-1]:
            self._close(at[tag][-1])

    def close(self) -> None:
        """End all elements."""
        self._close(1)

    def _push(self, tag: str, source: str) -> Element:
        element = Element(tag, source, self._own(tag, source))
        self._number += 1
        element.number = self._number
        if len(self._open) < _MAX_DEPTH:
            self._place(element)
            if tag in _MARKERS:
                self._formatting.append(None)
        self._enter(element)
        return element

    def _place(self, element: Element) -> None:
        """Make an element the innermost one."""
        parent, tag = self._open[-1], element.tag
        above = parent.shown if tag in _OF_TABLES else parent.inside
        if move := self._known_moves.get(element.number):
            above, around = move
            above = min(above, *around[len(element.around) :], SHOWN)
        element.shown = _combined(above, element.own)
        between_cells = tag in _ROWS or tag == "table"
        element.inside = parent.inside if between_cells else element.shown
        self._add(element)

    def _add(self, element: Element) -> None:
        element.index = len(self._open)
        self._open.append(element)
        for kind in element.kinds:
            self._at[kind].append(element.index)

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
            if element.is_begun:
                self._leave(element)
            if element.tag in _MARKERS:
                while self._formatting and self._formatting.pop():
                    pass

    def _displace(self) -> Element:
        element = self._open.pop()
        element.index = 0
        for kind in element.kinds:
            self._at[kind].pop()
        return element

    def _leave(self, element: Element) -> None:
        if element.is_begun:
            element.is_begun = None
            self._writer.leave(element)

    def _close_in_scope(self, kind: str) -> None:
        if self._at[kind][-1] >= self._at["#scope"][-1]:
            self._close(self._at[kind][-1])

    def _end_last(self, tags: frozenset[str] | set[str]) -> None:
        if self._open[-1].tag in tags:
            self._close(len(self._open) - 1)

    def _end_paragraph(self) -> None:
        at = self._at
        if (last := at["p"][-1]) > at["#scope"][-1] and last > at["button"][-1]:
            self._close(last)

    def _add_void(self, tag: str, source: str) -> None:
        if tag == "hr":
            self._end_paragraph()
        elif tag in _INLINE_VOID:
            if tag == "input":
                self._close_in_scope("select")
            self.shows_text()
        if self._open[-1].inside == SHOWN and self._own(tag, source) in {None, SHOWN}:
            self._writer.enter(Element(tag, source, None))

    def _is_between_cells(self) -> bool:
        at = self._at
        last = at["table"][-1]
        return last > 0 and all(last > at[name][-1] for name in ("td", "th", "caption", "template"))

    def _start_in_table(self, tag: str, source: str) -> None:
        """Begin a row, a cell or the like, in the table whose cells are the innermost ones."""
        at = self._at
        parent = at["table"][-1]
        if parent <= at["template"][-1]:
            return
        if tag in {"td", "th", "tr"}:
            parent = max(parent, at["tbody"][-1], at["tfoot"][-1], at["thead"][-1])
        if tag in {"td", "th"}:
            parent = max(parent, at["tr"][-1])
        self._close(parent + 1)
        if tag in {"td", "th", "tr"} and self._open[-1].tag == "table":
            self._push("tbody", "")
        if tag in {"td", "th"} and self._open[-1].tag != "tr":
            self._push("tr", "")
        if tag not in {"col", "colgroup"}:
            self._push(tag, source)

    def _leaves_foreign(self, tag: str, source: str) -> bool:
        """Return whether a start tag in SVG or MathML is of HTML; it ends them then."""
        at = self._at
        if tag in _NOT_FOREIGN or (
            tag == "font" and not attributes_of(source).keys().isdisjoint({"color", "face", "size"})
        ):
            while at["#foreign"][-1] > at["#point"][-1]:
                self._close(at["#foreign"][-1])
            return True
        if not source.endswith("/"):
            self._push(tag if tag in _FOREIGN | _POINTS else f":{tag}", "")
        return False

    def _since_marker(self) -> Iterator[tuple[int, Element]]:
        """Yield the formatting elements that may be opened again, the last first."""
        for index in range(len(self._formatting) - 1, -1, -1):
            if (element := self._formatting[index]) is None:
                return
            yield index, element

    def _format(self, tag: str, source: str) -> None:
        if tag in {"a", "nobr"}:
            self._end_formatting(tag, in_scope=tag == "nobr")
        self.shows_text()
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

    def _open_again(self) -> None:
        """Open the formatting elements that ended with their parents (13.2.4.3)."""
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
                elif element.index > self._at["#scope"][-1]:
                    del self._formatting[index]
                    self._take_out(element)
                elif not in_scope:
                    del self._formatting[index]
                    self._remove(element)
                return True
        return False

    def _take_out(self, element: Element) -> None:
        """End an element without the blocks in it, and for formatting with what is not in them."""
        last = self._at["#special"][-1]
        if last <= element.index:
            self._close(element.index)
            return
        first, blocks = element.index, 0
        inner = [self._displace() for _ in range(len(self._open) - first)]
        self._leave(inner.pop())
        for index, one in enumerate(reversed(inner), first + 1):
            is_block = one.tag in _SPECIAL
            if not (is_block or element.index or (index < last and one.tag in _FORMATTING)):
                self._leave(one)
                continue
            one.around += (SHOWN if element.own is None else element.own,)
            above = self._open[-1].inside
            if is_block and one.shown != SHOWN == _combined(above, one.own):
                self.moves[one.number] = above, one.around
            self._place(one)
            self._enter(one)
            blocks += is_block
            if is_block and blocks == _MAX_BLOCKS:
                self._place(element)
                self._formatting.append(element)

    def _end_form(self, form: Element) -> None:
        """End a form, but not the elements in it."""
        while self._open[-1].tag in _IMPLIED:
            self._close(len(self._open) - 1)
        self._remove(form)

    def _remove(self, element: Element) -> None:
        """End an element, but not the elements in it, which stay as they are."""
        inner = [self._displace() for _ in range(len(self._open) - element.index)]
        self._leave(inner.pop())
        for one in reversed(inner):
            self._add(one)

    def _own(self, tag: str, source: str) -> int | None:
        """Return what a tag says about its element: not displayed, invisible, shown or nothing."""
        if tag in _NEVER_SHOWN:
            return NOT_DISPLAYED
        if tag in {"datalist", "dialog"}:
            return _own_of(source, tag)
        if not source:
            return None
        if source not in self._hiding:
            lowered = source.lower()
            may_hide = any(word in lowered for word in _HIDING)
            self._hiding[source] = _own_of(source, tag) if may_hide else None
        return self._hiding[source]


def _combined(above: int, own: int | None) -> int:
    if own is None or above == NOT_DISPLAYED:
        return above
    return own


def _own_of(source: str, tag: str) -> int | None:
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
