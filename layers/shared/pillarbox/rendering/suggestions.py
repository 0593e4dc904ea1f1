"""The nearest form that a template may have, for what authors bring from other engines."""

import re
from contextlib import suppress
from typing import Final

from pillarbox.domain.errors import ValidationFailed
from pillarbox.rendering.allowlist import check

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
