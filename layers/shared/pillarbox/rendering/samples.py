"""Values for showing a saved template that nobody is sending: each path stands for itself."""

from collections.abc import Iterable

from pillarbox.domain.errors import Json
from pillarbox.rendering.variables import EACH


def sample_values(required: Iterable[str]) -> dict[str, Json]:
    """Make values that required paths lead to (see `TemplateVariables`).

    `order.total` becomes the text `[order.total]` within an object; a list has
    one entry. A path that goes on from another makes that one an object.
    """
    tree: dict[str, Json] = {}
    # The longest first: a text may not stand where another path goes on.
    for path in sorted(required, key=lambda path: -path.count(".") - path.count(EACH)):
        _put(tree, path.split("."), f"[{path.replace(EACH, '')}]")
    return tree


def _put(tree: dict[str, Json], steps: list[str], sample: str) -> None:
    step, *rest = steps
    name = step.removesuffix(EACH)
    inner: Json = {} if rest else sample
    if step.endswith(EACH):
        entries = tree.setdefault(name, [inner])
        inner = entries[0] if isinstance(entries, list) else None
    else:
        inner = tree.setdefault(name, inner)
    if rest and isinstance(inner, dict):  # else the template asks for two things at once
        _put(inner, rest, sample)
