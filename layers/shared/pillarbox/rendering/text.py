"""Create the plain-text part of an email from its HTML."""

import re
from dataclasses import dataclass
from html import escape
from typing import Final
from urllib.parse import unquote

from pillarbox.rendering.markup import attributes_of, tags, unescape

#: Elements that are invisible, or useless without their appearance.
_SKIPPED: Final = frozenset({"audio", "canvas", "map", "math", "object", "select", "svg", "video"})
_VOID: Final = frozenset({"br", "hr", "img", "input", "wbr"})
#: Block elements, and the line ends before and after each. Two make an empty line.
_GAPS: Final = {
    **dict.fromkeys(("blockquote", "dl", "fieldset", "figure", "ol", "p", "pre", "ul"), 2),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), 2),
    **dict.fromkeys(("address", "article", "aside", "body", "caption", "center", "dd"), 1),
    **dict.fromkeys(("details", "div", "dt", "figcaption", "footer", "form", "header"), 1),
    **dict.fromkeys(("html", "legend", "main", "nav", "section", "summary", "table"), 1),
    **dict.fromkeys(("tbody", "tfoot", "thead", "tr"), 1),
}
#: Elements whose end needs data from their start.
_NESTED: Final = frozenset({"a", "blockquote", "li", "ol", "pre", "ul"})
#: Elements that change the text in another way than plain blocks.
_SPECIAL: Final = _NESTED | {"br", "hr", "img", "table", "td", "th"}
#: Deeper quotes and lists are not indented further.
_MAX_INDENTS: Final = 8
#: All indents together have at most this share of the HTML's length. Otherwise two characters
#: of HTML could make a line of fifty.
_INDENTS_SHARE: Final = 2
#: In octets, and relative to the HTML.
MAX_GROWTH: Final = 2
_HIDDEN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
#: White space of HTML and no-break spaces, unless it is a single space already. Authors
#: use other spaces on purpose.
_SPACE: Final = re.compile("[ \t\r\n\f\v\u00a0]{2,}|[\t\r\n\f\v\u00a0]")
#: Invisible characters, which only mark line breaks or separate a preheader.
_INVISIBLE: Final = dict.fromkeys(map(ord, "\u00ad\u034f\u200b\u2060\ufeff"))


