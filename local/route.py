"""Decides path, method and origin as the CloudFront function in stacks/edge.yaml does.

The limits, patterns and routes are read from the source of that function. A test runs the function
in Node.js and compares the results.
"""

import json
import re
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import Any

from local.template import Template
from pillarbox.domain.errors import MethodNotAllowed, ServiceError


class Origin(Enum):
    """Which origin answers a request."""

    API = auto()
    FRONT = auto()
    #: The URL of send_email.
    SEND = auto()
    #: No origin: the request is too large, and the edge answers it.
    NONE = auto()


class Route:
    """The rules of a deployed edge."""

    def __init__(self, template: Template, *, send_url: bool = False, front: bool = True) -> None:
        """Read the rules from the function.

        With `send_url` they are those of `EdgeService=url`, without `front` those of a stack that
        has none.
        """
        code, _ = template["Resources"]["EdgeRoute"]["Properties"]["FunctionCode"]["Fn::Sub"]
        self.lambda_bytes = int(_constant(code, "LAMBDA_BYTES"))
        self.front_bytes = int(_constant(code, "FRONT_BYTES"))
        self._sends = _pattern(code, "SENDS")
        self._single = _pattern(code, "SINGLE")
        self._front = front
        self._send = _constant(code, "SEND").strip("'")
        self._send_url = send_url
        self._literal = _pattern(code, "LITERAL")
        self._default_agents = _pattern(code, "DEFAULT_AGENTS")
        self._home = _pattern(code, "HOME")
        self._routes = json.loads(_constant(code, "ROUTES"))
        self._dialect = _pattern(code, "DIALECT")
        self._prefix = _pattern(code, "PREFIX")
        self._sending = json.loads(_constant(code, "SENDING"))

    def check_agent(self, agent: str | None) -> None:
        """Accept a User-Agent that names an application."""
        if self._default_agents.search(agent or ""):
            message = "Send a User-Agent header that names your application."
            raise ServiceError("client_blocked", message)

    def is_home(self, path: str) -> bool:
        """Return whether a path leads to the dashboard."""
        return self._home.search(path) is not None

    def canonical(self, path: str) -> str:
        """Return the path without the second `v1` of the literal reading `/api/v1/v1/…`."""
        return self._literal.sub("/api/v1/", path)

    def check_path(self, method: str, path: str) -> None:
        """Accept a path of the API that does not mean another one."""
        name = self._meant(path)
        if name or not path.startswith("/api/"):
            verb = "POST " if name == "emails" and method == "POST" else ""
            hint = f"; did you mean {verb}/api/v1/{name}?" if name else "."
            raise ServiceError("route_not_found", f"There is no such route{hint}")

    def _meant(self, path: str) -> str | None:
        """Return the collection that a path means.

        The path has its singular, not /api/v1, or the name that another service gives it.
        """
        parts = self._prefix.sub("", path, 1).removesuffix("/").split("/")
        is_route = path.startswith("/api/v1/") and parts[0] in self._routes
        if is_route or self._dialect.match(path):
            return None
        found = next((name for name in (parts[0], f"{parts[0]}s") if name in self._routes), None)
        return found or ("emails" if {parts[0], parts[-1]} & {*self._sending} else None)

    def check_method(self, method: str, path: str) -> None:
        """Accept the methods of a route, and every method on a path that is not a route."""
        _, _, *segments = path.removesuffix("/").split("/")
        allow = _find(self._routes, segments[1:]) if segments[:1] == ["v1"] else None
        if allow and method not in allow.split(", "):
            raise MethodNotAllowed(allow)

    def origin(
        self, method: str, path: str, length: int | None, keys: int = 0
    ) -> tuple[Origin, int]:
        """Return the origin and its limit in bytes.

        `length` is None without a Content-Length. `keys` is how many Idempotency-Keys there are.
        """
        large = self._front and method == "POST" and self._sends.fullmatch(path) is not None
        limit = self.front_bytes if large else self.lambda_bytes
        if (length or 0) > limit:
            return Origin.NONE, limit
        if large and (length is None or length > self.lambda_bytes):
            return Origin.FRONT, limit
        is_send = method == "POST" and path == self._send
        if self._send_url and is_send and length and keys <= 1:
            return Origin.SEND, limit
        return Origin.API, limit

    def too_large(self, method: str, path: str, length: int | None, limit: int) -> ServiceError:
        """Return the error of a body over a limit; `length` is None if it was not announced."""
        if (length or 0) > limit and method == "POST" and self._single.fullmatch(path):
            return ServiceError(
                "attachment_too_large",
                f"The body is larger than {limit} bytes."
                " Upload the files first, with POST /api/v1/attachments.",
                details={"scope": "total", "size_bytes": length, "limit_bytes": limit},
            )
        message = "The request is too large."
        return ServiceError("request_too_large", message, details={"limit_bytes": limit})


def _find(routes: Mapping[str, Any], segments: Sequence[str]) -> str | None:
    """Return the methods of a path; a literal segment comes before a parameter."""
    if not segments:
        return routes.get("/")
    first, *rest = segments
    literal = _find(routes[first], rest) if first in routes else None
    if literal or not first or "{}" not in routes:
        return literal
    return _find(routes["{}"], rest)


def _constant(code: str, name: str) -> str:
    match = re.search(rf"const {name} = (.+?);\n", code, re.DOTALL)
    if match is None:
        raise KeyError(name)
    return match[1]


def _pattern(code: str, name: str) -> re.Pattern[str]:
    """Return a regular expression of the function; JavaScript escapes the slash in it."""
    _, text, flags = _constant(code, name).replace(r"\/", "\0").split("/")
    return re.compile(text.replace("\0", "/"), re.IGNORECASE if flags == "i" else 0)
