"""The plain-text part of a mail, made from its HTML."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from pillarbox.rendering.markup import RAW, attributes_of, tokens

#: Never shown, or of no use without its looks.
_SKIPPED: Final = RAW | frozenset(
    [
        "audio",
        "canvas",
        "head",
        "map",
        "math",
        "noscript",
        "object",
        "select",
        "svg",
        "template",
        "video",
    ]
)
_VOID: Final = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
    ]
)
#: A line break before and after, and an empty line.
_APART: Final = frozenset(
    [
        "blockquote",
        "dl",
        "fieldset",
        "figure",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "ol",
        "p",
        "pre",
        "table",
        "ul",
    ]
)
_LINES: Final = frozenset(
    [
        "address",
        "article",
        "aside",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "div",
        "dt",
        "figcaption",
        "footer",
        "form",
        "header",
        "html",
        "legend",
        "li",
        "main",
        "nav",
        "section",
        "summary",
        "tbody",
        "tfoot",
        "thead",
        "tr",
    ]
)
#: What the start of an element ends, where authors may leave the end tag out
#: (HTML standard, 13.1.2.4), and what such an end never reaches beyond.
_ENDS: Final = dict.fromkeys(_APART | _LINES, ("p",)) | {
    "a": ("a",),
    "li": ("li",),
    "td": ("td", "th"),
    "th": ("td", "th"),
    "tr": ("tr",),
}
_SCOPES: Final = frozenset({"table", "ul", "ol"})
#: Quotes and lists within each other are set in this far, so that text stays
#: about as long as its HTML.
_DEEPEST: Final = 8
_HIDDEN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
#: White space of HTML and the no-break space; other spaces are there for a reason.
_SPACE: Final = re.compile("[ \t\r\n\f\v\u00a0]+")
#: Characters that only tell where a line may be broken, or keep a preheader apart.
_UNSEEN: Final = dict.fromkeys(map(ord, "\0\u00ad\u034f\u200b\u2060\ufeff"))


def text_from_html(html: str) -> str:
    """Plain text that says what the HTML says.

    Blocks stand apart, links carry their address (`label: url` where the link is
    a line of its own, else `label (url)`), lists have marks, cells of a row stand
    in one line, images are their alternative text. Left out is what no reader
    sees, and what `data-text="skip"` marks as of no use in plain text. Lines are
    not wrapped. Never raises, and takes time linear in the length.
    """
    page = _Page()
    skipping, depth = "", 0
    for kind, value, source in tokens(html):
        if skipping:
            if kind == "start" and value == "body" and skipping == "head":
                skipping = ""
            elif kind != "text" and value == skipping:
                # A paragraph holds no paragraph: the next one's start is its end.
                depth += 1 if kind == "start" and value != "p" else -1
                skipping = skipping if depth else ""
            if skipping or kind == "end":
                continue
        if kind == "text":
            page.write(value)
        elif kind == "end":
            page.leave(value)
        elif value in _SKIPPED or _is_hidden(source):
            if value not in _VOID:
                skipping, depth = value, 1
        else:
            page.enter(value, source)
    return page.finish()


def _is_hidden(source: str) -> bool:
    if "none" not in source and "hidden" not in source and "data-text" not in source:
        return False
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
    #: Of a row's header cell: its text is followed by a colon.
    names_row: bool = False


@dataclass(frozen=True, slots=True)
class _Link:
    """A link within one line, written out when it is known what else is there."""

    label: str
    url: str

    def __str__(self) -> str:
        return f"{self.label} ({self.url})"

    def alone(self) -> str:
        return f"{self.label}{':' if self.label[-1].isalnum() else ''} {self.url}"


class _Page:
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

    def enter(self, tag: str, source: str) -> None:
        """Begin an element."""
        self._end_before(tag)
        if tag in _APART:
            layout = tag == "table" and "presentation" in source
            self._part(1 if layout else 2)
        elif tag in _LINES:
            self._part(1)
        element = self._begin(tag, source)
        if tag not in _VOID:
            self._open.append(element)
            self._count[tag] = self._count.get(tag, 0) + 1

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
        """Add text: white space folded, save in <pre>."""
        text = text.translate(_UNSEEN)
        if self._count.get("pre"):
            first, *others = text.replace("\r\n", "\n").split("\n")
            self._put(first)
            for other in others:
                self._break()
                self._put(other)
            return
        text = _SPACE.sub(" ", text)
        if text.startswith(" ") and (not self._pieces or str(self._pieces[-1]).endswith(" ")):
            text = text[1:]
        self._put(text)

    def finish(self) -> str:
        """The whole text; no line ends in a space, none at either end is empty."""
        while self._open:
            self.leave(self._open[-1].tag)
        self._end_line()
        return "\n".join(self._lines).strip("\n")

    def _begin(self, tag: str, source: str) -> _Element:
        match tag:
            case "a":
                url = _address(attributes_of(source).get("href", ""))
                return _Element(tag, url=url, line=self._line, piece=len(self._pieces))
            case "br":
                self._break()
            case "hr":
                self.write("---")
                self._part(2)
            case "img":
                self.write(attributes_of(source).get("alt", ""))
            case "blockquote":
                self._margins.append("> ")
            case "ul" | "ol":
                self._begin_list(1 if tag == "ol" else 0)
            case "li":
                self._begin_item()
            case "td" | "th":
                self._in_cell = True
                return _Element(tag, names_row=attributes_of(source).get("scope") == "row")
        return _Element(tag)

    def _begin_list(self, number: int) -> None:
        self._numbers.append(number)
        if len(self._numbers) > 1:
            # Within another list it stands close to its item.
            self._owed = min(self._owed, 1)

    def _end_before(self, tag: str) -> None:
        """End what the start of this element ends."""
        ended = _ENDS.get(tag, ())
        if not any(self._count.get(name) for name in ended):
            return
        # As deep as authors go; what is further out is left open.
        for element in self._open[:-9:-1]:
            if element.tag in ended:
                self.leave(element.tag)
                return
            if element.tag in _SCOPES:
                return

    def _close(self, element: _Element) -> None:
        match element.tag:
            case "a" if element.url:
                self._end_link(element)
            case "blockquote":
                self._part(2)
                self._margins.pop()
            case "ul" | "ol":
                self._part(1 if len(self._numbers) > 1 else 2)
                self._numbers.pop()
            case "li":
                self._part(1)
                self._mark = ""
                self._margins.pop()
            case "td" | "th" if self._pieces:
                self._pieces.append(": " if element.names_row else "  ")
            case tag if tag in _APART:
                self._part(2)
            case tag if tag in _LINES:
                self._part(1)

    def _begin_item(self) -> None:
        number = self._numbers[-1] if self._numbers else 0
        self._mark = f"{number}. " if number else "- "
        self._margins.append(" " * len(self._mark))
        if number:
            self._numbers[-1] += 1

    def _end_link(self, link: _Element) -> None:
        if link.line != self._line:
            # Blocks within the link: its address follows them on a line of its own.
            self._part(1)
            self._put(link.url)
            self._part(1)
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

    def _part(self, owed: int) -> None:
        """Blocks begin and end here."""
        if self._in_cell and self._pieces:
            return
        self._end_line()
        if self._mark:
            # The first block of an item begins beside its mark.
            return
        self._owed = max(self._owed, owed)

    def _break(self) -> None:
        """<br>, or a line end in <pre>: a second one in a row leaves an empty line."""
        self._owed = 1 if self._pieces else 2
        self._end_line()

    def _end_line(self) -> None:
        shown = [piece for piece in self._pieces if not isinstance(piece, str) or piece.strip()]
        self._pieces, pieces = [], self._pieces
        if not shown:
            return
        self._line += 1
        match shown:
            case [_Link() as link]:
                text = link.alone()
            case _:
                text = "".join(map(str, pieces)).rstrip()
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
