"""The URL of send_email: what API Gateway would pass and answer, for the edge only."""

import base64
from typing import Any

import pytest
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent
from aws_lambda_powertools.utilities.typing import LambdaContext

from pillarbox.domain.errors import Unavailable
from pillarbox.http.function_url import behind_edge
from pillarbox.http.requests import raw_body

BODY = b'{"to": "\xff"}'


def url_event(path: str = "/api/v1/emails", **headers: str) -> dict[str, Any]:
    """Return an event of payload format 2.0 as the edge causes it."""
    fields = {
        "x-pillarbox-edge": "secret",
        "content-type": "application/octet-stream",
        "x-pillarbox-type": "application/json",
        "x-api-key": "key",
    }
    return {
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": "",
        "headers": fields | {name.replace("_", "-"): text for name, text in headers.items()},
        "requestContext": {
            "requestId": "request-1",
            "http": {"method": "POST", "path": path, "sourceIp": "192.0.2.1"},
        },
        "body": base64.b64encode(BODY).decode(),
        "isBase64Encoded": True,
    }


class Echo:
    """Keeps the event that it was called with."""

    def __init__(self) -> None:
        self.event: dict[str, Any] = {}

    def __call__(self, event: dict[str, Any], _: object) -> dict[str, Any]:
        self.event = event
        headers = {"Content-Type": ["application/json"], "Vary": ["a", "b"]}
        return {"statusCode": 200, "multiValueHeaders": headers, "body": "{}"}


def answer(event: dict[str, Any], echo: Echo | None = None) -> dict[str, Any]:
    handler = behind_edge(echo or Echo(), lambda sent: sent == "secret")
    return handler(event, LambdaContext())


def test_a_request_of_the_edge_is_one_of_the_gateway() -> None:
    """Path, method, headers and body arrive as from a REST API, each byte of the body the same."""
    echo = Echo()
    response = answer(url_event("/api/v1/emails/"), echo)
    assert (echo.event["path"], echo.event["httpMethod"]) == ("/v1/emails", "POST")
    assert echo.event["multiValueHeaders"]["x-api-key"] == ["key"]
    assert echo.event["headers"]["content-type"] == "application/json"
    assert raw_body(APIGatewayProxyEvent(echo.event)) == BODY
    assert response == {
        "statusCode": 200,
        "headers": {"Content-Type": "application/json", "Vary": "a, b"},
        "body": "{}",
        "isBase64Encoded": False,
    }


def test_a_request_without_a_type_has_none() -> None:
    echo = Echo()
    answer(url_event(x_pillarbox_type=""), echo)
    assert "content-type" not in echo.event["headers"]


@pytest.mark.parametrize("secret", ["", "other", "secret2"])
def test_a_stranger_is_refused_first(secret: str) -> None:
    echo = Echo()
    response = answer(url_event(x_pillarbox_edge=secret), echo)
    assert echo.event == {}
    assert response["statusCode"] == 403
    assert '"client_blocked"' in response["body"]
    assert response["headers"]["X-Request-Id"] == "request-1"
    assert response["headers"]["Content-Type"] == "application/json"


def test_a_secret_that_cannot_be_read_is_an_outage() -> None:
    """The client gets 503 with the envelope and tries again; nothing ran."""

    def fails(_: str) -> bool:
        raise Unavailable("secret store", aws_error="Throttling")

    echo = Echo()
    response = behind_edge(echo, fails)(url_event(), LambdaContext())
    assert (response["statusCode"], echo.event) == (503, {})
    assert '"service_unavailable"' in response["body"]


def test_the_gateway_and_the_front_pass_unchanged() -> None:
    """Their events need no secret in the function: a firewall or the front has compared it."""
    echo, event = Echo(), {"path": "/v1/emails", "headers": {}}
    answer(event, echo)
    assert echo.event is event
