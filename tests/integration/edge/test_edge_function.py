"""The function of the deployed edge, run in node: origins, rewritten paths and its errors."""

import json
import re
from typing import Any

import pytest

from local.route import Origin
from pillarbox.domain.errors import CODES, ServiceError
from pillarbox.http.routes import ROUTES
from tests.edge_function import FRONT, LAMBDA, route
from tests.unit.local.test_route import REQUESTS, ROUTE


def error_of(answer: Any) -> Any:
    """The error of an answer that the edge gives by itself."""
    assert answer["headers"]["content-type"] == {"value": "application/json"}
    assert answer["headers"]["x-request-id"] == {"value": "request-1"}
    error = json.loads(answer["body"])["error"]
    assert CODES[error["code"]] == (answer["statusCode"], error["type"])
    return error


@pytest.mark.parametrize(
    ("uri", "canonical"),
    [
        ("/api/v1/emails", "/api/v1/emails"),
        ("/api/v1/v1/emails/batch", "/api/v1/emails/batch"),
        ("/api/v1/emails/", "/api/v1/emails/"),
    ],
)
@pytest.mark.parametrize(
    ("length", "origin"), [(0, "api"), (LAMBDA, "api"), (LAMBDA + 1, "front"), (FRONT, "front")]
)
def test_a_send_goes_where_its_size_is_taken(
    uri: str, canonical: str, length: int, origin: str
) -> None:
    """Up to what Lambda takes to the API, up to the contract's limit to the container."""
    answer = route(length, uri=uri)
    assert answer["origin"] == origin
    assert answer["uri"] == canonical


@pytest.mark.parametrize(
    ("uri", "canonical"),
    [
        ("/api/v1/v1/emails", "/api/v1/emails"),
        ("/api/v1/v1/emails/%2F%C3%BC", "/api/v1/emails/%2F%C3%BC"),
        ("/api/v1/v1/v1/emails", "/api/v1/v1/emails"),
        ("/api/v1/v1", "/api/v1/v1"),
        ("/api/v12/v1/emails", "/api/v12/v1/emails"),
        ("/api/v1/v12/emails", "/api/v1/v12/emails"),
        ("/api/v1/emails/v1/v1/", "/api/v1/emails/v1/v1/"),
    ],
)
def test_both_readings_of_a_path_are_one(uri: str, canonical: str) -> None:
    """Contract 9: /api/v1/v1/… is /api/v1/… to both origins; a third v1 is an unknown path."""
    assert route(None, method="GET", uri=uri)["uri"] == canonical


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE"])
@pytest.mark.parametrize("path", ROUTES)
def test_a_wrong_method_is_answered_at_the_edge(path: str, method: str) -> None:
    """Decisions: 405 with Allow, in the envelope, in both readings; a right method passes."""
    allow = ", ".join(ROUTES[path])
    for stage in ("/api", "/api/v1"):
        answer = route(2, method=method, uri=stage + re.sub(r"\{\w+\}", "%22x", path))
        if method in ROUTES[path]:
            assert answer["origin"] == "api"
            assert "statusCode" not in answer
        else:
            assert error_of(answer)["code"] == "method_not_allowed"
            assert answer["headers"]["allow"] == {"value": allow}


@pytest.mark.parametrize("uri", ["/api/v1/nothing", "/api/v1/emails/x/y", "/api/v1/", "/api/x/"])
def test_an_unknown_path_is_left_to_the_gateway(uri: str) -> None:
    """The gateway knows its paths: what is not one of them gets its 404."""
    for method in ("GET", "PATCH"):
        assert route(2, method=method, uri=uri)["origin"] == "api"


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
        (LAMBDA + 1, {"method": "PUT"}, LAMBDA),
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


PATHS = [
    "/api/v1/v1/emails",
    "/api/v1/v1/emails/%2F%C3%BC/",
    "/api/v1/v1/v1/emails",
    "/api/v1/v1",
    "/api/v1/emails/v1/v1/x",
    "/api/v1/templates/v1",
]


@pytest.mark.parametrize("path", PATHS)
def test_both_rewrite_a_path_alike(path: str) -> None:
    """The literal reading of a path becomes the same path at both edges."""
    assert ROUTE.canonical(path) == route(None, method="GET", uri=path)["uri"]


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "DELETE"])
@pytest.mark.parametrize(
    "path", ["/api/v1/emails/", "/api/v1/emails/batch", "/api/v1/templates/a%2Fb", "/api/v1/x"]
)
def test_both_refuse_a_method_alike(path: str, method: str) -> None:
    """A wrong method is the same answer from both edges, words and Allow included."""
    answer = route(2, method=method, uri=path)
    if "statusCode" not in answer:
        ROUTE.check_method(method, path)
        return
    with pytest.raises(ServiceError) as refused:
        ROUTE.check_method(method, path)
    assert json.loads(answer["body"]) == {"error": refused.value.envelope()}
    assert answer["statusCode"] == refused.value.status
    assert answer["headers"]["allow"] == {"value": refused.value.headers["Allow"]}
