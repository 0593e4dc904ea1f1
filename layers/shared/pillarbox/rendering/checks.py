"""Check what a template would look like to recipients: links, images, sizes, mail programs.

Nothing here stops a publication. A template that is not allowed is refused by `sandbox.py`.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from pillarbox.domain.errors import ValidationFailed
from pillarbox.domain.templates.draft import MAX_SOURCE, SourceKind
from pillarbox.rendering.compiling import MaskedTemplate, mask
from pillarbox.rendering.elements import Piece, PieceKind, pieces_of
from pillarbox.rendering.sandbox import MAX_TAGS, check
from pillarbox.rendering.template_check import Problem, Severity
from pillarbox.rendering.text import text_from_html

_DECLARATION: Final = re.compile(
    r"(?:^|[;{])\s*([a-z-]+)\s*:\s*([^;{}]*)", re.IGNORECASE | re.ASCII
)
_FUNCTION: Final = re.compile(r"([a-z-]{1,40})\(")
_AT_RULE: Final = re.compile(r"@([a-z-]+)", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A feature, where it is used in the CSS, and the programs that ignore it."""

    feature: str
    position: int
    clients: tuple[str, ...]


def unsupported_element(name: str) -> tuple[str, ...]:
    """Return the programs that do not support an element."""
    return _clients("elements", name)


def unsupported_css(css: str) -> Iterator[Unsupported]:
    """Yield what some programs do not support in CSS: of a style element or attribute."""
    for match in _AT_RULE.finditer(css):
        name = match[1].lower()
        if clients := _clients("at_rules", name):
            yield Unsupported(f"@{name}", match.start(), clients)
    for match in _DECLARATION.finditer(css):
        name, value = match[1].lower(), match[2].strip().lower()
        value = value.removesuffix("!important").rstrip()
        if clients := _clients("properties", name):
            yield Unsupported(name, match.start(1), clients)
        if clients := _clients("declarations", f"{name}:{value}"):
            yield Unsupported(f"{name}: {value}", match.start(1), clients)
        for function in _FUNCTION.finditer(value):
            if clients := _clients("functions", function[1]):
                yield Unsupported(f"{function[1]}()", match.start(1), clients)


def _clients(kind: str, name: str) -> tuple[str, ...]:
    table = _table()
    return tuple(table["clients"][number] for number in table[kind].get(name, ()))


@cache
def _table() -> Any:  # noqa: ANN401  the form of reduce_caniemail.py
    path = Path(__file__).with_name("client_support.json")
    return json.loads(path.read_text(encoding="utf-8"))


#: Gmail shows only so many bytes of an email.
GMAIL_BYTES: Final = 102 * 1024
#: Characters of a subject that phones show.
SHOWN_SUBJECT: Final = 60
_MAX_PROBLEMS: Final = 100
_LINKS: Final = frozenset({"a", "area", "mj-button", "mj-navbar-link", "mj-image"})
_IMAGES: Final = frozenset({"img", "mj-image"})
_REMOVED: Final = frozenset(
    {"script", "iframe", "object", "embed", "applet", "form", "base", "frame", "frameset"}
)
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "0.0.0.0", "::1"})  # noqa: S104  no address to bind
_IMAGE: Final = re.compile(r"<img\b[^>]*>", re.IGNORECASE | re.ASCII)
_PREHEADER: Final = re.compile(r"pre-?header|preview", re.IGNORECASE | re.ASCII)
_HIDDEN: Final = re.compile(
    r"display\s*:\s*none|mso-hide|max-height\s*:\s*0", re.IGNORECASE | re.ASCII
)


def check_source(kind: SourceKind, source: str) -> list[Problem]:
    """Return the problems of a source that are not in its syntax, in the order of its lines."""
    if source.count("{{") + source.count("{%") > MAX_TAGS or len(source) > MAX_SOURCE:
        return []  # it is refused, and looking for its tags could take long
    masked = mask(source)
    pieces = list(pieces_of(masked.text))
    problems = list(islice(_of_pieces(masked, pieces), _MAX_PROBLEMS))
    problems += islice(_of_support(masked, pieces), _MAX_PROBLEMS - len(problems))
    if not _has_preheader(kind, pieces):
        message = "There is no preheader: inboxes show the first words of the email instead."
        problems.append(_problem(Severity.NOTE, "no_preheader", message, None))
    return sorted(problems, key=lambda problem: problem.line or 0)


