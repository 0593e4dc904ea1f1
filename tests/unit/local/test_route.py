"""The local edge decides as the deployed one does."""

import json

import pytest

from local import template
from local.route import Origin, Route
from pillarbox.domain.errors import ServiceError
from pillarbox.http.routes import ROUTES
from tests.edge_function import needs_node, route

ROUTE = Route(template.load())
LAMBDA, FRONT = ROUTE.lambda_bytes, ROUTE.front_bytes
SENDS = ["/api/v1/emails", "/api/v1/emails/batch", "/api/v1/emails/"]
OTHERS = [
    ("GET", "/api/v1/emails/analytics"),
    ("GET", "/api/v1/templates"),
    ("POST", "/api/v1/starter-templates/otp/preview"),
    ("POST", "/api/v1/nothing"),
]
#: Method, path, Content-Length, who answers.
REQUESTS: list[tuple[str, str, int | None, Origin]] = [
    *(
        ("POST", path, length, origin)
        for path in SENDS
        for length, origin in (
            (2, Origin.API),
            (LAMBDA, Origin.API),
            (LAMBDA + 1, Origin.FRONT),
            (FRONT, Origin.FRONT),
            (FRONT + 1, Origin.NONE),
            (None, Origin.FRONT),
        )
    ),
    *(
        (method, path, length, origin)
        for method, path in OTHERS
        for length, origin in (
            (LAMBDA, Origin.API),
            (LAMBDA + 1, Origin.NONE),
            (None, Origin.API),
        )
    ),
    ("GET", SENDS[0], None, Origin.API),
    ("PUT", SENDS[0], LAMBDA + 1, Origin.NONE),
]


@pytest.mark.parametrize(("method", "path", "length", "origin"), REQUESTS)
def test_the_origin_is_chosen_by_size(
    method: str, path: str, length: int | None, origin: Origin
) -> None:
    """What Lambda takes goes to the API, larger sends to the front, nothing beyond the limits."""
    chosen, limit = ROUTE.origin(method, path, length)
    assert chosen is origin
    assert limit == (FRONT if method == "POST" and path in SENDS else LAMBDA)


@needs_node
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


@needs_node
@pytest.mark.parametrize("path", PATHS)
def test_both_rewrite_a_path_alike(path: str) -> None:
    """The literal reading of a path becomes the same path at both edges."""
    assert ROUTE.canonical(path) == route(None, method="GET", uri=path)["uri"]


def test_it_knows_the_routes_and_their_methods() -> None:
    """The edge's routes are those of the API, in the order in which they are tried."""
    assert list(ROUTE.routes.items()) == [
        (path, ", ".join(methods)) for path, methods in ROUTES.items()
    ]


@needs_node
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
