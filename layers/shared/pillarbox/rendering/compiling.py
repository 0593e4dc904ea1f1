"""Compile the source of a template to the HTML that sends render: MJML, and the CSS of HTML.

Only the function `edit_templates` and the operator's command have the two libraries, so a send
never pays for them. Neither loads anything from the network or from files.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from pillarbox.domain.templates.draft import SourceKind, check_source_size
from pillarbox.rendering.elements import Piece, PieceKind, misnesting, pieces_of
from pillarbox.rendering.growth import MAX_GROWTH, check_components, check_css
from pillarbox.rendering.masking import MaskedTemplate, mask
from pillarbox.rendering.problems import Problem, Severity
from pillarbox.rendering.saved import TemplateFault
from pillarbox.rendering.source_errors import as_source_errors

if TYPE_CHECKING:
    from css_inline import CSSInliner

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
    """Return the HTML of a source that `check_template` allows, and warnings.

    Raises:
        ValidationFailed: on `html`.
    """
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
