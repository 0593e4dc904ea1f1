"""Create the plain-text part of an email from its HTML."""

import re
from dataclasses import dataclass
from html import escape
from typing import Final
from urllib.parse import unquote

from pillarbox.domain.character_references import unescape
from pillarbox.rendering.markup import Element, Moves, OpenElements, attributes_of, tags, url_of

#: Block elements, and the line ends before and after each. Two make an empty line.
_GAPS: Final = {
    **dict.fromkeys(("blockquote", "dl", "fieldset", "figure", "listing", "p", "pre"), 2),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), 2),
    **dict.fromkeys(("address", "article", "aside", "caption", "center", "dd", "details"), 1),
    **dict.fromkeys(("dialog", "div", "dt", "figcaption", "footer", "form", "header"), 1),
    **dict.fromkeys(("hgroup", "legend", "main", "nav", "optgroup", "option", "search"), 1),
    **dict.fromkeys(("section", "summary", "table", "tbody", "tfoot", "thead", "tr"), 1),
}
_PRE: Final = frozenset({"listing", "pre"})
_LISTS: Final = frozenset({"dir", "menu", "ol", "ul"})
#: Deeper quotes and lists are not indented further.
_MAX_INDENTS: Final = 8
#: All indents together have at most this share of the HTML's length. Otherwise two characters
#: of HTML could make a line of fifty.
_INDENTS_SHARE: Final = 2
#: In octets, and relative to the HTML.
MAX_GROWTH: Final = 2
#: White space of HTML and no-break spaces, unless it is a single space already. Authors
#: use other spaces on purpose.
_SPACE: Final = re.compile("[ \t\r\n\f\v\u00a0]{2,}|[\t\r\n\f\v\u00a0]")
#: Invisible characters, which only mark line breaks or separate a preheader.
_INVISIBLE: Final = dict.fromkeys(map(ord, "\u00ad\u034f\u200b\u2060\ufeff"))
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE | re.ASCII)
#: What runs or shows something in a browser, and what leads nowhere outside of this email.
_UNSHOWN_SCHEMES: Final = frozenset(
    {"about", "blob", "cid", "data", "file", "javascript", "mid", "vbscript"}
    | {"x-apple-data-detectors"}
)
#: The number of an item before the number of items in its list is known.
_RELATIVE: Final = re.compile("\0([0-9]+) (-?[0-9]+)\0")
#: A number as browsers read it. Larger ones count as none.
_NUMBER: Final = re.compile(r"[ \t\n\f\r]*([+-]?[0-9]{1,9})(?![0-9])")


def text_from_html(html: str) -> str:
    """Return plain text with the content of the HTML.

    Blocks are separate lines. A link has its URL: `label: url` if it is alone on its
    line, otherwise `label (url)`. List items have marks, the cells of a row are on
    one line, and an image becomes its alternative text. Hidden elements, and those
    with `data-text="skip"`, are left out. Lines are not wrapped. The function never
    raises, and takes time linear in the length. The text has at most twice the octets of the
    HTML. Only HTML that was made for it, such as a URL of a million "<", exceeds that and
    loses its end.
    """
    lines = html.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    text, moves = _read(lines, {})
    if moves:
        text, _ = _read(lines, moves)
    return _cut(text, MAX_GROWTH * len(html.encode("utf-8", "surrogatepass")))


