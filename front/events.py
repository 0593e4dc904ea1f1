"""Turns an ASGI request into the event that API Gateway's REST API passes to a function."""

from typing import Any, Final
from urllib.parse import parse_qsl

#: The functions of the routes that accept large bodies, by the path below the stage.
FUNCTIONS: Final = {
    "/v1/emails": "send_email",
    "/v1/emails/batch": "send_batch",
}
_STAGE: Final = "/api"


def route_of(path: str) -> str:
    """Return the path below the stage without a slash at its end; empty for any other path."""
    return path.removeprefix(_STAGE).rstrip("/") if path.startswith(f"{_STAGE}/") else ""


def event_of(scope: dict[str, Any], request_id: str) -> dict[str, Any]:
    """Return the event of an ASGI request. The worker adds the body, in base64."""
    headers: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))
    query: dict[str, list[str]] = {}
    for name, value in parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True):
        query.setdefault(name, []).append(value)
    route = route_of(scope["path"])
    return {
        "resource": route,
        "path": route,
        "httpMethod": scope["method"],
        "headers": {name: values[-1] for name, values in headers.items()},
        "multiValueHeaders": headers,
        "queryStringParameters": {name: values[-1] for name, values in query.items()} or None,
        "multiValueQueryStringParameters": query or None,
        "pathParameters": None,
        "stageVariables": None,
        "requestContext": {
            "requestId": request_id,
            "stage": _STAGE.removeprefix("/"),
            "path": scope["path"],
            "resourcePath": route,
            "httpMethod": scope["method"],
            "identity": {
                "sourceIp": headers.get("x-pillarbox-client", [""])[-1],
                "userAgent": headers.get("user-agent", [""])[-1],
            },
        },
        "isBase64Encoded": True,
    }
