"""What the edge's function in template.yaml decides: path, method, origin.

Its figures, patterns and routes are read from the function. A test runs the function itself in
node and compares.
"""

import json
import re
from enum import Enum, auto

from local.template import Template
from pillarbox.domain.errors import ServiceError


class Origin(Enum):
    """Who answers."""

    API = auto()
    FRONT = auto()
    #: Nobody behind the edge: the request is too large for whoever would.
    NONE = auto()


class Route:
    """The rules, as the deployed edge has them when there is a front."""

    def __init__(self, template: Template) -> None:
        """Read the function.

        Raises:
            KeyError, TypeError: the template has no such function, or it is written differently.
        """
        code, _ = template["Resources"]["EdgeRoute"]["Properties"]["FunctionCode"]["Fn::Sub"]
        self.lambda_bytes = int(_constant(code, "LAMBDA_BYTES"))
        self.front_bytes = int(_constant(code, "FRONT_BYTES"))
        self._sends = _pattern(code, "SENDS")
        self._literal = _pattern(code, "LITERAL")
        #: The methods of each route, as `Allow` has them.
        self.routes: dict[str, str] = json.loads(_constant(code, "ROUTES"))

    def canonical(self, path: str) -> str:
        """Return the path that both readings of a path mean."""
        return self._literal.sub("/api/v1/", path)

    def check_method(self, method: str, path: str) -> None:
        """Let through what a route takes, and every path that is not a route.

        Raises:
            ServiceError: `method_not_allowed`.
        """
        for route, allow in self.routes.items():
            pattern = re.sub(r"\{\w+\}", "[^/]+", route)
            if re.fullmatch(f"/api{pattern}/?", path):
                if method not in allow.split(", "):
                    raise ServiceError(
                        "method_not_allowed", f"This route takes {allow}.", headers={"Allow": allow}
                    )
                return

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
    found = re.search(rf"const {name} = (.+?);\n", code, re.DOTALL)
    if found is None:
        raise KeyError(name)
    return found[1]


def _pattern(code: str, name: str) -> re.Pattern[str]:
    """A regular expression of the function; JavaScript escapes the slash."""
    return re.compile(_constant(code, name)[1:-1].replace(r"\/", "/"))
