"""Find the elements of an HTML or MJML source with their places, in linear time.

Unlike `markup.py`, which prepares a text, this sees comments, style sheets and the head.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from typing import Final

from pillarbox.rendering.markup import ATTRIBUTES, COMMENT, RAW, attributes_of

#: Elements without an end tag (HTML standard, 13.1.2).
VOID: Final = frozenset(
    {
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta"),
        *("param", "source", "track", "wbr"),
    }
)
_PIECES: Final = re.compile(
    rf"""
    (?P<comment>{COMMENT})
    | <(?P<raw>{RAW})(?=[\s/>])
      (?P<raw_attributes>{ATTRIBUTES})(?:>|\Z)
      (?P<content>(?:[^<]++|<(?!/(?ai:(?P=raw))[\s/>]))*+)(?:</[^>]*+(?:>|\Z)|\Z)
    | <(?P<end>/?)(?P<name>[a-zA-Z][^\s/>]*+)(?P<attributes>{ATTRIBUTES})(?:>|\Z)
    | (?P<other><[!?/][^>]*+(?:>|\Z))
    """,
    re.VERBOSE,
)


class PieceKind(Enum):
    """What a piece of markup is."""

    COMMENT = auto()
    #: An element whose content is text: a style sheet, a script, a title.
    RAW = auto()
    START = auto()
    END = auto()
    OTHER = auto()


@dataclass(frozen=True)
class Piece:
    """A piece of markup, from `start` up to `stop`; `content` is the text of a raw element."""

    kind: PieceKind
    name: str
    source: str
    start: int
    stop: int
    content: str = ""
    content_start: int = 0

    @cached_property
    def attributes(self) -> dict[str, str]:
        """The attributes by their names in lower case."""
        return attributes_of(self.source)

    @property
    def closes_itself(self) -> bool:
        """Whether the tag ends in `/>`, or the element has no content."""
        return self.name in VOID or self.source.rstrip().endswith("/")


def pieces_of(text: str) -> Iterator[Piece]:
    """Yield the markup of a source in order."""
    for match in _PIECES.finditer(text):
        start, stop = match.span()
        if match["comment"] is not None:
            yield Piece(PieceKind.COMMENT, "", match["comment"], start, stop)
        elif match["raw"] is not None:
            yield Piece(
                PieceKind.RAW,
                match["raw"].lower(),
                match["raw_attributes"],
                start,
                stop,
                match["content"],
                match.start("content"),
            )
        elif match["name"] is not None:
            kind = PieceKind.END if match["end"] else PieceKind.START
            yield Piece(kind, match["name"].lower(), match["attributes"], start, stop)
        else:
            yield Piece(PieceKind.OTHER, "", match["other"], start, stop)


@dataclass(frozen=True, slots=True)
class Misnesting:
    """The first place where elements do not contain each other properly."""

    position: int
    text: str


def misnesting(pieces: Sequence[Piece], deepest: int) -> Misnesting | None:
    """Return where a start tag has no end tag, or the reverse, or elements are nested too deep.

    The parsers behind take quadratic time for elements that are not closed, and their stack
    overflows at some depth.
    """
    opened: list[Piece] = []
    for piece in pieces:
        if piece.kind is PieceKind.START and not piece.closes_itself:
            opened.append(piece)
            if len(opened) > deepest:
                return Misnesting(piece.start, f"elements are nested deeper than {deepest} levels")
        elif piece.kind is PieceKind.END and piece.name not in VOID:
            if not opened or opened[-1].name != piece.name:
                if opened and any(one.name == piece.name for one in opened[-deepest:]):
                    unclosed = opened[-1]
                    return Misnesting(unclosed.start, f"<{unclosed.name[:40]}> has no end tag")
                return Misnesting(piece.start, f"</{piece.name[:40]}> has no start tag")
            opened.pop()
    if opened:
        return Misnesting(opened[-1].start, f"<{opened[-1].name[:40]}> has no end tag")
    return None


class LineNumbers:
    """Tells in which line of a text a position is, counting from 1."""

    def __init__(self, text: str) -> None:
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def at(self, position: int) -> int:
        return bisect_right(self._ends, position - 1) + 1
