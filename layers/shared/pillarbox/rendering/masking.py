"""Put marks in place of the tags of a template, so that parsers of HTML and MJML can read it.

Such a parser moves text out of tables, escapes quotes in attributes and knows no `{% if %}`. It
leaves a word where it is, and a comment too. So a tag that only controls becomes a comment, and
a value becomes a word.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Final

from pillarbox.rendering.elements import LineNumbers, pieces_of

#: A block of raw text, a comment, a value or a statement; texts in it may contain its end.
_TAG: Final = re.compile(
    r"""
    \{%-?\s*+raw\s*+-?%\}.*?\{%-?\s*+endraw\s*+-?%\}
    | \{\#(?:[^\#]++|\#(?!\}))*+(?:\#\}|\Z)
    | \{\{(?:"[^"]*+"|'[^']*+'|[^"'])*?\}\}
    | \{%(?:"[^"]*+"|'[^']*+'|[^"'])*?%\}
    """,
    re.VERBOSE | re.DOTALL,
)
_RAW: Final = re.compile(r"\{%-?\s*raw\b")


@dataclass(frozen=True)
class MaskedTemplate:
    """A source, and a text that has words in place of its tags."""

    source: str
    text: str
    tags: Sequence[str]
    prefix: str
    #: Where each tag is in the source, and where its word is in `text`.
    _places: Sequence[tuple[int, int]] = field(repr=False)

    def with_comments(self, text: str) -> str:
        """Return a text of marks with comments in place of control tags outside of markup."""
        pieces: list[str] = []
        position = 0
        for piece in pieces_of(text):
            pieces += [
                self._commented(text[position : piece.start]),
                text[piece.start : piece.stop],
            ]
            position = piece.stop
        return "".join([*pieces, self._commented(text[position:])])

    def restored(self, text: str) -> str:
        """Return what a parser made of the text, with the tags in place of the marks."""
        mark = self._mark
        return re.sub(
            rf'<!--{mark}-->|{mark}=""|{mark}',
            lambda match: self.tags[int(match[match.lastindex or 1])],
            text,
        )

    def controls_in(self, text: str) -> list[int]:
        """Return the numbers of the control tags in a text, in order."""
        return [number for number in self.marks_in(text) if self.is_control(number)]

    def marks_in(self, text: str) -> list[int]:
        """Return the numbers of the marks in a text, in order."""
        return [int(match[1]) for match in re.finditer(self._mark, text)]

    def is_control(self, number: int) -> bool:
        """Return whether a tag shows nothing itself."""
        return not self.tags[number].startswith("{{") and not _RAW.match(self.tags[number])

    def line_of(self, position: int) -> int:
        """Return the line in the source of a position in `text`."""
        place = bisect_right(self._places, position, key=lambda one: one[1]) - 1
        if place >= 0:
            at_source, at_text = self._places[place]
            position = at_source + min(position - at_text, len(self.tags[place]))
        return self._lines.at(position)

    def line_of_tag(self, number: int) -> int:
        """Return the line in the source of a tag."""
        return self._lines.at(self._places[number][0])

    @cached_property
    def _lines(self) -> LineNumbers:
        return LineNumbers(self.source)

    @property
    def _mark(self) -> str:
        return rf"{self.prefix}(\d+)z"

    def _commented(self, text: str) -> str:
        def comment(match: re.Match[str]) -> str:
            return f"<!--{match[0]}-->" if self.is_control(int(match[1])) else match[0]

        return re.sub(self._mark, comment, text)


def mask(source: str) -> MaskedTemplate:
    """Put a word that the source does not contain in place of each tag."""
    prefix = next(word for word in (f"pbx{n}q" for n in count()) if word not in source.lower())
    tags: list[str] = []
    places: list[tuple[int, int]] = []
    pieces: list[str] = []
    position = length = 0
    for match in _TAG.finditer(source):
        text, word = source[position : match.start()], f"{prefix}{len(tags)}z"
        length += len(text)
        places.append((match.start(), length))
        pieces += [text, word]
        length += len(word)
        tags.append(match[0])
        position = match.end()
    return MaskedTemplate(
        source, "".join([*pieces, source[position:]]), tuple(tags), prefix, tuple(places)
    )
