"""How the variables of a saved template are named."""

from dataclasses import dataclass
from typing import Final

#: Ends a step of a path that leads to a list: the rest of the path is asked of each entry.
EACH: Final = "[]"


@dataclass(frozen=True, slots=True)
class TemplateVariables:
    """What a saved template refers to.

    `names` are members of `variables`, in order of appearance. `required` are
    paths from there that some place uses without `default`: `order.total`, or
    `lines[].price` for the price of every entry of lines.
    """

    names: tuple[str, ...]
    required: tuple[str, ...]