def text_from_html(html: str) -> str:  # noqa: C901, PLR0912  one loop, because calls cost most of its time
    """Return plain text with the content of the HTML.

    Blocks are separate lines. A link has its URL: `label: url` if it is alone on its
    line, otherwise `label (url)`. List items have marks, the cells of a row are on
    one line, and an image becomes its alternative text. Hidden elements, and those
    with `data-text="skip"`, are left out. Lines are not wrapped. The function never
    raises, and takes time linear in the length. The text has at most twice the octets of the
    HTML. Only HTML that was made for it, such as a URL of a million "<", exceeds that and
    loses its end.
    """
    writer = _TextWriter(len(html) // _INDENTS_SHARE)
    skipped, depth = "", 0
    for text, end, name, source in tags(html.replace("\0", "")):
        if text and not skipped:
            writer.write(text)
        if not name:
            continue
        tag = name.lower()
        if skipped:
            if tag == skipped:
                # A paragraph cannot contain another one, so the start of the next ends it.
                depth += -1 if end or tag == "p" else 1
                skipped = skipped if depth else ""
            if skipped or end:
                continue
        if end:
            if tag in _NESTED:
                writer.leave(tag)
            elif tag in _GAPS:
                writer.separate(_GAPS[tag])
        elif tag in _SKIPPED or (
            # Most tags have none of these words, and a search here is faster than a call.
            source
            and ("none" in source or "hidden" in source or "data-text" in source)
            and _is_hidden(source)
        ):
            if tag not in _VOID:
                skipped, depth = tag, 1
        elif tag in _SPECIAL:
            writer.enter(tag, source or "")
        elif tag in _GAPS:
            writer.separate(_GAPS[tag])
    return _cut(writer.finish(), MAX_GROWTH * len(html.encode("utf-8", "surrogatepass")))


def _cut(text: str, octets: int) -> str:
    """Return as many whole lines as fit, or a part of the first line if it does not fit."""
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= octets:
        return text
    start = encoded[:octets].decode("utf-8", "ignore")
    return start.rpartition("\n")[0].rstrip() or start.rstrip()


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
    """An open element, with the data that its end needs."""

    tag: str
    #: For a link with a URL to show: the URL, and the line and piece at which it starts.
    url: str = ""
    line: int = 0
    piece: int = 0


@dataclass(frozen=True, slots=True)
class _Link:
    """A link within one line. Its form depends on the rest of that line."""

    label: str
    url: str

    def __str__(self) -> str:
        return f"{self.label} ({self.url})"

    def alone(self) -> str:
        return f"{self.label}{':' if self.label[-1].isalnum() else ''} {self.url}"


class _TextWriter:
    """Writes the text: has the finished lines, and the pieces of the current line."""

    def __init__(self, room: int) -> None:
        """Start an empty text that has room for this many characters of indents."""
        self._room = room
        self._open: list[_Element] = []
        #: The number of open elements of each tag, so that an unmatched end tag costs no time.
        self._open_count: dict[str, int] = {}
        self._lines: list[str] = []
        self._pieces: list[str | _Link] = []
        #: The position of the last link among the pieces.
        self._last_link = -1
        #: The number of the current line, not counting empty lines.
        self._line = 0
        #: Line ends to write before the next text. Two make an empty line.
        self._gap = 0
        #: The text at the start of each line, outermost first.
        self._margins: list[str] = []
        #: The mark of a list item. It replaces the innermost margin on the item's first line.
        self._mark = ""
        #: For each open list: the next number, or 0 for bullets.
        self._numbers: list[int] = []
        #: Whether this is the start of a cell, whose first block does not start a new line.
        self._in_cell = False
        #: The text between the current cell and the next.
        self._cell_separator = "  "

    def enter(self, tag: str, source: str) -> None:
        """Start an element that is more than a plain block."""
        match tag:
            case "td" | "th":
                if self._pieces:
                    self._pieces.append(self._cell_separator)
                self._cell_separator = (
                    ": " if tag == "th" and "scope" in source and "row" in source else "  "
                )
                self._in_cell = True
            case "table":
                self.separate(1 if "presentation" in source else 2)
            case "br":
                self._break()
            case "hr":
                self.separate(2)
                self._put("---")
                self.separate(2)
            case "img":
                self.write(escape(attributes_of(source).get("alt", "")))
            case _:
                self._enter_nested(tag, source)

    def leave(self, tag: str) -> None:
        """End the nearest open element with this tag, and all elements in it."""
        if not self._open_count.get(tag):
            return
        while True:
            element = self._open.pop()
            self._open_count[element.tag] -= 1
            self._close(element)
            if element.tag == tag:
                return

    def write(self, text: str) -> None:
        """Add text of the HTML. Collapse white space, except in <pre>."""
        if not self._pieces and text.isspace() and not self._open_count.get("pre"):
            return
        if "&" in text:
            text = unescape(text)
        if not text.isascii():
            text = text.translate(_INVISIBLE)
        if self._open_count.get("pre"):
            first, *rest = text.replace("\r\n", "\n").split("\n")
            self._put(first)
            for line in rest:
                self._break()
                self._put(line)
            return
        # Most text has nothing to collapse, and this check is faster than the substitution.
        if "  " in text or not text.isprintable():
            text = _SPACE.sub(" ", text)
        if text[:1] == " " and (not self._pieces or str(self._pieces[-1])[-1] == " "):
            text = text[1:]
        self._put(text)

    def separate(self, gap: int) -> None:
        """End the line at the edge of a block. Write `gap` line ends before the next text."""
        if self._pieces:
            if self._in_cell:
                return
            self._end_line()
        # The first block of an item starts on the line of the item's mark.
        if gap > self._gap and not self._mark:
            self._gap = gap

    def finish(self) -> str:
        """Return the text. No line ends in a space, and the first and last line are not empty."""
        while self._open:
            self.leave(self._open[-1].tag)
        self._end_line()
        return "\n".join(self._lines).strip("\n")

    def _enter_nested(self, tag: str, source: str) -> None:
        element = _Element(tag)
        match tag:
            case "a":
                self._end_open(tag)
                url = _shown_url(attributes_of(source).get("href", ""))
                element = _Element(tag, url, self._line, len(self._pieces))
            case "li":
                self._end_open(tag)
                self.separate(1)
                self._start_item()
            case "ul" | "ol":
                # Within another list there is no empty line.
                self.separate(1 if self._numbers else 2)
                self._numbers.append(1 if tag == "ol" else 0)
            case "blockquote":
                self.separate(2)
                self._margins.append("> ")
            case _:
                self.separate(2)
        self._open.append(element)
        self._open_count[tag] = self._open_count.get(tag, 0) + 1

    def _end_open(self, tag: str) -> None:
        """End an element without an end tag: a link before a link, or an item before an item."""
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
                self.separate(1)
                self._mark = ""
                self._margins.pop()
            case "ul" | "ol":
                self._numbers.pop()
                self.separate(1 if self._numbers else 2)
            case "blockquote":
                self.separate(2)
                self._margins.pop()
            case _:
                self.separate(2)

    def _start_item(self) -> None:
        number = self._numbers[-1] if self._numbers else 0
        self._mark = f"{number}. " if number else "- "
        self._margins.append(" " * len(self._mark))
        if number:
            self._numbers[-1] += 1

    def _end_link(self, link: _Element) -> None:
        if link.line != self._line:
            # The link contains blocks, so its URL follows on a separate line.
            self.separate(1)
            self._put(link.url)
            self.separate(1)
            return
        if self._last_link >= link.piece:
            # To join the pieces around each of many nested links would take quadratic time.
            gap = "" if str(self._pieces[-1])[-1] == " " else " "
            self._put(f"{gap}({link.url})")
            return
        label = "".join(map(str, self._pieces[link.piece :])).strip()
        del self._pieces[link.piece :]
        if not label:
            self._put(link.url)
        elif _short_form(label) == _short_form(link.url):
            self._put(label)
        else:
            self._last_link = len(self._pieces)
            self._put(_Link(label, link.url))

    def _put(self, piece: str | _Link) -> None:
        if not piece:
            return
        if not self._pieces and self._gap and self._lines:
            self._lines.extend([""] * (self._gap - 1))
        if not self._pieces:
            self._gap = 0
        self._in_cell = False
        self._pieces.append(piece)

    def _break(self) -> None:
        """End the line at a <br> or a line end in <pre>. A second one leaves an empty line."""
        self._gap = 1 if self._pieces else 2
        self._end_line()

    def _end_line(self) -> None:
        pieces, self._pieces, self._last_link = self._pieces, [], -1
        text = "".join(map(str, pieces)).rstrip()
        if not text:
            return
        self._line += 1
        links = [piece for piece in pieces if isinstance(piece, _Link)]
        if len(links) == 1 and text.strip() == str(links[0]):
            text = links[0].alone()
        margins = len(self._margins) - 1 if self._mark else len(self._margins)
        margin = "".join(self._margins[: min(margins, _MAX_INDENTS)])
        self._room -= len(margin)
        if self._room < 0:
            margin = ""
        self._lines.append(margin + self._mark + text)
        self._mark = ""


def _shown_url(href: str) -> str:
    """Return the URL or address of a link, or "" if a reader of plain text cannot follow it."""
    url = "".join(href.split()).replace("<", "%3C").replace(">", "%3E").translate(_INVISIBLE)
    scheme = url.partition(":")[0].lower()
    if scheme == "mailto":
        return unquote(url[7:].partition("?")[0])
    return url if scheme in {"http", "https", "tel"} else ""


def _short_form(text: str) -> str:
    """Return a label or URL without the parts that people leave out when they write it."""
    text = text.lower().removeprefix("https://").removeprefix("http://").removeprefix("tel:")
    return text.rstrip("/")
