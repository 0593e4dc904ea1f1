"""Show an author what a source would become: the email, its variables and its problems.

The two compilers are not ours, and abort their process if memory ends.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final

from pillarbox.application.ports import BuildDied
from pillarbox.application.render import render, to_text
from pillarbox.application.templates.ports import CompileSource
from pillarbox.domain.accounts.account import Brand
from pillarbox.domain.errors import FieldError, Json, ValidationFailed
from pillarbox.domain.messages.header_text import MAX_SUBJECT, UNSAFE, is_header_safe
from pillarbox.domain.messages.mail import MAX_TEXT, SavedBody
from pillarbox.domain.templates.draft import Source, SourceKind
from pillarbox.domain.templates.template import fill_subject, fill_text
from pillarbox.rendering.checks import check_result, check_source, suggest
from pillarbox.rendering.compiling import compile_source, needs_compiler
from pillarbox.rendering.sandbox import as_source_errors
from pillarbox.rendering.saved import (
    LIST_STEP,
    TemplateFault,
    TemplateReference,
    missing_values,
    samples_of,
)
from pillarbox.rendering.template_check import Problem, Severity, check_template

__all__ = [
    "Problem",
    "RenderedSource",
    "Severity",
    "TemplateReference",
    "check_file",
    "render_source",
]

#: The fields of an author, by those of a saved template and a send.
_FIELDS: Final = {"html": "source"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedSource:
    """An email as the worker would build it; `html` is None if there is none."""

    subject: str
    html: str | None
    text: str | None
    variables: tuple[TemplateReference, ...]
    problems: tuple[Problem, ...]


def render_source(
    shown: Source,
    values: Mapping[str, Json],
    brand: Brand,
    compiler: CompileSource = compile_source,
) -> RenderedSource:
    """Render a source with values; a missing one shows its name, and is a problem.

    With all values, the result is what a send with them has, byte for byte.
    """
    try:
        return as_source_errors(_render)(shown, values, brand, compiler)
    except ValidationFailed as failed:
        return _refused(shown.subject, problems_of(failed, shown.source))


def _refused(
    subject: str, problems: Iterable[Problem], variables: tuple[TemplateReference, ...] = ()
) -> RenderedSource:
    return RenderedSource(
        subject=subject, html=None, text=None, variables=variables, problems=tuple(problems)
    )


def _render(
    shown: Source, values: Mapping[str, Json], brand: Brand, compiler: CompileSource
) -> RenderedSource:
    try:
        html, problems, found = _compile(shown, compiler)
    except ValidationFailed as failed:
        found_too = check_source(shown.kind, shown.source)
        return _refused(shown.subject, [*problems_of(failed, shown.source), *found_too])
    problems += check_source(shown.kind, shown.source)
    problems += _other_than_default(shown, found, compiler)
    given = brand.variables() | dict(values)
    required = [reference.path for reference in found if reference.required]
    missing = missing_values(required, given)
    problems += [_missing(path, found) for path in missing]
    filled = _merged(given, _samples(missing, found)) if missing else given
    subject = fill_subject(shown.subject, filled)
    if not is_header_safe(subject) or len(subject) > MAX_SUBJECT:
        problems.append(_error("subject", "unsafe_subject", UNSAFE))
    try:
        rendered = render(SavedBody(source=html, values=filled))
    except ValidationFailed as failed:
        return _refused(subject, [*problems, *problems_of(failed, shown.source)], found)
    return RenderedSource(
        subject=subject,
        html=rendered,
        text=fill_text(shown.text, filled, MAX_TEXT) if shown.text else to_text(rendered),
        variables=found,
        problems=(*problems, *check_result(subject, rendered)),
    )


def _other_than_default(
    shown: Source, found: Iterable[TemplateReference], compiler: CompileSource
) -> list[Problem]:
    """Compare the variables of a locale with those without a locale.

    A send gives the same values for each locale.
    """
    if shown.default is None:
        return []
    default = replace(
        shown,
        subject=shown.default.subject,
        source=shown.default.source,
        text=shown.default.text,
        default=None,
    )
    try:
        _, _, others = _compile(default, compiler)
    except ValidationFailed:
        return []  # its own page shows why
    here, there = {one.path: one.line for one in found}, {one.path for one in others}
    absent = (
        Problem(
            severity=Severity.WARNING,
            code="variable_not_in_locale",
            message=f"{path} is in the default, and this locale does not show it.",
            field="variables",
        )
        for path in sorted(there - here.keys())
    )
    added = (
        Problem(
            severity=Severity.WARNING,
            code="variable_only_in_locale",
            message=f"{path} is in this locale and not in the default.",
            field="variables",
            line=here[path],
        )
        for path in sorted(here.keys() - there)
    )
    return [*absent, *added]


def check_file(kind: SourceKind, source: str) -> tuple[Problem, ...]:
    """Return the problems of a body without a subject, except that no values are given."""
    shown = render_source(Source(kind=kind, subject="", source=source), {}, Brand())
    return tuple(problem for problem in shown.problems if problem.code != "missing_variable")


def problems_of(failed: ValidationFailed, source: str) -> list[Problem]:
    """Return the errors of a failure, each with its line and the nearest allowed form."""
    if isinstance(failed, TemplateFault):
        return [
            Problem(
                severity=Severity.ERROR,
                code=failed.errors[0].code,
                message=failed.text,
                line=failed.line,
                suggestion=suggest(source, failed.line),
            )
        ]
    return [
        _error(_FIELDS.get(one.field, one.field), one.code, one.message) for one in failed.errors
    ]


def _compile(
    shown: Source, compiler: CompileSource
) -> tuple[str, list[Problem], tuple[TemplateReference, ...]]:
    # The lines are those of the source, the variables those of the HTML.
    written = check_template(shown.subject, shown.source, shown.text).references
    in_source = {one.path: one.line for one in written}
    html, problems = compiler(shown.kind, shown.source)
    found = check_template(shown.subject, html, shown.text).references
    if html == shown.source:
        return html, problems, found
    placed = (
        TemplateReference(
            path=one.path,
            line=in_source.get(one.path),
            required=one.required,
            default=one.default,
            is_list=one.is_list,
        )
        for one in found
    )
    return html, problems, tuple(placed)


def _samples(missing: tuple[str, ...], found: tuple[TemplateReference, ...]) -> dict[str, Json]:
    """Return samples for missing paths, and for the entries of missing lists."""
    lists = tuple(f"{path}{LIST_STEP}" for path in missing)
    return samples_of(one for one in found if one.path in missing or one.path.startswith(lists))


def _merged(values: Mapping[str, Json], samples: Mapping[str, Json]) -> dict[str, Json]:
    """Return the values with samples where they have none, also within objects and lists."""
    merged = dict(values)
    for name, sample in samples.items():
        own = merged.get(name)
        if own is None:
            merged[name] = sample
        elif isinstance(own, dict) and isinstance(sample, dict):
            merged[name] = _merged(own, sample)
        elif isinstance(own, list) and isinstance(sample, list) and sample:
            (entry,) = sample
            merged[name] = [
                _merged(each, entry) if isinstance(each, dict) and isinstance(entry, dict) else each
                for each in own
            ]
    return merged


def _missing(path: str, found: tuple[TemplateReference, ...]) -> Problem:
    lines = [one.line for one in found if one.path == path]
    return Problem(
        severity=Severity.NOTE,
        code="missing_variable",
        message=f"{path} has no value here. A send without it is refused.",
        field="variables",
        line=lines[0] if lines else None,
    )


def _error(field: str, code: str, message: str) -> Problem:
    return Problem(severity=Severity.ERROR, code=code, message=message, field=field)


#: Seconds of processor time. What the estimate allows takes about one.
PROCESSOR_SECONDS: Final = 4
#: In seconds. The gateway waits 29.
SECONDS: Final = 15.0

_DIED: Final = (
    "This takes too much memory or time to compile. At most 256 MB and"
    f" {PROCESSOR_SECONDS} seconds are allowed: use fewer elements, rules or attributes."
)


def compile_apart(
    kind: SourceKind, source: str, *, run: Callable[[Callable[[], bytes]], bytes]
) -> tuple[str, list[Problem]]:
    """Do as `compile_source`, in the process with bounds of memory and time that `run` makes."""
    if not needs_compiler(kind, source):
        return compile_source(kind, source)
    # Loaded here, so that each child has them already.
    import css_inline  # noqa: F401, PLC0415  only the editor has it
    import mrml  # noqa: F401, PLC0415  only the editor has it

    try:
        octets = run(lambda: _outcome(kind, source))
    except BuildDied as death:
        raise ValidationFailed(FieldError("html", _DIED, "rendering_failed")) from death
    outcome = json.loads(octets)
    if fault := outcome.get("fault"):
        raise TemplateFault(**fault)
    problems = [
        Problem(**one | {"severity": Severity(one["severity"])}) for one in outcome["problems"]
    ]
    return outcome["html"], problems


def _outcome(kind: SourceKind, source: str) -> bytes:
    outcome: dict[str, object]
    try:
        html, problems = compile_source(kind, source)
    except TemplateFault as fault:
        code = fault.errors[0].code
        outcome = {"fault": {"line": fault.line, "text": fault.text, "code": code}}
    else:
        outcome = {"html": html, "problems": [asdict(problem) for problem in problems]}
    return json.dumps(outcome).encode()
