"""What a saved template needs: its variables, and which of them a send must give.

Accepting a mail imports this, so the template engine is imported only when a
template is checked, which happens when one is saved.
"""

from collections.abc import Iterable, Mapping

from pillarbox.domain.errors import Json
from pillarbox.rendering.variables import EACH, TemplateVariables


def check_template(subject: str, html: str) -> TemplateVariables:
    """Hold a template against what mails may use, and tell what it refers to.

    The body takes `{{ path }}`, the filters capitalize, default, lower, trim and
    upper, `if` and `for`, not nested; the subject takes plain references.

    Raises:
        ValidationFailed: on `subject` or `html`, with the code `template_syntax`,
            `not_allowed` or `too_large`.
    """
    from pillarbox.rendering.allowlist import check  # noqa: PLC0415  imports jinja2: see above

    return check(subject, html)


def missing_values(required: Iterable[str], given: Mapping[str, Json]) -> tuple[str, ...]:
    """Those of the required paths that the given variables do not lead to; null leads nowhere."""
    return tuple(path for path in required if not _leads(dict(given), path.split(".")))


def _leads(value: Json, steps: list[str]) -> bool:
    for position, step in enumerate(steps):
        found = value.get(step.removesuffix(EACH)) if isinstance(value, dict) else None
        if step.endswith(EACH):
            # A lacking list is reported once, by the path of the list itself.
            rest = steps[position + 1 :]
            return found is None or (
                isinstance(found, list) and all(_leads(entry, rest) for entry in found)
            )
        value = found
    return value is not None
