"""Compile templates in a process of its own, which a hostile source may kill.

The two compilers are not ours, and abort their process if memory ends.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Final

from pillarbox.application.ports import BuildDied
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.templates.draft import SourceKind
from pillarbox.rendering.compiling import compile_source, needs_compiler
from pillarbox.rendering.problems import Problem, Severity
from pillarbox.rendering.saved import TemplateFault

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
    """Do as `compile_source`, in the process with bounds of memory and time that `run` makes.

    Raises:
        ValidationFailed: on `html`, also if that process died.
    """
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
