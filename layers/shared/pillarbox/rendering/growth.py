"""Estimate how large a template becomes when it is compiled, and refuse what is too large.

A rule of CSS is copied into each element that it may match, and an attribute of MJML into each
component that has it from elsewhere. So 200 KB of source can make gigabytes. The estimate reads
the source once. It may be too high, and too low for what only the parsers behind understand:
those run in a process with bounds (`application/templates/compiling.py`).
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from pillarbox.rendering.elements import Piece, PieceKind
from pillarbox.rendering.masking import MaskedTemplate
from pillarbox.rendering.saved import TemplateFault

#: In octets. A published template has at most 350 KB.
MAX_GROWTH: Final = 8 * 1024 * 1024
#: Parts of selectors times elements: about a second.
MAX_STEPS: Final = 10_000_000

#: The markup of the largest component, and how often one shows an attribute of its own.
_MARKUP: Final = 1_300
_COPIES: Final = 5
#: The CSS of a carousel grows with the square of its images.
_IMAGE: Final = 3_000
_PAIR_OF_IMAGES: Final = 20

#: What may contain signs of CSS that mean nothing there.
_OPAQUE: Final = re.compile(
    r"""/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?""", re.DOTALL
)
_BRACE: Final = re.compile("[{}]")
_PART: Final = re.compile(r"[^\s>+~,.:\[]+")
_LAST: Final = re.compile(r"([\w-]*)((?:\.[\w-]+)*)")
_COMBINATOR: Final = re.compile(r"[\s>+~]+")


def check_css(
    masked: MaskedTemplate, styles: Sequence[tuple[int, str]], pieces: Sequence[Piece]
) -> None:
    """Refuse style sheets that would make too much of the elements, or take too long to match.

    Args:
        masked: the template.
        styles: where each style sheet is in the masked text, and its text there.
        pieces: the markup into which the rules are copied.

    Raises:
        ValidationFailed: on `html`.
    """
    elements = _Elements(pieces)
    octets = steps = 0
    largest: tuple[int, int, str] = (0, 0, "")
    for position, css in styles:
        for at, selectors, size in _rules(masked, css):
            matches = sum(elements.matches(one) for one in selectors.split(","))
            growth = size * min(matches, elements.total)
            octets += growth
            steps += (len(_PART.findall(selectors)) + selectors.count(",")) * elements.total
            largest = max(largest, (max(growth, 1), position + at, selectors.strip()[:40]))
    growth, position, name = largest
    if octets > MAX_GROWTH:
        text = f"The rules would put {_mb(octets)} of CSS into {elements.total} elements"
        raise _too_large(masked, position, f"{text}, most of it `{name}` ({_mb(growth)})")
    if steps > MAX_STEPS:
        text = f"The parts of selectors times {elements.total} elements are {steps:,}"
        message = f"{text}. At most {MAX_STEPS:,} are allowed: use fewer rules or elements."
        raise TemplateFault(masked.line_of(styles[0][0]), message, "too_large")


def check_components(masked: MaskedTemplate, pieces: Sequence[Piece]) -> None:
    """Refuse MJML whose components and attributes would make too much HTML.

    Raises:
        ValidationFailed: on `html`.
    """
    defaults = _defaults(masked, pieces)
    octets = 0
    largest = (0, 0, "")
    above: list[tuple[int, int]] = []  # octets of the attributes around, and images so far
    for piece in pieces:
        if not piece.name.startswith("mj") or piece.kind not in {PieceKind.START, PieceKind.END}:
            continue
        if piece.kind is PieceKind.END:
            above.pop()
            continue
        around, images = above[-1] if above else (0, 0)
        own = _size(masked, piece.source)
        given = own + defaults["mj-all"] + defaults[piece.name]
        given += sum(defaults[f".{name}"] for name in piece.attributes.get("mj-class", "").split())
        growth = _MARKUP + around + _COPIES * given
        if piece.name == "mj-carousel-image" and above:
            growth += _IMAGE + 2 * _PAIR_OF_IMAGES * images  # in sum the square
            above[-1] = (around, images + 1)
        octets += growth
        largest = max(largest, (growth, piece.start, piece.name))
        if not piece.closes_itself:
            above.append((around + given, 0))
    if octets > MAX_GROWTH:
        growth, position, name = largest
        text = f"The components would make {_mb(octets)} of HTML"
        raise _too_large(masked, position, f"{text}, the largest is <{name}> ({_mb(growth)})")


def _defaults(masked: MaskedTemplate, pieces: Sequence[Piece]) -> Counter[str]:
    """Return the octets that mj-attributes gives to each component, and each class (`.name`)."""
    sizes = Counter[str]()
    inside = False
    for piece in pieces:
        if piece.name == "mj-attributes":
            inside = piece.kind is PieceKind.START and not piece.closes_itself
        elif inside and piece.kind is PieceKind.START:
            name = piece.name
            if name == "mj-class":
                name = f".{piece.attributes.get('name', '')}"
            sizes[name] += _size(masked, piece.source)
    return sizes


class _Elements:
    """Counts the elements that a selector may match, by the names and classes of its end."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._counts = Counter[str]()
        self.total = 0
        for piece in pieces:
            if piece.kind is not PieceKind.START:
                continue
            self.total += 1
            self._counts[piece.name] += 1
            # Without a doctype the case of classes does not matter.
            classes = piece.attributes.get("class", "").lower().split()
            self._counts.update({f".{name}" for name in classes})

    def matches(self, selector: str) -> int:
        """Return how many elements a selector without commas matches at most."""
        last = _LAST.match(_COMBINATOR.split(selector.strip())[-1].lower())
        if last is None or "(" in selector or ")" in selector or "\\" in selector:
            return self.total
        names = [last[1], *(f".{name}" for name in last[2].split(".") if name)]
        return min((self._counts[name] for name in names if name), default=self.total)


def _rules(masked: MaskedTemplate, css: str) -> Iterator[tuple[int, str, int]]:
    """Yield where each rule begins, its selectors, and the octets of its declarations."""
    plain = _OPAQUE.sub(lambda found: "x" * len(found[0]), css)
    ends = [*(brace.start() for brace in _BRACE.finditer(plain)), len(plain)]
    start = 0
    for position, end in enumerate(ends[:-1]):
        if plain[end] == "{":
            selectors = plain[start:end].rpartition(";")[2]
            yield start, selectors, _size(masked, css[end + 1 : ends[position + 1]])
        start = end + 1


def _size(masked: MaskedTemplate, text: str) -> int:
    """Return the octets of a masked text with its tags, which are copied along."""
    return len(masked.restored(text).encode())


def _mb(octets: int) -> str:
    return f"{octets / 1_000_000:,.1f} MB"


def _too_large(masked: MaskedTemplate, position: int, text: str) -> TemplateFault:
    message = f"{text}. At most {_mb(MAX_GROWTH)} are allowed."
    return TemplateFault(masked.line_of(position), message, "too_large")