def check_result(subject: str, html: str) -> list[Problem]:
    problems: list[Problem] = []
    size = len(html.encode())
    if size > GMAIL_BYTES:
        message = f"The HTML has {size // 1024} KB. Gmail cuts off what exceeds 102 KB."
        problems.append(_problem(Severity.WARNING, "html_too_long", message, None))
    if not any(map(str.isalnum, text_from_html(_IMAGE.sub("", html)))):
        message = "Without its images the email shows no text, and many people see none at first."
        problems.append(_problem(Severity.WARNING, "only_images", message, None))
    if len(subject) > SHOWN_SUBJECT:
        message = f"The subject has {len(subject)} characters. Phones show about {SHOWN_SUBJECT}."
        problems.append(
            Problem(
                severity=Severity.WARNING, code="subject_too_long", message=message, field="subject"
            )
        )
    return problems


def _of_pieces(masked: MaskedTemplate, pieces: list[Piece]) -> Iterator[Problem]:
    for piece in pieces:
        if piece.kind not in {PieceKind.START, PieceKind.RAW}:
            continue
        line = masked.line_of(piece.start)
        if piece.name in _REMOVED:
            message = f"Mail programs remove <{piece.name}>, and some treat the email as spam."
            yield _problem(Severity.WARNING, "removed_element", message, line)
        if any(name.startswith("on") for name in piece.attributes):
            message = "Mail programs remove event handlers."
            yield _problem(Severity.WARNING, "removed_attribute", message, line)
        if piece.name in _IMAGES:
            yield from _of_image(piece, line)
        if piece.name in _LINKS:
            yield from _of_link(masked, piece, line)


def _of_image(piece: Piece, line: int) -> Iterator[Problem]:
    attributes = piece.attributes
    if "alt" not in attributes:
        message = 'The image has no alternative text. Give it alt, or alt="" if it only decorates.'
        yield _problem(Severity.WARNING, "no_alt", message, line)
    if piece.name == "img" and "width" not in attributes:
        message = "The image has no width. Outlook shows it in its own size."
        yield _problem(Severity.WARNING, "no_width", message, line)
    if attributes.get("src", "").strip().lower().startswith("cid:"):
        message = "The image is an attachment. A send needs a file with this contentId."
        yield _problem(Severity.NOTE, "cid_image", message, line)
    elif not attributes.get("src", "").strip():
        yield _problem(Severity.WARNING, "empty_source", "The image has no src.", line)


def _of_link(masked: MaskedTemplate, piece: Piece, line: int) -> Iterator[Problem]:
    if "href" not in piece.attributes:
        if piece.name in {"mj-button", "mj-navbar-link"}:
            yield _problem(Severity.WARNING, "empty_link", "The link leads nowhere.", line)
        return
    url = piece.attributes["href"].strip()
    if not url or url == "#":
        yield _problem(Severity.WARNING, "empty_link", "The link leads nowhere.", line)
        return
    if masked.marks_in(url[:30]):
        return  # only a send knows where it leads
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        yield _problem(Severity.WARNING, "bad_link", "The link is not a URL.", line)
        return
    if host in _LOCAL or host.endswith((".localhost", ".local", ".test")):
        message = "The link leads to a host that recipients cannot reach."
        yield _problem(Severity.WARNING, "local_link", message, line)
    elif parts.scheme == "http":
        message = "The link has http: without encryption."
        yield _problem(Severity.WARNING, "insecure_link", message, line)
    elif parts.scheme not in {"https", "mailto", "tel", "sms"} and not url.startswith("#"):
        message = "The link needs https:. Mail programs remove other schemes and relative links."
        yield _problem(Severity.WARNING, "bad_link", message, line)


def _of_support(masked: MaskedTemplate, pieces: list[Piece]) -> Iterator[Problem]:
    """Yield what some mail programs ignore, each feature where it is first used."""
    seen: set[str] = set()
    for piece in pieces:
        if piece.kind not in {PieceKind.START, PieceKind.RAW} or piece.name in _REMOVED:
            continue
        found: list[tuple[str, int, tuple[str, ...]]] = []
        if clients := unsupported_element(piece.name):
            found.append((f"<{piece.name}>", piece.start, clients))
        if piece.name == "style":
            found += [
                (one.feature, piece.content_start + one.position, one.clients)
                for one in unsupported_css(piece.content)
            ]
        elif style := piece.attributes.get("style"):
            found += [(one.feature, piece.start, one.clients) for one in unsupported_css(style)]
        for feature, position, clients in found:
            if feature not in seen:
                seen.add(feature)
                message = f"{feature} is not supported by {', '.join(clients)}."
                yield _problem(Severity.NOTE, "unsupported", message, masked.line_of(position))


