"""The routes of the API and their methods: contract section 4."""

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


def canonical_path(event: Mapping[str, Any]) -> str:
    """Return the path as the routes are written: no slash at its end, each parameter one segment.

    A parameter arrives decoded. It is percent-encoded again, so that nothing in it is read as a
    part of the route.
    """
    path: str = event["path"]
    if parameters := event.get("pathParameters"):
        path = event["resource"]
        for name, value in parameters.items():
            path = path.replace(f"{{{name}}}", quote(value, safe=""))
    return quote(path, safe="/%").rstrip("/")
