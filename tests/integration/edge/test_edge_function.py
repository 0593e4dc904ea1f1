"""The function of the deployed edge, run in node: which origin gets a request, and its errors."""

import json
from typing import Any

import pytest

from local.route import Origin
from pillarbox.domain.errors import CODES
from tests.edge_function import FRONT, LAMBDA, route
from tests.unit.local.test_route import REQUESTS, ROUTE


def error_of(answer: Any) -> Any:
    """The error of an answer that the edge gives by itself."""
    assert answer["headers"]["content-type"] == {"value": "application/json"}
    assert answer["headers"]["x-request-id"] == {"value": "request-1"}
    error = json.loads(answer["body"])["error"]
    assert CODES[error["code"]] == (answer["statusCode"], error["type"])
    return error


@pytest.mark.parametrize("uri", ["/api/v1/emails", "/api/v1/v1/emails/batch", "/api/v1/emails/"])
@pytest.mark.parametrize(
    ("length", "origin"), [(0, "api"), (LAMBDA, "api"), (LAMBDA + 1, "front"), (FRONT, "front")]
)
def test_a_send_goes_where_its_size_is_taken(uri: str, length: int, origin: str) -> None:
    """Up to what Lambda takes to the API, up to the contract's limit to the container."""
    answer = route(length, uri=uri)
    assert answer["origin"] == origin
    assert answer["uri"] == uri


def test_a_send_of_unknown_size_goes_to_the_container() -> None:
    """Without Content-Length it may become too large for Lambda; without a container it may not."""
    assert route(None)["origin"] == "front"
    assert route(None, front=False)["origin"] == "api"
    assert route(None, method="GET")["origin"] == "api"


@pytest.mark.parametrize(
    ("length", "given", "limit"),
    [
        (FRONT + 1, {}, FRONT),
        (LAMBDA + 1, {"front": False}, LAMBDA),
        (LAMBDA + 1, {"method": "GET"}, LAMBDA),
        (LAMBDA + 1, {"uri": "/api/v1/starter-templates/otp/preview"}, LAMBDA),
        (LAMBDA + 1, {"uri": "/api/v1/emails/x"}, LAMBDA),
    ],
)
def test_what_nobody_takes_is_answered_at_the_edge(
    length: int, given: dict[str, Any], limit: int
) -> None:
    """Contract 7: 413 with the limit that holds for this route, in the envelope."""
    error = error_of(route(length, **given))
    assert (error["code"], error["details"]) == ("request_too_large", {"limit_bytes": limit})


@pytest.mark.parametrize("uri", ["/", "/v1/emails", "/apis", "/api"])
def test_there_is_nothing_beside_the_api(uri: str) -> None:
    """What the gateway would answer in its own words for another stage is a 404 of the contract."""
    assert error_of(route(10, uri=uri))["code"] == "route_not_found"


def test_the_edge_says_who_calls() -> None:
    """The rate is counted by this address, so a caller's own word for it is replaced."""
    assert route(10)["headers"]["x-pillarbox-client"] == {"value": "2001:db8::1"}


@pytest.mark.parametrize(("method", "path", "length", "origin"), REQUESTS)
def test_the_deployed_function_chooses_alike(
    method: str, path: str, length: int | None, origin: Origin
) -> None:
    """The code that CloudFront runs, run in node, decides every request as the local rule."""
    answer = route(length, method=method, uri=path)
    if origin is Origin.NONE:
        details = json.loads(answer["body"])["error"]["details"]
        _, limit = ROUTE.origin(method, path, length)
        assert (answer["statusCode"], details) == (413, {"limit_bytes": limit})
    else:
        assert answer["origin"] == origin.name.lower()