def _has_preheader(kind: SourceKind, pieces: list[Piece]) -> bool:
    if kind is SourceKind.MJML:
        return any(piece.name == "mj-preview" for piece in pieces)
    return any(
        _HIDDEN.search(piece.attributes.get("style", ""))
        or _PREHEADER.search(piece.attributes.get("class", "") + piece.attributes.get("id", ""))
        for piece in pieces
        if piece.kind is PieceKind.START
    )


def _problem(severity: Severity, code: str, message: str, line: int | None) -> Problem:
    return Problem(severity=severity, code=code, message=message, line=line)


_PATH: Final = r"[A-Za-z][\w.]*"
_END_IF: Final = "{% endif %}"

#: Pattern of a tag -> what to write instead; the first that matches counts.
_FORMS: Final = tuple(
    (re.compile(pattern, re.DOTALL), form)
    for pattern, form in (
        # Handlebars and Mustache
        (rf"\{{\{{\{{\s*({_PATH})\s*\}}", r"{{ \1 }}"),
        (rf"\{{\{{&\s*({_PATH})", r"{{ \1 }}"),
        (rf"\{{\{{\s*#if\s+({_PATH})", r"{% if \1 %}"),
        (rf"\{{\{{\s*#unless\s+({_PATH})", r"{% if not \1 %}"),
        (rf"\{{\{{\s*\^\s*({_PATH})", r"{% if not \1 %}"),
        (rf"\{{\{{\s*#each\s+({_PATH})", r"{% for item in \1 %}"),
        (rf"\{{\{{\s*#\s*({_PATH})", r"{% if \1 %}"),
        (r"\{\{\s*else\s*\}", "{% else %}"),
        (r"\{\{\s*/\s*(?:each)", "{% endfor %}"),
        (r"\{\{\s*/", "{% endif %}"),
        (r"\{\{\s*>", "the text of the partial"),
        # Statements
        (r"\{%-?\s*elsif\s+(.*?)\s*-?%\}", r"{% elif \1 %}"),
        (r"\{%-?\s*else\s+if\s+(.*?)\s*-?%\}", r"{% elif \1 %}"),
        (r"\{%-?\s*unless\s+(.*?)\s*-?%\}", r"{% if not \1 %}"),
        (r"\{%-?\s*endunless", "{% endif %}"),
        (r"\{%-?\s*end\s*-?%", "{% endif %}"),
        (r"\{%-?\s*comment", "{# a comment #}"),
        (rf"\{{%-?\s*(?:set|assign|let)\s+({_PATH})", r"{{ \1 }}, with its value in `variables`"),
        (
            r"\{%-?\s*(?:include|extends|import|from|block|macro|call|render|partial)\b",
            "the text itself: a template is one source",
        ),
        (rf"\{{%-?\s*for\s+\w+\s*,.*?\sin\s+({_PATH})", r"{% for entry in \1 %}"),
        (rf"\{{%-?\s*for\s+(\w+)\s+in\s+({_PATH})\S*\s+if\b", r"{% for \1 in \2 %}{% if … %}"),
        (rf"\{{%-?\s*for\s+(\w+)\s+in\s+({_PATH})\.items\(", r"{% for \1 in \2 %}, with a list"),
        (rf"\{{%-?\s*for\s+(\w+)\s+in\s+({_PATH})\s*[|(\[]", r"{% for \1 in \2 %}"),
        (rf"\{{%-?\s*(if|elif)\s+({_PATH})\s+is\s+not\s+defined", r"{% \1 not \2 | default('') %}"),
        (rf"\{{%-?\s*(if|elif)\s+({_PATH})\s+is\s+defined", r"{% \1 \2 | default('') %}"),
        (rf"\{{%-?\s*(if|elif)\s+({_PATH})\s*(?:[<>]|in\b)", r"{% \1 \2 == … %}, or a flag"),
        (rf"\{{%-?\s*(if|elif)\s+({_PATH})\s*=\s*([^=].*?)\s*-?%", r"{% \1 \2 == \3 %}"),
        (rf"\{{%-?\s*(if|elif)\s+!\s*({_PATH})", r"{% \1 not \2 %}"),
        (rf"\{{%-?\s*(if|elif)\s+({_PATH})\s*&&\s*({_PATH})", r"{% \1 \2 and \3 %}"),
        (rf"\{{%-?\s*(if|elif)\s+({_PATH})\s*\|\|\s*({_PATH})", r"{% \1 \2 or \3 %}"),
        # Values
        (rf"\{{\{{-?\s*({_PATH})\s+or\s+(\"[^\"]*\"|'[^']*')", r"{{ \1 | default(\2) }}"),
        (
            rf"\{{\{{-?\s*({_PATH})\s*(?:\|\||\?\?)\s*(\"[^\"]*\"|'[^']*')",
            r"{{ \1 | default(\2) }}",
        ),
        (rf"\{{\{{-?\s*({_PATH})\s*\|\s*d\(", r"{{ \1 | default(…) }}"),
        (
            rf"\{{\{{-?\s*({_PATH})\s*\|\s*default\s*:\s*(\"[^\"]*\"|'[^']*')",
            r"{{ \1 | default(\2) }}",
        ),
        (rf"\{{\{{-?\s*({_PATH})\s*\|\s*(?:upcase|uppercase)\b", r"{{ \1 | upper }}"),
        (rf"\{{\{{-?\s*({_PATH})\s*\|\s*(?:downcase|lowercase)\b", r"{{ \1 | lower }}"),
        (rf"\{{\{{-?\s*({_PATH})\s*\|\s*(?:title|titlecase)\b", r"{{ \1 | capitalize }}"),
        (rf"\{{\{{-?\s*({_PATH})\s*\|\s*strip\b", r"{{ \1 | trim }}"),
        (rf"\{{\{{-?\s*({_PATH}?)\.(upper|lower|capitalize)\(\)", r"{{ \1 | \2 }}"),
        (rf"\{{\{{-?\s*({_PATH}?)\.strip\(\)", r"{{ \1 | trim }}"),
        (rf"\{{\{{-?\s*({_PATH})\[(?:\"|')(\w+)", r"{{ \1.\2 }}"),
        (rf"\{{\{{-?\s*({_PATH})\[", r"{% for entry in \1 %}{{ entry }}{% endfor %}"),
        (rf"\{{\{{-?\s*({_PATH})\s*(?:[-+*/%~]|\*\*)", "a value that the sender computes"),
        (rf"\{{\{{-?\s*({_PATH})\s*\|", r"{{ \1 }}"),
        (rf"\{{\{{-?\s*({_PATH})\s*\(", r"{{ \1 }}, with its value in `variables`"),
        (rf"\{{\{{-?\s*({_PATH})[^}}\w.]", r"{{ \1 }}"),
    )
)
_TAGS: Final = re.compile(r"\{[{%].*?[%}]\}", re.DOTALL)
#: A tag is looked at up to so many characters.
_MAX_TAG: Final = 300
#: Steps that reach into Python or Jinja2 have no form that is near.
_PRIVATE: Final = re.compile(r"(?<![A-Za-z0-9])_")


def suggest(source: str, line: int) -> str | None:
    """Return the nearest form that is allowed for a tag in a line, or None if there is none."""
    lines = source.split("\n")
    if not 0 < line <= len(lines):
        return None
    for match in _TAGS.finditer("\n".join(lines[line - 1 : line + 2])[: 20 * _MAX_TAG]):
        tag = match[0][:_MAX_TAG]
        if match.start() > len(lines[line - 1]):
            return None
        if _PRIVATE.search(tag) or _is_allowed(tag):
            continue
        for pattern, form in _FORMS:
            if found := pattern.match(tag):
                suggestion = found.expand(form)
                if not tag.startswith(suggestion) and not _same(tag, suggestion):
                    return suggestion
                break
    return None


def _is_allowed(tag: str) -> bool:
    """Return whether a tag by itself, or with the ones that belong to it, is allowed."""
    for before, after in (("", ""), ("", _END_IF), ("", "{% endfor %}"), ("{% if a %}", _END_IF)):
        with suppress(ValidationFailed):
            check("", f"{before}{tag}{after}")
            return True
    return False


def _same(tag: str, suggestion: str) -> bool:
    return "".join(tag.split()) == "".join(suggestion.split())