def _read(html: str, known_moves: Moves) -> tuple[str, Moves]:
    """Return the text, and which blocks were moved to where they are shown after they were read."""
    writer = _TextWriter(len(html) // _INDENTS_SHARE)
    elements = OpenElements(writer, known_moves)
    for text, end, name, source in tags(html):
        if text and elements.begin_text():
            writer.write(text)
        if not name:
            continue
        if end:
            elements.end(name.lower())
        else:
            elements.start(name.lower(), source or "")
    elements.close()
    return writer.finish(), elements.moves


def _cut(text: str, octets: int) -> str:
    """Return as many whole lines as fit, or a part of the first line if it does not fit."""
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= octets:
        return text
    start = encoded[:octets].decode("utf-8", "ignore")
    return start.rpartition("\n")[0].rstrip() or start.rstrip()


@dataclass(slots=True)
class _OpenLink:
    """The URL of a link, and the line and piece at which it starts."""

    url: str
    line: int
    piece: int


@dataclass(slots=True)
class _List:
    """A list: the number of its next item, and what is added for the one after it.

    If a list counts down to 1, its items have the place of its total until that is known.
    """

    step: int = 0
    number: int = 0
    items: int = 0
    #: The place of its total among those of all such lists.
    total: int | None = None
    is_relative: bool = False


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
        #: The open lists, and the number of items in each list that counts down to 1.
        self._lists: list[_List] = []
        self._totals: list[int] = []
        #: The number of open <pre>, and whether one has just begun.
        self._pre = 0
        self._starts_pre = False
        #: Whether this is the start of a cell, whose first block does not start a new line.
        self._in_cell = False
        #: The text between the current cell and the next.
        self._cell_separator = "  "

    def enter(self, element: Element) -> None:  # noqa: C901, PLR0912  one case for each kind
        """Begin an element that is shown."""
        tag, source = element.tag, element.source
        self._starts_pre = False
        match tag:
            case "a":
                if url := _shown_url(attributes_of(source).get("href", "")):
                    element.note = _OpenLink(url, self._line, len(self._pieces))
            case "td" | "th":
                if self._pieces:
                    if self._pieces[-1] == " ":
                        self._pieces.pop()
                    self._pieces.append(self._cell_separator)
                self._cell_separator = (
                    ": " if tag == "th" and "scope" in source and "row" in source else "  "
                )
                self._in_cell = True
            case "table":
                self._separate(1 if "presentation" in source else 2)
            case "br":
                self._break()
            case "hr":
                self._separate(2)
                self._put("---")
                self._separate(2)
            case "img" | "image":
                self.write(escape(attributes_of(source).get("alt", "")))
            case "li":
                self._in_cell = False
                self._separate(1)
                self._start_item(source)
            case _ if tag in _LISTS:
                self._start_list(tag, source)
            case _ if gap := _GAPS.get(tag):
                if tag == "blockquote":
                    self._in_cell = False
                self._separate(gap)
                if tag == "blockquote":
                    self._margins.append("> ")
                elif tag in _PRE:
                    self._pre += 1
                    self._starts_pre = True

    def leave(self, element: Element) -> None:
        tag = element.tag
        if tag == "a":
            if isinstance(element.note, _OpenLink):
                self._end_link(element.note)
        elif tag == "li":
            self._separate(1)
            self._mark = ""
            self._margins.pop()
        elif tag in _LISTS:
            self._end_list()
        elif gap := _GAPS.get(tag):
            self._separate(gap)
            if tag == "blockquote":
                self._margins.pop()
            elif tag in _PRE:
                self._pre -= 1

    def write(self, text: str) -> None:
        """Add text of the HTML. Collapse white space, except in <pre>."""
        if not self._pieces and not self._pre and text.isspace():
            return
        if "&" in text:
            text = unescape(text)
        if not text.isascii():
            text = text.translate(_INVISIBLE)
        if self._pre:
            first, *rest = text.removeprefix("\n" if self._starts_pre else "").split("\n")
            self._starts_pre = False
            self._put(first)
            for line in rest:
                self._break(keep=True)
                self._put(line)
            return
        # Most text has nothing to collapse, and this check is faster than the substitution.
        if "  " in text or not text.isprintable():
            text = _SPACE.sub(" ", text)
        if text[:1] == " " and (not self._pieces or str(self._pieces[-1])[-1] == " "):
            text = text[1:]
        self._put(text)

    def finish(self) -> str:
        """Return the text. No line ends in a space, and the first and last line are not empty."""
        self._end_line()
        text = "\n".join(self._lines).strip("\n")
        if self._totals:
            text = _RELATIVE.sub(lambda item: str(self._totals[int(item[1])] + int(item[2])), text)
        return text

    def _separate(self, gap: int) -> None:
        """End the line at the edge of a block. Write `gap` line ends before the next text."""
        if self._pieces:
            if self._in_cell:
                return
            self._end_line()
        # The first block of an item starts on the line of the item's mark.
        if gap > self._gap and not self._mark:
            self._gap = gap

    def _start_list(self, tag: str, source: str) -> None:
        # Within another list there is no empty line.
        self._separate(1 if self._lists else 2)
        new = _List()
        if tag == "ol":
            attributes = attributes_of(source)
            start = _integer(attributes.get("start", ""))
            new = _List(-1 if "reversed" in attributes else 1, 1 if start is None else start)
            if new.step < 0 and start is None:
                new = _List(-1, 1, total=len(self._totals), is_relative=True)
                self._totals.append(0)
        self._lists.append(new)

    def _end_list(self) -> None:
        ended = self._lists.pop()
        if ended.total is not None:
            self._totals[ended.total] = ended.items
        self._separate(1 if self._lists else 2)

    def _start_item(self, source: str) -> None:
        parent = self._lists[-1] if self._lists else _List()
        self._mark = "- "
        if parent.step:
            if source and (value := _integer(attributes_of(source).get("value", ""))) is not None:
                parent.number, parent.is_relative = value, False
            self._mark = f"{parent.number}. "
            if not parent.is_relative:
                parent.number += parent.step
        self._margins.append(" " * len(self._mark))
        if parent.is_relative:
            self._mark = f"\0{parent.total} {-parent.items}\0. "
        parent.items += 1

    def _end_link(self, link: _OpenLink) -> None:
        if link.line != self._line:
            # The link contains blocks, so its URL follows on a separate line.
            self._separate(1)
            self._put(link.url)
            self._separate(1)
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

    def _break(self, *, keep: bool = False) -> None:
        """End the line at a <br> or a line end in <pre>.

        A second one leaves an empty line. Further ones leave more if `keep` says so.
        """
        started = bool(self._pieces)
        if self._end_line():
            self._gap = 1
        else:
            self._gap = self._gap + 1 if keep and not started else 2

    def _end_line(self) -> bool:
        """Write the current line, and return whether it had any text."""
        pieces, self._pieces, self._last_link = self._pieces, [], -1
        text = "".join(map(str, pieces)).rstrip()
        if not text:
            return False
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
        return True


def _integer(text: str) -> int | None:
    found = _NUMBER.match(text)
    return int(found[1]) if found else None


def _shown_url(href: str) -> str:
    """Return the URL or address of a link, or "" if a reader of plain text cannot follow it."""
    url = url_of(href)
    found = _SCHEME.match(url)
    scheme = found[1].lower() if found else ""
    if scheme == "mailto":
        return " ".join(unquote(url[7:].partition("?")[0]).split())
    return url if scheme and scheme not in _UNSHOWN_SCHEMES else ""


def _short_form(text: str) -> str:
    """Return a label or URL without the parts that people leave out when they write it."""
    text = text.lower().removeprefix("https://").removeprefix("http://").removeprefix("tel:")
    return text.rstrip("/")
