"""Which origin a request goes to: the rule of the edge's function in template.yaml.

The figures and the pattern are read from the function; that both decide alike is tested, with
the function itself in node.
"""

import re
from enum import Enum, auto

from local.template import Template


class Origin(Enum):
    """Who answers."""

    API = auto()
    FRONT = auto()
    #: Nobody behind the edge: the request is too large for whoever would.
    NONE = auto()


class Route:
    """The rule, as the deployed edge has it when there is a front."""

    def __init__(self, template: Template) -> None:
        """Read the figures.

        Raises:
            KeyError, TypeError: the template has no such function, or it is written differently.
        """
        code, _ = template["Resources"]["EdgeRoute"]["Properties"]["FunctionCode"]["Fn::Sub"]
        self.lambda_bytes = int(_constant(code, "LAMBDA_BYTES"))
        self.front_bytes = int(_constant(code, "FRONT_BYTES"))
        self._sends = re.compile(_constant(code, "SENDS").strip("/").replace(r"\/", "/"))

    def origin(self, method: str, path: str, length: int | None) -> tuple[Origin, int]:
        """Choose, with the limit in bytes; `length` is the Content-Length, None in chunks."""
        large = method == "POST" and self._sends.fullmatch(path) is not None
        limit = self.front_bytes if large else self.lambda_bytes
        if (length or 0) > limit:
            return Origin.NONE, limit
        if large and (length is None or length > self.lambda_bytes):
            return Origin.FRONT, limit
        return Origin.API, limit


def _constant(code: str, name: str) -> str:
    found = re.search(rf"const {name} = (.+);", code)
    if found is None:
        raise KeyError(name)
    return found[1]
