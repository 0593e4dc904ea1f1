"""The URL of a function, as the edge calls it in the place of API Gateway (`EdgeService=url`).

Its payload has format 2.0 (docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html, 2026-11).
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from aws_lambda_powertools.utilities.typing import LambdaContext

from pillarbox.domain.errors import ServiceError
from pillarbox.http.app import Handler
from pillarbox.http.messages.replies import common_headers, reply_error

_STAGE: Final = "/api"
#: The edge sends the body as bytes, and in this field the type that the client gave.
_TYPE: Final = "x-pillarbox-type"


def behind_edge(handler: Handler, is_of_edge: Callable[[str], bool]) -> Handler:
    """Return a handler that also answers the URL of its function, if the edge sent the request.

    Everybody can call the URL, so before anything else the edge's secret is compared.
    """

    def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        if "rawPath" not in event:
            return handler(event, context)
        try:
            _check_edge(event["headers"], is_of_edge)
        except ServiceError as error:
            return _refusal(error, event["requestContext"]["requestId"])
        return _response_of(handler(_rest_event(event), context))

    return lambda_handler


def _check_edge(headers: Mapping[str, str], is_of_edge: Callable[[str], bool]) -> None:
    if not is_of_edge(headers.get("x-pillarbox-edge", "")):
        raise ServiceError("client_blocked", "Send requests to the service's public address.")


def _rest_event(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return what API Gateway's REST API would pass for the same request.

    The URL joins the values of equal fields. The edge passes no request whose meaning this changes.
    """
    http = event["requestContext"]["http"]
    headers = {name: value for name, value in event["headers"].items() if name != "content-type"}
    if content_type := headers.pop(_TYPE, ""):
        headers["content-type"] = content_type
    path = event["rawPath"].removeprefix(_STAGE).rstrip("/")
    return {
        "resource": path,
        "path": path,
        "httpMethod": http["method"],
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "pathParameters": None,
        "requestContext": {
            "requestId": event["requestContext"]["requestId"],
            "identity": {"sourceIp": http["sourceIp"]},
        },
        "body": event.get("body"),
        "isBase64Encoded": event["isBase64Encoded"],
    }


def _response_of(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return a response of a REST API in the form of a URL."""
    headers = {name: ", ".join(values) for name, values in response["multiValueHeaders"].items()}
    return {
        "statusCode": response["statusCode"],
        "headers": headers,
        "body": response["body"],
        "isBase64Encoded": response.get("isBase64Encoded", False),
    }


def _refusal(error: ServiceError, request_id: str) -> dict[str, Any]:
    reply = reply_error(error)
    values = {name: [str(value)] for name, value in reply.headers.items()}
    return _response_of(
        {
            "statusCode": reply.status_code,
            "multiValueHeaders": values | common_headers(request_id),
            "body": reply.body,
        }
    )
