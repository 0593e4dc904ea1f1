"""The plain-text part of a mail, made from its HTML."""

import re
from dataclasses import dataclass
from html import escape, unescape
from typing import Final
from urllib.parse import unquote

from pillarbox.rendering.markup import attributes_of, tags

#: Never shown, or of no use without its looks.
_SKIPPED: Final = frozenset({"audio", "canvas", "map", "math", "object", "select", "svg", "video"})
_VOID: Final = frozenset({"br", "hr", "img", "input", "wbr"})
#: Blocks, and the line ends around each: 2 make an empty line.
_GAPS: Final = {
    **dict.fromkeys(("blockquote", "dl", "fieldset", "figure", "ol", "p", "pre", "ul"), 2),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), 2),
    **dict.fromkeys(("address", "article", "aside", "body", "caption", "center", "dd"), 1),
    **dict.fromkeys(("details", "div", "dt", "figcaption", "footer", "form", "header"), 1),
    **dict.fromkeys(("html", "legend", "main", "nav", "section", "summary", "table"), 1),
    **dict.fromkeys(("tbody", "tfoot", "thead", "tr"), 1),
}
#: Elements whose end needs to know of their start.
_NESTED: Final = frozenset({"a", "blockquote", "li", "ol", "pre", "ul"})
#: Elements that change how text is written without being plain blocks.
_SPECIAL: Final = _NESTED | {"br", "hr", "img", "table", "td", "th"}
#: Quotes and lists within each other are set in this far, so that text stays
#: about as long as its HTML.
_DEEPEST: Final = 8
_HIDDEN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
#: White space of HTML and the no-break space, where it is not one space already;
#: other spaces are there for a reason.
_SPACE: Final = re.compile("[ \t\r\n\f\v\u00a0]{2,}|[\t\r\n\f\v\u00a0]")
#: Characters that only tell where a line may be broken, or keep a preheader apart.
_UNSEEN: Final = dict.fromkeys(map(ord, "\u00ad\u034f\u200b\u2060\ufeff"))


def text_from_html(html: str) -> str:  # noqa: C901, PLR0912  one loop: calls are its cost
    """Plain text that says what the HTML says.

    Blocks stand apart, links carry their address (`label: url` where the link is
    a line of its own, else `label (url)`), lists have marks, cells of a row stand
    in one line, images are their alternative text. Left out is what no reader
    sees, and what `data-text="skip"` marks as of no use in plain text. Lines are
    not wrapped. Never raises, and takes time linear in the length.
    """
    page = _TextWriter()
    skipped, depth = "", 0
    for text, end, name, source in tags(html.replace("\0", "")):
        if text and not skipped:
            page.write(text)
        if not name:
            continue
        tag = name.lower()
        if skipped:
            if tag == skipped:
                # A paragraph holds no paragraph: the next one's start is its end.
                depth += -1 if end or tag == "p" else 1
                skipped = skipped if depth else ""
            if skipped or end:
                continue
        if end:
            if tag in _NESTED:
                page.leave(tag)
            elif tag in _GAPS:
                page.part(_GAPS[tag])
        elif tag in _SKIPPED or (
            # Most tags have none of these words: asked here, since a call costs more.
            source
            and ("none" in source or "hidden" in source or "data-text" in source)
            and _is_hidden(source)
        ):
            if tag not in _VOID:
                skipped, depth = tag, 1
        elif tag in _SPECIAL:
            page.enter(tag, source or "")
        elif tag in _GAPS:
            page.part(_GAPS[tag])
    return page.finish()


def _is_hidden(source: str) -> bool:
    attributes = attributes_of(source)
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or attributes.get("data-text") == "skip"
        or _HIDDEN.search(attributes.get("style", "")) is not None
    )


@dataclass(slots=True)
class _Element:
    """An element that has begun, with what its end needs to know."""

    tag: str
    #: Of a link that is to be shown: its address, and the line and piece it begins at.
    url: str = ""
    line: int = 0
    piece: int = 0


@dataclass(frozen=True, slots=True)
class _Link:
    """A link within one line, written out when it is known what else is there."""

    label: str
    url: str

    def __str__(self) -> str:
        return f"{self.label} ({self.url})"

    def alone(self) -> str:
        return f"{self.label}{':' if self.label[-1].isalnum() else ''} {self.url}"


