"""Compile the source of a template to the HTML that sends render: MJML, and the CSS of HTML.

Only the function `edit_templates` and the operator's command have the two libraries, so a send
never pays for them. Neither loads anything from the network or from files.

Such a parser moves text out of tables, escapes quotes in attributes and knows no `{% if %}`. It
leaves a word where it is, and a comment too. So a tag that only controls becomes a comment, and
a value becomes a word.

A rule of CSS is copied into each element that it may match, and an attribute of MJML into each
component that has it from elsewhere. So 200 KB of source can make gigabytes. The estimate reads
the source once. It may be too high, and too low for what only the parsers behind understand:
those run in a process with bounds (`application/templates/rendered_source.py`).
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, pairwise
from typing import TYPE_CHECKING, Final

from pillarbox.domain.templates.draft import SourceKind, check_source_size
from pillarbox.rendering.elements import LineNumbers, Piece, PieceKind, misnesting, pieces_of
from pillarbox.rendering.sandbox import as_source_errors
from pillarbox.rendering.saved import TemplateFault
from pillarbox.rendering.template_check import Problem, Severity

if TYPE_CHECKING:
    from css_inline import CSSInliner

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
        return [int(match[1]) for match in re.finditer(self._mark, text)]

    def is_control(self, number: int) -> bool:
        """Return whether a tag shows nothing itself."""
        return not self.tags[number].startswith("{{") and not _RAW.match(self.tags[number])

    def line_of(self, position: int) -> int:
        place = bisect_right(self._places, position, key=lambda one: one[1]) - 1
        if place >= 0:
            at_source, at_text = self._places[place]
            position = at_source + min(position - at_text, len(self.tags[place]))
        return self._lines.at(position)

    def line_of_tag(self, number: int) -> int:
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
    """Refuse style sheets that would make too much of the elements, or take too long to match."""
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
    """Refuse MJML whose components and attributes would make too much HTML."""
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


#: Levels of elements. At about 5,000 the stack of the parser of MJML overflows.
MAX_LEVELS: Final = 200
#: Elements that a parser of HTML adds where they are left out.
_OUTER: Final = frozenset({"html", "head", "body"})
_IMPLIED: Final = _OUTER | {"tbody"}
_TAGS: Final = frozenset({PieceKind.START, PieceKind.END})
_PLAIN_STYLE: Final = "<mj-style"
_EMPTY_STYLE: Final = re.compile(r'<style type="text/css">\s*</style>')
#: How the inliner is told to leave a sheet alone.
_IGNORED: Final = '<style data-css-inline="ignore"'
_POSITION: Final = re.compile(r"at position (\d+):\d+")
_UNQUOTED: Final = re.compile(r"""<[a-zA-Z][^<>"']*?\s[^\s=<>"']+=(?!["'])""")
_BARE: Final = re.compile(r"<(?![a-zA-Z/!?])")
_COMPONENT: Final = re.compile("mj(?:-[a-z]+)*|mjml")
_COMPONENTS: Final = frozenset(
    {
        *("mjml", "mj-head", "mj-body", "mj-attributes", "mj-all"),
        *("mj-class", "mj-breakpoint", "mj-font", "mj-html-attributes", "mj-selector"),
        *("mj-html-attribute", "mj-preview", "mj-style", "mj-title", "mj-raw"),
        *(
            "mj-accordion",
            "mj-accordion-element",
            "mj-accordion-title",
            "mj-accordion-text",
            "mj-button",
        ),
        *("mj-carousel", "mj-carousel-image", "mj-column", "mj-divider", "mj-group"),
        *("mj-hero", "mj-image", "mj-navbar", "mj-navbar-link", "mj-section"),
        *("mj-social", "mj-social-element", "mj-spacer", "mj-table", "mj-text"),
        *("mj-wrapper",),
    }
)


def needs_compiler(kind: SourceKind, source: str) -> bool:
    """Return whether compiling may change a source: it is MJML, or has style sheets."""
    return kind is SourceKind.MJML or "<style" in source.lower()


@as_source_errors
def compile_source(kind: SourceKind, source: str) -> tuple[str, list[Problem]]:
    """Return the HTML of a source that `check_template` allows, and warnings."""
    check_source_size(source)
    if not needs_compiler(kind, source):
        return source, []
    compiling = _compile_mjml if kind is SourceKind.MJML else _inline_css
    html, problems = compiling(mask(source))
    if len(html) > MAX_GROWTH:
        message = f"must compile to at most {MAX_GROWTH} characters"
        raise TemplateFault(1, message, "too_large")
    return html, problems


def _compile_mjml(masked: MaskedTemplate) -> tuple[str, list[Problem]]:
    pieces = list(pieces_of(masked.text))
    if fault := misnesting(pieces, MAX_LEVELS):
        raise TemplateFault(masked.line_of(fault.position), f"{fault.text}.", "mjml_syntax")
    for piece in pieces:
        _check_component(masked, piece)
    check_components(masked, pieces)
    from mrml import RenderOptions, to_html  # noqa: PLC0415  only the editor has it

    text, css = _without_inline_styles(masked.text, pieces)
    text = masked.with_comments(text)
    try:
        # Without fonts of its own, so that no email loads a font that its author did not name.
        html = to_html(text, render_options=RenderOptions(fonts={})).content
    except OSError as error:
        raise _mjml_fault(masked, text, str(error)) from error
    kept = masked.controls_in(html)
    for number in masked.controls_in(masked.text):
        if kept.count(number) != 1:
            message = "This tag is lost here. Put it inside mj-raw, mj-text or mj-table."
            raise TemplateFault(masked.line_of_tag(number), message, "lost_tag")
    if kept != masked.controls_in(masked.text):
        line = masked.line_of_tag(masked.controls_in(masked.text)[0])
        raise TemplateFault(line, "MJML changes the order of the tags.", "lost_tag")
    shown = set(masked.marks_in(html))
    lost = [number for number in range(len(masked.tags)) if number not in shown]
    warnings = [
        Problem(
            severity=Severity.WARNING,
            code="lost_tag",
            message="MJML shows no text here, so this value is left out.",
            line=masked.line_of_tag(number),
        )
        for number in lost
    ]
    if css:
        html = _EMPTY_STYLE.sub("", html)
        check_css(masked, css, list(pieces_of(html)))
        inliner = _inliner("\n".join(text for _, text in css))
        html = _without_added_rows(inliner.inline(html), html)
    return masked.restored(html), warnings


def _without_inline_styles(text: str, pieces: Sequence[Piece]) -> tuple[str, list[tuple[int, str]]]:
    """Put blanks in place of the CSS in `<mj-style inline="inline">`; return it with its places.

    It is inlined here and not by mrml, whose parser would open a table body in each row of a for.
    """
    css: list[tuple[int, str]] = []
    for start, end in pairwise(pieces):
        if start.name == end.name == "mj-style" and start.attributes.get("inline") == "inline":
            css.append((start.stop, text[start.stop : end.start]))
            plain = f"{_PLAIN_STYLE:{start.stop - start.start - 1}}>"
            text = text[: start.start] + plain.ljust(end.start - start.start) + text[end.start :]
    return text, css


def _check_component(masked: MaskedTemplate, piece: Piece) -> None:
    """Refuse what mrml would leave out silently."""
    if piece.kind not in {PieceKind.START, PieceKind.RAW}:
        return
    if piece.name == "mj-include":
        message = "mj-include is not supported: a template has one source."
        raise TemplateFault(masked.line_of(piece.start), message, "mjml_include")
    if _COMPONENT.fullmatch(piece.name) and piece.name not in _COMPONENTS:
        message = f"<{piece.name[:40]}> is not a component of MJML."
        raise TemplateFault(masked.line_of(piece.start), message, "mjml_component")


def _mjml_fault(masked: MaskedTemplate, text: str, message: str) -> TemplateFault:
    """Return the fault with its line, which mrml names as an octet, or not at all."""
    if found := _POSITION.search(message):
        read = text.encode()[: int(found[1])].decode(errors="ignore")
        added = 7 * read.count(f"<!--{masked.prefix}")  # the signs of comments around marks
        line = masked.line_of(max(len(read) - added, 0))
        return TemplateFault(line, "MJML cannot be read here.", "mjml_syntax")
    for pattern, advice in (
        (_BARE, "Write &lt; instead of a single <."),
        (_UNQUOTED, "MJML needs quotes around the values of attributes."),
    ):
        if bare := pattern.search(masked.text):
            return TemplateFault(masked.line_of(bare.end() - 1), advice, "mjml_syntax")
    advice = "MJML needs one element <mjml> around everything, and well-formed XML."
    return TemplateFault(1, advice, "mjml_syntax")


def _inline_css(masked: MaskedTemplate) -> tuple[str, list[Problem]]:
    """Copy the rules of <style> into style attributes, where more mail programs read them.

    Leave the source as it is if that could change more than styles.
    """
    source = masked.source
    pieces = list(pieces_of(masked.text))
    styles = [piece for piece in pieces if piece.kind is PieceKind.RAW and piece.name == "style"]
    if not styles:
        return source, []
    for style in styles:
        if masked.controls_in(style.content):
            return source, [_not_inlined(masked, style.start, "its CSS has tags such as if")]
    if fault := misnesting(pieces, MAX_LEVELS):
        return source, [_not_inlined(masked, fault.position, fault.text)]
    used = [style for style in styles if _is_for_everybody(style)]
    check_css(masked, [(style.content_start, style.content) for style in used], pieces)
    text = masked.text
    for style in reversed(styles):
        if style not in used:
            text = text[: style.start] + _IGNORED + text[style.start + len("<style") :]
    text = masked.with_comments(text)
    html = _inliner().inline(text).replace(_IGNORED, "<style")
    if _style_attributes(html) == _style_attributes(text):
        return source, []  # such as rules for phones only
    if _outline(masked, html) != _outline(masked, text):
        reason = "a parser of HTML changes its structure"
        return source, [_not_inlined(masked, styles[0].start, reason)]
    return masked.restored(_without_added_rows(html, text)), []


def _is_for_everybody(style: Piece) -> bool:
    """Return whether a sheet is CSS for screens of all kinds. The inliner does not look."""
    media = [one.strip() for one in style.attributes.get("media", "").lower().split(",")]
    return style.attributes.get("type", "").lower() in {"", "text/css"} and not {
        *("", "all", "screen", "only screen"),
    }.isdisjoint(media)


def _style_attributes(html: str) -> list[str]:
    return [
        piece.attributes["style"]
        for piece in pieces_of(html)
        if "style" in piece.attributes and piece.name not in _OUTER
    ]


def _not_inlined(masked: MaskedTemplate, position: int, reason: str) -> Problem:
    return Problem(
        severity=Severity.WARNING,
        code="css_not_inlined",
        message=f"The CSS stays in <style>, which some mail programs ignore: {reason}.",
        line=masked.line_of(position),
    )


def _outline(masked: MaskedTemplate, html: str) -> list[str]:
    """Return the tags, comments and marks of HTML in order, except styles and implied tags."""
    outline: list[str] = []
    position = 0
    for piece in pieces_of(html):
        outline += map(str, masked.marks_in(html[position : piece.start]))
        position = piece.stop
        if piece.kind is PieceKind.COMMENT:
            outline.append(piece.source)
        elif piece.kind is PieceKind.OTHER:
            outline.append(piece.source.lower())
        elif piece.name == "style":
            continue
        elif piece.kind is PieceKind.RAW:
            outline += [piece.name, *map(str, masked.marks_in(piece.content))]
        elif piece.name not in _IMPLIED:
            outline.append("/" * (piece.kind is PieceKind.END) + piece.name)
            names = (name for name in piece.attributes if name != "style")
            outline += sorted(name for name in names if name.startswith(masked.prefix))
            if piece.kind is PieceKind.START:
                own = {k: v for k, v in piece.attributes.items() if k != "style"}
                outline += map(str, masked.marks_in(" ".join(own.values())))
    outline += map(str, masked.marks_in(html[position:]))
    return outline


def _without_added_rows(html: str, source: str) -> str:
    """Remove each <tbody> that the parser added: one in a for would be opened in every row."""
    written = [
        (piece.kind, piece.name)
        for piece in pieces_of(source)
        if piece.kind in _TAGS and piece.name not in _OUTER
    ]
    kept: list[str] = []
    position = number = 0
    for piece in pieces_of(html):
        if piece.kind not in _TAGS or piece.name in _OUTER:
            continue
        if written[number : number + 1] == [(piece.kind, piece.name)]:
            number += 1
        elif piece.name == "tbody":
            kept.append(html[position : piece.start])
            position = piece.stop
    return "".join([*kept, html[position:]])


def _inliner(css: str | None = None) -> "CSSInliner":
    """Return the inliner of the rules in style elements, or of other CSS."""
    from css_inline import CSSInliner  # noqa: PLC0415  only the editor has it

    return CSSInliner(
        inline_style_tags=css is None,
        # Rules for phones, dark mode, and what some programs add, match nothing here.
        keep_style_tags=True,
        keep_link_tags=True,
        load_remote_stylesheets=False,
        extra_css=css,
    )
