"""The routes of the API and their methods: contract section 4."""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

#: Generated from openapi/operations.py by `make openapi`.
ROUTES: Final[Mapping[str, tuple[str, ...]]] = {
    "/v1/emails": ("GET", "POST"),
    "/v1/emails/analytics": ("GET",),
    "/v1/emails/batch": ("POST",),
    "/v1/emails/{message_id}": ("GET",),
    "/v1/starter-templates": ("GET",),
    "/v1/starter-templates/{slug}/preview": ("POST",),
    "/v1/templates": ("GET",),
    "/v1/templates/{id}": ("GET", "DELETE"),
}

_LITERAL_READING: Final = re.compile(r"^/v1(?=/v1(?:/|$))")


def canonical_path(event: Mapping[str, Any]) -> str:
    """Give both readings of a path as one: {base_url}/api/v1/v1/… is {base_url}/api/v1/….

    What stands for a parameter is percent-encoded, so that nothing in it is
    read as a part of the route; a slash at the end says nothing.
    """
    path: str = event["path"]
    if parameters := event.get("pathParameters"):
        path = event["resource"]
        for name, value in parameters.items():
            path = path.replace(f"{{{name}}}", quote(value, safe=""))
    return _LITERAL_READING.sub("", quote(path, safe="/%").rstrip("/"))


def allowed_methods(path: str) -> tuple[str, ...]:
    """The methods of a canonical path; none when no route matches."""
    for route, methods in ROUTES.items():
        pattern = re.sub(r"\{\w+\}", "[^/]+", route)
        if re.fullmatch(pattern, path):
            return methods
    return ()