class _TextWriter:
    """The text so far: finished lines, and the pieces of the one being written."""

    def __init__(self) -> None:
        self._open: list[_Element] = []
        #: How many of each tag are open, so that a stray end tag costs nothing.
        self._count: dict[str, int] = {}
        self._lines: list[str] = []
        self._pieces: list[str | _Link] = []
        #: How many lines have been written to their end.
        self._line = 0
        #: Line ends owed before the next text: 2 make an empty line.
        self._owed = 0
        #: What lines begin with, outermost first, and what replaces the innermost once.
        self._margins: list[str] = []
        self._mark = ""
        #: Of each list around: the next number, or 0 where there are bullets.
        self._numbers: list[int] = []
        #: At the start of a cell: its first block does not begin a line of its own.
        self._in_cell = False
        #: What goes between the cell that is written and the next.
        self._between = "  "

    def enter(self, tag: str, source: str) -> None:
        """Begin an element that is more than a plain block."""
        match tag:
            case "td" | "th":
                if self._pieces:
                    self._pieces.append(self._between)
                self._between = (
                    ": " if tag == "th" and "scope" in source and "row" in source else "  "
                )
                self._in_cell = True
            case "table":
                self.part(1 if "presentation" in source else 2)
            case "br":
                self._break()
            case "hr":
                self.part(2)
                self._put("---")
                self.part(2)
            case "img":
                self.write(escape(attributes_of(source).get("alt", "")))
            case _:
                self._enter_nested(tag, source)

    def leave(self, tag: str) -> None:
        """End the nearest element of this name, and with it what is open in it."""
        if not self._count.get(tag):
            return
        while True:
            element = self._open.pop()
            self._count[element.tag] -= 1
            self._close(element)
            if element.tag == tag:
                return

    def write(self, text: str) -> None:
        """Add text as it stands in the HTML: white space folded, save in <pre>."""
        if not self._pieces and text.isspace() and not self._count.get("pre"):
            return
        if "&" in text:
            text = unescape(text)
        if not text.isascii():
            text = text.translate(_UNSEEN)
        if self._count.get("pre"):
            first, *others = text.replace("\r\n", "\n").split("\n")
            self._put(first)
            for other in others:
                self._break()
                self._put(other)
            return
        # Most text needs no folding, and to see that is quicker than to do it.
        if "  " in text or not text.isprintable():
            text = _SPACE.sub(" ", text)
        if text[:1] == " " and (not self._pieces or str(self._pieces[-1])[-1] == " "):
            text = text[1:]
        self._put(text)

    def part(self, owed: int) -> None:
        """A block begins or ends here: so many line ends are owed before the next text."""
        if self._pieces:
            if self._in_cell:
                return
            self._end_line()
        # The first block of an item begins beside its mark.
        if owed > self._owed and not self._mark:
            self._owed = owed

    def finish(self) -> str:
        """The whole text; no line ends in a space, none at either end is empty."""
        while self._open:
            self.leave(self._open[-1].tag)
        self._end_line()
        return "\n".join(self._lines).strip("\n")

    def _enter_nested(self, tag: str, source: str) -> None:
        element = _Element(tag)
        match tag:
            case "a":
                self._end_open(tag)
                url = _address(attributes_of(source).get("href", ""))
                element = _Element(tag, url, self._line, len(self._pieces))
            case "li":
                self._end_open(tag)
                self.part(1)
                self._begin_item()
            case "ul" | "ol":
                # Within another list it stands close to its item.
                self.part(1 if self._numbers else 2)
                self._numbers.append(1 if tag == "ol" else 0)
            case "blockquote":
                self.part(2)
                self._margins.append("> ")
            case _:
                self.part(2)
        self._open.append(element)
        self._count[tag] = self._count.get(tag, 0) + 1

    def _end_open(self, tag: str) -> None:
        """End what authors may leave open: a link before a link, an item before an item."""
        if self._open and self._open[-1].tag == "a":
            self.leave("a")
        if self._open and self._open[-1].tag == tag:
            self.leave(tag)

    def _close(self, element: _Element) -> None:
        match element.tag:
            case "a":
                if element.url:
                    self._end_link(element)
            case "li":
                self.part(1)
                self._mark = ""
                self._margins.pop()
            case "ul" | "ol":
                self._numbers.pop()
                self.part(1 if self._numbers else 2)
            case "blockquote":
                self.part(2)
                self._margins.pop()
            case _:
                self.part(2)

    def _begin_item(self) -> None:
        number = self._numbers[-1] if self._numbers else 0
        self._mark = f"{number}. " if number else "- "
        self._margins.append(" " * len(self._mark))
        if number:
            self._numbers[-1] += 1

    def _end_link(self, link: _Element) -> None:
        if link.line != self._line:
            # Blocks within the link: its address follows them on a line of its own.
            self.part(1)
            self._put(link.url)
            self.part(1)
            return
        label = "".join(map(str, self._pieces[link.piece :])).strip()
        del self._pieces[link.piece :]
        if not label:
            self._put(link.url)
        elif _bare(label) == _bare(link.url):
            self._put(label)
        else:
            self._put(_Link(label, link.url))

    def _put(self, piece: str | _Link) -> None:
        if not piece:
            return
        if not self._pieces and self._owed and self._lines:
            self._lines.extend([""] * (self._owed - 1))
        if not self._pieces:
            self._owed = 0
        self._in_cell = False
        self._pieces.append(piece)

    def _break(self) -> None:
        """<br>, or a line end in <pre>: a second one in a row leaves an empty line."""
        self._owed = 1 if self._pieces else 2
        self._end_line()

    def _end_line(self) -> None:
        pieces, self._pieces = self._pieces, []
        text = "".join(map(str, pieces)).rstrip()
        if not text:
            return
        self._line += 1
        links = [piece for piece in pieces if isinstance(piece, _Link)]
        if len(links) == 1 and text.strip() == str(links[0]):
            text = links[0].alone()
        margin = "".join(self._margins[:_DEEPEST])
        if self._mark:
            margin = "".join(self._margins[: min(len(self._margins) - 1, _DEEPEST)]) + self._mark
            self._mark = ""
        self._lines.append(margin + text)


def _address(href: str) -> str:
    """What a link opens, if that is something to follow from plain text."""
    url = "".join(href.split()).replace("<", "%3C").replace(">", "%3E").translate(_UNSEEN)
    scheme = url.partition(":")[0].lower()
    if scheme == "mailto":
        return unquote(url[7:].partition("?")[0])
    return url if scheme in {"http", "https", "tel"} else ""


def _bare(text: str) -> str:
    """A label or an address without what people leave out when they write one."""
    text = text.lower().removeprefix("https://").removeprefix("http://").removeprefix("tel:")
    return text.rstrip("/")
